//! Measuring.

pub(crate) mod bar;
pub(crate) mod gauge;
pub(crate) mod latency;
pub(crate) mod process;

/// With three digits behind the point, which is more than any figure here is good for.
pub(crate) fn rounded(figure: f64) -> f64 {
    (figure * 1000.0).round() / 1000.0
}

/// A figure, or that there is none.
pub(crate) fn shown(figure: Option<f64>) -> String {
    figure.map_or_else(|| "not known".to_owned(), |figure| figure.to_string())
}
