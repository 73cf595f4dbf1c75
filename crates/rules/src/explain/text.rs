//! Wording that several games need.

use primitives::Credits;

pub(crate) fn credits(amount: Credits) -> String {
    counted(amount.get(), "credit")
}

pub(crate) fn chips(count: u8) -> String {
    counted(u64::from(count), "chip")
}

fn counted(count: u64, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// The number as a word, up to twelve.
pub(crate) fn number(count: u64) -> String {
    const WORDS: [&str; 13] = [
        "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    usize::try_from(count)
        .ok()
        .and_then(|count| WORDS.get(count))
        .map_or_else(|| count.to_string(), |word| (*word).to_owned())
}

/// Formats hundredths of a percent, such as `2.5 %`.
pub(crate) fn percent(bps: u16) -> String {
    match (bps / 100, bps % 100) {
        (whole, 0) => format!("{whole} %"),
        (whole, part) => format!("{whole}.{part:02} %"),
    }
}

/// The number with its sign; 0 has none.
pub(crate) fn signed(value: i16) -> String {
    if value > 0 { format!("+{value}") } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(credits(Credits::of(1)), "1 credit");
        assert_eq!(chips(8), "8 chips");
        assert_eq!((number(3), number(13)), ("three".to_owned(), "13".to_owned()));
        assert_eq!(
            (percent(250), percent(500), percent(5)),
            ("2.50 %".to_owned(), "5 %".to_owned(), "0.05 %".to_owned())
        );
        assert_eq!(
            (signed(5), signed(0), signed(-5)),
            ("+5".to_owned(), "0".to_owned(), "-5".to_owned())
        );
    }
}
