//! Connections of the writers.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{Connection, Executor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::{ConnectError, Trouble, in_time};

const CONNECT: Duration = Duration::from_secs(5);
const LONGEST_SERVICE: usize = 32;

/// Pool of the writers' connections. It holds as many as were ever used at once, up to a bound: two
/// for each log that is written here, and one for its lease.
pub(super) struct Links {
    options: PgConnectOptions,
    schema: Arc<str>,
    idle: Mutex<Vec<PgConnection>>,
    /// One permit for each connection that may be in use.
    room: Arc<Semaphore>,
}

/// Connection in use.
pub(super) struct Link {
    connection: PgConnection,
    _place: OwnedSemaphorePermit,
}

impl Deref for Link {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.connection
    }
}

impl DerefMut for Link {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.connection
    }
}

impl Links {
    pub(super) fn new(options: PgConnectOptions, schema: Arc<str>, most: u32) -> Links {
        let most = usize::try_from(most.max(1)).unwrap_or(1);
        let room = Arc::new(Semaphore::new(most));
        Links { options, schema, idle: Mutex::new(Vec::new()), room }
    }

    /// Takes an idle connection or opens one. After an error nothing was sent.
    pub(super) async fn take(&self) -> Result<Link, sqlx::Error> {
        let place = tokio::time::timeout(CONNECT, Arc::clone(&self.room).acquire_owned()).await;
        let Ok(Ok(place)) = place else { return Err(sqlx::Error::PoolTimedOut) };
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        Ok(Link { connection, _place: place })
    }

    async fn connect(&self) -> Result<PgConnection, sqlx::Error> {
        let connected = tokio::time::timeout(CONNECT, async {
            let mut link = PgConnection::connect_with(&self.options).await?;
            set_session(&mut link, &self.schema).await?;
            // The append statement is planned once per connection. By default the server would plan
            // it anew for every batch, which is a large part of a batch's cost. The lock timeout
            // undoes a statement that waits too long for a lock; it is sent again.
            in_time(link.execute(sqlx::query(include_str!("sql/plan.sql")))).await?;
            Ok(link)
        });
        connected.await.unwrap_or(Err(sqlx::Error::PoolTimedOut))
    }

    pub(super) fn put_back(&self, link: Link) {
        let Link { connection, _place: place } = link;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        drop(place);
    }

    /// Returns the connection to the pool if it can be used again. If it broke, all idle ones are
    /// dropped, since they are of the same age.
    pub(super) fn settle<T>(
        &self,
        link: Link,
        outcome: Result<T, sqlx::Error>,
    ) -> Result<T, Trouble> {
        let outcome = outcome.map_err(Trouble::of);
        match &outcome {
            Err(trouble) if !trouble.leaves_the_link() => {
                self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
            }
            Ok(_) | Err(_) => self.put_back(link),
        }
        outcome
    }
}

/// Parses the URL and checks the service's name, which becomes the name of a schema and part of a
/// role's name.
pub(super) fn options(url: &str, service: &str) -> Result<PgConnectOptions, ConnectError> {
    let named = !service.is_empty()
        && service.len() <= LONGEST_SERVICE
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
    in_time(connection.execute(query)).await.map(drop)
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
        let links = Links::new(options(&url, "table")?, "table".into(), 1);
        let mut link = links.take().await?;
        let (path, commit, isolation): (String, String, String) = sqlx::query_as(
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
            assert!(options("postgres://localhost/x", bad).is_err(), "{bad:?}");
        }
        assert!(options("postgres://localhost/x", "wallet").is_ok());
    }
}
