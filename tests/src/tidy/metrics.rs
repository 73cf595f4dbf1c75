//! Rule: programs report every metric that an alarm or a dashboard of `deploy/` asks for, and every
//! metric is asked for.

use std::collections::BTreeSet;

use super::{Finding, Tree};

/// Beginning of a call that reports a metric.
const REPORT: &str = "metrics::gauge(\"sabacc.";
/// Files that ask for metrics.
const ASKING: [&str; 2] = ["deploy/alerts.yaml", "deploy/dashboards/"];
const PREFIX: &str = "sabacc_";

/// Finds metrics that nobody reports, and metrics that nobody asks for.
#[must_use]
pub fn metrics(tree: &Tree) -> Vec<Finding> {
    let sources = tree.rust().filter(|(path, _)| path.contains("/src/"));
    let reported: BTreeSet<String> = sources.flat_map(|(_, text)| reported(text)).collect();
    let (mut findings, mut asked) = (Vec::new(), BTreeSet::new());
    for (path, bytes) in tree.files() {
        if !ASKING.iter().any(|asking| path.starts_with(asking)) {
            continue;
        }
        for (at, line) in String::from_utf8_lossy(bytes).lines().enumerate() {
            for metric in named(line) {
                if !reported.contains(metric) {
                    let advice = format!("no program reports {metric}: is it misspelt, or gone?");
                    findings.push(Finding::new(format!("{path}:{}", at + 1), advice));
                }
                asked.insert(metric.to_owned());
            }
        }
    }
    findings.extend(reported.difference(&asked).map(|metric| {
        Finding::new("deploy/", format!("no alarm and no dashboard asks for {metric}: add it"))
    }));
    findings
}

/// Metrics that a source reports, by the names that Prometheus gives them.
fn reported(text: &str) -> impl Iterator<Item = String> {
    text.match_indices(REPORT).filter_map(|(at, _)| {
        let name = text[at..].split('"').nth(1)?;
        Some(name.replace('.', "_"))
    })
}

fn named(line: &str) -> impl Iterator<Item = &str> {
    let fits = |letter: char| letter.is_ascii_lowercase() || letter == '_';
    line.match_indices(PREFIX).map(move |(at, _)| {
        let end = line[at..].find(|letter| !fits(letter)).map_or(line.len(), |length| at + length);
        &line[at..end]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(alerts: &str, wrong: &[&str]) {
        let source = "metrics::gauge(\"sabacc.a.level\", 1); metrics::gauge(\"sabacc.b\", 1);";
        let files = [("crates/a/src/lib.rs", source), ("deploy/alerts.yaml", alerts)];
        let found = metrics(&Tree::of(&files));
        assert_eq!(found.len(), wrong.len(), "{found:?}");
        for (finding, wrong) in found.iter().zip(wrong) {
            assert!(finding.advice.contains(wrong), "{finding} is not about {wrong}");
        }
    }

    #[test]
    fn a_metric_that_is_not_reported_or_not_asked_for_is_found() {
        check("max(sabacc_a_level) > sabacc_b", &[]);
        check("sabacc_a_level sabacc_b sabacc_c", &["sabacc_c"]);
        check("max(sabacc_a_levels)", &["sabacc_a_levels", "sabacc_a_level", "sabacc_b"]);
    }
}
