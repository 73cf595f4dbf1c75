//! Store in PostgreSQL: one schema per service, named by the connection's `search_path`.
//!
//! **One round trip.** An append is one statement: it locks the owner's row where that has the
//! epoch, looks where the log ends, and inserts the rows from arrays if that is where the batch
//! begins. It is its own transaction; a claim changes the row, so it waits for the append, and an
//! append that waited for a claim finds another epoch. A batch that is sent while the previous one
//! is being written is one statement too (`append_ahead.sql`): it inserts its rows, waits for the
//! end of the other, then locks the row and looks. Two connections take turns.
//!
//! **No row that every append changes.** A log ends where its last row of events ends, and the lease
//! has a table of its own, changed by claims and renewals alone. An update leaves the old version of
//! its row behind, and while somebody keeps a snapshot open, such as a backup, no version can be
//! removed and each update walks past all of them. A lock of a row leaves none.
//!
//! **What is committed meanwhile.** A statement's snapshot is taken before it waits for a lock. So
//! where a log ends is asked by a function (`log_end` in `0001_log.sql`) whose query has a snapshot
//! of its own, after the lock.
//!
//! **Form of the statement** (figures: `benches/append`). The arrays are unnested in the select
//! list, which reads them in step; a FROM over several functions would put each through a temporary
//! store first. The time of recording is one value per batch, not an array. Adjacent events of one
//! stream and command are one row (`groups.rs`), and authors are numbers (`authors.rs`).
//!
//! **Meaning of a failure.** No connection: nothing was sent. A server error that leaves the
//! connection open: the statement was rolled back, whatever its class, since the server reports
//! such errors before the commit is on record and after that none can happen. If the error would
//! occur again with the same statement (a value that cannot be stored, a damaged page, an internal
//! error), the statement is not sent again. Any other error (the connection broke, the server is
//! going down, no answer in time) leaves the outcome open, and the writer asks again.
//!
//! **Clocks.** Every statement that writes compares the owner's clock with the server's, and
//! changes nothing if they are too far apart: see [`ClockReading`](crate::store::ClockReading).
//!
//! **Connections.** The writers' connections are separate from the readers' pool, so that no reader
//! can delay a commit; lookups of requests have two of their own, so that a sender of old ids delays
//! neither. They are not tested before use: a dead one is found by using it. All pools
//! are bounded, so that the server keeps connections for every writer however many readers there
//! are.

mod archive;
mod authors;
mod checkpoint_store;
mod durability;
mod error;
mod groups;
mod migrate;
mod projection;
mod rows;
mod snapshots;
mod sql;
mod writer_pool;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use eventlog_core::{Event, Position, Version};
use merkle::Tree;
use primitives::StreamId;
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};

pub use archive::{remove, restore};
pub use error::{ConnectError, MigrateError, with_statement_timeout, with_timeout};
pub use migrate::{migrate, migrate_with};
pub use projection::{FIRST_PROJECTION_PARAMETER, Projection};
pub use snapshots::{SnapshotPlace, Snapshots};

use crate::event::{AnsweredRequest, StreamEnd};
use crate::key::RequestKey;
use crate::store::{
    AppendOutcome, Batch, Claim, ClaimOutcome, ClockSkew, Fence, Renewal, Store, StoreError,
};
use error::StatementError;
use projection::{AppendForm, Statements};
use sql::TimedOutcome;
use writer_pool::{WriterConnection, WriterPool, connect_options, set_session};

/// Maximum numbers of connections of a store.
#[derive(Clone, Copy, Debug)]
pub struct PoolSizes {
    /// Connections for reads and lookups.
    pub readers: u32,
    /// Connections for claims, leases and batches, of which two are sent at once for each log.
    pub writers: u32,
}

impl Default for PoolSizes {
    fn default() -> PoolSizes {
        PoolSizes { readers: 8, writers: 6 }
    }
}

/// Logs of one service in PostgreSQL.
pub struct PgStore {
    writers: WriterPool,
    readers: PgPool,
    /// Connections for lookups of requests: neither a public read nor a commit waits for one.
    lookups: PgPool,
    projection: Projection,
    statements: Statements,
}

/// Connections for lookups of requests.
const LOOKUPS: u32 = 2;
/// Attempts of a read whose connection turns out to be dead.
const READ_TRIES: u32 = 3;
/// Longest time that a reader waits for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

impl PgStore {
    /// Connects to the logs of a service, such as `table`, under the role that `url` names. The
    /// schema must exist: see [`migrate`].
    pub async fn connect(
        url: &str,
        service: &str,
        pools: PoolSizes,
    ) -> Result<Arc<PgStore>, ConnectError> {
        PgStore::connect_with(url, service, pools, Projection::nothing()).await
    }

    /// Connects to the logs of a service that has tables of its own, kept by `projection`: see
    /// [`migrate_with`].
    pub async fn connect_with(
        url: &str,
        service: &str,
        pools: PoolSizes,
        projection: Projection,
    ) -> Result<Arc<PgStore>, ConnectError> {
        let options = connect_options(url, service)?;
        let schema: Arc<str> = service.into();
        let links = WriterPool::new(options.clone(), schema.clone(), pools.writers);
        let mut link = links.acquire().await.map_err(ConnectError::Unavailable)?;
        if !sql::is_migrated(&mut link).await.map_err(ConnectError::Unavailable)? {
            return Err(ConnectError::NotMigrated { service: service.into() });
        }
        links.release(link);
        let lookups = pool(options.clone(), schema.clone(), LOOKUPS);
        let readers = pool(options, schema, pools.readers);
        Ok(Arc::new(PgStore {
            writers: links,
            readers,
            lookups,
            projection,
            statements: Statements::default(),
        }))
    }
}

impl PgStore {
    /// Refuses a database that may lose acknowledged commits, or cannot store every text.
    ///
    /// # Errors
    /// All wrong settings with their remedies, or the database cannot be reached.
    pub async fn require_durability(&self) -> Result<(), ConnectError> {
        let mut link = self.writers.acquire().await.map_err(ConnectError::Unavailable)?;
        let promises = with_statement_timeout(sql::durability_settings(&mut link)).await;
        let promises = promises.map_err(ConnectError::Unavailable)?;
        self.writers.release(link);
        let wrong = durability::violations(&promises);
        if wrong.is_empty() { Ok(()) } else { Err(ConnectError::Unsafe(wrong)) }
    }

    /// Readers' pool, for a service that reads its own tables. Names are looked up in the service's
    /// schema.
    #[must_use]
    pub const fn readers(&self) -> &PgPool {
        &self.readers
    }

    /// Writes a batch. The result is [`AppendOutcome::Written`] or [`AppendOutcome::Fenced`], or the
    /// clocks' difference.
    async fn write(
        &self,
        link: &mut WriterConnection,
        batch: &Batch,
    ) -> Result<Result<AppendOutcome, ClockSkew>, sqlx::Error> {
        if batch.pipelined_after.is_none() {
            let TimedOutcome { outcome: done, time } = self.write_in_turn(link, batch).await?;
            if done {
                return Ok(Ok(AppendOutcome::Written));
            }
            let checked = batch.clock.check(Some(batch.recorded_at()), time);
            return Ok(checked.map(|()| AppendOutcome::Fenced));
        }
        let rows = batch.rows.as_ref().unwrap_or(&self.projection.no_rows);
        let Some(ahead) = rows.pipelined() else { return Ok(Ok(AppendOutcome::Fenced)) };
        let written = self.write_as(link, batch, AppendForm::Pipelined(ahead)).await;
        // The batch is tried again in its turn.
        let again =
            |error: &_| error::is_pipeline_conflict(error) || error::is_projection_conflict(error);
        if written.as_ref().is_err_and(again) {
            return Ok(Ok(AppendOutcome::Fenced));
        }
        written.map(|_| Ok(AppendOutcome::Written))
    }

    async fn write_in_turn(
        &self,
        link: &mut WriterConnection,
        batch: &Batch,
    ) -> Result<TimedOutcome<bool>, sqlx::Error> {
        let rows = batch.rows.as_ref().unwrap_or(&self.projection.no_rows);
        let form = AppendForm::InTurn(rows.ctes().unwrap_or(self.projection.ctes));
        let written = self.write_as(link, batch, form).await;
        match (&written, rows.clearing_statement()) {
            (Err(error), Some(clearing)) if error::is_projection_conflict(error) => {
                tracing::warn!(log = %batch.log, %error, "a row stands where one of a batch goes: it is removed");
                sqlx::raw_sql(clearing).execute(&mut **link).await?;
                self.write_as(link, batch, form).await
            }
            _ => written,
        }
    }

    async fn write_as(
        &self,
        link: &mut WriterConnection,
        batch: &Batch,
        form: AppendForm,
    ) -> Result<TimedOutcome<bool>, sqlx::Error> {
        let authors = link.authors_of(&batch.events).await?;
        let mut arguments = sql::append_arguments(batch, &authors)?;
        let rows = batch.rows.as_ref().unwrap_or(&self.projection.no_rows);
        rows.bind(&mut arguments).map_err(sqlx::Error::Encode)?;
        sql::append(link, &self.statements.of(form), arguments).await
    }
}

fn pool(options: PgConnectOptions, schema: Arc<str>, connections: u32) -> PgPool {
    PgPoolOptions::new()
        .max_connections(connections.max(1))
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        .after_connect(move |connection, _| {
            let schema = schema.clone();
            Box::pin(async move { set_session(connection, &schema).await })
        })
        .connect_lazy_with(options)
}

/// Drops a pool's idle connections. If one was dead, the others are of the same age.
pub fn drop_idle(pool: &PgPool) {
    while let Some(idle) = pool.try_acquire() {
        drop(idle.detach());
    }
}

impl PgStore {
    async fn read_with<T, F>(&self, query: impl FnMut() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, sqlx::Error>>,
    {
        read_with_retry(&self.readers, query).await
    }
}

/// Retries a read on another connection if one was dead. All idle connections are dropped too;
/// otherwise a restarted database would fail as many reads as there were connections.
async fn read_with_retry<T, F>(pool: &PgPool, mut query: impl FnMut() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, sqlx::Error>>,
{
    let mut tries = READ_TRIES;
    loop {
        tries -= 1;
        match with_statement_timeout(query()).await.map_err(StatementError::classify) {
            Ok(rows) => return Ok(rows),
            Err(StatementError::InDoubt(_)) if tries > 0 => drop_idle(pool),
            Err(trouble) => return Err(trouble.into_read_error()),
        }
    }
}

#[async_trait]
impl Store for PgStore {
    async fn claim(&self, claim: &Claim) -> Result<ClaimOutcome, StoreError> {
        let mut link = self.writers.acquire().await.map_err(StoreError::unavailable)?;
        let claimed = with_statement_timeout(sql::claim(&mut link, claim)).await;
        let TimedOutcome { outcome, time } = self.writers.release_unless_broken(link, claimed)?;
        if let Some(fence) = outcome {
            return Ok(ClaimOutcome::Granted(fence));
        }
        claim.clock.check(None, time).map_err(StoreError::Clock)?;
        let mut link = self.writers.acquire().await.map_err(StoreError::unavailable)?;
        let held = with_statement_timeout(sql::fence(&mut link, &claim.log)).await;
        match self.writers.release_unless_broken(link, held)? {
            Some((fence, remaining)) => Ok(ClaimOutcome::Held { fence, remaining }),
            None => Err(StoreError::Corrupt("the log's owner row came and went".into())),
        }
    }

    async fn renew(&self, renewal: &Renewal) -> Result<bool, StoreError> {
        let mut link = self.writers.acquire().await.map_err(StoreError::unavailable)?;
        let renewed = with_statement_timeout(sql::renew(&mut link, renewal)).await;
        let TimedOutcome { outcome, time } = self.writers.release_unless_broken(link, renewed)?;
        if !outcome {
            renewal.clock.check(None, time).map_err(StoreError::Clock)?;
        }
        Ok(outcome)
    }

    async fn fence(&self, log: &str) -> Result<Option<Fence>, StoreError> {
        let mut link = self.writers.acquire().await.map_err(StoreError::unavailable)?;
        let fence = with_statement_timeout(sql::fence(&mut link, log)).await;
        Ok(self.writers.release_unless_broken(link, fence)?.map(|(fence, _)| fence))
    }

    async fn size(&self, log: &str) -> Result<u64, StoreError> {
        let fence =
            self.read_with(|| async { sql::fence(&mut *self.readers.acquire().await?, log).await });
        Ok(fence.await?.map_or(0, |(fence, _)| fence.size))
    }

    async fn append(&self, batch: &Batch) -> Result<AppendOutcome, StoreError> {
        let mut link = self.writers.acquire().await.map_err(StoreError::unavailable)?;
        let written = with_statement_timeout(self.write(&mut link, batch)).await;
        match self.writers.release_unless_broken(link, written) {
            Ok(written) => written.map_err(StoreError::Clock),
            Err(StatementError::Duplicate) => Ok(AppendOutcome::Duplicate),
            Err(trouble) => Err(trouble.into()),
        }
    }

    fn pipelines_entries(&self) -> bool {
        self.projection.no_rows.pipelined().is_some()
    }

    async fn stream_ends(&self, log: &str, of: &[StreamId]) -> Result<Vec<StreamEnd>, StoreError> {
        let mut link = self.writers.acquire().await.map_err(StoreError::unavailable)?;
        let ends = with_statement_timeout(sql::stream_ends(&mut link, log, of)).await;
        self.writers.release_unless_broken(link, ends).map_err(StatementError::into_read_error)
    }

    async fn stream_end(
        &self,
        log: &str,
        stream: StreamId,
    ) -> Result<Option<StreamEnd>, StoreError> {
        let of = [stream];
        let ends = self.read_with(|| async {
            sql::stream_ends(&mut *self.readers.acquire().await?, log, &of).await
        });
        Ok(ends.await?.pop())
    }

    async fn requests(
        &self,
        log: &str,
        of: &[RequestKey],
    ) -> Result<Vec<AnsweredRequest>, StoreError> {
        let pool = &self.lookups;
        read_with_retry(pool, || sql::requests(pool, log, of)).await
    }

    async fn cut(&self, log: &str) -> Result<Option<Tree>, StoreError> {
        self.read_with(|| async { sql::cut(&mut *self.readers.acquire().await?, log).await }).await
    }

    async fn forgotten(&self, log: &str) -> Result<Option<RequestKey>, StoreError> {
        let pool = &self.lookups;
        read_with_retry(pool, || sql::forgotten(pool, log)).await
    }

    async fn latest_keys(
        &self,
        log: &str,
        below: Option<RequestKey>,
        limit: usize,
    ) -> Result<Vec<RequestKey>, StoreError> {
        self.read_with(|| sql::latest_keys(&self.readers, log, below, limit)).await
    }

    async fn read(
        &self,
        log: &str,
        from: Position,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        self.read_with(|| sql::read(&self.readers, log, from, limit)).await
    }

    async fn read_stream(
        &self,
        log: &str,
        stream: StreamId,
        from: Version,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        self.read_with(|| sql::read_stream(&self.readers, log, stream, from, limit)).await
    }
}
