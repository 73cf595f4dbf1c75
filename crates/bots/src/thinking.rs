//! Time that a bot waits before it decides.
//!
//! People think for a second or two, now and then much longer, and longer where there is much to
//! choose or to pay. Such a time is drawn from a log-normal distribution. It depends on what
//! everybody at the table knows, and never on the bot's cards or on its decision, so a pause tells
//! nobody anything about its hand.

use std::time::Duration;

use proto::common::v1::{LegalMove, MoveKind};
use proto::table::v1::Turn;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// Median of an easy decision.
const MEDIAN: Duration = Duration::from_millis(1_300);
/// Standard deviation of the logarithm: one time in six is 1.7 times the median or more.
const SPREAD: f64 = 0.55;
/// Longest time, whatever the clock allows.
const MAX_TIME: Duration = Duration::from_secs(12);
/// Longest time where it is not known how much of the clock is left.
const MAX_UNKNOWN: Duration = Duration::from_millis(300);
/// Part of the time that is left which is used at most.
const MAX_SHARE: u32 = 3;

/// Time that a bot thinks before each decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// Equal time before each decision.
    Fixed(Duration),
    /// Times like people's, made from this seed.
    LikePeople(u64),
}

/// Times of one bot, one after another.
pub(crate) struct Thinker {
    thinking: Thinking,
    generator: StdRng,
}

/// Credits that a decision is about, as everybody sees them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stakes {
    pub pot: u64,
    pub stack: u64,
}

impl Thinker {
    pub(crate) fn new(thinking: Thinking) -> Thinker {
        let seed = match thinking {
            Thinking::Fixed(_) => 0,
            Thinking::LikePeople(seed) => seed,
        };
        Thinker { thinking, generator: StdRng::seed_from_u64(seed) }
    }

    /// Returns the time before a decision. A time like people's is at most a third of what is left of
    /// the turn's clock, `left`; `None`: nobody knows.
    pub(crate) fn time(&mut self, turn: &Turn, stakes: Stakes, left: Option<Duration>) -> Duration {
        match self.thinking {
            Thinking::Fixed(time) => time,
            Thinking::LikePeople(_) => {
                let most = left.map_or(MAX_UNKNOWN, |left| left / MAX_SHARE).min(MAX_TIME);
                let factor = (SPREAD * self.normal()).exp() * difficulty(&turn.legal, stakes);
                MEDIAN.mul_f64(factor).min(most)
            }
        }
    }

    /// Draws a number that is close to normally distributed: the sum of twelve even ones.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.generator.random_range(0.0..1.0)).sum::<f64>() - 6.0
    }
}

/// Factor by which a decision takes longer than an easy one, 0.5 to about 4: by the number of
/// choices, and by what staying costs beside stack and pot.
fn difficulty(legal: &[LegalMove], stakes: Stakes) -> f64 {
    let choices: usize = legal.iter().map(choices).sum();
    let choices = match choices {
        0 | 1 => 0.5,
        2..=3 => 1.0,
        4..=9 => 1.3,
        _ => 1.6,
    };
    let price = legal.iter().filter(|legal| legal.kind() == MoveKind::Match);
    let price = price.map(|legal| legal.min_credits).max().unwrap_or(0);
    choices * (1.0 + share(price, stakes.stack) + 0.5 * share(price, stakes.pot))
}

/// Number of choices of a legal move, about; leaving is not thought about.
fn choices(legal: &LegalMove) -> usize {
    if matches!(legal.kind(), MoveKind::Leave | MoveKind::Void) {
        return 0;
    }
    (legal.cards.len() + legal.names.len() + legal.target_seats.len()).max(1)
}

/// Share of `part` in `whole`, at most 1; 0 where there is no part.
fn share(part: u64, whole: u64) -> f64 {
    let thousandths = part.saturating_mul(1000).checked_div(whole.max(1)).unwrap_or(0).min(1000);
    f64::from(u32::try_from(thousandths).unwrap_or(1000)) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Option<Duration> = Some(Duration::from_secs(60));

    fn legal(kind: MoveKind, min_credits: u64) -> LegalMove {
        LegalMove { kind: kind.into(), min_credits, ..LegalMove::default() }
    }

    fn turn(price: u64) -> Turn {
        let kinds = [legal(MoveKind::Match, price), legal(MoveKind::Fold, 0)];
        Turn { legal: kinds.to_vec(), ..Turn::default() }
    }

    /// Times of 2,000 decisions, ascending.
    fn times(turn: &Turn, left: Option<Duration>) -> Vec<Duration> {
        let mut thinker = Thinker::new(Thinking::LikePeople(7));
        let stakes = Stakes { pot: 100, stack: 400 };
        let mut times: Vec<_> = (0..2000).map(|_| thinker.time(turn, stakes, left)).collect();
        times.sort_unstable();
        times
    }

    #[test]
    fn times_are_skewed_as_peoples_are() {
        let times = times(&turn(0), MINUTE);
        let (median, mean) = (times[1000], times.iter().sum::<Duration>() / 2000);
        assert!(median.as_millis().abs_diff(1300) < 100, "{median:?}");
        assert!(mean > median.mul_f64(1.1), "{mean:?} and {median:?}");
        // The distances of tenth and ninetieth from the median, as their logarithms, are equal.
        let (low, high) = (times[200].as_secs_f64(), times[1800].as_secs_f64());
        let middle = median.as_secs_f64();
        assert!(((middle / low).ln() - (high / middle).ln()).abs() < 0.1, "{low} {middle} {high}");
    }

    #[test]
    fn much_to_pay_or_to_choose_takes_longer() {
        let cheap = times(&turn(5), MINUTE)[1000];
        let dear = times(&turn(400), MINUTE)[1000];
        assert!(dear > cheap.mul_f64(2.0), "{cheap:?} and {dear:?}");
        let cards = (0..5).map(|card| format!("S{card}")).collect();
        let trade = LegalMove { cards, ..legal(MoveKind::Trade, 0) };
        let many = Turn { legal: vec![trade, legal(MoveKind::Stand, 0)], ..Turn::default() };
        let only = Turn { legal: vec![legal(MoveKind::Stand, 0)], ..Turn::default() };
        assert!(times(&many, MINUTE)[1000] > times(&only, MINUTE)[1000].mul_f64(2.0));
    }

    #[test]
    fn no_time_is_beyond_the_clock() {
        for left in [Some(Duration::from_secs(2)), Some(Duration::ZERO), None] {
            let longest = times(&turn(400), left)[1999];
            assert!(longest <= left.map_or(MAX_UNKNOWN, |left| left / MAX_SHARE), "{longest:?}");
        }
        assert_eq!(*times(&turn(400), MINUTE).last().unwrap(), MAX_TIME);
    }

    #[test]
    fn a_fixed_time_is_that_whatever_the_decision() {
        let time = Duration::from_millis(12);
        let mut thinker = Thinker::new(Thinking::Fixed(time));
        assert_eq!(thinker.time(&turn(400), Stakes::default(), Some(Duration::ZERO)), time);
    }
}
