//! Rule: citations name sections that exist, and a test cites every resolution of the games' rules.
//!
//! A citation is the end of a page's path and the sections of it, on one line:
//! `rules/SPEC.md §4.3, R-12`, or `ARCHITECTURE.md §2.1 to §2.4`. A page without numbers is cited
//! by a heading: `services/table/README.md "Effects"`. Inside a page with numbers a section alone is
//! one of that page.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{Finding, Tree};

/// Pages with numbered sections: the path, and the end of it by which they are cited.
const PAGES: &[(&str, &str)] = &[
    ("crates/ARCHITECTURE.md", "ARCHITECTURE.md"),
    ("crates/fairness/SPEC.md", "fairness/SPEC.md"),
    ("crates/history/SPEC.md", "history/SPEC.md"),
    ("crates/rules/SPEC.md", "rules/SPEC.md"),
];

/// Page with the resolutions, and the end of its path.
const RULES: (&str, &str) = ("crates/rules/SPEC.md", "rules/SPEC.md");

/// Names of pages that are not in the tree.
const ABSENT: &[&str] = &["DESIGN.md", "FAIRNESS.md", "HAND_HISTORY.md", "RULES.md"];

/// Ends of the names of files whose citations are checked.
const CHECKED: &[&str] = &[".js", ".md", ".mjs", ".proto", ".py", ".rs"];

/// Path of this file, which has wrong citations as samples.
const SAMPLES: &str = "tests/src/tidy/citations.rs";

/// Numbers of sections and of resolutions, by the path of their page.
type Sections<'a> = BTreeMap<&'static str, BTreeSet<&'a str>>;

/// Citation in a line.
struct Citation<'a> {
    page: &'a str,
    sections: Vec<&'a str>,
    heading: Option<&'a str>,
    /// Bytes of the line from the page to the last section.
    range: Range<usize>,
}

/// Finds citations of sections, headings and pages that do not exist.
#[must_use]
pub fn citations(tree: &Tree) -> Vec<Finding> {
    let sections = sections(tree);
    let mut findings = Vec::new();
    for (path, text) in checked(tree) {
        for (at, line) in text.lines().enumerate() {
            for advice in wrong(tree, &sections, path, line) {
                findings.push(Finding::new(format!("{path}:{}", at + 1), advice));
            }
        }
    }
    findings
}

/// Finds resolutions that no test cites in its documentation.
#[must_use]
pub fn resolutions(tree: &Tree) -> Vec<Finding> {
    let mut cited: BTreeSet<&str> = BTreeSet::new();
    for (_, text) in tree.rust().filter(|(path, _)| *path != SAMPLES) {
        cited.extend(cited_by_tests(text));
    }
    let mut findings = Vec::new();
    let mut any = false;
    for (at, line) in tree.text(RULES.0).unwrap_or_default().lines().enumerate() {
        let Some(number) = numbered(line).filter(|number| number.starts_with("R-")) else {
            continue;
        };
        any = true;
        if !cited.contains(number) {
            let advice = format!(
                "no test cites {number}: write `/// {} {number}.` above the test that holds it",
                RULES.1
            );
            findings.push(Finding::new(format!("{}:{}", RULES.0, at + 1), advice));
        }
    }
    if !any {
        findings.push(Finding::new(RULES.0, "has no resolution any more"));
    }
    findings
}

fn checked(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    tree.files()
        .map(|(path, _)| path)
        .filter(|path| CHECKED.iter().any(|end| path.ends_with(*end)))
        .filter(|path| !path.contains("/src/gen/") && *path != SAMPLES)
        .filter_map(move |path| Some((path, tree.text(path)?)))
}

fn sections(tree: &Tree) -> Sections<'_> {
    PAGES.iter().map(|(path, _)| (*path, numbers(tree, path))).collect()
}

fn numbers<'a>(tree: &'a Tree, path: &str) -> BTreeSet<&'a str> {
    tree.text(path).unwrap_or_default().lines().filter_map(numbered).collect()
}

/// Returns the title of a heading of the second or third level.
fn title(line: &str) -> Option<&str> {
    line.strip_prefix("### ").or_else(|| line.strip_prefix("## ")).map(str::trim)
}

/// Returns the number with which a heading begins, such as `4`, `4.3` or `R-12`.
fn numbered(line: &str) -> Option<&str> {
    let word = title(line)?.split(' ').next()?.trim_end_matches('.');
    let digits = word.strip_prefix("R-").unwrap_or(word);
    digits.starts_with(|letter: char| letter.is_ascii_digit()).then_some(word)
}

/// Returns the advice on each wrong citation of a line of the file at `path`.
fn wrong(tree: &Tree, sections: &Sections<'_>, path: &str, line: &str) -> Vec<String> {
    let cited = citations_in(line);
    let mut advice = Vec::new();
    for Citation { page, sections: numbers, heading, .. } in &cited {
        let page = page.trim_start_matches("../");
        let name = page.rsplit('/').next().unwrap_or(page);
        let known = PAGES.iter().find(|(path, end)| page == *path || page == *end);
        if ABSENT.contains(&name) {
            advice.push(format!("{name} is not in the tree: cite a page of crates/README.md"));
        } else if let Some((path, end)) = known {
            let missing = numbers.iter().filter(|number| !has(sections, path, number));
            advice.extend(missing.map(|number| format!("{end} has no section {number}")));
        } else if !numbers.is_empty() {
            advice.push(format!("{page} is no page with sections: see crates/README.md"));
        }
        if let (Some(heading), Some(text)) = (heading, tree.text(page))
            && !text.lines().filter_map(title).any(|title| title == *heading)
        {
            advice.push(format!("{page} has no heading \"{heading}\""));
        }
    }
    let own = PAGES.iter().find(|(page, _)| *page == path);
    for number in alone(line, &cited) {
        match own {
            Some((page, _)) if has(sections, page, number) => {}
            Some((_, end)) => advice.push(format!("{end} has no section {number}")),
            // An abbreviation of something else may look like a resolution.
            None if number.starts_with("R-") => {}
            None => advice.push(format!("name the page of §{number} on the same line")),
        }
    }
    advice
}

fn has(sections: &Sections<'_>, page: &str, number: &str) -> bool {
    sections.get(page).is_some_and(|numbers| numbers.contains(number))
}

fn citations_in(line: &str) -> Vec<Citation<'_>> {
    let mut found = Vec::new();
    for (at, extension) in line.match_indices(".md") {
        let end = at + extension.len();
        if line[end..].starts_with(is_path) && !line[end..].starts_with('.') {
            continue;
        }
        let start = line[..at].trim_end_matches(is_path).len();
        let mut rest = line[end..].trim_start_matches([')', ']', '`', ',', ' ']);
        let mut range = start..end;
        let mut sections = Vec::new();
        while let Some((number, after)) = section(rest) {
            sections.push(number);
            range.end = line.len() - after.len();
            let next = [", ", " and ", " to "].iter().find_map(|word| after.strip_prefix(*word));
            rest = next.unwrap_or_default();
        }
        let heading = line[end..].strip_prefix(" \"").or_else(|| line[end..].strip_prefix("), \""));
        let heading = heading.and_then(|text| text.split_once('"')).map(|(heading, _)| heading);
        found.push(Citation { page: &line[start..end], sections, heading, range });
    }
    found
}

/// Returns the sections of a line that stand without a page.
fn alone<'a>(line: &'a str, cited: &[Citation<'_>]) -> Vec<&'a str> {
    let marks = line.match_indices('§').chain(line.match_indices("R-"));
    let outside = marks.filter(|(at, _)| {
        let within_word = line[..*at].ends_with(char::is_alphanumeric);
        !within_word && !cited.iter().any(|citation| citation.range.contains(at))
    });
    outside.filter_map(|(at, _)| section(&line[at..])).map(|(number, _)| number).collect()
}

/// Splits a section, `§4.3` or `R-12`, off the beginning of a text: its number, and the rest.
fn section(text: &str) -> Option<(&str, &str)> {
    let (text, prefix) = match text.strip_prefix('§') {
        Some(number) => (number, ""),
        None => (text, "R-"),
    };
    let digits = text.strip_prefix(prefix)?;
    let is_number = |letter: char| letter.is_ascii_digit() || letter == '.';
    let after = digits.trim_start_matches(is_number);
    let number = text[..text.len() - after.len()].trim_end_matches('.');
    (number.len() > prefix.len()).then(|| (number, &text[number.len()..]))
}

/// Returns the resolutions that documentation of tests cites.
fn cited_by_tests(text: &str) -> BTreeSet<&str> {
    let mut cited: BTreeSet<&str> = BTreeSet::new();
    let mut docs: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("///") {
            docs.push(line);
            continue;
        }
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            for citation in docs.iter().copied().flat_map(citations_in) {
                if citation.page.ends_with(RULES.1) {
                    cited.extend(citation.sections);
                }
            }
        }
        if !line.starts_with("#[") {
            docs.clear();
        }
    }
    cited
}

fn is_path(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '/' | '.' | '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# Rules\n\n## 4 Betting\n\nSee §4.3, R-1.\n\n### 4.3 Size\n\n### R-1 One\n";
    const DESIGN: &str = "## 2. The log\n\n### 2.4 Taking it\n";
    const SERVICE: &str = "# The table\n\n## Effects\n";

    /// Checks that a line of code gives findings with these words, in this order.
    fn check(line: &str, words: &[&str]) {
        let tree = Tree::of(&[
            (RULES.0, PAGE),
            ("crates/ARCHITECTURE.md", DESIGN),
            ("services/table/README.md", SERVICE),
            ("crates/a/src/lib.rs", &format!("\n{line}\n")),
        ]);
        let found = citations(&tree);
        assert_eq!(found.len(), words.len(), "{line}: {found:?}");
        for (finding, words) in found.iter().zip(words) {
            assert_eq!(finding.place, "crates/a/src/lib.rs:2");
            assert!(finding.advice.contains(*words), "{finding}");
        }
    }

    #[test]
    fn sections_that_exist_are_fine() {
        check("//! Specification: rules/SPEC.md §4.3.", &[]);
        check("/// rules/SPEC.md §4, §4.3, R-1: a bet.", &[]);
        check(
            "/// (crates/rules/SPEC.md §4 to §4.3) and ARCHITECTURE.md §2 and §2.4, all of it",
            &[],
        );
        check("/// See [the log](../../crates/ARCHITECTURE.md), §2.4.", &[]);
        check("/// `rules/SPEC.md`, or services/table/README.md \"Effects\".", &[]);
        check("let a = tree.text(\"crates/none/SPEC.md\").unwrap_or(\"\"); // HR-7, R-9", &[]);
    }

    #[test]
    fn a_section_that_is_not_there_is_found() {
        check("/// rules/SPEC.md §4.4.", &["rules/SPEC.md has no section 4.4"]);
        check("/// rules/SPEC.md §4.3, §5, R-2.", &["no section 5", "no section R-2"]);
        check("/// ARCHITECTURE.md §2.1 to §2.4.", &["ARCHITECTURE.md has no section 2.1"]);
        check("/// history/SPEC.md §1.", &["history/SPEC.md has no section 1"]);
        check("/// services/table/README.md \"Tasks\".", &["has no heading \"Tasks\""]);
    }

    #[test]
    fn a_page_that_is_not_there_is_found() {
        check("/// ledger/SPEC.md §1.", &["ledger/SPEC.md is no page with sections"]);
        check("/// As §4.3 says.", &["name the page of §4.3"]);
        for name in ABSENT {
            let words = format!("{name} is not in the tree");
            check(&format!("/// {name} §4: a bet."), &[words.as_str()]);
            check(&format!("// docs/{name}, section 1"), &[words.as_str()]);
        }
    }

    #[test]
    fn a_page_is_held_to_its_own_sections() {
        let page = |text: &str| citations(&Tree::of(&[(RULES.0, &format!("{PAGE}{text}"))])).len();
        assert_eq!(page("As §4.3 and R-1 say.\n"), 0);
        assert_eq!(page("As §4.9 and R-2 say.\n"), 2);
    }

    #[test]
    fn a_resolution_that_no_test_cites_is_found() {
        let missed = |code: &str| {
            let tree = Tree::of(&[(RULES.0, PAGE), ("crates/a/src/lib.rs", code)]);
            resolutions(&tree).len()
        };
        assert_eq!(missed("/// rules/SPEC.md R-1.\n#[test]\nfn a() {}"), 0);
        assert_eq!(missed("/// rules/SPEC.md §4, R-1: so.\n#[ignore]\n#[test]\nfn a() {}"), 0);
        assert_eq!(
            missed("    /// rules/SPEC.md R-1.\n    #[tokio::test]\n    async fn a() {}"),
            0
        );
        assert_eq!(missed("/// rules/SPEC.md R-1.\nfn a() {}\n\n#[test]\nfn b() {}"), 1);
        assert_eq!(missed("//! rules/SPEC.md R-1.\n#[test]\nfn a() {}"), 1);
        assert_eq!(missed("/// rules/SPEC.md R-11.\n#[test]\nfn a() {}"), 1);
        assert_eq!(missed("/// history/SPEC.md R-1.\n#[test]\nfn a() {}"), 1);
        assert_eq!(resolutions(&Tree::default()).len(), 1, "without resolutions the rule is idle");
    }
}
