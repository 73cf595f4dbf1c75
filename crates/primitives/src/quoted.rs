//! Untrusted text quoted in a message.

use std::fmt::{self, Write as _};

/// Untrusted text as a message may repeat it: at most [`Quoted::MAX_CHARS`] characters, and none
/// that a terminal or a log would interpret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quoted<'a>(pub &'a str);

impl Quoted<'_> {
    /// Largest number of characters that are repeated.
    pub const MAX_CHARS: usize = 64;
}

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Quoted(text) = self;
        let mut letters = text.chars();
        for letter in letters.by_ref().take(Quoted::MAX_CHARS) {
            write_escaped(f, letter)?;
        }
        if letters.next().is_some() { f.write_char('…') } else { Ok(()) }
    }
}

/// Writes a character so that it changes nothing but the text: control characters, and those that
/// reorder or hide others, are escaped.
pub fn write_escaped(to: &mut impl fmt::Write, letter: char) -> fmt::Result {
    let reorders = matches!(
        letter,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
    );
    if letter.is_control() || reorders {
        write!(to, "{}", letter.escape_unicode())
    } else {
        to.write_char(letter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, quoted: &str) {
        assert_eq!(Quoted(text).to_string(), quoted);
    }

    #[test]
    fn a_strangers_text_is_cut_and_obeyed_by_nobody() {
        check("dice", "dice");
        check("Coruscant é", "Coruscant é");
        check("a\nb\u{1b}[31m", "a\\u{a}b\\u{1b}[31m");
        check("\u{202e}drawkcab", "\\u{202e}drawkcab");
        check(&"x".repeat(64), &"x".repeat(64));
        check(&"é".repeat(65), &format!("{}…", "é".repeat(64)));
        assert!(Quoted(&"\u{0}".repeat(1_000_000)).to_string().len() < 500);
    }
}
