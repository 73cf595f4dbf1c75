//! Connections of the writers.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use eventlog_core::Event;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{Connection, Executor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::authors::AuthorNumbers;
use super::error::{ConnectError, StatementError, with_statement_timeout};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_SERVICE_BYTES: usize = 32;

/// Pool of the writers' connections. It holds as many as were ever used at once, up to a bound: two
/// for each log that is written here, and one for its lease.
pub(super) struct WriterPool {
    options: PgConnectOptions,
    schema: Arc<str>,
    idle: Mutex<Vec<IdleConnection>>,
    /// One permit for each connection that may be in use.
    permits: Arc<Semaphore>,
}

/// Connection with the numbers of authors that were read over it: another connection may lead to a
/// copy that lags and has not all of them.
struct IdleConnection {
    connection: PgConnection,
    authors: AuthorNumbers,
}

/// Connection in use.
pub(super) struct WriterConnection {
    connection: PgConnection,
    authors: AuthorNumbers,
    _permit: OwnedSemaphorePermit,
}

impl WriterConnection {
    /// Numbers of a batch's authors. One query finds all that are not cached.
    pub(super) async fn authors_of(
        &mut self,
        events: &[Event],
    ) -> Result<AuthorNumbers, sqlx::Error> {
        let mut numbers = self.authors.numbers_of(events);
        if numbers.add(&mut self.connection, events).await? {
            self.authors.extend(&numbers);
        }
        Ok(numbers)
    }
}

impl Deref for WriterConnection {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for WriterConnection {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}

impl WriterPool {
    pub(super) fn new(options: PgConnectOptions, schema: Arc<str>, most: u32) -> WriterPool {
        let most = usize::try_from(most.max(1)).unwrap_or(1);
        let room = Arc::new(Semaphore::new(most));
        WriterPool { options, schema, idle: Mutex::new(Vec::new()), permits: room }
    }

    /// Takes an idle connection or opens one. After an error nothing was sent.
    pub(super) async fn acquire(&self) -> Result<WriterConnection, sqlx::Error> {
        let place =
            tokio::time::timeout(CONNECT_TIMEOUT, Arc::clone(&self.permits).acquire_owned()).await;
        let Ok(Ok(place)) = place else { return Err(sqlx::Error::PoolTimedOut) };
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let IdleConnection { connection, authors } = match idle {
            Some(idle) => idle,
            None => IdleConnection {
                connection: self.connect().await?,
                authors: AuthorNumbers::default(),
            },
        };
        Ok(WriterConnection { connection, authors, _permit: place })
    }

    async fn connect(&self) -> Result<PgConnection, sqlx::Error> {
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, async {
            let mut link = PgConnection::connect_with(&self.options).await?;
            set_session(&mut link, &self.schema).await?;
            // The append statement is planned once per connection. By default the server would plan
            // it anew for every batch, which is a large part of a batch's cost. The lock timeout
            // undoes a statement that waits too long for a lock; it is sent again.
            with_statement_timeout(link.execute(sqlx::query(include_str!("sql/plan.sql")))).await?;
            Ok(link)
        });
        connected.await.unwrap_or(Err(sqlx::Error::PoolTimedOut))
    }

    pub(super) fn release(&self, link: WriterConnection) {
        let WriterConnection { connection, authors, _permit: place } = link;
        let idle = IdleConnection { connection, authors };
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(idle);
        drop(place);
    }

    /// Returns the connection to the pool if it can be used again. If it broke, all idle ones are
    /// dropped, since they are of the same age.
    pub(super) fn release_unless_broken<T>(
        &self,
        link: WriterConnection,
        outcome: Result<T, sqlx::Error>,
    ) -> Result<T, StatementError> {
        let outcome = outcome.map_err(StatementError::classify);
        match &outcome {
            Err(trouble) if !trouble.keeps_connection() => {
                self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
            }
            Ok(_) | Err(_) => self.release(link),
        }
        outcome
    }
}

/// Parses the URL and checks the service's name, which becomes the name of a schema and part of a
/// role's name.
pub(super) fn connect_options(url: &str, service: &str) -> Result<PgConnectOptions, ConnectError> {
    let named = !service.is_empty()
        && service.len() <= MAX_SERVICE_BYTES
        && service.bytes().all(|byte| byte.is_ascii_lowercase());
    if !named {
        return Err(ConnectError::Service(service.into()));
    }
    let options: PgConnectOptions = url.parse().map_err(ConnectError::Url)?;
    Ok(options.application_name(&format!("sabacc-{service}")))
}

/// Sets the session up, whatever the defaults are: names are looked up in the schema alone, commits
/// wait for the disk, and the isolation level is read committed.
pub(super) async fn set_session(
    connection: &mut PgConnection,
    schema: &str,
) -> Result<(), sqlx::Error> {
    let query = sqlx::query(include_str!("sql/session.sql")).bind(schema);
    with_statement_timeout(connection.execute(query)).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_session_waits_for_the_disk_and_sees_its_schema_alone() -> anyhow::Result<()> {
        let url = testkit::postgres().await?.database("session").await?;
        let mut admin = PgConnection::connect(&url).await?;
        let careless =
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off',
            current_database()); EXECUTE format('ALTER DATABASE %I SET
            default_transaction_isolation = serializable', current_database()); END $$";
        sqlx::raw_sql(careless).execute(&mut admin).await?;
        let links = WriterPool::new(connect_options(&url, "table")?, "table".into(), 1);
        let mut link = links.acquire().await?;
        let (path, commit, isolation) = sqlx::query_as::<_, (String, String, String)>(
            "SELECT current_setting('search_path'), current_setting('synchronous_commit'),
            current_setting('transaction_isolation')",
        )
        .fetch_one(&mut *link)
        .await?;
        assert_eq!((&*path, &*commit, &*isolation), ("\"table\"", "on", "read committed"));
        Ok(())
    }

    #[test]
    fn a_service_is_a_plain_word() {
        for bad in ["", "Table", "a b", "a\"b", "t\u{e9}", "table_", &"a".repeat(33)] {
            assert!(connect_options("postgres://localhost/x", bad).is_err(), "{bad:?}");
        }
        assert!(connect_options("postgres://localhost/x", "wallet").is_ok());
    }
}
