//! The handle of a notary: what it shows, how it stands, and how it is told to hurry.

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

/// How long somebody waits for a signature over what was acknowledged just now.
const PATIENCE: Duration = Duration::from_secs(3);

/// Readers for others that are at work at once, half of the connections that readers have …
const READS: usize = 4;
/// … and that wait behind them. More are told to come again.
const WAITING: usize = 64;

/// Whose log, kept where, signed by whom.
pub struct Parts {
    pub shelf: Arc<dyn Shelf>,
    /// The log's name in its store, such as `table/0`.
    pub log: Arc<str>,
    pub identity: LogIdentity,
    /// Remembers the last checkpoint beside the store.
    pub memory: Option<Memory>,
}

/// Signs what a log has become. Clones are handles of the same.
#[derive(Clone)]
pub struct Notary {
    pub(crate) desk: Arc<Desk>,
}

/// What all handles and the task share.
pub(crate) struct Desk {
    pub(crate) shelf: Arc<dyn Shelf>,
    pub(crate) reader: Reader,
    pub(crate) trees: Trees,
    pub(crate) signer: Signer,
    pub(crate) memory: Option<Memory>,
    pub(crate) shown: watch::Sender<Option<Arc<Shown>>>,
    pub(crate) standing: watch::Sender<Standing>,
    pub(crate) hurried: Notify,
    /// Whoever reads for others: what the log itself reads has the rest of the readers' connections.
    pub(crate) reads: ConcurrencyLimiter,
    following: TaskTracker,
}

/// A log as everybody may see it.
#[derive(Clone, Debug)]
pub struct Shown {
    /// The checkpoint as it was signed, with the cosignatures that have come since.
    pub note: Note,
    pub checkpoint: Checkpoint,
    pub(crate) edge: Edge,
}

/// Whether a notary signs.
#[derive(Clone, Debug)]
pub enum Standing {
    /// Not yet: it has not found out where the log stands, or nobody here owns it.
    Waiting,
    Signs,
    /// Nor will it ever.
    Refuses(Arc<Fault>),
}

impl Shown {
    #[must_use]
    pub const fn head(&self) -> TreeHead {
        self.checkpoint.head()
    }

    /// The partial tiles at the right edge, the lowest first, with their content.
    #[must_use]
    pub fn partial(&self) -> Vec<(TileId, Vec<u8>)> {
        self.edge.partial()
    }
}

impl Notary {
    /// A notary who follows nothing yet.
    ///
    /// # Errors
    /// The origin is no name of a key.
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

    /// The notary that a service's settings describe, with its witnesses; nothing where they say
    /// nothing of a log.
    ///
    /// # Errors
    /// The origin is no name of a key.
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

    /// Follows a log from now on, until it is no longer owned here. It takes no handle of the log, so
    /// that it keeps nobody from giving the log up.
    pub fn follow(&self, log: &Log) {
        let follower = Follower { desk: Arc::clone(&self.desk), heads: log.heads() };
        self.desk.following.spawn(follower.run());
    }

    /// After the log was closed: waits until its last records are signed for, so that what was played
    /// last can be proved while nothing runs. Not for ever, where the store is gone.
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

    /// Asks for a signature over what is durable now, sooner than one would come by itself.
    pub fn hurry(&self) {
        self.desk.hurried.notify_one();
    }

    /// What the log's signatures are verified with.
    #[must_use]
    pub fn key(&self) -> &VerifierKey {
        self.desk.signer.public()
    }

    /// What is shown; nothing before the first checkpoint.
    #[must_use]
    pub fn shown(&self) -> Option<Arc<Shown>> {
        self.desk.shown.borrow().clone()
    }

    /// What is shown, each time it changes.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Option<Arc<Shown>>> {
        self.desk.shown.subscribe()
    }

    /// Whether it signs, each time that changes.
    #[must_use]
    pub fn standing(&self) -> watch::Receiver<Standing> {
        self.desk.standing.subscribe()
    }

    /// Lets load balancers and operators see in the server's health where it signs no more.
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

    /// What is shown once it covers everything that is durable now; nothing where that is not signed
    /// in time.
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

    /// A note with the log's signatures alone.
    pub(crate) fn own(&self, note: &Note) -> Note {
        let (name, id) = (self.key().name(), self.key().id());
        let own = note.signatures().iter().find(|line| line.name == *name && line.id == id);
        let own = own.and_then(|line| Note::new(note.text().to_owned(), line.clone()).ok());
        own.unwrap_or_else(|| note.clone())
    }

    /// Puts a cosignature under what is shown, if that is still what was cosigned.
    pub(crate) fn cosigned(&self, checkpoint: &Checkpoint, by: Vec<Signature>) {
        self.desk.shown.send_if_modified(|shown| {
            let Some(now) = shown.as_ref().filter(|now| now.checkpoint == *checkpoint) else {
                return false;
            };
            let mut note = now.note.clone();
            // A note that is full stays as it is.
            let pushed = by.into_iter().filter(|line| note.push(line.clone()).is_ok()).count();
            *shown = Some(Arc::new(Shown { note, ..Shown::clone(now) }));
            pushed > 0
        });
    }
}

impl Desk {
    /// Never signs again.
    pub(crate) fn refuse(&self, fault: Fault) {
        let log = self.reader.name();
        tracing::error!(log, origin = %self.signer.public().name(), error = &fault as &dyn std::error::Error, "THE LOG IS NOT SIGNED ANY MORE: it contradicts what was signed before; look for who changed the database, and compare with a backup");
        self.standing.send_replace(Standing::Refuses(Arc::new(fault)));
    }

    pub(crate) fn refuses(&self) -> bool {
        matches!(*self.standing.borrow(), Standing::Refuses(_))
    }
}
