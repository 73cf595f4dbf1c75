//! Who may know whom. The table is the architecture; the manifests are checked against it.
//!
//! An arrow that is not here is not forbidden for ever: it is a decision, made by adding it to
//! [`ROOMS`] in the same change that needs it, where a reviewer sees it.

use std::collections::BTreeSet;

use super::manifest::packages;
use super::{Finding, Tree};

/// What a package may use besides our own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// It decides whether, never when: no I/O, no async, no clock, no entropy, however indirectly.
    Pure,
    /// As `Pure`, but generated types reach it through `proto`, which brings tonic along.
    PureWithProto,
    /// Anything.
    Anything,
}

/// A row: the package, what of ours it may know, and what else it may use.
pub type Room = (&'static str, &'static [&'static str], Outside);

use Outside::{Anything, Pure, PureWithProto};

/// Sorted by depth, not by name: every package knows only packages above it.
#[rustfmt::skip]
pub const ROOMS: &[Room] = &[
    ("primitives",     &[],                                                              Pure),
    ("merkle",         &["primitives"],                                                  Pure),
    // The three that never know each other.
    ("rules",          &["primitives"],                                                  Pure),
    ("history",        &["primitives", "rules"],                                         Pure),
    ("fairness",       &["primitives", "merkle"],                                        Pure),
    ("ledger",         &["primitives"],                                                  Pure),

    ("proto",          &[],                                                              Anything),
    ("eventlog",       &["primitives", "merkle"],                                        Anything),
    ("wire",           &["primitives", "merkle", "rules", "history", "fairness", "ledger",
                         "proto", "eventlog"],                                           Anything),
    // Of the log only its events' shape: what is audited are records, wherever they come from.
    ("audit",          &["primitives", "merkle", "rules", "fairness", "ledger",
                         "proto", "eventlog", "wire"],                                   PureWithProto),
    ("chassis",        &["primitives", "merkle", "proto", "wire"],                       Anything),
    ("notary",         &["primitives", "merkle", "proto", "eventlog", "wire", "chassis"], Anything),
    ("clocklog",       &["primitives", "eventlog", "wire", "chassis"],                   Anything),
    ("client",         &["primitives", "merkle", "rules", "fairness",
                         "proto", "wire", "chassis"],                                    Anything),
    ("testkit",        &["primitives", "eventlog", "chassis"],                           Anything),

    // Services meet over gRPC, never in the compiler.
    ("sabacc-dealer",  &["primitives", "merkle", "fairness",
                         "proto", "eventlog", "wire", "chassis", "notary", "clocklog"],  Anything),
    ("sabacc-wallet",  &["primitives", "merkle", "ledger",
                         "proto", "eventlog", "wire", "chassis", "notary", "clocklog"],  Anything),
    ("sabacc-table",   &["primitives", "merkle", "rules", "fairness",
                         "proto", "eventlog", "wire", "chassis", "notary", "clocklog",
                         "client"],                                                      Anything),
    ("sabacc-gateway", &["primitives", "merkle", "audit",
                         "proto", "eventlog", "wire", "chassis", "client"],              Anything),

    // A workspace of its own, beside the others.
    ("sabacc-fuzz",    &["primitives", "rules", "history"],                              Anything),

    // It knows a room by its public port alone.
    ("sabacc-attacks", &["primitives", "rules", "fairness",
                         "proto", "wire", "chassis", "client"],                          Anything),

    // The two that know everybody: the program that runs it all, and the tests of it all.
    ("sabacc",         EVERYBODY,                                                        Anything),
    ("sabacc-tests",   EVERYBODY,                                                        Anything),
];

const EVERYBODY: &[&str] = &[
    "primitives",
    "merkle",
    "rules",
    "history",
    "fairness",
    "ledger",
    "proto",
    "eventlog",
    "wire",
    "audit",
    "chassis",
    "notary",
    "clocklog",
    "client",
    "sabacc-dealer",
    "sabacc-wallet",
    "sabacc-table",
    "sabacc-gateway",
    "sabacc-attacks",
];

/// Every package has a row, and knows nobody of ours whom its row leaves out.
///
/// # Errors
/// A manifest cannot be read.
pub fn arrows(tree: &Tree, rooms: &[Room]) -> anyhow::Result<Vec<Finding>> {
    let packages = packages(tree)?;
    let ours: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let mut findings = Vec::new();
    for package in &packages {
        let place = format!("{}/Cargo.toml", package.folder);
        let Some((_, may, _)) = rooms.iter().find(|(name, _, _)| *name == package.name) else {
            let advice = format!("`{}` has no row in ROOMS: say whom it may know", package.name);
            findings.push(Finding::new(place, advice));
            continue;
        };
        for need in package.needs.iter().map(String::as_str) {
            if ours.contains(need) && !may.contains(&need) {
                let advice = format!(
                    "`{}` must not know `{need}`: move the line that needs it to a room that may, \
                     or add the arrow to ROOMS",
                    package.name
                );
                findings.push(Finding::new(place.clone(), advice));
            }
        }
    }
    Ok(findings)
}

/// The table itself: each row is a package of ours, and knows only packages in rows above it.
///
/// # Errors
/// A manifest cannot be read.
pub fn table(tree: &Tree, rooms: &[Room]) -> anyhow::Result<Vec<Finding>> {
    let packages = packages(tree)?;
    let mut findings = Vec::new();
    let mut above = BTreeSet::new();
    for (name, may, _) in rooms {
        let place = format!("ROOMS, row `{name}`");
        if !packages.iter().any(|package| package.name == *name) {
            findings.push(Finding::new(place.clone(), "no such package: remove the row"));
        }
        for other in may.iter().filter(|other| !above.contains(*other)) {
            let advice = format!("`{other}` has no row above: arrows would run in a circle");
            findings.push(Finding::new(place.clone(), advice));
        }
        above.insert(*name);
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: &[Room] = &[("low", &[], Pure), ("side", &[], Pure), ("high", &["low"], Anything)];

    fn tree(low: &str, high: &str) -> Tree {
        let manifest = |name: &str, needs: &str| {
            let needs: String =
                needs.split_whitespace().map(|need| format!("{need} = '1'\n")).collect();
            format!("[package]\nname = '{name}'\n[dependencies]\n{needs}")
        };
        Tree::of(&[
            ("crates/low/Cargo.toml", &manifest("low", low)),
            ("crates/side/Cargo.toml", &manifest("side", "")),
            ("crates/high/Cargo.toml", &manifest("high", high)),
        ])
    }

    fn check(findings: &[Finding], words: &[&str]) {
        assert_eq!(findings.len(), words.len(), "{findings:?}");
        for (finding, words) in findings.iter().zip(words) {
            assert!(finding.to_string().contains(words), "{finding} does not say: {words}");
        }
    }

    #[test]
    fn an_arrow_that_is_not_in_the_table_is_found() {
        check(&arrows(&tree("thiserror", "low tokio"), LAW).unwrap(), &[]);
        check(&arrows(&tree("high", ""), LAW).unwrap(), &["`low` must not know `high`"]);
        check(&arrows(&tree("side", ""), LAW).unwrap(), &["`low` must not know `side`"]);
        let two = &["`high` must not know `side`", "`low` must not know `high`"];
        check(&arrows(&tree("high", "low side"), LAW).unwrap(), two);
        check(&arrows(&tree("", ""), &LAW[..2]).unwrap(), &["`high` has no row"]);
    }

    #[test]
    fn a_table_that_lies_is_found() {
        check(&table(&tree("", ""), LAW).unwrap(), &[]);
        let gone = &[LAW[0], LAW[1], LAW[2], ("gone", &[], Pure)];
        check(&table(&tree("", ""), gone).unwrap(), &["no such package"]);
        let circle = &[("low", &["high"][..], Pure), LAW[1], LAW[2]];
        check(&table(&tree("", ""), circle).unwrap(), &["`high` has no row above"]);
    }
}
