//! C2SP `tlog-checkpoint`: the statement of a log's size and root, as the text of a signed note.
//!
//! ```text
//! <origin: which log>
//! <size: the number of records, decimal>
//! <root: base64 of 32 bytes>
//! <extension lines, none or more, opaque>
//! ```
//!
//! The name of the log's key is the log's origin, and [`Checkpoint::open`] demands that they are
//! equal, so that a checkpoint of one log never passes for that of another.

use std::fmt;

use crate::encoding::{MAX_NUMBER, decode_hash, encode_base64, parse_decimal};
use crate::note::{KeyName, Note, NoteError, VerifierKey, is_control};
use crate::{Hash, empty_root};

/// Size and root of a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeHead {
    /// Number of records, at most 2^63 - 1.
    pub size: u64,
    pub root: Hash,
}

/// Origin, tree head and extension lines of a checkpoint.
///
/// Invariant: no line is empty or has a line break; the size is at most 2^63 - 1; a tree without
/// records has the root of the empty tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Checkpoint {
    origin: String,
    head: TreeHead,
    extensions: Vec<String>,
}

/// A checkpoint that the log has signed, with its cosignatures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifiedCheckpoint {
    pub checkpoint: Checkpoint,
    pub cosignatures: Vec<Cosignature>,
}

/// A witness's statement that it has seen the log grow to this tree.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cosignature {
    pub witness: KeyName,
    /// Time of the cosignature by the witness's clock, in Unix seconds.
    pub time: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CheckpointError {
    #[error("a checkpoint is origin, size, root and extension lines, none of them empty")]
    Lines,
    #[error("a size is a decimal number without leading zeros, at most 2^63 - 1")]
    Size,
    #[error("a root is 32 bytes in base64")]
    Root,
    #[error("a tree without records has another root")]
    Empty,
    #[error("this is a checkpoint of {got}, not of {expected}")]
    Origin { got: String, expected: KeyName },
    #[error("the checkpoint is not signed by its log, {0}")]
    Unsigned(KeyName),
    #[error(transparent)]
    Note(#[from] NoteError),
}

impl Checkpoint {
    pub fn try_new(
        origin: impl Into<String>,
        head: TreeHead,
        extensions: Vec<String>,
    ) -> Result<Checkpoint, CheckpointError> {
        let origin = origin.into();
        let is_line =
            |line: &String| !line.is_empty() && !line.contains(|c| c == '\n' || is_control(c));
        if !is_line(&origin) || !extensions.iter().all(is_line) {
            return Err(CheckpointError::Lines);
        }
        if head.size > MAX_NUMBER {
            return Err(CheckpointError::Size);
        }
        if head.size == 0 && head.root != empty_root() {
            return Err(CheckpointError::Empty);
        }
        Ok(Checkpoint { origin, head, extensions })
    }

    /// Parses the text of a note: exactly the text that `Display` writes.
    pub fn parse(text: &str) -> Result<Checkpoint, CheckpointError> {
        let mut lines = text.strip_suffix('\n').ok_or(CheckpointError::Lines)?.split('\n');
        let mut line = || lines.next().ok_or(CheckpointError::Lines);
        let (origin, size, root) = (line()?, line()?, line()?);
        let size = parse_decimal(size).ok_or(CheckpointError::Size)?;
        let root = decode_hash(root).ok_or(CheckpointError::Root)?;
        let extensions = lines.map(str::to_owned).collect();
        Checkpoint::try_new(origin, TreeHead { size, root }, extensions)
    }

    /// Parses and verifies a signed checkpoint: the log's signature is there, every signature by
    /// the log or one of the witnesses holds, and the origin is the name of the log's key. The
    /// caller decides how many witnesses are enough.
    pub fn open(
        note: &[u8],
        log: &VerifierKey,
        witnesses: &[VerifierKey],
    ) -> Result<VerifiedCheckpoint, CheckpointError> {
        Checkpoint::open_note(&Note::parse(note)?, log, witnesses)
    }

    /// Verifies a parsed note in the way of [`Checkpoint::open`].
    pub fn open_note(
        note: &Note,
        log: &VerifierKey,
        witnesses: &[VerifierKey],
    ) -> Result<VerifiedCheckpoint, CheckpointError> {
        match note.verify(std::slice::from_ref(log)) {
            Err(NoteError::Unknown) => return Err(CheckpointError::Unsigned(log.name().clone())),
            verdict => verdict?,
        };
        let witnessed = match note.verify(witnesses) {
            Err(NoteError::Unknown) => Vec::new(),
            verdict => verdict?,
        };
        let checkpoint = Checkpoint::parse(note.text())?;
        if checkpoint.origin != log.name().as_str() {
            let (got, expected) = (checkpoint.origin, log.name().clone());
            return Err(CheckpointError::Origin { got, expected });
        }
        let cosigned = witnessed
            .into_iter()
            .filter_map(|by| {
                Some(Cosignature { witness: by.key.name().clone(), time: by.timestamp? })
            })
            .collect();
        Ok(VerifiedCheckpoint { checkpoint, cosignatures: cosigned })
    }

    #[must_use]
    pub fn origin(&self) -> &str {
        &self.origin
    }

    #[must_use]
    pub const fn head(&self) -> TreeHead {
        self.head
    }

    #[must_use]
    pub fn extensions(&self) -> &[String] {
        &self.extensions
    }
}

/// Formats the text that is signed.
impl fmt::Display for Checkpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Checkpoint { origin, head: TreeHead { size, root }, extensions } = self;
        writeln!(f, "{origin}\n{size}\n{}", encode_base64(root))?;
        extensions.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}
