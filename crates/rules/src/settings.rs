//! Settings of a table that are fixed with its rule set: clocks, windows for entropy, suspension.
//!
//! Their text is stored and hashed with every hand, as the rule set's is: `name = value` lines,
//! ascending by name. Reading is strict: the text must be exactly the text that writing gives. A
//! setting that only rooms for developers have stands there where it is not at its default, so no
//! hand hides it.
//!
//! Specification: rules/SPEC.md §8.4.

use std::ops::RangeInclusive;
use std::time::Duration;

/// Time at which a hand's seed is opened after its settlement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeedOpening {
    AtOnce,
    /// [`SeedOpening::DELAY_SECONDS`] later: hands that were not shown stay private until then.
    Delayed,
}

impl SeedOpening {
    /// Seconds from a settlement to the opening of a delayed seed: 24 hours.
    pub const DELAY_SECONDS: u32 = 24 * 60 * 60;

    /// Seconds from a settlement to the opening of the seed.
    #[must_use]
    pub const fn delay_seconds(self) -> u32 {
        match self {
            SeedOpening::AtOnce => 0,
            SeedOpening::Delayed => SeedOpening::DELAY_SECONDS,
        }
    }

    const fn text(self) -> &'static str {
        match self {
            SeedOpening::AtOnce => "\"at_once\"",
            SeedOpening::Delayed => "\"delayed\"",
        }
    }
}

/// Reason why settings are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    #[error("`{name}` is {value}: it must be {} to {}", .bounds.start(), .bounds.end())]
    OutOfBounds { name: &'static str, value: u32, bounds: RangeInclusive<u32> },
    #[error("line {line} is not canonical settings text: `{expected}` and its value stand here")]
    NotCanonical { line: usize, expected: &'static str },
    #[error("the settings text does not end after line {0}")]
    TooLong(usize),
}

/// Declares the settings that are numbers: name, bounds. They stand in ascending order.
macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident: $least:literal..=$most:literal, default $default:literal;)*) => {
        /// Settings of a table. All of them are within their bounds.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct TableSettings {
            $($(#[$doc])* pub $name: u32,)*
            pub reveal: SeedOpening,
        }

        impl Default for TableSettings {
            fn default() -> TableSettings {
                TableSettings { $($name: $default,)* reveal: SeedOpening::AtOnce }
            }
        }

        impl TableSettings {
            /// Checks that every setting is within its bounds.
            pub fn check(&self) -> Result<(), SettingsError> {
                $(check_bounds(stringify!($name), self.$name, $least..=$most)?;)*
                Ok(())
            }

            /// Names and values in the order of the text.
            fn lines(&self) -> Vec<(&'static str, String)> {
                let mut lines = vec![
                    $((stringify!($name), self.$name.to_string()),)*
                    (REVEAL, self.reveal.text().to_owned()),
                ];
                let usual = TableSettings::default();
                lines.retain(|(name, value)| match *name {
                    FIXED_SEED => *value != usual.insecure_fixed_seed.to_string(),
                    TIME_SCALE => *value != usual.time_scale.to_string(),
                    _ => true,
                });
                lines.sort_unstable();
                lines
            }

            /// Sets the setting `name` from its text; `None` if it is not written like that.
            fn set(&mut self, name: &str, text: &str) -> Option<()> {
                match name {
                    $(stringify!($name) => self.$name = parse_number(text)?,)*
                    _ => self.reveal = parse_opening(text)?,
                }
                Some(())
            }
        }
    };
}

const REVEAL: &str = "reveal";
const FIXED_SEED: &str = "insecure_fixed_seed";
const TIME_SCALE: &str = "time_scale";

settings! {
    /// Seconds for a decision.
    action_seconds: 1..=600, default 20;
    /// Seconds of each player's time bank for each hand.
    bank_seconds: 0..=600, default 30;
    /// Milliseconds that seats have to commit to entropy.
    commit_ms: 500..=10_000, default 2_000;
    /// Seats that must have committed before commitments close.
    contributors_min: 0..=8, default 1;
    /// 1: an option for developers fixed the dealer's seeds, so whoever knows it knows every card.
    insecure_fixed_seed: 0..=1, default 0;
    /// Milliseconds that seats have to reveal what they committed to.
    reveal_ms: 500..=10_000, default 2_000;
    /// Hours for which a hand may be suspended.
    suspend_hours: 1..=168, default 2;
    /// Factor by which every clock of the table runs faster than the other settings say. Above 1 in
    /// rooms for developers alone.
    time_scale: 1..=100, default 1;
}

/// Spans of time as they pass at the table: the settings', divided by its time scale, in whole
/// milliseconds, as time banks are charged.
impl TableSettings {
    /// Time for a decision.
    #[must_use]
    pub fn action_time(&self) -> Duration {
        self.scaled(Duration::from_secs(self.action_seconds.into()))
    }

    /// Time bank of each player for a hand.
    #[must_use]
    pub fn time_bank(&self) -> Duration {
        self.scaled(Duration::from_secs(self.bank_seconds.into()))
    }

    /// Time that seats have to commit to entropy.
    #[must_use]
    pub fn commit_window(&self) -> Duration {
        self.scaled(Duration::from_millis(self.commit_ms.into()))
    }

    /// Time that seats have to reveal what they committed to.
    #[must_use]
    pub fn reveal_window(&self) -> Duration {
        self.scaled(Duration::from_millis(self.reveal_ms.into()))
    }

    /// Time for which a hand may be suspended.
    #[must_use]
    pub fn suspension_limit(&self) -> Duration {
        self.scaled(Duration::from_hours(self.suspend_hours.into()))
    }

    /// Time from a settlement to the opening of the seed.
    #[must_use]
    pub fn seed_delay(&self) -> Duration {
        self.scaled(Duration::from_secs(self.reveal.delay_seconds().into()))
    }

    /// Any other span of the table's.
    #[must_use]
    pub fn scaled(&self, span: Duration) -> Duration {
        let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        Duration::from_millis(millis / u64::from(self.time_scale.max(1)))
    }
}

impl TableSettings {
    /// Writes the canonical text.
    #[must_use]
    pub fn canonical(&self) -> String {
        self.lines().into_iter().map(|(name, value)| format!("{name} = {value}\n")).collect()
    }

    /// Reads canonical text.
    ///
    /// # Errors
    /// If it is not exactly the text that [`TableSettings::canonical`] writes, or a setting is out
    /// of its bounds.
    pub fn from_canonical(text: &str) -> Result<TableSettings, SettingsError> {
        let mut settings = TableSettings::default();
        // Names of the lines that must stand there: all, but for those of developers' rooms.
        for (name, value) in [(FIXED_SEED, 1), (TIME_SCALE, 2)] {
            if text.lines().any(|line| line.starts_with(name)) {
                settings.set(name, &value.to_string());
            }
        }
        let expected = settings.lines();
        let mut rest = text;
        for (index, (name, _)) in expected.iter().enumerate() {
            let wrong = SettingsError::NotCanonical { line: index + 1, expected: name };
            let Some((line, after)) = rest.split_once('\n') else { return Err(wrong) };
            let value = line.strip_prefix(name).and_then(|line| line.strip_prefix(" = "));
            if value.and_then(|value| settings.set(name, value)).is_none() {
                return Err(wrong);
            }
            rest = after;
        }
        if !rest.is_empty() {
            return Err(SettingsError::TooLong(expected.len()));
        }
        settings.check()?;
        // A setting at its default is left out.
        if let Some((line, (name, _))) = expected
            .iter()
            .enumerate()
            .find(|(_, (name, _))| !settings.lines().iter().any(|(written, _)| written == name))
        {
            return Err(SettingsError::NotCanonical { line: line + 1, expected: name });
        }
        Ok(settings)
    }
}

fn check_bounds(
    name: &'static str,
    value: u32,
    bounds: RangeInclusive<u32>,
) -> Result<(), SettingsError> {
    if bounds.contains(&value) {
        return Ok(());
    }
    Err(SettingsError::OutOfBounds { name, value, bounds })
}

/// A number in its only spelling: digits without leading zeros.
fn parse_number(text: &str) -> Option<u32> {
    let number: u32 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

fn parse_opening(text: &str) -> Option<SeedOpening> {
    [SeedOpening::AtOnce, SeedOpening::Delayed].into_iter().find(|opening| opening.text() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: &str = "action_seconds = 20\nbank_seconds = 30\ncommit_ms = 2000\n\
        contributors_min = 1\nreveal = \"at_once\"\nreveal_ms = 2000\nsuspend_hours = 2\n";

    /// rules/SPEC.md §8.4.
    #[test]
    fn the_text_has_every_setting_once_ascending() {
        let settings = TableSettings::default();
        assert_eq!(settings.canonical(), DEFAULT);
        let delayed = TableSettings { reveal: SeedOpening::Delayed, reveal_ms: 500, ..settings };
        let fast = TableSettings { time_scale: 20, ..settings };
        assert_eq!(fast.canonical(), format!("{DEFAULT}time_scale = 20\n"));
        let fixed = TableSettings { insecure_fixed_seed: 1, ..fast };
        assert!(fixed.canonical().contains("min = 1\ninsecure_fixed_seed = 1\nreveal = "));
        for settings in [settings, delayed, fast, fixed] {
            assert_eq!(TableSettings::from_canonical(&settings.canonical()), Ok(settings));
        }
    }

    #[test]
    fn spans_pass_as_many_times_faster_as_the_scale_says() {
        let fast = TableSettings { time_scale: 30, ..TableSettings::default() };
        let spans = [fast.action_time(), fast.time_bank(), fast.commit_window()];
        let millis = [666, 1000, 66].map(Duration::from_millis);
        assert_eq!(spans, millis, "whole milliseconds, rounded down");
        assert_eq!(fast.suspension_limit(), Duration::from_mins(4));
        assert_eq!(fast.seed_delay(), Duration::ZERO);
        let usual = TableSettings { reveal: SeedOpening::Delayed, ..TableSettings::default() };
        assert_eq!(usual.seed_delay(), Duration::from_hours(24));
        assert_eq!(usual.reveal_window(), Duration::from_secs(2));
    }

    /// rules/SPEC.md §8.4.
    #[test]
    fn other_spellings_are_refused() {
        let replaced = [
            ("= 20\n", "= 020\n"),
            ("= 20\n", "= +20\n"),
            ("= 20\n", "=20\n"),
            ("= 20\n", "= 20\r\n"),
            ("at_once", "later"),
            ("commit_ms = 2000\n", ""),
            ("= 2\n", "= 2"),
            ("= 2\n", "= 2\n\n"),
            ("= 2\n", "= 2\ntime_scale = 1\n"),
            ("= 2\n", "= 2\ntime_scale = 02\n"),
            ("= 2\n", "= 2\ntime_scale = 2\ntime_scale = 2\n"),
            ("action_s", "time_scale = 2\naction_s"),
            ("reveal = ", "insecure_fixed_seed = 0\nreveal = "),
            (
                "action_seconds = 20\nbank_seconds = 30\n",
                "bank_seconds = 30\naction_seconds = 20\n",
            ),
        ];
        for (from, to) in replaced {
            let text = DEFAULT.replacen(from, to, 1);
            assert_ne!(text, DEFAULT);
            assert!(TableSettings::from_canonical(&text).is_err(), "{text}");
        }
    }

    /// rules/SPEC.md §8.4.
    #[test]
    fn bounds_hold() {
        let base = TableSettings::default();
        let bad = [
            TableSettings { action_seconds: 0, ..base },
            TableSettings { action_seconds: 601, ..base },
            TableSettings { bank_seconds: 601, ..base },
            TableSettings { commit_ms: 499, ..base },
            TableSettings { commit_ms: 10_001, ..base },
            TableSettings { contributors_min: 9, ..base },
            TableSettings { reveal_ms: 499, ..base },
            TableSettings { reveal_ms: 10_001, ..base },
            TableSettings { suspend_hours: 0, ..base },
            TableSettings { suspend_hours: 169, ..base },
            TableSettings { time_scale: 0, ..base },
            TableSettings { time_scale: 101, ..base },
            TableSettings { insecure_fixed_seed: 2, ..base },
        ];
        for settings in bad {
            let read = TableSettings::from_canonical(&settings.canonical());
            assert!(matches!(read, Err(SettingsError::OutOfBounds { .. })), "{read:?}");
        }
    }
}
