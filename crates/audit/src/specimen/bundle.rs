//! Bundles of a fixture's hands: its logs' trees, checkpoints signed with its keys, proofs.

use merkle::note::{KeyName, LogKey};
use merkle::{Checkpoint, Leaves, Signer, TreeHead, leaf_hash, root_at};

use super::{LogName, ORIGINS, Room, SECRETS, Script};
use crate::bundle::{Bundle, ProvedLog, Trusted};
use crate::hand::HandRecords;

/// The logs in the order of bundles.
const LOGS: [LogName; 3] = [LogName::Table, LogName::Dealer, LogName::Wallet];

/// Returns the key that signs a log's checkpoints.
///
/// # Panics
/// Never: the origins are valid key names.
#[must_use]
pub fn log_key(log: LogName) -> LogKey {
    let at = LOGS.iter().position(|other| *other == log).expect("it is one of the three");
    LogKey::new(KeyName::try_new(ORIGINS[at]).expect("a name"), &SECRETS[at])
}

/// Returns the keys of all three logs.
#[must_use]
pub fn trusted() -> Trusted {
    Trusted::new(LOGS.into_iter().map(|log| log_key(log).public().clone()).collect())
}

/// Returns a log's tree, its head, and the checkpoint that its service signs over all of it.
///
/// # Panics
/// Never: a whole tree can be signed.
#[must_use]
pub fn signed(script: &Script, log: LogName) -> (Leaves, TreeHead, String) {
    let leaves: Leaves =
        script.events(log).iter().map(|event| leaf_hash(&event.record())).collect();
    let root = root_at(&leaves, leaves.size()).expect("the whole tree is here");
    let head = TreeHead { size: leaves.size(), root };
    let note = Signer::new(log_key(log)).sign(None, head, &[]).expect("nothing was signed before");
    (leaves, head, note.to_string())
}

/// Returns the bundle of these records, whose logs are all in `script`.
///
/// # Panics
/// If a record is in no log of the script.
#[must_use]
pub fn bundle(script: &Script, records: HandRecords) -> Bundle {
    let HandRecords { hand_id, hand, table, dealer, wallet, .. } = records;
    let mut of_table = [hand, table].concat();
    of_table.sort_by_key(|event| event.position);
    let mut logs = [of_table, dealer, wallet].into_iter().zip(LOGS).map(|(records, log)| {
        let (leaves, head, checkpoint) = signed(script, log);
        let signed = (log_key(log).public().to_string(), checkpoint);
        ProvedLog::prove(signed, records, (&leaves, head.size)).expect("records of this log")
    });
    let mut next = || logs.next().expect("three logs");
    Bundle { hand_id, table: next(), dealer: next(), wallet: next() }
}

impl Room {
    /// Returns the bundle of a hand, with checkpoints over the present logs.
    #[must_use]
    pub fn bundle(&self, hand_no: u64) -> Bundle {
        bundle(&self.script, self.records(hand_no))
    }

    /// Signs a checkpoint note of a log for any tree head.
    ///
    /// # Panics
    /// If the text cannot be that of a note.
    #[must_use]
    pub fn sign(log: LogName, head: TreeHead) -> String {
        let key = log_key(log);
        let origin = key.public().name().as_str();
        let text = Checkpoint::try_new(origin, head, Vec::new()).expect("a checkpoint").to_string();
        let signature = key.sign(&text);
        merkle::note::Note::new(text, signature).expect("a note").to_string()
    }
}
