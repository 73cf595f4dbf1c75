//! The handle of a notary: what it has published, whether it signs, and requests to sign sooner.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use chassis::concurrency_limiter::ConcurrencyLimiter;
use chassis::config::{LogIdentity, LogWitnesses, ServiceConfig};
use chassis::http_client::HttpClient;
use chassis::serve::Health;
use eventlog::archive::MountedArchives;
use eventlog::{CheckpointStore, Log, Reader};
use merkle::note::{KeyError, KeyName, LogKey, Note, Signature, VerifierKey};
use merkle::{Checkpoint, Edge, Signer, TileId, TreeHead};
use proto::audit::v1::log_service_server::LogServiceServer;
use tokio::sync::{Notify, watch};
use tokio_util::task::TaskTracker;

use crate::api::Api;
use crate::checkpoint_file::CheckpointFile;
use crate::fault::{Fault, NotaryError};
use crate::follow::Follower;
use crate::tile_store::TileStore;
use crate::witness::{WitnessEndpoint, push_checkpoints};

/// Longest wait for a signature over records that were acknowledged just now.
const SIGNATURE_TIMEOUT: Duration = Duration::from_secs(3);

/// Longest wait for a witness's signature: the `wait_ms` of `ReadRecords`, by which the deadline of
/// that call is later.
const COSIGNATURE_TIMEOUT: Duration = Duration::from_secs(5);

/// Most concurrent reads for callers: half of the connections that readers have.
const MAX_CONCURRENT_READS: usize = 4;
/// Most reads that wait for one of [`MAX_CONCURRENT_READS`]. More are refused.
const MAX_WAITING_READS: usize = 64;
/// Most concurrent reads of archives for callers. They have permits of their own, so that a storage
/// that is slow or gone holds up nobody who asks for what is in the database.
const MAX_ARCHIVE_READS: usize = 2;
/// Most reads that wait for one of [`MAX_ARCHIVE_READS`].
const MAX_WAITING_ARCHIVE_READS: usize = 16;

/// Log, store and keys of a notary.
pub struct Dependencies {
    pub store: Arc<dyn CheckpointStore>,
    /// Name of the log in its store, such as `table/0`.
    pub log: Arc<str>,
    pub identity: LogIdentity,
    /// File that remembers the last checkpoint outside the store.
    pub checkpoint_file: Option<CheckpointFile>,
    /// Archives from which callers get what was removed from the store.
    pub archives: Option<Arc<MountedArchives>>,
}

/// Signer of one log. Clones are handles of the same notary.
#[derive(Clone)]
pub struct Notary {
    pub(crate) shared: Arc<Shared>,
}

/// State that all handles and the task share.
pub(crate) struct Shared {
    pub(crate) store: Arc<dyn CheckpointStore>,
    /// Reader of what is stored, for what is signed.
    pub(crate) reader: Reader,
    /// Reader with archives, for callers.
    pub(crate) archive_reader: Option<Reader>,
    pub(crate) tiles: TileStore,
    pub(crate) signer: Signer,
    pub(crate) checkpoint_file: Option<CheckpointFile>,
    pub(crate) published: watch::Sender<Option<Arc<PublishedTree>>>,
    /// The newest tree that a witness has signed. It may be older than the published one: a busy log
    /// signs on while its witness is asked.
    cosigned: watch::Sender<Option<Arc<PublishedTree>>>,
    pub(crate) signing_state: watch::Sender<SigningState>,
    pub(crate) signature_requested: Notify,
    /// Limits the reads for callers, so that connections are left for the log's own reads.
    pub(crate) reads: ConcurrencyLimiter,
    pub(crate) archive_reads: ConcurrencyLimiter,
    /// Keys of the witnesses that are asked for cosignatures.
    witnesses: RwLock<Vec<VerifierKey>>,
    /// Whether the last wait for a cosignature was in vain, and none has come since. Nobody waits
    /// then: each who did would hold up others.
    is_witness_late: AtomicBool,
    tasks: TaskTracker,
}

/// The published state of a log.
#[derive(Clone, Debug)]
pub struct PublishedTree {
    /// The signed checkpoint, with the cosignatures that have arrived.
    pub note: Note,
    pub checkpoint: Checkpoint,
    pub(crate) edge: Edge,
}

/// State of a notary's signing.
#[derive(Clone, Debug)]
pub enum SigningState {
    /// The notary has not yet found out how far the log was signed, or no log is followed here.
    Waiting,
    Signing,
    /// The notary has found a fault and never signs again in this process.
    Stopped(Arc<Fault>),
}

impl PublishedTree {
    #[must_use]
    pub const fn head(&self) -> TreeHead {
        self.checkpoint.head()
    }

    /// Returns the tree with further signatures of its checkpoint.
    fn with_signatures(&self, signatures: &[Signature]) -> PublishedTree {
        let mut note = self.note.clone();
        for signature in signatures {
            // A note with the maximum of signatures stays as it is.
            let _ = note.push(signature.clone());
        }
        PublishedTree { note, ..self.clone() }
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
    pub fn new(parts: Dependencies) -> Result<Notary, KeyError> {
        let Dependencies {
            store,
            log,
            identity: LogIdentity { origin, key, .. },
            checkpoint_file: memory,
            archives,
        } = parts;
        let key = LogKey::new(KeyName::try_new(&*origin)?, &key.to_bytes());
        let reader = Reader::new(Arc::<dyn CheckpointStore>::clone(&store), Arc::clone(&log));
        let shared = Shared {
            archive_reader: archives.map(|archives| reader.clone().with_archives(archives)),
            reader,
            tiles: TileStore::new(Arc::clone(&store), log),
            store,
            signer: Signer::new(key),
            checkpoint_file: memory,
            published: watch::Sender::new(None),
            cosigned: watch::Sender::new(None),
            signing_state: watch::Sender::new(SigningState::Waiting),
            signature_requested: Notify::new(),
            reads: ConcurrencyLimiter::new(MAX_CONCURRENT_READS, MAX_WAITING_READS),
            archive_reads: ConcurrencyLimiter::new(MAX_ARCHIVE_READS, MAX_WAITING_ARCHIVE_READS),
            witnesses: RwLock::default(),
            is_witness_late: AtomicBool::new(false),
            tasks: TaskTracker::new(),
        };
        Ok(Notary { shared: Arc::new(shared) })
    }

    /// Creates the notary that a service's settings describe, with its witnesses. `None` if the
    /// settings name no log identity. The archives are those of this log.
    ///
    /// # Errors
    /// If the origin is not a valid key name.
    pub fn from_config(
        store: Arc<dyn CheckpointStore>,
        log: &str,
        config: &ServiceConfig,
        archives: Option<Arc<MountedArchives>>,
    ) -> Result<Option<Notary>, KeyError> {
        let Some(identity) = config.log.clone() else { return Ok(None) };
        let LogWitnesses { witnesses, checkpoint_file: memory } = config.log_witnesses.clone();
        let memory = memory.map(CheckpointFile::new);
        let notary = Notary::new(Dependencies {
            store,
            log: log.into(),
            identity,
            checkpoint_file: memory,
            archives,
        })?;
        if !witnesses.is_empty() {
            let fetch = Arc::new(HttpClient::new());
            for (url, key) in witnesses {
                push_checkpoints(&notary, WitnessEndpoint { url, key }, Arc::clone(&fetch));
            }
        }
        Ok(Some(notary))
    }

    /// Follows a log until this process no longer owns it. The task holds no handle of the log, so
    /// that it does not keep the log from being released.
    pub fn follow(&self, log: &Log) {
        let follower = Follower { shared: Arc::clone(&self.shared), heads: log.watch_head() };
        self.shared.tasks.spawn(follower.run());
    }

    /// Waits, after the log was closed, until its last records are signed, so that they can be
    /// proved while no service runs. Gives up after a few seconds, for the store may be gone.
    pub async fn wait_until_signed(&self) {
        self.shared.tasks.close();
        if tokio::time::timeout(SIGNATURE_TIMEOUT, self.shared.tasks.wait()).await.is_err() {
            let log = self.shared.reader.name();
            tracing::warn!(
                log,
                "the last records of the log are not signed for: they will be when it is opened again"
            );
        }
    }

    /// Requests a signature over what is durable now, before the next regular one.
    pub fn request_signature(&self) {
        self.shared.signature_requested.notify_one();
    }

    /// Returns the public key that verifies the log's signatures.
    #[must_use]
    pub fn key(&self) -> &VerifierKey {
        self.shared.signer.public()
    }

    /// Returns the keys of the witnesses that are asked for cosignatures.
    #[must_use]
    pub fn witness_keys(&self) -> Vec<VerifierKey> {
        self.shared.witnesses.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds a witness that is asked for cosignatures.
    pub(crate) fn add_witness(&self, key: VerifierKey) {
        self.shared.witnesses.write().unwrap_or_else(PoisonError::into_inner).push(key);
    }

    /// Returns the published state, or `None` before the first checkpoint.
    #[must_use]
    pub fn published(&self) -> Option<Arc<PublishedTree>> {
        self.shared.published.borrow().clone()
    }

    /// Returns a receiver of the published state and its changes.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Option<Arc<PublishedTree>>> {
        self.shared.published.subscribe()
    }

    /// Returns a receiver of the signing state and its changes.
    #[must_use]
    pub fn signing_state(&self) -> watch::Receiver<SigningState> {
        self.shared.signing_state.subscribe()
    }

    /// Sets the health of `LogService` to not serving once the notary has found a fault, for load
    /// balancers and operators.
    pub fn report_health(&self, health: Health) {
        let mut standing = self.signing_state();
        tokio::spawn(async move {
            let refuses = |now: &SigningState| matches!(now, SigningState::Stopped(_));
            let refused = standing.wait_for(refuses).await.is_ok();
            if refused {
                health.set_serving::<LogServiceServer<Api>>(false).await;
            }
        });
    }

    /// Waits until the published checkpoint covers all records that are durable now, and returns
    /// it. `None` if that takes longer than [`SIGNATURE_TIMEOUT`].
    pub(crate) async fn wait_until_all_published(
        &self,
    ) -> Result<Option<Arc<PublishedTree>>, NotaryError> {
        let size = self.shared.reader.size().await?;
        let mut shown = self.watch();
        let covers = |shown: &Option<Arc<PublishedTree>>| {
            shown.as_ref().is_some_and(|it| it.head().size >= size)
        };
        if !covers(&shown.borrow()) {
            self.request_signature();
        }
        let waited = tokio::time::timeout(SIGNATURE_TIMEOUT, shown.wait_for(covers)).await;
        Ok(waited.ok().and_then(Result::ok).and_then(|shown| shown.clone()))
    }

    /// Waits until a witness has signed a checkpoint that covers the published one, and returns its
    /// tree; `published` if there are no witnesses or none signs in time. The second value is false
    /// in the last case. Does not wait while a witness is late.
    pub(crate) async fn wait_until_cosigned(
        &self,
        published: Arc<PublishedTree>,
    ) -> (Arc<PublishedTree>, bool) {
        if self.witness_keys().is_empty() {
            return (published, true);
        }
        let mut cosigned = self.shared.cosigned.subscribe();
        let size = published.head().size;
        let covers = |tree: &Option<Arc<PublishedTree>>| {
            tree.as_ref().is_some_and(|tree| tree.head().size >= size)
        };
        let late = &self.shared.is_witness_late;
        let limit = if late.load(Ordering::Relaxed) { Duration::ZERO } else { COSIGNATURE_TIMEOUT };
        let waited = tokio::time::timeout(limit, cosigned.wait_for(covers)).await;
        match waited.ok().and_then(Result::ok).and_then(|tree| tree.clone()) {
            Some(tree) => (tree, true),
            None => {
                // Who has not waited knows nothing.
                if !limit.is_zero() {
                    late.store(true, Ordering::Relaxed);
                }
                (published, false)
            }
        }
    }

    /// Returns the note with the log's own signature alone.
    pub(crate) fn without_cosignatures(&self, note: &Note) -> Note {
        let (name, id) = (self.key().name(), self.key().id());
        let own = note.signatures().iter().find(|line| line.name == *name && line.id == id);
        let own = own.and_then(|line| Note::new(note.text().to_owned(), line.clone()).ok());
        own.unwrap_or_else(|| note.clone())
    }

    /// Adds cosignatures of `tree`, also to the published note if its checkpoint is still that one.
    pub(crate) fn add_cosignatures(&self, tree: &PublishedTree, cosignatures: &[Signature]) {
        self.shared.is_witness_late.store(false, Ordering::Relaxed);
        self.shared.cosigned.send_if_modified(|newest| {
            let with = match newest.as_deref() {
                Some(known) if known.head().size > tree.head().size => return false,
                // Another witness has signed it before.
                Some(known) if known.checkpoint == tree.checkpoint => known,
                Some(_) | None => tree,
            };
            *newest = Some(Arc::new(with.with_signatures(cosignatures)));
            true
        });
        self.shared.published.send_if_modified(|shown| {
            let Some(now) = shown.as_ref().filter(|now| now.checkpoint == tree.checkpoint) else {
                return false;
            };
            *shown = Some(Arc::new(now.with_signatures(cosignatures)));
            true
        });
    }
}

impl Shared {
    /// Records a fault, after which nothing is signed in this process.
    pub(crate) fn stop_signing(&self, fault: Fault) {
        let log = self.reader.name();
        tracing::error!(log, origin = %self.signer.public().name(), error = &fault as &dyn std::error::Error, "THE LOG IS NOT SIGNED ANY MORE: it contradicts what was signed before; look for who changed the database, and compare with a backup");
        self.signing_state.send_replace(SigningState::Stopped(Arc::new(fault)));
    }

    pub(crate) fn has_stopped(&self) -> bool {
        matches!(*self.signing_state.borrow(), SigningState::Stopped(_))
    }
}

#[cfg(test)]
mod tests {
    use chassis::auth::Access;

    use super::*;

    /// ARCHITECTURE.md §7.2.
    #[test]
    fn the_deadline_of_a_call_has_room_for_the_wait_for_a_witness() {
        let access = Access::from_descriptors(proto::DESCRIPTORS).unwrap();
        for method in [
            "/sabacc.audit.v1.LogService/ReadRecords",
            "/sabacc.audit.v1.AuditService/GetHandBundle",
            "/sabacc.audit.v1.AuditService/AuditHand",
            "/sabacc.audit.v1.DisputeService/OpenDispute",
        ] {
            assert_eq!(access.wait(method), COSIGNATURE_TIMEOUT, "{method}");
        }
        assert_eq!(access.wait("/sabacc.audit.v1.LogService/GetTile"), Duration::ZERO);
    }
}
