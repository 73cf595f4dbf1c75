//! Packages that a package reaches, however long the way, against the rule of its row.

use std::collections::{BTreeMap, BTreeSet};

use super::arrows::{Outside, Row};
use super::manifest::{locked, packages};
use super::{Finding, Tree};

/// Packages with async, a clock, entropy or I/O.
const IMPURE: &[&str] = &[
    "async-std",
    "axum",
    "chrono",
    "futures-util",
    "getrandom",
    "hyper",
    "mio",
    "object_store",
    "rand",
    "reqwest",
    "rustix",
    "rustls",
    "smol",
    "socket2",
    "sqlx",
    "time",
    "tokio",
    "tonic",
    "tower",
    "tracing-subscriber",
    "uuid",
];

/// No package reaches what the rule of its row excludes. Of other people's packages `Cargo.lock` is
/// asked, which lists what any feature of them needs.
///
/// # Errors
/// A manifest or the lock file cannot be read.
pub fn purity(tree: &Tree, rows: &[Row]) -> anyhow::Result<Vec<Finding>> {
    let packages = packages(tree)?;
    // For our packages the manifest counts, since the lock file includes dependencies of tests.
    let mut needs = locked(tree)?;
    needs.extend(packages.iter().map(|package| (package.name.clone(), package.needs.clone())));
    let mut findings = Vec::new();
    for package in &packages {
        let row = rows.iter().find(|(name, _, _)| *name == package.name);
        let Some((_, _, outside)) = row else { continue };
        let excluded = excluded(*outside);
        for (reached, way) in ways(&package.needs, &needs) {
            if excluded.contains(&reached.as_str()) {
                let place = format!("{}/Cargo.toml", package.folder);
                let advice = format!(
                    "`{}` must not reach `{reached}` ({way}): do it in another package",
                    package.name
                );
                findings.push(Finding::new(place, advice));
            }
        }
    }
    Ok(findings)
}

/// Names of the packages that a row excludes.
#[must_use]
pub fn excluded(outside: Outside) -> &'static [&'static str] {
    match outside {
        Outside::Pure => IMPURE,
        Outside::Without(excluded) => excluded,
        Outside::Anything => &[],
    }
}

/// Everything reached from `first`, each with a way there.
fn ways(
    first: &BTreeSet<String>,
    needs: &BTreeMap<String, BTreeSet<String>>,
) -> BTreeMap<String, String> {
    let mut ways = BTreeMap::new();
    let mut open: Vec<(String, String)> =
        first.iter().map(|need| (need.clone(), need.clone())).collect();
    while let Some((name, way)) = open.pop() {
        if ways.contains_key(&name) {
            continue;
        }
        for next in needs.get(&name).into_iter().flatten() {
            open.push((next.clone(), format!("{way} > {next}")));
        }
        ways.insert(name, way);
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outside::{Anything, Pure, Without};

    const LAW: &[Row] = &[("low", &[], Pure), ("high", &["low"], Anything)];

    fn check(law: &[Row], low_needs: &str, found: Option<&str>) {
        let low = format!("[package]\nname = 'low'\n[dependencies]\n{low_needs} = '1'\n");
        let tree = Tree::of(&[
            ("crates/low/Cargo.toml", &low),
            ("crates/high/Cargo.toml", "[package]\nname = 'high'\n[dependencies]\ntokio = '1'\n"),
            (
                "Cargo.lock",
                "[[package]]\nname = 'fine'\ndependencies = ['between']\n\
                 [[package]]\nname = 'between'\ndependencies = ['tokio']\n",
            ),
        ]);
        let findings = purity(&tree, law).unwrap();
        assert_eq!(findings.len(), usize::from(found.is_some()), "{findings:?}");
        let says = |(finding, words): (&Finding, &str)| finding.advice.contains(words);
        assert!(findings.iter().zip(found).all(says), "{findings:?}");
    }

    #[test]
    fn impurity_is_found_at_any_distance() {
        check(LAW, "thiserror", None);
        check(LAW, "tokio", Some("reach `tokio` (tokio)"));
        check(LAW, "fine", Some("(fine > between > tokio)"));
        check(LAW, "high", Some("(high > tokio)"));
    }

    #[test]
    fn what_a_row_excludes_is_found_at_any_distance() {
        let law = &[("low", &[][..], Without(&["tokio"])), LAW[1]];
        check(law, "thiserror", None);
        check(law, "fine", Some("(fine > between > tokio)"));
        check(law, "high", Some("(high > tokio)"));
        let other = &[("low", &[][..], Without(&["sqlx"])), LAW[1]];
        check(other, "fine", None);
    }
}
