//! Allowed dependencies between packages. The table is the architecture; the manifests are checked
//! against it.
//!
//! Dependencies of tests alone are no arrows: a test may use any package, and only tests use
//! `testkit` and `sabacc-attacks`, since no row names them.
//!
//! An arrow that is not here is not forbidden for ever: it is a decision, made by adding it to
//! [`ROWS`] in the same change that needs it, where a reviewer sees it.

use std::collections::BTreeSet;

use super::manifest::packages;
use super::{Finding, Tree};

/// Rule about what a package reaches besides the arrows of its row, however indirectly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// No I/O, no async, no clock, no entropy: it decides whether, never when.
    Pure,
    /// None of these packages, ours or not.
    Without(&'static [&'static str]),
    Anything,
}

/// Row of the table: a package, the packages of ours that it uses, and its rule about the outside.
pub type Row = (&'static str, &'static [&'static str], Outside);

use Outside::{Anything, Pure, Without};

/// Parts of a server that a client, an auditor and a parser never link.
const SERVER: &[&str] = &[
    "sqlx",
    "opentelemetry",
    "tracing-subscriber",
    "object_store",
    "eventlog",
    "chassis",
    "postgres-launcher",
];

/// The arrows between packages. Sorted by depth: every package uses only packages above it.
#[rustfmt::skip]
pub const ROWS: &[Row] = &[
    ("primitives",     &[],                                                              Pure),
    ("merkle",         &[],                                                              Pure),
    // The three that never know each other.
    ("rules",          &["primitives"],                                                  Pure),
    ("fairness",       &["primitives", "merkle"],                                        Pure),
    ("battery",        &["primitives", "fairness"],                                      Pure),
    ("ledger",         &["primitives"],                                                  Pure),
    ("history",        &["primitives", "rules"],                                         Pure),
    ("eventlog-core",  &["primitives", "merkle"],                                        Pure),

    ("system",         &["primitives"],                                                  Without(SERVER)),
    ("transport",      &["system"],                                                      Without(SERVER)),
    ("postgres-launcher", &["system"],                                                   Anything),
    ("proto",          &[],                                                              Without(SERVER)),
    ("wire",           &["primitives", "rules", "history", "fairness", "ledger",
                         "eventlog-core", "proto"],                                      Without(SERVER)),
    ("audit",          &["primitives", "merkle", "rules", "fairness", "ledger", "history",
                         "eventlog-core", "proto", "wire"],                              Without(AUDITED)),
    ("client",         &["primitives", "merkle", "rules", "fairness",
                         "system", "transport", "proto", "wire"],                        Without(SERVER)),
    ("bots",           &["primitives", "rules", "proto", "wire", "client"],              Without(SERVER)),
    ("terminal",       &["primitives", "proto", "wire", "client"],                       Without(SERVER)),

    ("eventlog",       &["primitives", "merkle", "eventlog-core"],                       Without(&["opentelemetry", "chassis", "wire", "proto"])),
    ("chassis",        &["primitives", "merkle", "system", "transport"],                 Without(&["sqlx", "eventlog", "wire", "proto"])),
    ("archive-storage", &["eventlog", "chassis"],                                        Anything),
    ("notary",         &["merkle", "system", "proto", "eventlog", "wire", "chassis"],    Anything),
    ("clocklog",       &["primitives", "system", "eventlog", "wire"],                    Without(&["opentelemetry", "chassis"])),
    ("keyring",        &["eventlog", "chassis"],                                         Anything),
    ("runner",         &["system", "proto", "eventlog", "chassis", "archive-storage", "notary"], Anything),
    ("testkit",        &["postgres-launcher"],                                           Anything),

    // Services meet over gRPC, never in the compiler.
    ("sabacc-dealer",  &["primitives", "fairness", "battery",
                         "system", "proto", "eventlog", "wire", "chassis", "clocklog", "keyring",
                         "runner"],                                                      Anything),
    ("sabacc-wallet",  &["primitives", "ledger",
                         "system", "proto", "eventlog", "wire", "chassis", "clocklog", "runner"], Anything),
    ("sabacc-table",   &["primitives", "rules", "fairness", "system", "transport",
                         "proto", "eventlog", "wire", "chassis", "notary", "clocklog", "keyring",
                         "runner"],                                                      Anything),
    // It owns nothing: no database is near it.
    ("sabacc-gateway", &["primitives", "history", "audit", "eventlog-core", "system",
                         "transport", "proto", "wire", "chassis"],                                    Without(&["sqlx", "object_store", "eventlog"])),

    // For `sabacc` alone: of the services it starts a wallet, to measure it.
    ("bench",          &["primitives", "rules", "system", "transport", "postgres-launcher",
                         "proto", "wire", "client", "bots", "eventlog", "chassis", "notary",
                         "sabacc-wallet"],                                               Anything),

    ("sabacc-fuzz",    &["primitives", "rules", "history", "fairness", "merkle", "proto", "audit"], Anything),
    // A separate workspace.
    ("sabacc-fuzz-bolero", &[],                                                          Anything),

    // It knows a room by its public port alone.
    ("sabacc-attacks", &["primitives", "rules", "fairness", "system", "transport",
                         "proto", "wire", "chassis", "client", "bots"],                  Anything),

    // The program that runs it all.
    ("sabacc",         &["primitives", "merkle", "rules", "history", "battery", "system",
                         "transport", "postgres-launcher", "proto", "wire", "audit",
                         "client", "bots", "terminal", "bench", "eventlog", "chassis", "archive-storage", "notary",
                         "keyring",
                         "sabacc-dealer", "sabacc-wallet", "sabacc-table",
                         "sabacc-gateway"],                                              Anything),
    ("sabacc-tests",   &[],                                                              Anything),
];

/// As [`SERVER`], and nothing that opens, draws or asks anything by itself.
const AUDITED: &[&str] = &[
    "sqlx",
    "opentelemetry",
    "tracing-subscriber",
    "object_store",
    "eventlog",
    "chassis",
    "postgres-launcher",
    "system",
    "transport",
];

/// Every package has a row, and uses exactly the packages of ours that its row names.
///
/// # Errors
/// A manifest cannot be read.
pub fn arrows(tree: &Tree, rows: &[Row]) -> anyhow::Result<Vec<Finding>> {
    let packages = packages(tree)?;
    let ours: BTreeSet<&str> = packages.iter().map(|package| package.name.as_str()).collect();
    let mut findings = Vec::new();
    for package in &packages {
        let place = format!("{}/Cargo.toml", package.folder);
        let Some((_, may, _)) = rows.iter().find(|(name, _, _)| *name == package.name) else {
            let advice = format!("`{}` has no row in ROWS: say whom it may know", package.name);
            findings.push(Finding::new(place, advice));
            continue;
        };
        for need in package.needs.iter().map(String::as_str) {
            if ours.contains(need) && !may.contains(&need) {
                let advice = format!(
                    "`{}` must not know `{need}`: move the line that needs it to a package that may, \
                     or add the arrow to ROWS",
                    package.name
                );
                findings.push(Finding::new(place.clone(), advice));
            }
        }
        for unused in may.iter().filter(|other| !package.needs.contains(**other)) {
            let advice = format!("`{}` does not use `{unused}`: remove the arrow", package.name);
            findings.push(Finding::new(place.clone(), advice));
        }
    }
    Ok(findings)
}

/// Checks the table: each row is a package of ours, and names only packages in rows above it.
///
/// # Errors
/// A manifest cannot be read.
pub fn table(tree: &Tree, rows: &[Row]) -> anyhow::Result<Vec<Finding>> {
    let packages = packages(tree)?;
    let mut findings = Vec::new();
    let mut above = BTreeSet::new();
    for (name, may, _) in rows {
        let place = format!("ROWS, row `{name}`");
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

    const LAW: &[Row] = &[("low", &[], Pure), ("side", &[], Pure), ("high", &["low"], Anything)];

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
        check(&arrows(&tree("high", "low"), LAW).unwrap(), &["`low` must not know `high`"]);
        check(&arrows(&tree("side", "low"), LAW).unwrap(), &["`low` must not know `side`"]);
        let two = &["`high` must not know `side`", "`low` must not know `high`"];
        check(&arrows(&tree("high", "low side"), LAW).unwrap(), two);
        check(&arrows(&tree("", ""), &LAW[..2]).unwrap(), &["`high` has no row"]);
    }

    #[test]
    fn an_arrow_that_nobody_uses_is_found() {
        check(&arrows(&tree("", ""), LAW).unwrap(), &["`high` does not use `low`"]);
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
