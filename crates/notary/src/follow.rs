//! The task that follows a log: it waits until the log has grown, reads the new records, signs
//! them, and pauses. An idle log causes no work.

use std::sync::Arc;
use std::time::Duration;

use eventlog::{Position, SignedCheckpoint, TreeHead};
use merkle::note::Note;
use merkle::{Checkpoint, Edge, leaf_hash, prove_consistency, tiles_for_consistency};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use crate::fault::{Fault, Trouble};
use crate::notary::{Desk, Shown, Standing};
use crate::resume::resume;
use crate::scrub;

/// Interval between two signatures that nobody requested.
const PACE: Duration = Duration::from_secs(1);
/// Shortest interval between two signatures.
const BREATH: Duration = Duration::from_millis(100);
/// Delay before a store that was unavailable is asked again.
const PAUSE: Duration = Duration::from_secs(1);
/// Records in one read.
const PAGE: u64 = 1000;

/// The task that signs a log while this process owns it.
pub(crate) struct Follower {
    pub(crate) desk: Arc<Desk>,
    /// Size and root of the log, as its writer computes them.
    pub(crate) heads: watch::Receiver<TreeHead>,
}

/// The state of reading and signing.
pub(crate) struct Book {
    pub(crate) edge: Edge,
    /// The checkpoint signed last.
    pub(crate) previous: Option<Checkpoint>,
    /// Number of the last checkpoint in the store; 0 if there is none.
    pub(crate) number: u64,
}

impl Follower {
    pub(crate) async fn run(mut self) {
        while !self.desk.refuses() {
            match self.keep().await {
                Ok(()) => break,
                Err(Trouble::Overtaken) => {
                    tracing::warn!(
                        log = self.desk.reader.name(),
                        "another process has signed this log: looking again"
                    );
                }
                Err(Trouble::Fault(fault)) => self.desk.refuse(*fault),
                Err(trouble @ (Trouble::Passing(_) | Trouble::Missing(_))) => {
                    tracing::warn!(
                        runbook = "deploy/README.md, The database is away",
                        log = self.desk.reader.name(),
                        error = &trouble as &dyn std::error::Error,
                        "the log is not signed for the moment"
                    );
                    tokio::time::sleep(PAUSE).await;
                    if self.heads.has_changed().is_err() {
                        break;
                    }
                }
            }
        }
    }

    /// Signs until the log is closed or a fault is found.
    async fn keep(&mut self) -> Result<(), Trouble> {
        let (mut book, signed) = resume(&self.desk).await?;
        if let Some(note) = signed {
            self.desk.show(note, &book);
        }
        let _old = AbortOnDropHandle::new(tokio::spawn(scrub::run(
            Arc::clone(&self.desk),
            book.edge.size(),
        )));
        loop {
            let ended = self.heads.has_changed().is_err();
            let head = *self.heads.borrow_and_update();
            let signed = book.previous.as_ref().map(Checkpoint::head);
            let due =
                signed.is_none_or(|signed| (signed.size, signed.root) != (head.size, head.root));
            if due && !self.desk.refuses() {
                self.desk.sign(&mut book, head).await?;
            }
            if ended || self.desk.refuses() {
                return Ok(());
            }
            if due {
                self.rest().await;
            }
            // An error means that the log was closed. The loop then signs a last time.
            let _ = self.heads.changed().await;
        }
    }

    /// Waits until the next signature is due, or the log is closed.
    async fn rest(&self) {
        let rest = async {
            tokio::time::sleep(BREATH).await;
            tokio::select! {
                () = tokio::time::sleep(PACE.saturating_sub(BREATH)) => {}
                () = self.desk.hurried.notified() => {}
            }
        };
        tokio::select! {
            () = rest => {}
            () = ended(self.heads.clone()) => {}
        }
    }
}

/// Waits until the log is closed.
async fn ended(mut heads: watch::Receiver<TreeHead>) {
    while heads.changed().await.is_ok() {}
}

impl Desk {
    /// Signs the tree of `head`, which the writer has committed.
    async fn sign(&self, book: &mut Book, head: TreeHead) -> Result<(), Trouble> {
        let read = book.edge.size();
        if head.size < read {
            return Err(merkle::Refusal::Shrunk { previous: read, next: head.size }.into());
        }
        self.grow(&mut book.edge, head.size).await?;
        let next = book.edge.head();
        if next.root != head.root {
            return Err(Fault::NotAcknowledged { size: head.size }.into());
        }
        let proof = match book.previous.as_ref().map(Checkpoint::head) {
            None => Vec::new(),
            Some(old) => {
                let wanted = tiles_for_consistency(old.size, next.size)?;
                let tiles = self.trees.under((next, &book.edge), wanted).await?;
                prove_consistency(&tiles, old.size, next.size)?
            }
        };
        let note = self.signer.sign(book.previous.as_ref(), next, &proof)?;
        let (number, size) = (book.number + 1, next.size);
        let signed = SignedCheckpoint { number, size, note: note.to_string().into() };
        if !self.shelf.put_checkpoint(self.reader.name(), &signed).await? {
            return Err(Trouble::Overtaken);
        }
        let checkpoint = Checkpoint::parse(note.text()).map_err(merkle::Refusal::from)?;
        (book.number, book.previous) = (number, Some(checkpoint));
        self.remember(&note).await;
        self.show(note, book);
        Ok(())
    }

    /// Reads records until the edge has `size` of them, and stores the tiles that became full.
    pub(crate) async fn grow(&self, edge: &mut Edge, size: u64) -> Result<(), Trouble> {
        while edge.size() < size {
            let from = edge.size();
            let count = usize::try_from(PAGE.min(size - from)).unwrap_or(usize::MAX);
            let events = self.reader.read(Position(from), count).await?;
            let (mut full, mut grown) = (Vec::new(), edge.clone());
            for event in &events {
                if event.position.0 != grown.size() {
                    return Err(Fault::Gap { position: grown.size() }.into());
                }
                full.extend(grown.push(leaf_hash(&event.record())));
            }
            if events.is_empty() {
                return Err(Fault::Gap { position: from }.into());
            }
            self.trees.put(&full).await?;
            *edge = grown;
        }
        Ok(())
    }

    /// Writes the checkpoint to the file. Signing goes on if that fails, since the store has the
    /// checkpoint.
    async fn remember(&self, note: &Note) {
        let Some(memory) = self.memory.clone() else { return };
        let (file, note) = (memory.file().display().to_string(), note.to_string());
        let kept = tokio::task::spawn_blocking(move || memory.keep(&note)).await;
        if let Ok(Err(error)) = kept {
            tracing::error!(runbook = "deploy/README.md, A file cannot be written", file, %error, "the checkpoint cannot be remembered beside the database");
        }
    }

    fn show(&self, note: Note, book: &Book) {
        let Some(checkpoint) = book.previous.clone() else { return };
        let shown = Shown { note, checkpoint, edge: book.edge.clone() };
        self.shown.send_replace(Some(Arc::new(shown)));
        self.standing.send_if_modified(|standing| match standing {
            Standing::Waiting => {
                *standing = Standing::Signs;
                true
            }
            Standing::Signs | Standing::Refuses(_) => false,
        });
    }
}
