//! Code of a Rust file, without comments, literals and tests.

/// Returns the text with comments and the content of literals blanked out; lines stay in place.
///
/// It knows enough of the language for our own files: line and nested block comments, strings, raw
/// strings and characters. Lifetimes stay.
#[must_use]
pub fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let blank = match letter {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => block_comment(rest),
            '"' => string(rest, 1),
            'r' if !code.ends_with(is_word) => raw_string(rest),
            '\'' => character(rest),
            _ => 0,
        };
        let (blanked, after) = rest.split_at(blank);
        code.extend(blanked.chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }));
        rest = after;
        if blank == 0 {
            code.push(letter);
            rest = rest.strip_prefix(letter).unwrap_or(rest);
        }
    }
    code
}

/// Returns a file without its tests, which stand last in `#[cfg(test)] mod …`.
#[must_use]
pub fn without_tests(text: &str) -> &str {
    let mut end = text.len();
    for (at, _) in text.match_indices("#[cfg(test)]") {
        let next = text[at..].lines().map(str::trim).find(|line| !line.starts_with("#["));
        if next.is_some_and(|line| line.starts_with("mod ") && line.ends_with('{')) {
            end = end.min(at);
        }
    }
    &text[..end]
}

/// Whether the file at `path` contains only tests.
#[must_use]
pub fn is_test_file(path: &str) -> bool {
    path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("/tests.rs")
}

/// Returns the lines, counted from 1, that contain `word` as a whole word.
pub fn lines_with(code: &str, word: &str) -> impl Iterator<Item = usize> {
    code.lines().enumerate().filter(move |(_, line)| has_word(line, word)).map(|(at, _)| at + 1)
}

/// Whether `line` contains `word` as a whole word.
#[must_use]
pub fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        !line[..at].ends_with(is_word) && !line[at + word.len()..].starts_with(is_word)
    })
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        let step = match &text.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth + 1, 2),
            [b'*', b'/', ..] => (depth.saturating_sub(1), 2),
            _ => (depth, 1),
        };
        (depth, at) = (step.0, at + step.1);
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Returns the length of a string whose first letter is at `from`.
fn string(text: &str, from: usize) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(from) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of a raw string, or 0 if none starts here.
fn raw_string(text: &str) -> usize {
    let fences = text[1..].bytes().take_while(|byte| *byte == b'#').count();
    if !text[1 + fences..].starts_with('"') {
        return 0;
    }
    let start = 2 + fences;
    let end = format!("\"{}", "#".repeat(fences));
    text[start..].find(&end).map_or(text.len(), |at| start + at + end.len())
}

/// Returns the length of a character literal, or 0 if a lifetime starts here.
fn character(text: &str) -> usize {
    let mut letters = text.char_indices().skip(1);
    match letters.next() {
        Some((_, '\\')) => {
            // The escaped letter may itself be a quote.
            letters.next();
            letters.find(|(_, letter)| *letter == '\'').map_or(0, |(at, _)| at + 1)
        }
        Some(_) => match letters.next() {
            Some((at, '\'')) => at + 1,
            _ => 0,
        },
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, word: &str, lines: &[usize]) {
        let code = code_only(text);
        assert_eq!(lines_with(&code, word).collect::<Vec<_>>(), lines, "in {code:?}");
        assert_eq!(code.lines().count(), text.lines().count(), "lines stay where they were");
    }

    #[test]
    fn comments_and_literals_are_not_code() {
        check("use sqlx::Row;", "sqlx", &[1]);
        check("// sqlx\n/// sqlx\n//! sqlx\nsqlx", "sqlx", &[4]);
        check("/* sqlx /* sqlx */ sqlx */ a\nsqlx", "sqlx", &[2]);
        check(r#"let a = "sqlx \" sqlx"; sqlx"#, "sqlx", &[1]);
        check(r#"let a = "sqlx \" sqlx";"#, "sqlx", &[]);
        check("let a = r#\"sqlx \" sqlx\"#;\nsqlx", "sqlx", &[2]);
        check("let a = \"one\n// two\";\nsqlx", "sqlx", &[3]);
        check("fn a<'a>(b: &'a str) { sqlx }", "sqlx", &[1]);
        check("if a == '\"' {}\nsqlx // \"", "sqlx", &[2]);
        check("if a == '\\'' {}\nsqlx", "sqlx", &[2]);
        check("let r = 1; let bar = r; sqlx", "sqlx", &[1]);
        check("let sqlx_like = asqlx;", "sqlx", &[]);
    }

    #[test]
    fn tests_at_the_end_are_left_away() {
        assert_eq!(without_tests("a\n#[cfg(test)]\nmod tests {\nb }"), "a\n");
        assert_eq!(without_tests("a\n#[cfg(test)]\n#[path = \"x\"]\nmod tests {\nb }"), "a\n");
        let kept = "a\n#[cfg(test)]\nfn only_here() {}\nb";
        assert_eq!(without_tests(kept), kept, "one function for tests does not hide what follows");
        let kept = "#[cfg(test)]\nmod tests;\nb";
        assert_eq!(without_tests(kept), kept, "tests in a file of their own hide nothing here");
        assert!(is_test_file("tests/src/lib.rs") && is_test_file("crates/a/tests/b.rs"));
        assert!(is_test_file("crates/a/src/b/tests.rs") && !is_test_file("crates/a/src/b.rs"));
    }
}
