//! The golden bundles: honest hands of every variant and kind, and for each check hands in which
//! exactly that check fails. Every verifier of bundles, in any language, must give each bundle the
//! verdicts of the report beside it; its words may differ.
//!
//! `keys.txt` has the keys to trust. `refused/` has files that are no bundles, `formats/` a bundle of
//! each format that was released.
//!
//! The files are made from fixed numbers. `SABACC_WRITE_BUNDLES=1 cargo test -p audit bundles`
//! writes them again after a change; without the variable they must equal what is made.

mod broken;
mod honest;
pub(super) mod hostile;
mod refused;
mod several;

use std::path::{Path, PathBuf};

use crate::bundle::{Bundle, FIRST_FORMAT, FORMAT, TrustedKeys};
use crate::hand::{self, Check, HandVerdict, Report};
use crate::tests::fixture::trusted;

/// Upper bound of an ordinary hand's bundle, in bytes.
const BOUND: usize = 64 * 1024;

/// One golden bundle.
struct Golden {
    name: String,
    bundle: Bundle,
    /// The checks that fail. The others pass, or cannot be made because of them.
    fails: Vec<Check>,
    verdict: HandVerdict,
    /// Whether every check could be made.
    is_complete: bool,
}

impl Golden {
    /// The same bundle with another verdict than that of its checks alone.
    fn with_verdict(self, verdict: HandVerdict) -> Golden {
        Golden { verdict, ..self }
    }

    /// The same bundle, in which some checks cannot be made.
    fn incomplete(self) -> Golden {
        Golden { is_complete: false, ..self }
    }
}

fn golden(name: impl Into<String>, bundle: Bundle, fails: &[Check]) -> Golden {
    let verdict = if fails.is_empty() { HandVerdict::Proved } else { HandVerdict::Failed };
    Golden { name: name.into(), bundle, fails: fails.to_vec(), verdict, is_complete: true }
}

fn all() -> Vec<Golden> {
    let mut all = honest::all();
    all.extend(broken::all());
    all
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/bundles")
}

/// Compares a file with its expected content, or writes it.
fn file(name: &str, made: &[u8]) {
    let path = folder().join(name);
    #[expect(clippy::disallowed_methods, reason = "a test's own switch")]
    let write = std::env::var_os("SABACC_WRITE_BUNDLES").is_some();
    if write {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, made).unwrap();
    }
    let there = std::fs::read(&path).unwrap_or_default();
    assert!(
        there == made,
        "{name} is not what is made today: SABACC_WRITE_BUNDLES=1 writes it, if that is meant"
    );
}

fn keys() -> String {
    let keys = trusted();
    let lines = keys.keys().map(|key| format!("{key}\n"));
    "# Whom the golden bundles are trusted by: their table, their dealer, their wallet.\n"
        .to_owned()
        + &lines.collect::<String>()
}

/// Formats a report with one line for each check.
fn json(report: &Report) -> String {
    let checks = report.checks.0.iter().map(|checked| serde_json::to_string(checked).unwrap());
    let checks: Vec<String> = checks.map(|line| format!("    {line}")).collect();
    let (id, verdict) = (&report.hand_id, report.verdict.name());
    let checks = checks.join(",\n");
    format!(
        "{{\n  \"hand_id\": \"{id}\",\n  \"verdict\": \"{verdict}\",\n  \"checks\": [\n{checks}\n  ]\n}}\n"
    )
}

#[test]
fn the_files_are_what_is_made_and_each_breaks_what_its_name_says() {
    file("keys.txt", keys().as_bytes());
    let trusted = TrustedKeys::parse(&keys()).unwrap();
    let (mut names, mut wrong) = (Vec::new(), Vec::new());
    for Golden { name, bundle, fails, verdict, is_complete } in all() {
        let bytes = bundle.encode();
        let read = Bundle::parse(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(read.encode(), bytes, "{name}");
        let report = hand::audit(&read.records(&trusted));
        let failed: Vec<Check> = report.checks.failed().collect();
        let whole = report.passed() == (fails.is_empty() && is_complete);
        if failed != fails || report.verdict != verdict || !whole {
            wrong.push(format!("{name}: {}", json(&report)));
        }
        println!("{name}: {} bytes, {} records", bytes.len(), count(&read));
        assert!(bytes.len() < BOUND, "{name}: {} bytes", bytes.len());
        file(&format!("{name}.sabacc"), &bytes);
        file(&format!("{name}.json"), json(&report).as_bytes());
        names.push(name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (name, bytes) in refused::all() {
        assert!(Bundle::parse(&bytes).is_err(), "{name}");
        file(&format!("refused/{name}.sabacc"), &bytes);
    }
    names.sort();
    let mut there: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str().map(str::to_owned))
        .filter_map(|name| name.strip_suffix(".sabacc").map(str::to_owned))
        .collect();
    there.sort();
    assert_eq!(there, names, "no file is left that is not made any more");
}

/// Of every format that was released a bundle is kept, as it was written, and is proved today.
#[test]
fn every_released_format_is_read() {
    let written = honest::all().swap_remove(0);
    file(&format!("formats/{FORMAT}.sabacc"), &written.bundle.encode());
    let trusted = TrustedKeys::parse(&keys()).unwrap();
    for format in FIRST_FORMAT..=FORMAT {
        let path = folder().join(format!("formats/{format}.sabacc"));
        let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("format {format}: {error}"));
        let bundle = Bundle::parse(&bytes).unwrap_or_else(|error| panic!("{format}: {error}"));
        let report = hand::audit(&bundle.records(&trusted));
        assert_eq!(report.verdict, HandVerdict::Proved, "format {format}: {}", json(&report));
    }
    let kept = std::fs::read_dir(folder().join("formats")).unwrap().count();
    assert_eq!(kept, usize::try_from(FORMAT - FIRST_FORMAT + 1).unwrap(), "one of each");
}

fn count(bundle: &Bundle) -> usize {
    bundle.logs().iter().map(|(_, log)| log.records.len()).sum()
}

/// Each check has a bundle in which no other check fails.
#[test]
fn every_check_is_broken_by_itself() {
    let broken = broken::all();
    for check in Check::ALL {
        assert!(broken.iter().any(|golden| golden.fails == [check]), "{check:?}");
    }
}

/// Changing any byte of a bundle makes it no bundle.
#[test]
fn any_flipped_byte_is_refused() {
    let smallest = all().into_iter().map(|golden| golden.bundle.encode()).min_by_key(Vec::len);
    let bytes = smallest.unwrap();
    for at in 0..bytes.len() {
        for bits in [1, 0x80] {
            let mut flipped = bytes.clone();
            flipped[at] ^= bits;
            assert!(Bundle::parse(&flipped).is_err(), "byte {at} ^ {bits}");
        }
    }
}
