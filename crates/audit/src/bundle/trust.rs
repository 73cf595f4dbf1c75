//! Keys that a reader trusts, and verification of a bundle's proofs with them.
//!
//! Specification: fairness/SPEC.md §10.1.

use merkle::note::{KeyError, VerifierKey};
use merkle::{Checkpoint, leaf_hash, verify_records};

use super::{Bundle, ProvedLog};
use crate::hand::Proofs;
use crate::report::{CheckError, ensure, failed, missing};

/// Public keys that a reader trusts: of logs, and of witnesses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedKeys(Vec<VerifierKey>);

/// Error of a line that is neither a key nor a comment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the keys is neither a key nor a comment: {why}")]
pub struct ParseKeysError {
    pub line: usize,
    pub why: KeyError,
}

impl TrustedKeys {
    /// Returns an empty set of keys.
    #[must_use]
    pub fn none() -> TrustedKeys {
        TrustedKeys::default()
    }

    #[must_use]
    pub fn new(keys: Vec<VerifierKey>) -> TrustedKeys {
        TrustedKeys(keys)
    }

    /// Parses a text with one C2SP verifier key a line. Empty lines and lines that begin with `#`
    /// are skipped; white space around a key is ignored.
    ///
    /// # Errors
    /// The first line that is none of these.
    pub fn parse(text: &str) -> Result<TrustedKeys, ParseKeysError> {
        let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        let keys = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let parse =
            |(line, key)| VerifierKey::parse(key).map_err(|why| ParseKeysError { line, why });
        keys.map(parse).collect::<Result<_, _>>().map(TrustedKeys)
    }

    #[must_use]
    pub fn keys(&self) -> &[VerifierKey] {
        &self.0
    }
}

/// Returns a log's public key, or `None` if the text is no key.
pub(super) fn public_key(key: &str) -> Option<[u8; 32]> {
    VerifierKey::parse(key).ok().map(|key| *key.bytes())
}

pub(super) fn check_proofs(bundle: &Bundle, trusted: &TrustedKeys) -> Proofs {
    let dealer = VerifierKey::parse(&bundle.dealer.key).ok();
    Proofs {
        keys: check_keys(bundle, trusted),
        inclusion: bundle
            .logs()
            .into_iter()
            .try_for_each(|(name, log)| check_inclusion(name, log).map(|_| ())),
        dealer_origin: dealer.map(|key| key.name().to_string()),
    }
}

/// Checks that each log's key is trusted, and that no two logs have the same key: whoever may write
/// one of them could otherwise write another log's part as well.
fn check_keys(bundle: &Bundle, trusted: &TrustedKeys) -> Result<(), CheckError> {
    if trusted.0.is_empty() {
        return Err(missing("no keys were given to trust"));
    }
    for (name, log) in bundle.logs() {
        let told = VerifierKey::parse(&log.key).is_ok_and(|key| trusted.0.contains(&key));
        ensure(told, || {
            format!("the key of the {name}'s log, {}, is not among the trusted", log.key)
        })?;
    }
    let (table, dealer, wallet) = (&bundle.table.key, &bundle.dealer.key, &bundle.wallet.key);
    ensure(table != dealer && dealer != wallet && wallet != table, || {
        "two of the logs have the same key".to_owned()
    })
}

fn check_trusted(name: &str, log: &ProvedLog, trusted: &TrustedKeys) -> Result<(), CheckError> {
    let told = VerifierKey::parse(&log.key).is_ok_and(|key| trusted.0.contains(&key));
    ensure(told, || format!("the key of the {name}'s log, {}, is not among the trusted", log.key))
}

/// Checks the records of one log outside a bundle: its key is trusted, and they are in its tree.
/// Returns the number of records in the tree.
pub(crate) fn proved_log(
    name: &str,
    log: &ProvedLog,
    trusted: &TrustedKeys,
) -> Result<u64, CheckError> {
    check_trusted(name, log, trusted)?;
    check_inclusion(name, log)
}

/// Checks that the records are in the tree that the log's key has signed. Returns the tree's size.
fn check_inclusion(name: &str, log: &ProvedLog) -> Result<u64, CheckError> {
    let ProvedLog { key, checkpoint, records, proof } = log;
    let wrong = |why: String| failed(format!("the {name}'s log: {why}"));
    let key = VerifierKey::parse(key).map_err(|error| wrong(error.to_string()))?;
    ensure(key.is_log(), || format!("the {name}'s log: its key is a witness's"))?;
    let opened = Checkpoint::open(checkpoint.as_bytes(), &key, &[])
        .map_err(|error| wrong(error.to_string()))?;
    let leaf = |event: &eventlog_core::Event| (event.position.0, leaf_hash(&event.record()));
    let leaves: Vec<_> = records.iter().map(leaf).collect();
    let head = opened.checkpoint.head();
    verify_records(&leaves, head.size, proof, &head.root)
        .map_err(|error| wrong(format!("its records are not in its tree: {error}")))?;
    Ok(head.size)
}
