//! What a log may sign next.
//!
//! A signature cannot be taken back, and two that contradict each other convict the log. So the
//! signer never looks at records: it is given what was signed before, what is to be signed, and a proof
//! that the one is the beginning of the other, and checks that as a stranger would. A wrong tree in
//! memory, a restored backup or a second writer end in a [`Refusal`], not in a signature.
//!
//! The caller keeps the last checkpoint where it survives, before it shows it to anybody, and gives
//! it back the next time. Ed25519 has no chance in it: the same tree signed twice is the same note.

use crate::checkpoint::{Checkpoint, CheckpointError, TreeHead};
use crate::note::{LogKey, Note, NoteError, VerifierKey};
use crate::{Hash, ProofError, verify_consistency};

/// Signs the checkpoints of one log.
#[derive(Debug)]
pub struct Signer(LogKey);

/// Why a tree is not signed. None of these passes by being tried again.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    #[error("the checkpoint before is of {got}, this key signs for {expected}")]
    Origin { got: String, expected: String },
    #[error("the tree has {next} records, and one with {previous} was signed")]
    Shrunk { previous: u64, next: u64 },
    #[error("another tree of {size} records was signed")]
    Forked { size: u64 },
    #[error("the tree does not follow from the one that was signed")]
    Inconsistent(#[source] ProofError),
    #[error("the tree cannot be written as a checkpoint")]
    Head(#[from] CheckpointError),
    #[error("the checkpoint cannot be written as a note")]
    Note(#[from] NoteError),
}

impl Signer {
    #[must_use]
    pub const fn new(key: LogKey) -> Signer {
        Signer(key)
    }

    /// What others check the checkpoints with; its name is the log's origin.
    #[must_use]
    pub const fn public(&self) -> &VerifierKey {
        self.0.public()
    }

    /// Signs `next`, a tree that begins with that of `previous`, the checkpoint signed last. `proof`
    /// is the consistency proof from the one to the other, empty where there was none before.
    pub fn sign(
        &self,
        previous: Option<&Checkpoint>,
        next: TreeHead,
        proof: &[Hash],
    ) -> Result<Note, Refusal> {
        let origin = self.public().name().as_str();
        if let Some(other) = previous.filter(|previous| previous.origin() != origin) {
            let (got, expected) = (other.origin().to_owned(), origin.to_owned());
            return Err(Refusal::Origin { got, expected });
        }
        may_follow(previous.map(Checkpoint::head), next, proof)?;
        let text = Checkpoint::try_new(origin, next, Vec::new())?.to_string();
        let signature = self.0.sign(&text);
        Ok(Note::new(text, signature)?)
    }
}

/// Whether a tree may be signed, by the log or a witness, after another.
pub fn may_follow(
    previous: Option<TreeHead>,
    next: TreeHead,
    proof: &[Hash],
) -> Result<(), Refusal> {
    let Some(previous) = previous else {
        let nothing_to_prove = ProofError::Length { got: proof.len() };
        return if proof.is_empty() {
            Ok(())
        } else {
            Err(Refusal::Inconsistent(nothing_to_prove))
        };
    };
    if next.size < previous.size {
        return Err(Refusal::Shrunk { previous: previous.size, next: next.size });
    }
    if next.size == previous.size && next.root != previous.root {
        return Err(Refusal::Forked { size: next.size });
    }
    let (old, new) = ((previous.size, &previous.root), (next.size, &next.root));
    verify_consistency(old, new, proof).map_err(Refusal::Inconsistent)
}
