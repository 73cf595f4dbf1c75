//! Rule: every package begins with what it knows and what it does not.

use super::manifest::packages;
use super::{Finding, Tree};

const KNOWS: &str = "//! Knows: ";
const DOES_NOT: &str = "//! Does not know: ";
/// Number of lines in which both sentences must begin.
const MAX_HEADER_LINES: usize = 12;
/// Placeholders of an empty package.
const PLACEHOLDERS: [&str; 2] = ["//! Knows: nothing yet.", "//! Does not know: anything."];

/// Checks the header of every package.
///
/// # Errors
/// A manifest cannot be read.
pub fn headers(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in packages(tree)? {
        let roots = ["lib.rs", "main.rs"].map(|file| format!("{}/src/{file}", package.folder));
        let Some((path, text)) = roots.iter().find_map(|root| Some((root, tree.text(root)?)))
        else {
            let advice = "has neither src/lib.rs nor src/main.rs";
            findings.push(Finding::new(package.folder, advice));
            continue;
        };
        if let Some(advice) = check_header(text) {
            findings.push(Finding::new(path, advice));
        }
    }
    Ok(findings)
}

fn check_header(text: &str) -> Option<&'static str> {
    let lines: Vec<&str> = text.lines().take(MAX_HEADER_LINES).collect();
    if lines.iter().any(|line| PLACEHOLDERS.contains(line)) {
        return Some("says nothing of itself: name what it knows and what it does not");
    }
    if !lines.first().is_some_and(|line| line.starts_with(KNOWS)) {
        return Some("must open with `//! Knows: …`: one sentence on what this room is for");
    }
    let second = lines.iter().position(|line| line.starts_with(DOES_NOT));
    match second {
        Some(at) if lines[..at].iter().all(|line| line.starts_with("//!")) => None,
        _ => Some("must say `//! Does not know: …` right after `Knows`, within 12 lines"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(root: &str, text: &str, advice: Option<&str>) {
        let manifest = ("crates/a/Cargo.toml", "[package]\nname = 'a'");
        let tree = Tree::of(&[manifest, (root, text)]);
        let found = headers(&tree).unwrap();
        let found: Vec<&str> = found.iter().map(|finding| finding.advice.as_str()).collect();
        assert_eq!(found.len(), usize::from(advice.is_some()), "{found:?} for {text:?}");
        assert!(
            found.iter().zip(advice).all(|(found, advice)| found.contains(advice)),
            "{found:?}"
        );
    }

    #[test]
    fn both_sentences_are_asked_for_in_order() {
        let lib = "crates/a/src/lib.rs";
        check(lib, "//! Knows: a.\n//! Does not know: b.\n", None);
        check(lib, "//! Knows: a\n//! and more.\n//! Does not know: b.\n", None);
        check("crates/a/src/main.rs", "//! Knows: a.\n//! Does not know: b.\n", None);
        check(lib, "", Some("must open with"));
        check(lib, "//! A crate.\n//! Knows: a.\n//! Does not know: b.\n", Some("must open with"));
        check(lib, "//! Knows: a.\n", Some("Does not know"));
        check(lib, "//! Knows: a.\nmod b;\n//! Does not know: b.\n", Some("Does not know"));
        let far = format!("//! Knows: a.\n{}//! Does not know: b.\n", "//!\n".repeat(11));
        check(lib, &far, Some("within 12 lines"));
        check(lib, "//! Knows: nothing yet.\n//! Does not know: anything.\n", Some("nothing of"));
        check("crates/a/src/other.rs", "", Some("neither"));
    }
}
