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
    if letter.is_control() || is_unseen(letter) {
        write!(to, "{}", letter.escape_unicode())
    } else {
        to.write_char(letter)
    }
}

/// Whether a character is a line or paragraph separator or of Unicode's category Cf, such as a soft
/// hyphen, a joiner, a mark of direction or a tag.
const fn is_unseen(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}'
            | '\u{890}'..='\u{891}' | '\u{8e2}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1343f}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}'
    )
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
        check("a\u{ad}b\u{61c}c\u{2060}", "a\\u{ad}b\\u{61c}c\\u{2060}");
        check("\u{180e}\u{e0041}\u{feff}", "\\u{180e}\\u{e0041}\\u{feff}");
        check(&"x".repeat(64), &"x".repeat(64));
        check(&"é".repeat(65), &format!("{}…", "é".repeat(64)));
        assert!(Quoted(&"\u{0}".repeat(1_000_000)).to_string().len() < 500);
    }
}
