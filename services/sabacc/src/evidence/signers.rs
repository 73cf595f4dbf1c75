//! Signers of the texts in evidence: whose text each is, by the keys that its reader trusts.
//!
//! A log signs only what is its own: the dealer's promises and closings, the table's receipts. Only
//! texts of a trusted log convict a room: anybody can sign two texts with a key of their own.

use std::collections::BTreeMap;
use std::fmt;

use audit::bundle::TrustedKeys;
use audit::evidence::{self, Conflict, Entry, SignedEntry, Statement};
use primitives::UnixMicros;

/// Number of a file's first line with an entry: the header is line 1.
pub(crate) const FIRST_ENTRY: usize = 2;

/// Names of the logs whose keys are trusted.
#[derive(Default)]
pub(crate) struct Signers(BTreeMap<[u8; 32], String>);

/// Signer of a text whose signature verifies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Signer {
    /// The key of a log that signs such texts.
    Log(String),
    /// The key of a log that does not.
    OtherLog(String),
    /// The key of a player, as they say themselves.
    Player,
    Unknown,
}

impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Signer::Log(name) => write!(f, "signed by {name}"),
            Signer::OtherLog(name) => {
                write!(f, "FAILED: signed by {name}, which signs no such text")
            }
            Signer::Player => f.write_str("signed by the player"),
            Signer::Unknown => f.write_str("signed by an unknown key"),
        }
    }
}

impl Signers {
    pub(crate) fn new(trusted: &TrustedKeys) -> Signers {
        Signers(trusted.keys().map(|key| (*key.bytes(), key.name().to_string())).collect())
    }

    /// Signer of a text that has been verified.
    pub(crate) fn of(&self, signed: &SignedEntry, statement: &Statement) -> Signer {
        let Some(log) = log_of(statement) else { return Signer::Player };
        match self.0.get(&signed.key) {
            Some(name) if name.rsplit('/').next() == Some(log) => Signer::Log(name.clone()),
            Some(name) => Signer::OtherLog(name.clone()),
            None => Signer::Unknown,
        }
    }

    /// Whether a trusted log has signed an entry that is its to sign.
    pub(crate) fn is_of_the_room(&self, entry: &Entry) -> bool {
        match entry {
            Entry::Signed(signed) => signed
                .statement()
                .is_ok_and(|statement| matches!(self.of(signed, &statement), Signer::Log(_))),
            Entry::Open(_) | Entry::Note { .. } => false,
        }
    }

    /// Contradictions between texts of the trusted logs.
    pub(crate) fn conflicts(&self, entries: &[Entry]) -> Vec<Conflict> {
        // Texts of others stay in their places without saying anything, so that indices are lines.
        let said = entries.iter().map(|entry| match entry {
            Entry::Signed(_) if !self.is_of_the_room(entry) => {
                Entry::note(UnixMicros(0), "another's")
            }
            Entry::Signed(_) | Entry::Open(_) | Entry::Note { .. } => entry.clone(),
        });
        evidence::conflicts(&said.collect::<Vec<_>>())
    }
}

/// Log that signs such texts; none for a player's.
pub(crate) const fn log_of(statement: &Statement) -> Option<&'static str> {
    match statement {
        Statement::Commitment { .. } | Statement::Closing { .. } => Some("dealer"),
        Statement::CommitReceipt { .. }
        | Statement::RevealReceipt { .. }
        | Statement::DecisionReceipt { .. } => Some("table"),
        Statement::Decision { .. } => None,
    }
}

/// Words of a contradiction, with the lines of the file that it is between.
pub(crate) fn conflict_line(conflict: &Conflict) -> String {
    let (one, other) = entries_of(conflict);
    format!("lines {} and {}: {conflict}", one + FIRST_ENTRY, other + FIRST_ENTRY)
}

/// Indices of the entries that contradict each other.
pub(crate) const fn entries_of(conflict: &Conflict) -> (usize, usize) {
    match *conflict {
        Conflict::TwoPromises { first, second }
        | Conflict::TwoClosings { first, second }
        | Conflict::TwoCommitReceipts { first, second }
        | Conflict::OnePosition { first, second } => (first, second),
        Conflict::ReceiptNotInClosing { receipt, closing } => (receipt, closing),
    }
}
