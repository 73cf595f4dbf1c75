//! Decision whether a log may sign a tree.
//!
//! A signature cannot be taken back, and two that contradict each other convict the log. So the
//! signer never looks at records: its inputs are the checkpoint signed last, the tree to be signed,
//! and a proof that the one is the beginning of the other, which it checks as any verifier would. A
//! wrong tree in memory, a restored backup or a second writer end in a [`Refusal`], not in a
//! signature.
//!
//! The caller makes the checkpoint durable before publishing it, and passes it as `previous` the
//! next time. Ed25519 is deterministic: signing one tree twice gives equal notes.

use crate::checkpoint::{Checkpoint, CheckpointError, TreeHead};
use crate::note::{LogKey, Note, NoteError, VerifierKey};
use crate::{Hash, ProofError, verify_consistency};

/// Signer of the checkpoints of one log.
#[derive(Debug)]
pub struct Signer(LogKey);

/// Reason why a tree is not signed. Retrying does not help.
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

    /// Returns the public key that verifies the checkpoints. Its name is the log's origin.
    #[must_use]
    pub const fn public(&self) -> &VerifierKey {
        self.0.public()
    }

    /// Signs `next`, a tree that begins with that of `previous`, the checkpoint signed last.
    /// `proof` is the consistency proof from `previous` to `next`, empty if there is no `previous`.
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

/// Checks that a log or a witness may sign `next` after `previous`.
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
