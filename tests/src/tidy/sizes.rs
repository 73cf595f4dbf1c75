//! Rule: lengths of files.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Finding, Tree};

/// Maximum number of lines of a Rust file, its tests included.
pub const LONGEST: usize = 500;
/// Maximum of the median length of all files.
pub const MEDIAN: usize = 150;

/// Finds files over [`LONGEST`] lines, and a tree whose median is over [`MEDIAN`].
#[must_use]
pub fn sizes(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut all = Vec::new();
    for (path, text) in tree.rust() {
        let lines = text.lines().count();
        all.push(lines);
        if lines > LONGEST {
            let advice = format!("{lines} lines; split it where its second idea begins");
            findings.push(Finding::new(path, advice));
        }
    }
    let median = median(&mut all);
    if median > MEDIAN {
        let advice = format!("the median is {median} lines, over {MEDIAN}: split the longest");
        findings.push(Finding::new("all Rust files", advice));
    }
    findings
}

/// Returns a line for each package: number of files, median and maximum.
#[must_use]
pub fn report(tree: &Tree) -> String {
    let mut folders: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (path, text) in tree.rust() {
        let depth =
            if path.starts_with("crates/") || path.starts_with("services/") { 2 } else { 1 };
        let folder: Vec<&str> = path.split('/').take(depth).collect();
        folders.entry(folder.join("/")).or_default().push(text.lines().count());
    }
    let mut report =
        format!("{:24}{:>6}{:>8}{:>9}\n", "lines of Rust", "files", "median", "longest");
    for (folder, mut sizes) in folders {
        let (median, longest) = (median(&mut sizes), sizes.last().copied().unwrap_or(0));
        let line = format!("{folder:24}{:>6}{median:>8}{longest:>9}", sizes.len());
        writeln!(report, "{line}").expect("writing into a String cannot fail");
    }
    report
}

/// Sorts and returns the median; 0 without sizes.
fn median(sizes: &mut [usize]) -> usize {
    sizes.sort_unstable();
    sizes.get(sizes.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_file_and_a_long_tree_are_found() {
        let lines = |count: usize| "x\n".repeat(count);
        let fine = [("a/src/a.rs", &*lines(500)), ("a/src/b.rs", "x"), ("a/src/c.rs", "x")];
        assert_eq!(sizes(&Tree::of(&fine)), []);
        let long = [("a/src/a.rs", &*lines(501)), ("a/src/b.rs", "x"), ("a/src/c.rs", "x")];
        let findings = sizes(&Tree::of(&long));
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(findings[0].place, "a/src/a.rs");
        let many = [("a/src/a.rs", &*lines(151)), ("a/src/b.rs", &*lines(151)), ("c.rs", "x")];
        assert_eq!(sizes(&Tree::of(&many))[0].place, "all Rust files");
        let generated = [("proto/src/gen/a.rs", &*lines(9000)), ("proto/src/lib.rs", "x")];
        assert_eq!(sizes(&Tree::of(&generated)), []);
    }

    #[test]
    fn the_report_has_a_line_for_each_package() {
        let files = [("crates/a/src/a.rs", "x\nx\n"), ("crates/a/b.rs", "x"), ("tests/a.rs", "x")];
        let report = report(&Tree::of(&files));
        let lines: Vec<Vec<&str>> =
            report.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines, [vec!["crates/a", "2", "2", "2"], vec!["tests", "1", "1", "1"]]);
    }
}
