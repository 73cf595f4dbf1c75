//! Audits of several bundles in the light of each other.
//!
//! Specification: fairness/SPEC.md §15.3.

use crate::Verdict;
use crate::bundle::{Bundle, Contradiction, Histories};
use crate::hand::{Check, Report};

/// Reports of bundles that are given together, in the order in which they were added.
#[derive(Debug, Default)]
pub struct JointAudit {
    histories: Histories,
    reports: Vec<(String, Report)>,
}

impl JointAudit {
    /// Begins with what the reader has seen before.
    #[must_use]
    pub fn new(seen: Histories) -> JointAudit {
        JointAudit { histories: seen, reports: Vec::new() }
    }

    /// Adds a bundle with its report. What is not proved to be in a log convicts no log; what is
    /// proved and contradicted by another source is failed, and so is that source.
    pub fn add(&mut self, source: &str, bundle: &Bundle, mut report: Report) {
        let contradictions =
            if is_in_its_logs(&report) { self.histories.add(source, bundle) } else { Vec::new() };
        for Contradiction { with, what } in &contradictions {
            report.contradict(&format!("{with} contradicts it: {what}"));
            for (_, other) in self.reports.iter_mut().filter(|(other, _)| other == with) {
                other.contradict(&format!("{source} contradicts it: {what}"));
            }
        }
        self.reports.push((source.to_owned(), report));
    }

    /// Returns the reports.
    #[must_use]
    pub fn into_reports(self) -> Vec<Report> {
        self.reports.into_iter().map(|(_, report)| report).collect()
    }
}

/// Whether a report says that its records stand in logs that the reader trusts.
#[must_use]
pub fn is_in_its_logs(report: &Report) -> bool {
    let passed = |check| report.checks.of(check) == Some(&Verdict::Passed);
    passed(Check::Keys) && passed(Check::Inclusion)
}
