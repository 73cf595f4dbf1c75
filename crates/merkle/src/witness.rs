//! C2SP `tlog-witness`: request of a log to a witness, and the rules by which the witness answers.
//!
//! ```text
//! old <size of the tree that the witness cosigned last, decimal>
//! <base64 of a hash>              the consistency proof, none or more
//!
//! <the checkpoint, a signed note>
//! ```

use std::fmt;

use crate::checkpoint::{Checkpoint, CheckpointError, TreeHead};
use crate::encoding::{MAX_NUMBER, decode_hash, encode_base64, parse_decimal};
use crate::hash::empty_root;
use crate::note::{Note, NoteError, Signature, VerifierKey};
use crate::{Hash, verify_consistency};

/// Longest consistency proof, in hashes: enough for a tree of 2^63 - 1 records.
const MAX_PROOF: usize = 63;

/// Request to a witness to cosign a checkpoint.
///
/// Invariant: the size is at most 2^63 - 1, the proof has at most 63 hashes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddCheckpoint {
    old: u64,
    proof: Vec<Hash>,
    note: Note,
}

/// Error of bytes that are no request.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AddCheckpointError {
    #[error(
        "a request is `old <size>`, at most {MAX_PROOF} hashes in base64, a blank line and a note"
    )]
    Format,
    #[error("what follows the blank line is no signed note")]
    Note(#[from] NoteError),
}

/// Reason why a witness does not cosign, in the order of the checks.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unwitnessed {
    #[error("no log of this name is followed here")]
    Unknown,
    #[error("the checkpoint is not signed by its log")]
    Unsigned(#[source] CheckpointError),
    #[error("the note is no checkpoint")]
    Malformed(#[source] CheckpointError),
    #[error("the older tree is larger than the newer")]
    Shrunk,
    #[error("the tree cosigned last has {known} records")]
    Stale { known: u64 },
    #[error("another tree of {size} records was cosigned")]
    Forked { size: u64 },
    #[error("the proof does not lead from the tree cosigned last to this one")]
    Inconsistent,
}

impl AddCheckpoint {
    pub fn try_new(
        old: u64,
        proof: Vec<Hash>,
        note: Note,
    ) -> Result<AddCheckpoint, AddCheckpointError> {
        if old > MAX_NUMBER || proof.len() > MAX_PROOF {
            return Err(AddCheckpointError::Format);
        }
        Ok(AddCheckpoint { old, proof, note })
    }

    /// Parses exactly the bytes that `Display` writes.
    pub fn parse(bytes: &[u8]) -> Result<AddCheckpoint, AddCheckpointError> {
        let format = || AddCheckpointError::Format;
        let blank = bytes.windows(2).position(|pair| pair == b"\n\n").ok_or_else(format)?;
        let (head, note) = (&bytes[..blank], &bytes[blank + 2..]);
        let head = std::str::from_utf8(head).map_err(|_| format())?;
        let mut lines = head.split('\n');
        let old = lines.next().and_then(|line| parse_decimal(line.strip_prefix("old ")?));
        let proof = lines.take(MAX_PROOF + 1).map(|line| decode_hash(line).ok_or_else(format));
        let proof = proof.collect::<Result<Vec<_>, _>>()?;
        AddCheckpoint::try_new(old.ok_or_else(format)?, proof, Note::parse(note)?)
    }

    /// Returns the name of the log: the first line of the note, unverified.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.note.text().lines().next().unwrap_or_default()
    }

    #[must_use]
    pub const fn note(&self) -> &Note {
        &self.note
    }

    /// Checks that a witness may cosign this checkpoint. `known` is the tree it cosigned last, if
    /// any. `log` is the key of the log that it follows under this name, if any.
    pub fn check(
        &self,
        log: Option<&VerifierKey>,
        known: Option<TreeHead>,
    ) -> Result<Checkpoint, Unwitnessed> {
        let log = log.ok_or(Unwitnessed::Unknown)?;
        let opened = Checkpoint::open_note(&self.note, log, &[]).map_err(|error| match error {
            CheckpointError::Unsigned(_)
            | CheckpointError::Note(_)
            | CheckpointError::Origin { .. } => Unwitnessed::Unsigned(error),
            CheckpointError::Lines
            | CheckpointError::Size
            | CheckpointError::Root
            | CheckpointError::Empty => Unwitnessed::Malformed(error),
        })?;
        let next = opened.checkpoint.head();
        if self.old > next.size {
            return Err(Unwitnessed::Shrunk);
        }
        let known = known.unwrap_or(TreeHead { size: 0, root: empty_root() });
        if self.old != known.size {
            return Err(Unwitnessed::Stale { known: known.size });
        }
        if known.size == next.size && known.root != next.root {
            return Err(Unwitnessed::Forked { size: known.size });
        }
        let (old, new) = ((known.size, &known.root), (next.size, &next.root));
        verify_consistency(old, new, &self.proof).map_err(|_| Unwitnessed::Inconsistent)?;
        Ok(opened.checkpoint)
    }
}

impl fmt::Display for AddCheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AddCheckpoint { old, proof, note } = self;
        writeln!(f, "old {old}")?;
        proof.iter().try_for_each(|hash| writeln!(f, "{}", encode_base64(hash)))?;
        write!(f, "\n{note}")
    }
}

/// Parses the signature lines of a witness's answer. They are not checked: [`Note::verify`] does
/// that once they are under the note.
pub fn parse_cosignatures(answer: &[u8]) -> Result<Vec<Signature>, NoteError> {
    // The parser needs a note; its text does not matter.
    let note = Note::parse(&[b"-\n\n", answer].concat())?;
    Ok(note.signatures().to_vec())
}

/// Parses the size in a witness's answer: a decimal number and a newline.
#[must_use]
pub fn parse_size(answer: &[u8]) -> Option<u64> {
    parse_decimal(std::str::from_utf8(answer).ok()?.strip_suffix('\n')?)
}
