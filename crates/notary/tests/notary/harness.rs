//! Harness: a log with its store and its notary.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chassis::config::LogIdentity;
use ed25519_dalek::SigningKey;
use eventlog::{
    Authenticator, CheckpointStore as _, Entry, Limits, Log, MemStore, NewEvent, Options, Position,
    PreviousSecret, StreamId, UnixMicros,
};
use merkle::{Checkpoint, TreeHead, VerifiedCheckpoint};
use notary::{CheckpointFile, Dependencies, Fault, Notary, PublishedTree, SigningState};

pub(crate) const LOG: &str = "table/0";

pub(crate) struct Harness {
    pub(crate) store: Arc<MemStore>,
    pub(crate) log: Log,
    pub(crate) notary: Notary,
}

pub(crate) fn identity(key: u8) -> LogIdentity {
    LogIdentity {
        origin: "test/table".into(),
        key: SigningKey::from_bytes(&[key; 32]),
        previous: Vec::new(),
    }
}

pub(crate) fn notary(store: &Arc<MemStore>, key: u8, memory: Option<&Path>) -> Notary {
    let parts = Dependencies {
        store: store.clone(),
        log: LOG.into(),
        identity: identity(key),
        checkpoint_file: memory.map(CheckpointFile::new),
        archives: None,
    };
    Notary::new(parts).unwrap()
}

/// Authenticator that believes every event: whatever the log would refuse is for the notary to find.
pub(crate) fn authenticator() -> Authenticator {
    let lost = PreviousSecret { secret: None, until: Position(u64::MAX) };
    Authenticator::new(&[7; 32], "", Arc::new(|| [7; 8])).with_previous([lost].into_iter(), "")
}

pub(crate) async fn open(store: &Arc<MemStore>) -> Log {
    let options = Options {
        name: LOG.into(),
        owner: "test".into(),
        address: "127.0.0.1:1".into(),
        lease: Duration::from_secs(30),
        take_over: true,
        clock: Arc::new(|| UnixMicros(1_700_000_000_000_000)),
        authenticator: authenticator(),
        limits: Limits::default(),
    };
    Log::open(store.clone(), options).await.unwrap()
}

impl Harness {
    /// Creates a new log that is signed from its beginning.
    pub(crate) async fn new() -> Harness {
        let harness = Harness::unsigned(0).await;
        harness.notary.follow(&harness.log);
        harness.wait_until_signed(0).await;
        harness
    }

    /// Creates a log of records that nobody has signed yet.
    pub(crate) async fn unsigned(size: u64) -> Harness {
        let store = MemStore::new();
        let log = open(&store).await;
        let notary = notary(&store, 1, None);
        let harness = Harness { store, log, notary };
        harness.write(size).await;
        harness
    }

    /// Creates a log of this size, all of it signed.
    pub(crate) async fn signed_whole(size: u64) -> Harness {
        let harness = Harness::new().await;
        harness.write(size).await;
        harness.wait_until_signed(size).await;
        harness
    }

    /// Writes events, each to one of five streams.
    pub(crate) async fn write(&self, count: u64) {
        write(&self.log, count).await;
    }

    /// Returns the published state once it has `size` records.
    pub(crate) async fn wait_until_signed(&self, size: u64) -> Arc<PublishedTree> {
        let mut shown = self.notary.watch();
        let there = shown.wait_for(|it| it.as_ref().is_some_and(|it| it.head().size >= size));
        let there = tokio::time::timeout(Duration::from_secs(60), there).await;
        let shown = there.unwrap_or_else(|_| panic!("not signed: {:?}", self.signing_state()));
        shown.unwrap().clone().unwrap()
    }

    pub(crate) fn signing_state(&self) -> SigningState {
        self.notary.signing_state().borrow().clone()
    }

    /// Returns the fault that ended signing.
    pub(crate) async fn fault(&self) -> Fault {
        fault(&self.notary).await
    }

    /// Ends the process and starts another on the same store.
    pub(crate) async fn restart(self) -> Harness {
        let Harness { store, log, notary: old } = self;
        log.close().await;
        drop(old);
        let (log, notary) = (open(&store).await, notary(&store, 1, None));
        notary.follow(&log);
        Harness { store, log, notary }
    }

    /// Returns size and root of the stored records.
    pub(crate) async fn stored_head(&self) -> TreeHead {
        let events = self.log.read(Position(0), 1_000_000).await.unwrap();
        let root = merkle::root(events.iter().map(eventlog::Event::record));
        TreeHead { size: events.len() as u64, root }
    }

    /// Returns the number of checkpoints that were ever signed.
    pub(crate) async fn signature_count(&self) -> usize {
        self.store.checkpoints(LOG, 1, 1_000_000).await.unwrap().len()
    }
}

pub(crate) async fn fault(notary: &Notary) -> Fault {
    let mut standing = notary.signing_state();
    let refuses = standing.wait_for(|it| matches!(it, SigningState::Stopped(_)));
    let refuses = tokio::time::timeout(Duration::from_secs(600), refuses).await;
    match &*refuses.expect("it goes on signing").unwrap() {
        SigningState::Stopped(fault) => Fault::clone(fault),
        SigningState::Waiting | SigningState::Signing => unreachable!("it was waited for"),
    }
}

pub(crate) async fn write(log: &Log, count: u64) {
    let first = log.size();
    for chunk in (first..first + count).collect::<Vec<_>>().chunks(500) {
        let events = chunk.iter().map(|n| NewEvent {
            stream: StreamId([u8::try_from(n % 5).unwrap(); 16]),
            kind: 7,
            schema: 1,
            sealed: n % 3 == 0,
            payload: n.to_string().into_bytes().into(),
        });
        let entry = Entry {
            events: events.collect(),
            request: None,
            actor: "somebody".into(),
            trace: [5; 16],
        };
        log.append(entry).await.unwrap();
    }
}

/// Returns the published checkpoint, verified from its bytes.
pub(crate) fn verified_checkpoint(notary: &Notary) -> Checkpoint {
    let note = notary.published().unwrap().note.to_string();
    let VerifiedCheckpoint { checkpoint, .. } =
        Checkpoint::open(note.as_bytes(), notary.key(), &[]).unwrap();
    checkpoint
}
