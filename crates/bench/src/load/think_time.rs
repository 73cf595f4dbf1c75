//! `--think`: the thinking time of bots.

use std::time::Duration;

use rand::RngExt as _;
use rand::rngs::StdRng;

/// Longest thinking time: with more, bots would lose decisions to the default clock by their own
/// fault.
const MAX: Duration = Duration::from_secs(15);

/// Shortest and longest thinking time; each one is drawn from this range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ThinkTime {
    least: Duration,
    most: Duration,
}

impl ThinkTime {
    /// Parses `1s..6s`, `500ms..2s` or one time for all.
    pub(crate) fn parse(text: &str) -> Result<ThinkTime, String> {
        let (least, most) = text.split_once("..").unwrap_or((text, text));
        let (least, most) = (parse_duration(least)?, parse_duration(most)?);
        if least > most {
            return Err(format!("{least:?} is longer than {most:?}: write the shorter time first"));
        }
        if most > MAX {
            return Err(format!(
                "{most:?} is more than {MAX:?}: the clock would take decisions of such bots"
            ));
        }
        Ok(ThinkTime { least, most })
    }

    /// Whether bots think at all.
    pub(crate) fn is_nonzero(self) -> bool {
        !self.most.is_zero()
    }

    pub(crate) fn draw(self, generator: &mut StdRng) -> Duration {
        let spread = u64::try_from((self.most - self.least).as_micros()).unwrap_or(0);
        self.least + Duration::from_micros(generator.random_range(0..=spread))
    }
}

impl std::fmt::Display for ThinkTime {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}..{:?}", self.least, self.most)
    }
}

/// Parses a time with its unit.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let unit = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let wrong =
        |why: &str| format!("`{text}` {why}: write a whole number of ms or s, as in 1s..6s");
    if number.is_empty() {
        return Err(wrong("does not begin with a number"));
    }
    let number: u64 = number.parse().map_err(|_| wrong("is too long"))?;
    match unit {
        "ms" => Ok(Duration::from_millis(number)),
        "s" => Ok(Duration::from_secs(number)),
        "" => Err(wrong("has no unit")),
        _ => Err(wrong("has a unit that is not known")),
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    #[test]
    fn times_are_read_with_their_units() {
        let think = ThinkTime::parse("1s..6s").unwrap();
        assert_eq!((think.least, think.most), (Duration::from_secs(1), Duration::from_secs(6)));
        let short = ThinkTime::parse("250ms").unwrap();
        assert_eq!((short.least, short.most), (short.most, Duration::from_millis(250)));
        assert!(short.is_nonzero() && !ThinkTime::default().is_nonzero());
        assert_eq!(think.to_string(), "1s..6s");
    }

    #[test]
    fn a_mistake_is_answered_with_words() {
        for (text, why) in [
            ("1..6", "`1` has no unit"),
            ("1s..6m", "`6m` has a unit that is not known"),
            ("..6s", "`` does not begin with a number"),
            ("a second", "`a second` does not begin with a number"),
            ("6s..1s", "6s is longer than 1s"),
            ("1s..60s", "60s is more than 15s"),
            ("99999999999999999999s", "is too long"),
        ] {
            let error = ThinkTime::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn thoughts_lie_between_the_two() {
        let mut generator = StdRng::seed_from_u64(7);
        let think = ThinkTime::parse("10ms..30ms").unwrap();
        let drawn: Vec<Duration> = (0..500).map(|_| think.draw(&mut generator)).collect();
        let bounds = Duration::from_millis(10)..=Duration::from_millis(30);
        assert!(drawn.iter().all(|thought| bounds.contains(thought)));
        assert!(drawn.iter().max() > drawn.iter().min());
        assert_eq!(ThinkTime::default().draw(&mut generator), Duration::ZERO);
    }
}
