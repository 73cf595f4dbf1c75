//! Rule: warnings that name a section of the runbook name an existing one.
//!
//! A section is a heading of the third level in `deploy/README.md`, and a warning names it by a
//! field: `runbook = "deploy/README.md, The database is away"`.

use std::collections::BTreeSet;

use super::{Finding, Tree};

const RUNBOOK: &str = "deploy/README.md";

/// Finds names of missing sections.
#[must_use]
pub fn runbook(tree: &Tree) -> Vec<Finding> {
    let text = tree.text(RUNBOOK).unwrap_or_default();
    let sections: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("### ")).map(str::trim).collect();
    let mut findings = Vec::new();
    let mut named = BTreeSet::new();
    for (path, code) in tree.rust().filter(|(path, _)| !path.starts_with("tests/")) {
        for (number, line) in code.lines().enumerate() {
            for (at, start) in line.match_indices("\"deploy/README.md, ") {
                let name = line[at + start.len()..].split('"').next().unwrap_or_default();
                if !sections.contains(name) {
                    let advice = format!("{RUNBOOK} has no section `### {name}`: write it");
                    findings.push(Finding::new(format!("{path}:{}", number + 1), advice));
                }
                named.insert(name);
            }
        }
    }
    if named.is_empty() {
        findings.push(Finding::new(RUNBOOK, "no warning names a section of it any more"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(runbook_text: &str, code: &str, wrong: usize) {
        let tree = Tree::of(&[(RUNBOOK, runbook_text), ("crates/a/src/lib.rs", code)]);
        assert_eq!(runbook(&tree).len(), wrong, "{:?}", runbook(&tree));
    }

    #[test]
    fn a_section_that_is_not_there_is_found() {
        let warning = "warn!(runbook = \"deploy/README.md, The sky falls\", \"again\");";
        check("## Trouble\n\n### The sky falls\n\nRun.\n", warning, 0);
        check("## The sky falls\n", warning, 1);
        check("### Another\n", &format!("{warning}\n{warning}"), 2);
        check("### The sky falls\n", "", 1);
    }
}
