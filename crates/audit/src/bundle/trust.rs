//! Keys that a reader trusts, and verification of a bundle's proofs with them.
//!
//! Specification: fairness/SPEC.md §10.1, §17.

use std::collections::BTreeMap;

use merkle::note::{KeyName, Note, VerifierKey};
use merkle::record::RECORD_LEN;
use merkle::{
    Checkpoint, KeysFileError, ListedKey, leaf_hash, parse_keys_file, room_of, verify_records,
};
use serde::Serialize;

use super::{Bundle, ProvedLog};
use crate::hand::{Proofs, TextKey};
use crate::log_event::LogEvent;
use crate::report::{CheckError, ensure, failed, missing};
use crate::work::WorkCounter;

/// Public keys of logs that a reader trusts, each with its end. A key counts for its own log only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedKeys(Vec<ListedKey>);

/// Keys of witnesses that a reader trusts, and how many of them must have signed a bundle's
/// checkpoints.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Witnesses {
    keys: Vec<ListedKey>,
    required: usize,
}

/// Reason why a text is no file of witnesses' keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WitnessKeysError {
    #[error(transparent)]
    File(#[from] KeysFileError),
    #[error("{0} is the key of a log, not of a witness")]
    LogKey(KeyName),
}

/// A witness that has signed the checkpoints of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Witnessed {
    pub witness: String,
    /// Unix seconds, by the witness's clock: the time at which it had signed both.
    pub at: u64,
}

impl TrustedKeys {
    /// Returns an empty set of keys.
    #[must_use]
    pub fn none() -> TrustedKeys {
        TrustedKeys::default()
    }

    /// Returns a set of keys without an end.
    #[must_use]
    pub fn new(keys: Vec<VerifierKey>) -> TrustedKeys {
        TrustedKeys(keys.into_iter().map(|key| ListedKey { key, until: None }).collect())
    }

    /// Parses a keys file.
    ///
    /// # Errors
    /// The first line that makes it none.
    pub fn parse(text: &str) -> Result<TrustedKeys, KeysFileError> {
        parse_keys_file(text).map(TrustedKeys)
    }

    /// Returns the keys.
    pub fn keys(&self) -> impl Iterator<Item = &VerifierKey> {
        self.0.iter().map(|listed| &listed.key)
    }

    /// Whether there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks that a key is trusted for the log of this name with so many records.
    fn check(&self, name: &str, key: &str, size: Option<u64>) -> Result<(), CheckError> {
        let parsed = VerifierKey::parse(key).ok();
        let listed = self.0.iter().filter(|listed| parsed.as_ref() == Some(&listed.key));
        let listed: Vec<&ListedKey> = listed.collect();
        let Some(first) = listed.first() else {
            return Err(failed(format!(
                "the key of the {name}'s log, {key}, is not among the trusted"
            )));
        };
        ensure(room_of(first.key.name().as_str(), name).is_some(), || {
            format!("the key of the {name}'s log, {key}, is trusted for another log")
        })?;
        let Some(until) = listed.iter().filter_map(|listed| listed.until).min() else {
            return Ok(());
        };
        let size = size.ok_or_else(|| {
            missing(format!(
                "the size of the {name}'s log, up to which its key counts, is unreadable"
            ))
        })?;
        ensure(size <= until, || {
            format!("the key of the {name}'s log had ended before the log had its present size")
        })
    }
}

impl Witnesses {
    /// Parses a file of witnesses' keys. `required` is the number that must have signed.
    ///
    /// # Errors
    /// The text is no keys file, or has a log's key.
    pub fn parse(text: &str, required: Option<usize>) -> Result<Witnesses, WitnessKeysError> {
        let keys = parse_keys_file(text)?;
        if let Some(listed) = keys.iter().find(|listed| listed.key.is_log()) {
            return Err(WitnessKeysError::LogKey(listed.key.name().clone()));
        }
        let required = required.unwrap_or(usize::from(!keys.is_empty()));
        Ok(Witnesses { keys, required })
    }

    /// Returns the number of witnesses that must have signed.
    #[must_use]
    pub fn required(&self) -> usize {
        self.required
    }

    /// Returns the witnesses that have signed the checkpoints of the table's and the dealer's log,
    /// each once, under whichever of its keys: one may have ended between them.
    pub(super) fn of(&self, bundle: &Bundle, work: &WorkCounter) -> Vec<Witnessed> {
        let [table, dealer] =
            [&bundle.table, &bundle.dealer].map(|log| self.cosigned_by_name(log, work));
        let both = table.into_iter().filter_map(|(name, table)| {
            let at = table.max(*dealer.get(name)?);
            Some(Witnessed { witness: name.to_string(), at })
        });
        both.collect()
    }

    /// Returns the newest signature of a log's checkpoint by each witness.
    fn cosigned_by_name(&self, log: &ProvedLog, work: &WorkCounter) -> BTreeMap<&str, u64> {
        let mut found = BTreeMap::new();
        for listed in &self.keys {
            if let Some(at) = cosigned_at(log, listed, work) {
                let newest = found.entry(listed.key.name().as_str()).or_insert(at);
                *newest = at.max(*newest);
            }
        }
        found
    }

    /// Returns the newest time of a trusted witness's signature of any log's checkpoint, Unix
    /// seconds.
    fn newest(&self, bundle: &Bundle, work: &WorkCounter) -> Option<u64> {
        let logs = bundle.logs().map(|(_, log)| log);
        let times = logs.into_iter().flat_map(|log| {
            self.keys.iter().filter_map(move |listed| cosigned_at(log, listed, work))
        });
        times.max()
    }
}

/// Returns the newest time of a signature of a log's checkpoint by a witness's key. A wrong signature under the
/// witness's name beside a right one is passed over.
fn cosigned_at(log: &ProvedLog, witness: &ListedKey, work: &WorkCounter) -> Option<u64> {
    let note = Note::parse(log.checkpoint.as_bytes()).ok()?;
    let size = Checkpoint::parse(note.text()).ok()?.head().size;
    if witness.until.is_some_and(|until| size > until) {
        return None;
    }
    let signed = |signature: &merkle::note::Signature| {
        work.signed(note.text().len());
        let alone = Note::new(note.text().to_owned(), signature.clone()).ok()?;
        let by = alone.verify(std::slice::from_ref(&witness.key)).ok()?;
        by.first()?.timestamp
    };
    let named = note.signatures().iter().filter(|it| it.name == *witness.key.name());
    named.filter_map(signed).max()
}

/// Bytes of which a node of a tree is the hash.
const BYTES_OF_A_NODE: usize = 65;

/// Returns the size in a log's checkpoint, unverified.
fn signed_size(log: &ProvedLog) -> Option<u64> {
    let note = Note::parse(log.checkpoint.as_bytes()).ok()?;
    Some(Checkpoint::parse(note.text()).ok()?.head().size)
}

/// Returns the keys that signed texts of a log may have: the log's own, and the trusted ones of its
/// name, which may have ended since.
pub(super) fn text_keys(key: &str, trusted: &TrustedKeys) -> Vec<TextKey> {
    let Ok(own) = VerifierKey::parse(key) else { return Vec::new() };
    let same = |listed: &&ListedKey| listed.key.name() == own.name() && listed.key.is_log();
    let listed = trusted.0.iter().filter(same);
    let mut keys: Vec<TextKey> =
        listed.map(|listed| TextKey { key: *listed.key.bytes(), until: listed.until }).collect();
    if keys.iter().all(|listed| listed.key != *own.bytes()) {
        keys.push(TextKey { key: *own.bytes(), until: None });
    }
    keys
}

pub(super) fn check_proofs(
    bundle: &Bundle,
    trusted: &TrustedKeys,
    witnesses: &Witnesses,
) -> Proofs {
    let dealer = VerifierKey::parse(&bundle.dealer.key).ok();
    let work = WorkCounter::default();
    Proofs {
        keys: check_keys(bundle, trusted),
        inclusion: bundle
            .logs()
            .into_iter()
            .try_for_each(|(name, log)| check_inclusion(name, log, &work).map(|_| ())),
        dealer_origin: dealer.map(|key| key.name().to_string()),
        log_names: bundle
            .logs()
            .into_iter()
            .filter_map(|(_, log)| Some(VerifierKey::parse(&log.key).ok()?.name().to_string()))
            .collect(),
        has_keys: !trusted.is_empty(),
        witnessed: witnesses.of(bundle, &work),
        witnesses_required: witnesses.required(),
        newest_signature: witnesses.newest(bundle, &work),
        work: work.get(),
    }
}

/// Checks that each log's key is trusted for it, that no two logs have the same key, and that all are
/// of one room: whoever may write one log could otherwise write another log's part as well.
fn check_keys(bundle: &Bundle, trusted: &TrustedKeys) -> Result<(), CheckError> {
    if trusted.is_empty() {
        return Err(missing("no keys were given to trust"));
    }
    for (name, log) in bundle.logs() {
        trusted.check(name, &log.key, signed_size(log))?;
    }
    let (table, dealer, wallet) = (&bundle.table.key, &bundle.dealer.key, &bundle.wallet.key);
    ensure(table != dealer && dealer != wallet && wallet != table, || {
        "two of the logs have the same key".to_owned()
    })?;
    let rooms = bundle.logs().map(|(name, log)| {
        let key = log.key.split_once('+').map_or(&*log.key, |(key, _)| key);
        room_of(key, name)
    });
    ensure(rooms[0] == rooms[1] && rooms[1] == rooms[2], || {
        "the logs are of different rooms".to_owned()
    })
}

/// Checks that the records are in the tree that the log's key has signed. Returns the tree's size.
fn check_inclusion(name: &str, log: &ProvedLog, work: &WorkCounter) -> Result<u64, CheckError> {
    let ProvedLog { key, checkpoint, records, proof } = log;
    work.signed(checkpoint.len());
    records.iter().for_each(|event| work.hashed(RECORD_LEN + event.payload.len()));
    // Each leaf and each hash of the proof goes into one node.
    (0..records.len() + proof.len()).for_each(|_| work.hashed(BYTES_OF_A_NODE));
    let wrong = |why: String| failed(format!("the {name}'s log: {why}"));
    let key = VerifierKey::parse(key).map_err(|error| wrong(error.to_string()))?;
    ensure(key.is_log(), || format!("the {name}'s log: its key is a witness's"))?;
    let opened = Checkpoint::open(checkpoint.as_bytes(), &key, &[])
        .map_err(|error| wrong(error.to_string()))?;
    let leaf = |event: &LogEvent| (event.position.0, leaf_hash(&event.record()));
    let leaves: Vec<_> = records.iter().map(leaf).collect();
    let head = opened.checkpoint.head();
    verify_records(&leaves, head.size, proof, &head.root)
        .map_err(|error| wrong(format!("its records are not in its tree: {error}")))?;
    Ok(head.size)
}
