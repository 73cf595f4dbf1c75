//! Text of the room's, made fit for a terminal, and numbers for people.

use std::fmt::Write as _;

/// Escapes what would change a terminal or hide text: names and reasons are somebody else's.
pub(crate) fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for letter in text.chars() {
        let _ = primitives::write_escaped(&mut clean, letter);
    }
    clean
}

/// Writes credits with a comma between thousands.
pub(crate) fn credits(amount: u64) -> String {
    let digits = amount.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Writes a number with a true minus sign.
pub(crate) fn signed(value: i64) -> String {
    if value < 0 { format!("−{}", value.unsigned_abs()) } else { value.to_string() }
}

/// Writes a number with its sign, also a plus.
pub(crate) fn with_sign(value: i64) -> String {
    if value > 0 { format!("+{value}") } else { signed(value) }
}

/// Lists things as people do: `1, 2 and 3`.
pub(crate) fn listed(things: &[String]) -> String {
    match things {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Begins with a capital.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect::<String>())
}

/// Cuts a text to `width` characters, with an ellipsis where something is left out.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(width.saturating_sub(1)).collect();
    if width > 0 {
        short.push('…');
    }
    short
}

/// Breaks a text into lines of at most `width` characters, between words where it can.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let length = |line: &String| line.chars().count();
        let last = lines.last_mut().expect("there is a first line");
        let space = usize::from(!last.is_empty());
        if length(last) + space + word.chars().count() <= width {
            let _ = write!(last, "{}{word}", if space == 1 { " " } else { "" });
        } else if last.is_empty() {
            *last = cut(word, width);
        } else {
            lines.push(cut(word, width));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_have_true_signs() {
        assert_eq!(credits(0), "0");
        assert_eq!(credits(1_234_567), "1,234,567");
        assert_eq!(
            (signed(-17), with_sign(5), with_sign(0)),
            ("−17".into(), "+5".into(), "0".into())
        );
    }

    #[test]
    fn a_name_moves_no_cursor() {
        assert_eq!(clean("a\u{1b}[2J\u{202e}b"), "a\\u{1b}[2J\\u{202e}b");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("incomprehensible", 6), ["incom…"]);
        assert_eq!(cut("abc", 3), "abc");
    }
}
