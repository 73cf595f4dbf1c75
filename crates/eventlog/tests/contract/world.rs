//! Test world: a store, a clock, and the entries that tests append.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use eventlog::{
    Authenticator, CheckpointStore, Entry, Event, Limits, Log, MemStore, NewEvent, Options,
    PgStore, PoolSizes, Position, Request, RequestId, RequestKey, StreamId, UnixMicros, migrate,
};
use sha2::{Digest, Sha256};
use sqlx::{Connection, PgConnection};
use system::clock::{Clock as _, SystemClock};

pub(crate) const LOG: &str = "table/0";
const PASSWORD: &str = "for-tests-only";

pub(crate) struct World {
    pub(crate) store: Arc<dyn CheckpointStore>,
    pub(crate) now: Arc<AtomicU64>,
    kind: Kind,
}

enum Kind {
    Memory(Arc<MemStore>),
    PostgreSql { admin: String },
}

impl World {
    pub(crate) fn memory() -> World {
        let store = MemStore::new();
        World { store: store.clone(), now: clock(), kind: Kind::Memory(store) }
    }

    /// World on PostgreSQL. The log is used under the service's own role, with its real rights.
    pub(crate) async fn postgresql(name: &str) -> anyhow::Result<World> {
        let admin = testkit::postgres().await?.database(name).await?;
        migrate(&admin, "table", Some(PASSWORD)).await?;
        let url = as_role(&admin, "sabacc_table");
        let store =
            PgStore::connect(&url, "table", PoolSizes { readers: 4, ..PoolSizes::default() })
                .await?;
        Ok(World { store, now: clock(), kind: Kind::PostgreSql { admin } })
    }

    pub(crate) fn options(&self, owner: &str) -> Options {
        let now = self.now.clone();
        Options {
            name: LOG.into(),
            owner: owner.into(),
            address: "127.0.0.1:1".into(),
            lease: Duration::from_secs(30),
            take_over: false,
            clock: Arc::new(move || UnixMicros(now.load(Ordering::Relaxed))),
            authenticator: Authenticator::new(&[7; 32], "", Arc::new(|| [7; 8])),
            limits: limits(),
        }
    }

    /// Options of an owner whose clock is the machine's, which is the store's too, plus `off`
    /// microseconds.
    pub(crate) fn owner_off_by(&self, off: &Arc<AtomicI64>) -> Options {
        if let Kind::Memory(store) = &self.kind {
            store.set_clock(Arc::new(|| SystemClock::new().now()));
        }
        let off = off.clone();
        let clock = move || {
            let now = SystemClock::new().now();
            UnixMicros(now.0.saturating_add_signed(off.load(Ordering::Relaxed)))
        };
        let limits = Limits { store_timeout: Duration::from_millis(300), ..Limits::default() };
        Options { clock: Arc::new(clock), limits, ..self.options("first") }
    }

    pub(crate) async fn open(&self) -> anyhow::Result<Log> {
        Ok(Log::open(self.store.clone(), self.options("first")).await?)
    }

    /// Opens the log as another owner, without waiting for the lease.
    pub(crate) async fn take_over(&self) -> anyhow::Result<Log> {
        let options = Options { take_over: true, ..self.options("second") };
        Ok(Log::open(self.store.clone(), options).await?)
    }

    /// Replaces the saved size, and the peaks of the tree at it.
    pub(crate) async fn save_tree(
        &self,
        size: u64,
        tree: Option<Vec<[u8; 32]>>,
    ) -> anyhow::Result<()> {
        match &self.kind {
            Kind::Memory(store) => store.save_tree(LOG, size, tree),
            Kind::PostgreSql { admin } => {
                let mut admin = PgConnection::connect(admin).await?;
                sqlx::query("UPDATE \"table\".leases SET tree = $1, size = $3 WHERE log = $2")
                    .bind(tree.map(|tree| tree.concat()))
                    .bind(LOG)
                    .bind(size.cast_signed())
                    .execute(&mut admin)
                    .await?;
            }
        }
        Ok(())
    }
}

/// Limits for the test's own clock.
pub(crate) fn limits() -> Limits {
    Limits { max_clock_skew: Duration::MAX, ..Limits::default() }
}

fn clock() -> Arc<AtomicU64> {
    Arc::new(AtomicU64::new(1_700_000_000_000_000))
}

/// Database URL for another role: the last value of a parameter counts.
pub(crate) fn as_role(url: &str, role: &str) -> String {
    let joint = if url.contains('?') { '&' } else { '?' };
    format!("{url}{joint}user={role}&password={PASSWORD}")
}

pub(crate) fn stream(n: u8) -> StreamId {
    StreamId([n; 16])
}

pub(crate) fn request(n: u8) -> RequestId {
    RequestId([n; 16])
}

/// Request key of the tests' actor.
pub(crate) fn key(id: RequestId) -> RequestKey {
    RequestKey::new("somebody", id)
}

pub(crate) fn new_event(on: StreamId, payload: &[u8]) -> NewEvent {
    NewEvent {
        stream: on,
        kind: 65_535,
        schema: 1,
        sealed: payload.len().is_multiple_of(2),
        payload: payload.to_vec().into(),
    }
}

pub(crate) fn entry(events: Vec<NewEvent>) -> Entry {
    Entry { events, request: None, actor: "somebody".into(), trace: [5; 16] }
}

/// Entry with one event of the n-th stream.
pub(crate) fn note(n: u8) -> Entry {
    entry(vec![new_event(stream(n), &[n])])
}

/// Entry that answers a request with the content `command`.
pub(crate) fn answering(id: RequestId, command: &str) -> Entry {
    Entry {
        request: Some(Request {
            id,
            digest: digest(command),
            answer: format!("answer to {command}").into(),
        }),
        ..note(1)
    }
}

pub(crate) fn digest(command: &str) -> [u8; 32] {
    Sha256::digest(command).into()
}

/// All stored events.
pub(crate) async fn all(log: &Log) -> anyhow::Result<Vec<Event>> {
    Ok(log.read(Position(0), 1_000_000).await?)
}
