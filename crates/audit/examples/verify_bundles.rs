//! Measures how long it takes to verify bundles: 1,000 of them, or as many as are asked for.
//!
//! `cargo run --release -p audit --example verify_bundles -- tests/golden/bundles [COUNT [THREADS]]`
//!
//! The folder has `keys.txt` and the bundles, which are taken in turn until there are enough; only those
//! of hands that were played to their end and are proved are taken. Each is parsed, its proofs are
//! verified and its hand is audited, as `sabacc verify` does it.

#![expect(clippy::disallowed_methods, reason = "a program that measures itself")]
#![expect(clippy::print_stdout, reason = "a program that reports to its user")]

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use audit::bundle::{Bundle, TrustedKeys};
use audit::hand::{self, HandVerdict, Report};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().unwrap_or_else(|| "tests/golden/bundles".to_owned());
    let mut number = |usual| arguments.next().and_then(|it| it.parse().ok()).unwrap_or(usual);
    let (count, threads) = (number(1000), number(2));
    let folder = Path::new(&folder);
    let keys = std::fs::read_to_string(folder.join("keys.txt"))?;
    let keys = TrustedKeys::parse(&keys).map_err(std::io::Error::other)?;
    let files = proved_files(folder, &keys)?;
    if files.is_empty() {
        return Err(std::io::Error::other("the folder has no bundle of a proved hand"));
    }
    let sizes = files.iter().map(Vec::len);
    println!(
        "{} bundles of proved hands, {} to {} bytes",
        files.len(),
        sizes.clone().min().unwrap_or_default(),
        sizes.max().unwrap_or_default()
    );
    let started = Instant::now();
    let proved = verify(&files, &keys, count, threads);
    println!("{proved} of {count} proved in {:?} with {threads} threads", started.elapsed());
    Ok(())
}

fn proved_files(folder: &Path, keys: &TrustedKeys) -> std::io::Result<Vec<Vec<u8>>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "sabacc") {
            files.push(std::fs::read(path)?);
        }
    }
    files.retain(|bytes| is_proved(bytes, keys));
    Ok(files)
}

fn is_proved(bytes: &[u8], keys: &TrustedKeys) -> bool {
    let report = |bundle: Bundle| -> Report { hand::audit(&bundle.records(keys)) };
    Bundle::parse(bytes).map(report).is_ok_and(|it| it.verdict == HandVerdict::Proved)
}

/// Verifies so many bundles, the files in turn. Returns how many were proved.
fn verify(files: &[Vec<u8>], keys: &TrustedKeys, count: usize, threads: usize) -> usize {
    let (next, proved) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(file) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < count)
                {
                    if is_proved(&files[file % files.len()], keys) {
                        proved.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    proved.into_inner()
}
