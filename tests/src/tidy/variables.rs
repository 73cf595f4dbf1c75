//! Rule: programs read every variable that `deploy/` sets.

use std::collections::BTreeSet;

use super::{Finding, Tree};

const PREFIX: &str = "SABACC_";

/// Finds variables in `deploy/` that no source names. A source names a variable directly, or by its
/// setting: `"limits.streams"` is `SABACC_LIMITS_STREAMS`.
#[must_use]
pub fn variables(tree: &Tree) -> Vec<Finding> {
    let sources: Vec<&str> = tree.rust().map(|(_, text)| text).collect();
    let known: BTreeSet<String> = sources.iter().flat_map(|text| quoted(text)).map(name).collect();
    let mut findings = Vec::new();
    for (path, bytes) in tree.files().filter(|(path, _)| path.starts_with("deploy/")) {
        for (at, line) in String::from_utf8_lossy(bytes).lines().enumerate() {
            for variable in named(line).filter(|variable| !known.contains(*variable)) {
                let advice = format!("no program reads {variable}: is it misspelt, or gone?");
                findings.push(Finding::new(format!("{path}:{}", at + 1), advice));
            }
        }
    }
    findings
}

/// Returns quoted texts that may be the name of a setting or a variable.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.');
    text.split('"').filter(move |part| !part.is_empty() && part.chars().all(fits))
}

fn name(text: &str) -> String {
    if text.starts_with(PREFIX) {
        return text.to_owned();
    }
    format!("{PREFIX}{}", text.replace('.', "_").to_ascii_uppercase())
}

fn named(line: &str) -> impl Iterator<Item = &str> {
    let fits = |letter: char| letter.is_ascii_uppercase() || letter == '_';
    line.match_indices(PREFIX).map(move |(at, _)| {
        let end = line[at..].find(|letter| !fits(letter)).map_or(line.len(), |length| at + length);
        &line[at..end]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(deployed: &str, unknown: &[&str]) {
        let source =
            r#"read("limits.streams"); read("listen"); var("SABACC_CONFIG"); "no setting""#;
        let tree = Tree::of(&[("crates/a/src/lib.rs", source), ("deploy/a.yaml", deployed)]);
        let found = variables(&tree);
        assert_eq!(found.len(), unknown.len(), "{found:?}");
        for (finding, unknown) in found.iter().zip(unknown) {
            assert!(finding.advice.contains(unknown), "{finding} is not about {unknown}");
        }
    }

    #[test]
    fn a_variable_that_nobody_reads_is_found() {
        check("SABACC_LISTEN: a\nSABACC_LIMITS_STREAMS: 3\n`SABACC_CONFIG`", &[]);
        check("SABACC_LISTENS: a", &["SABACC_LISTENS"]);
        check("SABACC_LIMITS_STREAM=3 SABACC_LISTEN=a SABACC_X=", &["_STREAM", "SABACC_X"]);
        check("SABACC_NO_SETTING=1", &["SABACC_NO_SETTING"]);
    }
}
