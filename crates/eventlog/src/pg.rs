//! The store in PostgreSQL: one schema a service, whose name the connection's `search_path` holds.
//!
//! **One round trip.** An append is one statement: the fence is moved, and the rows go in from
//! arrays where it moved. It is its own transaction; a second owner waits at the fence's row and
//! then finds its epoch gone. A batch that is sent while the one before is being written is one statement
//! too (`append_ahead.sql`): its rows first, then it waits for the end of the other, then the fence. Two
//! connections take turns.
//!
//! **What an append costs** (`benches/append`; PostgreSQL 15, microseconds a row in the server, without
//! the disk, batches of 40). With the arrays unnested in FROM: 15, since a FROM over several functions
//! puts each through a temporary store first. In the select list: 7.7, as they are read in step. One
//! time for the batch instead of an array of it: 7.1. The index over versions is 3 of these. A number
//! instead of the log's name in rows and keys makes neither smaller, since both are padded to eight
//! bytes, and saves 0.4 at the most; checks, and the partitions of the requests, about as much each:
//! not worth what they are for. What is left beside the rows is the fence, some 30 for a batch.
//!
//! **What a failure says.** No connection: nothing was sent. An error from the server that leaves
//! the connection standing: the statement was undone. Anything else (the connection broke, the
//! server is going down, no answer in time) leaves the outcome open, and the writer asks again.
//!
//! **Connections.** The writer's are kept apart from the readers' pool, so that no reader can keep a
//! commit waiting, and are not tested before use: a dead one is found by using it.

mod archive;
mod error;
mod link;
mod migrate;
mod projection;
mod rows;
mod shelf;
mod sql;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use merkle::Tree;
use primitives::{RequestId, StreamId};
use sqlx::PgPool;
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPoolOptions};

pub use archive::{remove, restore};
pub use error::{ConnectError, MigrateError};
pub use migrate::{migrate, migrate_with};
pub use projection::Projection;

use crate::event::{Event, Position, Stored, Version};
use crate::store::{Appended, Batch, Claim, Claimed, Fence, Renewal, Store, StoreError};
use error::{Trouble, in_time};
use link::{Links, options, set_session};
use projection::{Form, Statements};

/// How many connections a store may have.
#[derive(Clone, Copy, Debug)]
pub struct Pools {
    /// For reads and recalls. The writers have one more connection each.
    pub readers: u32,
}

impl Default for Pools {
    fn default() -> Pools {
        Pools { readers: 8 }
    }
}

/// One service's logs in PostgreSQL.
pub struct PgStore {
    links: Links,
    readers: PgPool,
    projection: Projection,
    statements: Statements,
}

/// How often a read is tried where its connection turns out to be dead.
const READ_TRIES: u32 = 3;
/// How long a reader waits for a connection.
const ACQUIRE: Duration = Duration::from_secs(5);

impl PgStore {
    /// Connects to the logs of a service, such as `table`, under the role that `url` names. The
    /// schema must exist: see [`migrate`].
    pub async fn connect(
        url: &str,
        service: &str,
        pools: Pools,
    ) -> Result<Arc<PgStore>, ConnectError> {
        PgStore::connect_with(url, service, pools, Projection::nothing()).await
    }

    /// The same for a service that has tables of its own to keep up: see [`migrate_with`].
    pub async fn connect_with(
        url: &str,
        service: &str,
        pools: Pools,
        projection: Projection,
    ) -> Result<Arc<PgStore>, ConnectError> {
        let options = options(url, service)?;
        let schema: Arc<str> = service.into();
        let links = Links::new(options.clone(), schema.clone());
        let mut link = links.take().await.map_err(ConnectError::Unavailable)?;
        if !sql::migrated(&mut link).await.map_err(ConnectError::Unavailable)? {
            return Err(ConnectError::NotMigrated { service: service.into() });
        }
        links.put_back(link);
        let readers = readers(options, schema, pools);
        Ok(Arc::new(PgStore { links, readers, projection, statements: Statements::default() }))
    }
}

impl PgStore {
    /// The readers' connections, for a service that reads tables of its own beside the log. Names are
    /// looked up in its schema.
    #[must_use]
    pub const fn readers(&self) -> &PgPool {
        &self.readers
    }

    /// Whether the fence let the batch in.
    async fn write(&self, link: &mut PgConnection, batch: &Batch) -> Result<bool, sqlx::Error> {
        let rows = batch.rows.as_ref().unwrap_or(&self.projection.none);
        if batch.behind.is_some() {
            let Some(ahead) = rows.ahead() else { return Ok(false) };
            let written = self.write_as(link, batch, Form::Ahead(ahead)).await;
            // In its turn it will be looked at again.
            let again =
                |error: &_| error::is_out_of_turn(error) || error::is_of_the_projection(error);
            return if written.as_ref().is_err_and(again) { Ok(false) } else { written };
        }
        let form = Form::InTurn(rows.ctes().unwrap_or(self.projection.ctes));
        let written = self.write_as(link, batch, form).await;
        match (&written, rows.mending()) {
            (Err(error), Some(mending)) if error::is_of_the_projection(error) => {
                tracing::warn!(log = %batch.log, %error, "a row stands where one of a batch goes: it is written over");
                self.write_as(link, batch, Form::InTurn(mending)).await
            }
            _ => written,
        }
    }

    async fn write_as(
        &self,
        link: &mut PgConnection,
        batch: &Batch,
        form: Form,
    ) -> Result<bool, sqlx::Error> {
        let mut arguments = sql::append_arguments(batch)?;
        let rows = batch.rows.as_ref().unwrap_or(&self.projection.none);
        rows.bind(&mut arguments).map_err(sqlx::Error::Encode)?;
        sql::append(link, &self.statements.of(form), arguments).await
    }
}

fn readers(options: PgConnectOptions, schema: Arc<str>, pools: Pools) -> PgPool {
    PgPoolOptions::new()
        .max_connections(pools.readers.max(1))
        .acquire_timeout(ACQUIRE)
        .test_before_acquire(false)
        .after_connect(move |connection, _| {
            let schema = schema.clone();
            Box::pin(async move { set_session(connection, &schema).await })
        })
        .connect_lazy_with(options)
}

/// Repeats a read on another connection where one was dead.
async fn read<T, F>(mut query: impl FnMut() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, sqlx::Error>>,
{
    let mut tries = READ_TRIES;
    loop {
        tries -= 1;
        match in_time(query()).await.map_err(Trouble::of) {
            Ok(rows) => return Ok(rows),
            Err(Trouble::Doubt(_)) if tries > 0 => {}
            Err(trouble) => return Err(trouble.of_a_read()),
        }
    }
}

#[async_trait]
impl Store for PgStore {
    async fn claim(&self, claim: &Claim) -> Result<Claimed, StoreError> {
        let mut link = self.links.take().await.map_err(StoreError::unavailable)?;
        let claimed = in_time(sql::claim(&mut link, claim)).await;
        if let Some(fence) = self.links.settle(link, claimed)? {
            return Ok(Claimed::Yours(fence));
        }
        let mut link = self.links.take().await.map_err(StoreError::unavailable)?;
        let held = in_time(sql::fence(&mut link, &claim.log)).await;
        match self.links.settle(link, held)? {
            Some((fence, remaining)) => Ok(Claimed::Held { fence, remaining }),
            None => Err(StoreError::Corrupt("the log's owner row came and went".into())),
        }
    }

    async fn renew(&self, renewal: &Renewal) -> Result<bool, StoreError> {
        let mut link = self.links.take().await.map_err(StoreError::unavailable)?;
        let renewed = in_time(sql::renew(&mut link, renewal)).await;
        Ok(self.links.settle(link, renewed)?)
    }

    async fn fence(&self, log: &str) -> Result<Option<Fence>, StoreError> {
        let mut link = self.links.take().await.map_err(StoreError::unavailable)?;
        let fence = in_time(sql::fence(&mut link, log)).await;
        Ok(self.links.settle(link, fence)?.map(|(fence, _)| fence))
    }

    async fn append(&self, batch: &Batch) -> Result<Appended, StoreError> {
        let mut link = self.links.take().await.map_err(StoreError::unavailable)?;
        let written = in_time(self.write(&mut link, batch)).await;
        match self.links.settle(link, written) {
            Ok(true) => Ok(Appended::Done),
            Ok(false) => Ok(Appended::Fenced),
            Err(Trouble::Repeated) => Ok(Appended::Repeated),
            Err(trouble) => Err(trouble.into()),
        }
    }

    fn takes_entries_ahead(&self) -> bool {
        self.projection.none.ahead().is_some()
    }

    async fn last_events(&self, log: &str, of: &[StreamId]) -> Result<Vec<Event>, StoreError> {
        let mut link = self.links.take().await.map_err(StoreError::unavailable)?;
        let events = in_time(sql::last_events(&mut link, log, of)).await;
        self.links.settle(link, events).map_err(Trouble::of_a_read)
    }

    async fn requests(&self, log: &str, of: &[RequestId]) -> Result<Vec<Stored>, StoreError> {
        read(|| sql::requests(&self.readers, log, of)).await
    }

    async fn cut(&self, log: &str) -> Result<Option<Tree>, StoreError> {
        let mut link = self.links.take().await.map_err(StoreError::unavailable)?;
        let cut = in_time(sql::cut(&mut link, log)).await;
        self.links.settle(link, cut).map_err(Trouble::of_a_read)
    }

    async fn latest_requests(
        &self,
        log: &str,
        below: Option<RequestId>,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        read(|| sql::latest_requests(&self.readers, log, below, limit)).await
    }

    async fn read(
        &self,
        log: &str,
        from: Position,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        read(|| sql::read(&self.readers, log, from, limit)).await
    }

    async fn read_stream(
        &self,
        log: &str,
        stream: StreamId,
        from: Version,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        read(|| sql::read_stream(&self.readers, log, (stream, from), limit)).await
    }
}
