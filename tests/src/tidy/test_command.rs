//! Rule: README.md names the test command of CI.

use super::{Finding, Tree};

/// Test command of README.md and .ci/run, without further arguments.
pub const COMMAND: &str = "cargo test --workspace";

/// Checks that README.md shows [`COMMAND`] on its own line, and that `.ci/run` runs it and no other
/// tests.
#[must_use]
pub fn test_command(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let shown = commands(tree.text("README.md").unwrap_or(""));
    if !shown.contains(&COMMAND) {
        let advice = format!("must show `{COMMAND}` on a line of its own");
        findings.push(Finding::new("README.md", advice));
    }
    let run = commands(tree.text(".ci/run").unwrap_or(""));
    if run != [COMMAND] {
        let advice = format!("must run exactly `{COMMAND}`, once; it runs {run:?}");
        findings.push(Finding::new(".ci/run", advice));
    }
    findings
}

/// Returns the test command of each line that runs tests, without comments.
fn commands(text: &str) -> Vec<&str> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.find("cargo test").map(|at| &line[at..])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(readme: &str, ci: &str, places: &[&str]) {
        let found = test_command(&Tree::of(&[("README.md", readme), (".ci/run", ci)]));
        let found: Vec<&str> = found.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(found, places, "for {readme:?} and {ci:?}");
    }

    #[test]
    fn another_command_is_found() {
        let (readme, ci) =
            ("```\ncargo test --workspace\n```\n", "step Tests cargo test --workspace");
        check(readme, ci, &[]);
        check("", ci, &["README.md"]);
        check("run `cargo test --workspace --all` often", ci, &["README.md"]);
        check(readme, "", &[".ci/run"]);
        check(readme, "# cargo test --workspace", &[".ci/run"]);
        check(readme, "cargo test --workspace --lib", &[".ci/run"]);
        check(readme, "cargo test --workspace || true", &[".ci/run"]);
        check(readme, "cargo test -p rules\ncargo test --workspace", &[".ci/run"]);
    }
}
