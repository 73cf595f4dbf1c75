//! The incomplete gamma function, which gives all three laws of the battery: chi-squared, Poisson
//! and (squared) normal. One function, which its tests hold to known values: too
//! little for crate `statrs`.

/// Number of terms after which a sum has settled for every argument below ten million.
const TERMS: u32 = 100_000;
const PRECISION: f64 = 1e-15;

/// Natural logarithm of Γ(x), `x` > 0. Stirling's series is exact to 13 digits from 12 on; smaller
/// arguments use Γ(x + 1) = x Γ(x).
pub(crate) fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 12.0 {
        product *= x;
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series =
        inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)));
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - f64::ln(product)
}

/// Regularized lower and upper incomplete gamma functions, P(a, x) and Q(a, x) = 1 - P(a, x), `a` >
/// 0, each exact where it is small.
pub(crate) fn incomplete(a: f64, x: f64) -> (f64, f64) {
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    let scale = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        let lower = (scale * series(a, x)).min(1.0);
        (lower, 1.0 - lower)
    } else {
        let upper = (scale * fraction(a, x)).min(1.0);
        (1.0 - upper, upper)
    }
}

/// Sum of x^n / (a (a + 1) … (a + n)); its terms fall from the start for x < a + 1.
fn series(a: f64, x: f64) -> f64 {
    let mut term = 1.0 / a;
    let mut sum = term;
    for n in 1..TERMS {
        term *= x / (a + f64::from(n));
        sum += term;
        if term < sum * PRECISION {
            break;
        }
    }
    sum
}

/// Continued fraction 1 / (x + 1 - a - 1(1 - a) / (x + 3 - a - 2(2 - a) / …)), by Lentz's method.
fn fraction(a: f64, x: f64) -> f64 {
    // Stands for zero in a denominator.
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / b;
    let mut value = d;
    for n in 1..TERMS {
        let n = f64::from(n);
        let factor = n * (a - n);
        b += 2.0;
        d = factor * d + b;
        d = 1.0 / if d.abs() < TINY { TINY } else { d };
        c = b + factor / c;
        c = if c.abs() < TINY { TINY } else { c };
        value *= d * c;
        if (d * c - 1.0).abs() < PRECISION {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(got: f64, wanted: f64, relative: f64) {
        assert!((got - wanted).abs() <= wanted.abs() * relative, "{got} is not {wanted}");
    }

    #[test]
    fn gamma_of_whole_and_half_numbers() {
        close(ln_gamma(5.0), 24.0_f64.ln(), 1e-12);
        close(ln_gamma(0.5), 0.5 * std::f64::consts::PI.ln(), 1e-12);
        close(ln_gamma(101.0), (1..=100).map(|n| f64::from(n).ln()).sum(), 1e-13);
    }

    /// Critical values of the usual statistical tables.
    #[test]
    fn chi_squared_as_in_the_tables() {
        let table = [
            (1.0, 0.05, 3.841),
            (1.0, 0.001, 10.828),
            (5.0, 0.05, 11.070),
            (10.0, 0.01, 23.209),
            (10.0, 0.99, 2.558),
            (30.0, 0.025, 46.979),
            (100.0, 0.05, 124.342),
            (100.0, 0.95, 77.929),
        ];
        for (degrees, upper, critical) in table {
            close(incomplete(degrees / 2.0, critical / 2.0).1, upper, 1e-3);
        }
    }

    #[test]
    fn normal_as_in_the_tables() {
        for (z, both) in
            [(1.0, 0.317_310_5), (1.959_964, 0.05), (2.575_829, 0.01), (5.0, 5.733_031e-7)]
        {
            close(incomplete(0.5, z * z / 2.0).1, both, 1e-6);
        }
    }

    #[test]
    fn poisson_is_its_own_sum() {
        for (most, mean) in [(0_u32, 2.5_f64), (4, 2.5), (30, 20.0), (90, 120.0)] {
            let mut term = (-mean).exp();
            let mut sum = term;
            for n in 1..=most {
                term *= mean / f64::from(n);
                sum += term;
            }
            close(incomplete(f64::from(most) + 1.0, mean).1, sum, 1e-11);
        }
    }

    /// With many degrees of freedom the cube root is nearly normal (Wilson and Hilferty).
    #[test]
    fn many_degrees_of_freedom() {
        for z in [-4.0_f64, -1.0, 0.5, 3.0] {
            let degrees = 5625.0_f64;
            let ninth = 2.0 / (9.0 * degrees);
            let value = degrees * (1.0 - ninth + z * ninth.sqrt()).powi(3);
            let (lower, upper) = incomplete(degrees / 2.0, value / 2.0);
            let one_side = incomplete(0.5, z * z / 2.0).1 / 2.0;
            close(if z < 0.0 { lower } else { upper }, one_side, 2e-3);
        }
    }
}
