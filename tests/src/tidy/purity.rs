//! Rule: indirect dependencies of pure packages.

use std::collections::{BTreeMap, BTreeSet};

use super::arrows::{Outside, Room};
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

/// Checks that no pure package reaches an impure one.
///
/// # Errors
/// A manifest or the lock file cannot be read.
pub fn purity(tree: &Tree, rooms: &[Room]) -> anyhow::Result<Vec<Finding>> {
    let packages = packages(tree)?;
    // For our packages the manifest counts, since the lock file includes dependencies of tests.
    let mut needs = locked(tree)?;
    needs.extend(packages.iter().map(|package| (package.name.clone(), package.needs.clone())));
    let mut findings = Vec::new();
    for package in &packages {
        let row = rooms.iter().find(|(name, _, _)| *name == package.name);
        let stop_at = match row.map(|(_, _, outside)| *outside) {
            Some(Outside::Pure) => None,
            Some(Outside::PureWithProto) => Some(rooms),
            Some(Outside::Anything) | None => continue,
        };
        for (reached, way) in ways(&package.needs, &needs, stop_at) {
            if IMPURE.contains(&reached.as_str()) {
                let place = format!("{}/Cargo.toml", package.folder);
                let advice = format!(
                    "`{}` is pure, but reaches `{reached}` ({way}): decide there, do it elsewhere",
                    package.name
                );
                findings.push(Finding::new(place, advice));
            }
        }
    }
    Ok(findings)
}

/// Returns everything reached from `first`, each with a path; not through the packages in
/// `stop_at`, which have rows of their own.
fn ways(
    first: &BTreeSet<String>,
    needs: &BTreeMap<String, BTreeSet<String>>,
    stop_at: Option<&[Room]>,
) -> BTreeMap<String, String> {
    let mut ways = BTreeMap::new();
    let mut open: Vec<(String, String)> =
        first.iter().map(|need| (need.clone(), need.clone())).collect();
    while let Some((name, way)) = open.pop() {
        if ways.contains_key(&name) {
            continue;
        }
        if !stop_at.is_some_and(|rooms| rooms.iter().any(|(room, _, _)| *room == name)) {
            for next in needs.get(&name).into_iter().flatten() {
                open.push((next.clone(), format!("{way} > {next}")));
            }
        }
        ways.insert(name, way);
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;
    use Outside::{Anything, Pure, PureWithProto};

    const LAW: &[Room] = &[("low", &[], Pure), ("high", &["low"], Anything)];

    fn check(law: &[Room], low_needs: &str, found: Option<&str>) {
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
        check(LAW, "tokio", Some("reaches `tokio` (tokio)"));
        check(LAW, "fine", Some("(fine > between > tokio)"));
        check(LAW, "high", Some("(high > tokio)"));
    }

    #[test]
    fn only_our_own_rooms_may_hide_it() {
        let law = &[("low", &[][..], PureWithProto), LAW[1]];
        check(law, "high", None);
        check(law, "tonic", Some("reaches `tonic`"));
        check(law, "fine", Some("(fine > between > tokio)"));
    }
}
