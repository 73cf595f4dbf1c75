//! Whom a reader trusts, and what a bundle's proofs are worth to him.

use merkle::note::{KeyError, VerifierKey};
use merkle::{Checkpoint, leaf_hash, verify_records};

use super::{Bundle, ProvedLog};
use crate::hand::Proofs;
use crate::report::{Trouble, failed, hold, missing};

/// The public keys that a reader was told: of logs, and of witnesses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trusted(Vec<VerifierKey>);

/// A line of a file of keys is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the keys is neither a key nor a comment: {why}")]
pub struct BadKeys {
    pub line: usize,
    pub why: KeyError,
}

impl Trusted {
    /// Nobody.
    #[must_use]
    pub fn nobody() -> Trusted {
        Trusted::default()
    }

    #[must_use]
    pub fn new(keys: Vec<VerifierKey>) -> Trusted {
        Trusted(keys)
    }

    /// A text with one C2SP verifier key a line. Empty lines and what begins with `#` are passed
    /// over; white space around a key is not part of it.
    ///
    /// # Errors
    /// The first line that is none of these.
    pub fn parse(text: &str) -> Result<Trusted, BadKeys> {
        let lines = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim()));
        let keys = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        let parse = |(line, key)| VerifierKey::parse(key).map_err(|why| BadKeys { line, why });
        keys.map(parse).collect::<Result<_, _>>().map(Trusted)
    }

    #[must_use]
    pub fn keys(&self) -> &[VerifierKey] {
        &self.0
    }
}

/// A log's public key; none where the text is none.
pub(super) fn public(key: &str) -> Option<[u8; 32]> {
    VerifierKey::parse(key).ok().map(|key| *key.bytes())
}

pub(super) fn proofs(bundle: &Bundle, trusted: &Trusted) -> Proofs {
    let dealer = VerifierKey::parse(&bundle.dealer.key).ok();
    Proofs {
        keys: keys(bundle, trusted),
        inclusion: bundle
            .logs()
            .into_iter()
            .try_for_each(|(name, log)| inclusion(name, log).map(|_| ())),
        dealer_origin: dealer.map(|key| key.name().to_string()),
    }
}

/// Each log's key is one that the reader was told, and no two logs have the same: whoever may write
/// one of them could else write another's part as well.
fn keys(bundle: &Bundle, trusted: &Trusted) -> Result<(), Trouble> {
    if trusted.0.is_empty() {
        return Err(missing("no keys were given to trust"));
    }
    for (name, log) in bundle.logs() {
        let told = VerifierKey::parse(&log.key).is_ok_and(|key| trusted.0.contains(&key));
        hold(told, || {
            format!("the key of the {name}'s log, {}, is not among the trusted", log.key)
        })?;
    }
    let (table, dealer, wallet) = (&bundle.table.key, &bundle.dealer.key, &bundle.wallet.key);
    hold(table != dealer && dealer != wallet && wallet != table, || {
        "two of the logs have the same key".to_owned()
    })
}

fn told(name: &str, log: &ProvedLog, trusted: &Trusted) -> Result<(), Trouble> {
    let told = VerifierKey::parse(&log.key).is_ok_and(|key| trusted.0.contains(&key));
    hold(told, || format!("the key of the {name}'s log, {}, is not among the trusted", log.key))
}

/// Records of one log by themselves: its key is trusted, and they are in its tree. Returns how many
/// records the tree has.
pub(crate) fn proved_log(name: &str, log: &ProvedLog, trusted: &Trusted) -> Result<u64, Trouble> {
    told(name, log, trusted)?;
    inclusion(name, log)
}

/// The records are in the tree that the log's key has signed. Returns its size.
fn inclusion(name: &str, log: &ProvedLog) -> Result<u64, Trouble> {
    let ProvedLog { key, checkpoint, records, proof } = log;
    let wrong = |why: String| failed(format!("the {name}'s log: {why}"));
    let key = VerifierKey::parse(key).map_err(|error| wrong(error.to_string()))?;
    hold(key.is_log(), || format!("the {name}'s log: its key is a witness's"))?;
    let opened = Checkpoint::open(checkpoint.as_bytes(), &key, &[])
        .map_err(|error| wrong(error.to_string()))?;
    let leaf = |event: &eventlog_core::Event| (event.position.0, leaf_hash(&event.record()));
    let leaves: Vec<_> = records.iter().map(leaf).collect();
    let head = opened.checkpoint.head();
    verify_records(&leaves, head.size, proof, &head.root)
        .map_err(|error| wrong(format!("its records are not in its tree: {error}")))?;
    Ok(head.size)
}
