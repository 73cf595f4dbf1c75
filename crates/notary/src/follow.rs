//! The task that follows a log: it waits until the log has grown, reads the new records, signs
//! them, and pauses. An idle log causes no work.

use std::sync::Arc;
use std::time::Duration;

use eventlog::{Position, SignedCheckpoint, TreeHead, UnixMicros};
use merkle::note::Note;
use merkle::{Checkpoint, Edge, leaf_hash, prove_consistency, tiles_for_consistency};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use crate::fault::{Fault, NotaryError};
use crate::notary::{PublishedTree, Shared, SigningState};
use crate::resume::resume;
use crate::scrub;

/// Interval between two signatures that nobody requested.
const SIGNING_INTERVAL: Duration = Duration::from_secs(1);
/// Shortest interval between two signatures.
const MIN_SIGNING_INTERVAL: Duration = Duration::from_millis(100);
/// Delay before a store that was unavailable is asked again.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Age from which on one checkpoint a minute stays in the store.
const THINNED_AFTER: Duration = Duration::from_secs(3600);
/// Interval between two looks for checkpoints that became old.
const THINNING_INTERVAL: Duration = Duration::from_secs(60);
/// Records in one read.
const PAGE_SIZE: u64 = 1000;

/// The task that signs a log while this process owns it.
pub(crate) struct Follower {
    pub(crate) shared: Arc<Shared>,
    /// Size and root of the log, as its writer computes them.
    pub(crate) heads: watch::Receiver<TreeHead>,
}

/// The state of reading and signing.
pub(crate) struct Progress {
    pub(crate) edge: Edge,
    /// The checkpoint signed last.
    pub(crate) last_signed: Option<Checkpoint>,
    /// Number of the last checkpoint in the store; 0 if there is none.
    pub(crate) last_number: u64,
    pub(crate) thinning: Thinning,
}

impl Progress {
    /// State of a log with this edge, of which nothing was signed.
    pub(crate) fn new(edge: Edge) -> Progress {
        Progress { edge, last_signed: None, last_number: 0, thinning: Thinning::default() }
    }
}

/// The state of removing old checkpoints.
#[derive(Default)]
pub(crate) struct Thinning {
    /// Number of the first checkpoint that may have to go.
    first: u64,
    /// Time of the log until which none has to.
    next_at: UnixMicros,
}

impl Follower {
    pub(crate) async fn run(mut self) {
        while !self.shared.has_stopped() {
            match self.sign_until_closed().await {
                Ok(()) => break,
                Err(NotaryError::Superseded) => {
                    tracing::warn!(
                        log = self.shared.reader.name(),
                        "another process has signed this log: looking again"
                    );
                }
                Err(NotaryError::Fault(fault)) => self.shared.stop_signing(*fault),
                Err(
                    trouble @ (NotaryError::Unavailable(_)
                    | NotaryError::MissingTile(_)
                    | NotaryError::Archive(_)
                    | NotaryError::Busy),
                ) => {
                    tracing::warn!(
                        runbook = "deploy/README.md, The database is away",
                        log = self.shared.reader.name(),
                        error = &trouble as &dyn std::error::Error,
                        "the log is not signed for the moment"
                    );
                    tokio::time::sleep(RETRY_DELAY).await;
                    if self.heads.has_changed().is_err() {
                        break;
                    }
                }
            }
        }
    }

    /// Signs until the log is closed or a fault is found.
    async fn sign_until_closed(&mut self) -> Result<(), NotaryError> {
        let (mut progress, signed) = resume(&self.shared).await?;
        if let Some(note) = signed {
            self.shared.publish(note, &progress);
        }
        let _old = AbortOnDropHandle::new(tokio::spawn(scrub::run(
            Arc::clone(&self.shared),
            progress.edge.size(),
        )));
        loop {
            let ended = self.heads.has_changed().is_err();
            let head = *self.heads.borrow_and_update();
            let signed = progress.last_signed.as_ref().map(Checkpoint::head);
            let due =
                signed.is_none_or(|signed| (signed.size, signed.root) != (head.size, head.root));
            if due && !self.shared.has_stopped() {
                self.shared.sign(&mut progress, head).await?;
            }
            if ended || self.shared.has_stopped() {
                return Ok(());
            }
            if due {
                self.wait_for_next().await;
            }
            // An error means that the log was closed. The loop then signs a last time.
            let _ = self.heads.changed().await;
        }
    }

    /// Waits until the next signature is due, or the log is closed.
    async fn wait_for_next(&self) {
        let rest = async {
            tokio::time::sleep(MIN_SIGNING_INTERVAL).await;
            tokio::select! {
                () = tokio::time::sleep(SIGNING_INTERVAL.saturating_sub(MIN_SIGNING_INTERVAL)) => {}
                () = self.shared.signature_requested.notified() => {}
            }
        };
        tokio::select! {
            () = rest => {}
            () = wait_until_closed(self.heads.clone()) => {}
        }
    }
}

/// Waits until the log is closed.
async fn wait_until_closed(mut heads: watch::Receiver<TreeHead>) {
    while heads.changed().await.is_ok() {}
}

impl Shared {
    /// Signs the tree of `head`, which the writer has committed.
    async fn sign(&self, progress: &mut Progress, head: TreeHead) -> Result<(), NotaryError> {
        let read = progress.edge.size();
        if head.size < read {
            return Err(merkle::Refusal::Shrunk { previous: read, next: head.size }.into());
        }
        self.grow(&mut progress.edge, head.size).await?;
        let next = progress.edge.head();
        if next.root != head.root {
            return Err(Fault::NotAcknowledged { size: head.size }.into());
        }
        let proof = match progress.last_signed.as_ref().map(Checkpoint::head) {
            None => Vec::new(),
            Some(old) => {
                let wanted = tiles_for_consistency(old.size, next.size)?;
                let tiles = self.tiles.authenticated(next, &progress.edge, wanted).await?;
                prove_consistency(&tiles, old.size, next.size)?
            }
        };
        let note = self.signer.sign(progress.last_signed.as_ref(), next, &proof)?;
        let (number, size) = (progress.last_number + 1, next.size);
        let recorded_at = head.recorded_at;
        let signed = SignedCheckpoint { number, size, recorded_at, note: note.to_string().into() };
        if !self.store.put_checkpoint(self.reader.name(), &signed).await? {
            return Err(NotaryError::Superseded);
        }
        let checkpoint = Checkpoint::parse(note.text()).map_err(merkle::Refusal::from)?;
        (progress.last_number, progress.last_signed) = (number, Some(checkpoint));
        self.write_checkpoint_file(&note).await;
        self.publish(note, progress);
        self.thin_checkpoints(&mut progress.thinning, recorded_at).await;
        Ok(())
    }

    /// Removes old checkpoints, once a minute of the log's time. A failure is repeated a minute
    /// later, since it harms nothing.
    async fn thin_checkpoints(&self, thinning: &mut Thinning, now: UnixMicros) {
        if now < thinning.next_at {
            return;
        }
        thinning.next_at = now.plus(THINNING_INTERVAL);
        let until = now.minus(THINNED_AFTER);
        let log = self.reader.name();
        match self.store.thin_checkpoints(log, thinning.first, until).await {
            Ok(first) => thinning.first = first,
            Err(error) => {
                tracing::warn!(log, %error, "old checkpoints are not removed for the moment");
            }
        }
    }

    /// Reads records until the edge has `size` of them, and stores the tiles that became full.
    pub(crate) async fn grow(&self, edge: &mut Edge, size: u64) -> Result<(), NotaryError> {
        while edge.size() < size {
            let from = edge.size();
            let count = usize::try_from(PAGE_SIZE.min(size - from)).unwrap_or(usize::MAX);
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
            self.tiles.put(&full).await?;
            *edge = grown;
        }
        Ok(())
    }

    /// Writes the checkpoint to the file. Signing goes on if that fails, since the store has the
    /// checkpoint.
    async fn write_checkpoint_file(&self, note: &Note) {
        let Some(memory) = self.checkpoint_file.clone() else { return };
        let (file, note) = (memory.path().display().to_string(), note.to_string());
        let kept = tokio::task::spawn_blocking(move || memory.write(&note)).await;
        if let Ok(Err(error)) = kept {
            tracing::error!(runbook = "deploy/README.md, A file cannot be written", file, %error, "the checkpoint cannot be remembered beside the database");
        }
    }

    fn publish(&self, note: Note, progress: &Progress) {
        let Some(checkpoint) = progress.last_signed.clone() else { return };
        let shown = PublishedTree { note, checkpoint, edge: progress.edge.clone() };
        self.published.send_replace(Some(Arc::new(shown)));
        self.signing_state.send_if_modified(|standing| match standing {
            SigningState::Waiting => {
                *standing = SigningState::Signing;
                true
            }
            SigningState::Signing | SigningState::Stopped(_) => false,
        });
    }
}
