//! The task that follows a log: it wakes where the log has grown, reads what is new, signs, and rests.
//! Nothing happens, nothing is done.

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

/// Between two signatures, unless somebody is in a hurry.
const PACE: Duration = Duration::from_secs(1);
/// Between two signatures, however much in a hurry everybody is.
const BREATH: Duration = Duration::from_millis(100);
/// Before a store that was not there is asked again.
const PAUSE: Duration = Duration::from_secs(1);
/// Records read at once.
const PAGE: u64 = 1000;

/// Follows one ownership of a log.
pub(crate) struct Follower {
    pub(crate) desk: Arc<Desk>,
    /// The writer's own.
    pub(crate) heads: watch::Receiver<TreeHead>,
}

/// What was read and signed so far.
pub(crate) struct Book {
    pub(crate) edge: Edge,
    /// What was signed last.
    pub(crate) previous: Option<Checkpoint>,
    /// Of what was signed last in the store; 0 where nothing was.
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

    /// Signs until the log ends here.
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
            // An error says that the log has ended, and with what is seen then.
            let _ = self.heads.changed().await;
        }
    }

    /// Until it is time to sign again, or for the last time.
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

/// Waits until the log ends here.
async fn ended(mut heads: watch::Receiver<TreeHead>) {
    while heads.changed().await.is_ok() {}
}

impl Desk {
    /// Signs the tree of `head`, which is the writer's.
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

    /// Reads on until the edge has `size` records, and puts down the tiles that became full.
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

    /// What is not remembered beside the store is remembered in it: the room goes on.
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
