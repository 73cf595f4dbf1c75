//! Checks of what people write: names that others see, and texts that others read. Pure.
//!
//! All of it ends up on somebody's screen. Characters that move a cursor, turn the direction of
//! text or cannot be seen are refused, and a name cannot look like a text of the service itself.

use wire::BadField;

/// Most characters of a name.
const MAX_NAME: usize = 24;
/// Most characters of a text.
const MAX_TEXT: usize = 2000;
/// Most characters of an operator's reason.
const MAX_REASON: usize = 200;

/// Displayed name of an erased player, which nobody else can have.
pub(crate) const ERASED: &str = "erased player";

const RULE: &str = "1 to 24 characters, at least one of them a letter or digit: letters, digits, \
                    spaces, and any of ' - _ .";

/// Checks a name and trims its spaces. An empty name removes the old one.
pub(crate) fn name(given: &str) -> Result<String, BadField> {
    let bad = |what: String| Err(BadField::new("name", format!("{RULE}; {what}")));
    // Tabs and line breaks are not taken as spaces.
    let words: Vec<&str> = given.split(' ').filter(|word| !word.is_empty()).collect();
    let name = words.join(" ");
    if name.is_empty() {
        return if given.is_empty() { Ok(name) } else { bad("this has only spaces".to_owned()) };
    }
    let fits = |char: &char| char.is_alphanumeric() || " '-_.".contains(*char);
    if let Some(other) = name.chars().find(|char| !fits(char)) {
        return bad(format!("this has {}", other.escape_unicode()));
    }
    let count = name.chars().count();
    if count > MAX_NAME {
        return bad(format!("this has {count}"));
    }
    if !name.chars().any(char::is_alphanumeric) {
        return bad("this has none".to_owned());
    }
    if name.to_lowercase() == ERASED {
        return bad("this is how somebody is shown who was erased".to_owned());
    }
    Ok(name)
}

/// Checks a free text, in which line breaks and tabs are allowed.
pub(crate) fn text(given: &str) -> Result<String, BadField> {
    readable("text", given, MAX_TEXT, |char| char == '\n' || char == '\t')
}

/// Checks an operator's reason, a text of one line.
pub(crate) fn reason(given: &str) -> Result<String, BadField> {
    readable("reason", given, MAX_REASON, |_| false)
}

/// Checks that a line without control characters does not turn the direction of text either.
pub(crate) fn no_direction_controls(line: &str) -> Result<(), String> {
    match line.chars().find(|char| is_direction_control(*char)) {
        Some(bad) => {
            let bad = bad.escape_unicode();
            Err(format!("characters that turn the direction of text are not allowed; it has {bad}"))
        }
        None => Ok(()),
    }
}

fn readable(
    field: &str,
    given: &str,
    most: usize,
    allowed: impl Fn(char) -> bool,
) -> Result<String, BadField> {
    let text = given.trim();
    let count = text.chars().count();
    if count == 0 || count > most {
        return Err(BadField::new(field, format!("1 to {most} characters; this has {count}")));
    }
    let unseen = |char: char| (char.is_control() || is_direction_control(char)) && !allowed(char);
    if let Some(bad) = text.chars().find(|char| unseen(*char)) {
        let problem = format!(
            "control characters and those that turn the direction of text are not allowed; this \
             has {}",
            bad.escape_unicode()
        );
        return Err(BadField::new(field, problem));
    }
    Ok(text.to_owned())
}

/// Whether a character turns the direction of the text after it.
const fn is_direction_control(char: char) -> bool {
    matches!(
        char,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_trimmed_and_may_be_taken_back() {
        for (given, shown) in [
            ("Lando", "Lando"),
            ("  Han   Solo ", "Han Solo"),
            ("d'Acy-7_x.", "d'Acy-7_x."),
            ("Žofie 李", "Žofie 李"),
            ("abcdefghijklmnopqrstuvwx", "abcdefghijklmnopqrstuvwx"),
            ("", ""),
        ] {
            assert_eq!(name(given).as_deref(), Ok(shown), "{given:?}");
        }
    }

    #[test]
    fn names_that_deceive_are_refused_with_the_rule() {
        for (given, why) in [
            ("abcdefghijklmnopqrstuvwxy", "this has 25"),
            ("a\tb", r"\u{9}"),
            ("a\nb", r"\u{a}"),
            ("ab\u{202e}cd", r"\u{202e}"),
            ("a\u{200b}b", r"\u{200b}"),
            ("\u{1b}[31mred", r"\u{1b}"),
            ("<b>", r"\u{3c}"),
            ("   ", "only spaces"),
            ("-_.", "this has none"),
            ("Erased  Player", "who was erased"),
        ] {
            let refused = name(given).unwrap_err();
            assert_eq!(refused.field, "name");
            assert!(refused.problem.starts_with("1 to 24 characters"), "{refused}");
            assert!(refused.problem.contains(why), "{given:?}: {refused}");
        }
    }

    #[test]
    fn texts_have_lines_and_reasons_have_one() {
        assert_eq!(text(" two\n\tlines ").as_deref(), Ok("two\n\tlines"));
        assert_eq!(text(&"é".repeat(2000)).map(|text| text.len()), Ok(4000));
        for given in ["", " \n", "\u{7}", "a\u{2067}b", "a\r\nb", &"x".repeat(2001)] {
            assert_eq!(text(given).unwrap_err().field, "text", "{given:?}");
        }
        assert_eq!(reason("asked for by letter").as_deref(), Ok("asked for by letter"));
        for given in ["", "two\nlines", &"x".repeat(201)] {
            assert_eq!(reason(given).unwrap_err().field, "reason", "{given:?}");
        }
    }
}
