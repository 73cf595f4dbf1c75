//! The handle of a notary: what it has published, whether it signs, and requests to sign sooner.

use std::sync::Arc;
use std::time::Duration;

use chassis::concurrency_limiter::ConcurrencyLimiter;
use chassis::config::{LogIdentity, LogWitnesses, ServiceConfig};
use chassis::fetch::Fetch;
use chassis::serve::Health;
use eventlog::{Log, Reader, Shelf};
use merkle::note::{KeyError, KeyName, LogKey, Note, Signature, VerifierKey};
use merkle::{Checkpoint, Edge, Signer, TileId, TreeHead};
use proto::audit::v1::log_service_server::LogServiceServer;
use tokio::sync::{Notify, watch};
use tokio_util::task::TaskTracker;

use crate::api::Api;
use crate::fault::{Fault, Trouble};
use crate::follow::Follower;
use crate::memory::Memory;
use crate::trees::Trees;
use crate::witness::{Invited, invite};

/// Longest wait for a signature over records that were acknowledged just now.
const PATIENCE: Duration = Duration::from_secs(3);

/// Most concurrent reads for callers: half of the connections that readers have.
const READS: usize = 4;
/// Most reads that wait for one of [`READS`]. More are refused.
const WAITING: usize = 64;

/// Log, store and keys of a notary.
pub struct Parts {
    pub shelf: Arc<dyn Shelf>,
    /// Name of the log in its store, such as `table/0`.
    pub log: Arc<str>,
    pub identity: LogIdentity,
    /// File that remembers the last checkpoint outside the store.
    pub memory: Option<Memory>,
}

/// Signer of one log. Clones are handles of the same notary.
#[derive(Clone)]
pub struct Notary {
    pub(crate) desk: Arc<Desk>,
}

/// State that all handles and the task share.
pub(crate) struct Desk {
    pub(crate) shelf: Arc<dyn Shelf>,
    pub(crate) reader: Reader,
    pub(crate) trees: Trees,
    pub(crate) signer: Signer,
    pub(crate) memory: Option<Memory>,
    pub(crate) shown: watch::Sender<Option<Arc<Shown>>>,
    pub(crate) standing: watch::Sender<Standing>,
    pub(crate) hurried: Notify,
    /// Limits the reads for callers, so that connections are left for the log's own reads.
    pub(crate) reads: ConcurrencyLimiter,
    following: TaskTracker,
}

/// The published state of a log.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The signed checkpoint, with the cosignatures that have arrived.
    pub note: Note,
    pub checkpoint: Checkpoint,
    pub(crate) edge: Edge,
}

/// State of a notary's signing.
#[derive(Clone, Debug)]
pub enum Standing {
    /// The notary has not yet found out how far the log was signed, or no log is followed here.
    Waiting,
    Signs,
    /// The notary has found a fault and never signs again in this process.
    Refuses(Arc<Fault>),
}

impl Shown {
    #[must_use]
    pub const fn head(&self) -> TreeHead {
        self.checkpoint.head()
    }

    /// Returns the partial tiles at the right edge, the lowest first, with their content.
    #[must_use]
    pub fn partial(&self) -> Vec<(TileId, Vec<u8>)> {
        self.edge.partial()
    }
}

impl Notary {
    /// Creates a notary that does not follow a log yet.
    ///
    /// # Errors
    /// If the origin is not a valid key name.
    pub fn new(parts: Parts) -> Result<Notary, KeyError> {
        let Parts { shelf, log, identity: LogIdentity { origin, key }, memory } = parts;
        let key = LogKey::new(KeyName::try_new(&*origin)?, &key.to_bytes());
        let desk = Desk {
            reader: Reader::new(Arc::<dyn Shelf>::clone(&shelf), Arc::clone(&log)),
            trees: Trees::new(Arc::clone(&shelf), log),
            shelf,
            signer: Signer::new(key),
            memory,
            shown: watch::Sender::new(None),
            standing: watch::Sender::new(Standing::Waiting),
            hurried: Notify::new(),
            reads: ConcurrencyLimiter::new(READS, WAITING),
            following: TaskTracker::new(),
        };
        Ok(Notary { desk: Arc::new(desk) })
    }

    /// Creates the notary that a service's settings describe, with its witnesses. `None` if the
    /// settings name no log identity.
    ///
    /// # Errors
    /// If the origin is not a valid key name.
    pub fn of_service(
        shelf: Arc<dyn Shelf>,
        log: &str,
        config: &ServiceConfig,
    ) -> Result<Option<Notary>, KeyError> {
        let Some(identity) = config.log.clone() else { return Ok(None) };
        let LogWitnesses { witnesses, memory } = config.log_witnesses.clone();
        let memory = memory.map(Memory::new);
        let notary = Notary::new(Parts { shelf, log: log.into(), identity, memory })?;
        if !witnesses.is_empty() {
            let fetch = Arc::new(Fetch::new());
            for (url, key) in witnesses {
                invite(&notary, Invited { url, key }, Arc::clone(&fetch));
            }
        }
        Ok(Some(notary))
    }

    /// Follows a log until this process no longer owns it. The task holds no handle of the log, so
    /// that it does not keep the log from being released.
    pub fn follow(&self, log: &Log) {
        let follower = Follower { desk: Arc::clone(&self.desk), heads: log.heads() };
        self.desk.following.spawn(follower.run());
    }

    /// Waits, after the log was closed, until its last records are signed, so that they can be
    /// proved while no service runs. Gives up after a few seconds, for the store may be gone.
    pub async fn finish(&self) {
        self.desk.following.close();
        if tokio::time::timeout(PATIENCE, self.desk.following.wait()).await.is_err() {
            let log = self.desk.reader.name();
            tracing::warn!(
                log,
                "the last records of the log are not signed for: they will be when it is opened again"
            );
        }
    }

    /// Requests a signature over what is durable now, before the next regular one.
    pub fn hurry(&self) {
        self.desk.hurried.notify_one();
    }

    /// Returns the public key that verifies the log's signatures.
    #[must_use]
    pub fn key(&self) -> &VerifierKey {
        self.desk.signer.public()
    }

    /// Returns the published state, or `None` before the first checkpoint.
    #[must_use]
    pub fn shown(&self) -> Option<Arc<Shown>> {
        self.desk.shown.borrow().clone()
    }

    /// Returns a receiver of the published state and its changes.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Option<Arc<Shown>>> {
        self.desk.shown.subscribe()
    }

    /// Returns a receiver of the signing state and its changes.
    #[must_use]
    pub fn standing(&self) -> watch::Receiver<Standing> {
        self.desk.standing.subscribe()
    }

    /// Sets the health of `LogService` to not serving once the notary has found a fault, for load
    /// balancers and operators.
    pub fn tell(&self, health: Health) {
        let mut standing = self.standing();
        tokio::spawn(async move {
            let refuses = |now: &Standing| matches!(now, Standing::Refuses(_));
            let refused = standing.wait_for(refuses).await.is_ok();
            if refused {
                health.set::<LogServiceServer<Api>>(false).await;
            }
        });
    }

    /// Waits until the published checkpoint covers all records that are durable now, and returns
    /// it. `None` if that takes longer than [`PATIENCE`].
    pub(crate) async fn covering_all(&self) -> Result<Option<Arc<Shown>>, Trouble> {
        let size = self.desk.reader.size().await?;
        let mut shown = self.watch();
        let covers =
            |shown: &Option<Arc<Shown>>| shown.as_ref().is_some_and(|it| it.head().size >= size);
        if !covers(&shown.borrow()) {
            self.hurry();
        }
        let waited = tokio::time::timeout(PATIENCE, shown.wait_for(covers)).await;
        Ok(waited.ok().and_then(Result::ok).and_then(|shown| shown.clone()))
    }

    /// Returns the note with the log's own signature alone.
    pub(crate) fn own(&self, note: &Note) -> Note {
        let (name, id) = (self.key().name(), self.key().id());
        let own = note.signatures().iter().find(|line| line.name == *name && line.id == id);
        let own = own.and_then(|line| Note::new(note.text().to_owned(), line.clone()).ok());
        own.unwrap_or_else(|| note.clone())
    }

    /// Adds cosignatures to the published note, if its checkpoint is still the one that was
    /// cosigned.
    pub(crate) fn cosigned(&self, checkpoint: &Checkpoint, by: Vec<Signature>) {
        self.desk.shown.send_if_modified(|shown| {
            let Some(now) = shown.as_ref().filter(|now| now.checkpoint == *checkpoint) else {
                return false;
            };
            let mut note = now.note.clone();
            // A note with the maximum of signatures stays as it is.
            let pushed = by.into_iter().filter(|line| note.push(line.clone()).is_ok()).count();
            *shown = Some(Arc::new(Shown { note, ..Shown::clone(now) }));
            pushed > 0
        });
    }
}

impl Desk {
    /// Records a fault, after which nothing is signed in this process.
    pub(crate) fn refuse(&self, fault: Fault) {
        let log = self.reader.name();
        tracing::error!(log, origin = %self.signer.public().name(), error = &fault as &dyn std::error::Error, "THE LOG IS NOT SIGNED ANY MORE: it contradicts what was signed before; look for who changed the database, and compare with a backup");
        self.standing.send_replace(Standing::Refuses(Arc::new(fault)));
    }

    pub(crate) fn refuses(&self) -> bool {
        matches!(*self.standing.borrow(), Standing::Refuses(_))
    }
}
