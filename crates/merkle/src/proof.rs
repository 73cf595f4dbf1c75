//! C2SP `tlog-proof`: the proof that a record is in a log, in one text that needs no server.
//!
//! ```text
//! c2sp.org/tlog-proof@v1
//! extra <base64>                  only where there is extra data; nobody vouches for it
//! index <the record's, decimal>
//! <base64 of a hash>              the inclusion proof, the lowest first
//!
//! <the checkpoint, a signed note>
//! ```

use std::fmt;

use crate::checkpoint::{Checkpoint, CheckpointError, VerifiedCheckpoint};
use crate::encoding::{MAX_NUMBER, decode_base64, decode_hash, encode_base64, parse_decimal};
use crate::note::{Note, NoteError, VerifierKey};
use crate::{Hash, ProofError, leaf_hash, verify_inclusion};

/// Longest extra data, in bytes.
pub const MAX_EXTRA: usize = 65_536;

const HEADER: &str = "c2sp.org/tlog-proof@v1";
/// Longest inclusion proof, in hashes: the depth of a tree of 2^63 - 1 records.
const MAX_PROOF_HASHES: usize = 63;

/// A parsed or assembled proof. Having one verifies nothing.
///
/// Invariant: the index is at most 2^63 - 1; the path has at most 63 hashes; extra data has at most
/// [`MAX_EXTRA`] bytes and is empty if there is none; the note's text is a checkpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogProof {
    extra: Vec<u8>,
    index: u64,
    path: Vec<Hash>,
    checkpoint: Note,
}

/// Error of a proof that cannot be parsed or does not hold.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LogProofError {
    #[error(
        "a proof begins with {HEADER} and is lines of printable text, a blank one after the path"
    )]
    Format,
    #[error("extra data is 1 to {MAX_EXTRA} bytes in base64")]
    Extra,
    #[error("an index is a decimal number without leading zeros, at most 2^63 - 1")]
    Index,
    #[error("line {0} of the path is no hash, or one too many")]
    Path(usize),
    #[error("what follows the path is no signed note")]
    Note(#[from] NoteError),
    #[error("the note is no checkpoint, or one not to be believed")]
    Checkpoint(#[from] CheckpointError),
    #[error("the record is not proved to be in the log")]
    Inclusion(#[from] ProofError),
}

impl LogProof {
    /// Assembles a proof that the record at `index` is in the checkpoint's tree. The proof is not
    /// checked.
    pub fn new(index: u64, path: Vec<Hash>, checkpoint: Note) -> Result<LogProof, LogProofError> {
        if index > MAX_NUMBER {
            return Err(LogProofError::Index);
        }
        if path.len() > MAX_PROOF_HASHES {
            return Err(LogProofError::Path(MAX_PROOF_HASHES + 1));
        }
        Checkpoint::parse(checkpoint.text())?;
        Ok(LogProof { extra: Vec::new(), index, path, checkpoint })
    }

    /// Adds extra data. No signature covers it.
    pub fn with_extra(mut self, extra: Vec<u8>) -> Result<LogProof, LogProofError> {
        if extra.is_empty() || extra.len() > MAX_EXTRA {
            return Err(LogProofError::Extra);
        }
        self.extra = extra;
        Ok(self)
    }

    /// Parses exactly the bytes that `Display` writes.
    pub fn parse(bytes: &[u8]) -> Result<LogProof, LogProofError> {
        let blank =
            bytes.windows(2).position(|pair| pair == b"\n\n").ok_or(LogProofError::Format)?;
        let (head, note) = (&bytes[..blank], &bytes[blank + 2..]);
        let head = std::str::from_utf8(head).map_err(|_| LogProofError::Format)?;
        let mut lines = head.split('\n');
        if lines.next() != Some(HEADER) {
            return Err(LogProofError::Format);
        }
        let mut line = lines.next().ok_or(LogProofError::Format)?;
        let mut extra = None;
        if let Some(encoded) = line.strip_prefix("extra ") {
            extra = Some(decode_base64(encoded).ok_or(LogProofError::Extra)?);
            line = lines.next().ok_or(LogProofError::Format)?;
        }
        let index = line.strip_prefix("index ").ok_or(LogProofError::Format)?;
        let index = parse_decimal(index).ok_or(LogProofError::Index)?;
        let mut path = Vec::new();
        for (at, line) in lines.enumerate() {
            let hash = decode_hash(line).filter(|_| at < MAX_PROOF_HASHES);
            path.push(hash.ok_or(LogProofError::Path(at + 1))?);
        }
        let proof = LogProof::new(index, path, Note::parse(note)?)?;
        match extra {
            Some(extra) => proof.with_extra(extra),
            None => Ok(proof),
        }
    }

    /// Returns the position at which the record is claimed to be.
    #[must_use]
    pub const fn index(&self) -> u64 {
        self.index
    }

    /// Returns the extra data, which no signature covers.
    #[must_use]
    pub fn extra(&self) -> &[u8] {
        &self.extra
    }

    #[must_use]
    pub fn path(&self) -> &[Hash] {
        &self.path
    }

    #[must_use]
    pub const fn checkpoint(&self) -> &Note {
        &self.checkpoint
    }

    /// Verifies that the record is in the log at the index. The checkpoint is verified as by
    /// [`Checkpoint::open`].
    pub fn verify(
        &self,
        record: &[u8],
        log: &VerifierKey,
        witnesses: &[VerifierKey],
    ) -> Result<VerifiedCheckpoint, LogProofError> {
        let opened = Checkpoint::open_note(&self.checkpoint, log, witnesses)?;
        let head = opened.checkpoint.head();
        verify_inclusion(&leaf_hash(record), self.index, head.size, &self.path, &head.root)?;
        Ok(opened)
    }
}

impl fmt::Display for LogProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LogProof { extra, index, path, checkpoint } = self;
        writeln!(f, "{HEADER}")?;
        if !extra.is_empty() {
            writeln!(f, "extra {}", encode_base64(extra))?;
        }
        writeln!(f, "index {index}")?;
        path.iter().try_for_each(|hash| writeln!(f, "{}", encode_base64(hash)))?;
        write!(f, "\n{checkpoint}")
    }
}
