//! Ownership of a database and its logs, checked before anything in it is changed.
//!
//! A room whose process was killed leaves its logs leased for some seconds. The next room in the
//! same folder holds the folder's lock, so it knows that its predecessor is dead and takes the logs
//! at once; any other room waits for the leases to end. An owner that renews a lease meanwhile is
//! alive: only one room may use a database, and the second is refused.

use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::data_directory::DirectoryLock;
use crate::output::Progress;
use crate::repo::{Database, LogOwner};

/// Wait between two attempts, and after the end of a lease.
const RETRY_WAIT: Duration = Duration::from_millis(500);

/// Number of attempts to take the database's lock; a killed room releases it within moments.
const ATTEMPTS: u32 = 10;

/// Time between two checks of the database's lock, which is lost with the connection.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);
/// Time for which another room may hold the lock until it finds that it came too late.
const MAX_FOREIGN_LOCK: Duration = Duration::from_secs(30);

/// Exclusive use of a database by a room, as long as this connection lasts.
pub(super) struct DatabaseClaim {
    url: String,
    database: Mutex<Database>,
    /// Whether its logs are taken from a dead room of the same folder.
    pub(super) take_over: bool,
    /// Whether no log was ever begun in it.
    pub(super) is_fresh: bool,
}

/// Waits until the logs of a database are free for the room with this lock. Two rooms that start at
/// the same moment find no owner of any log: only one of them gets the database's lock.
pub(super) async fn claim(
    url: &str,
    lock: &DirectoryLock,
    progress: &Progress,
) -> anyhow::Result<DatabaseClaim> {
    let mut database = Database::connect(url).await.context("the database cannot be asked")?;
    let mut attempts = 1..=ATTEMPTS;
    while !database.try_lock().await.context("the database gives no lock")? {
        if attempts.next().is_none() {
            // The other room can be named if it owns a log already.
            wait_for_leases(&mut database, lock, progress).await?;
            bail!(
                "another room is just being started on this database. Stop that one, or name \
                 another database with DATABASE_URL"
            );
        }
        tokio::time::sleep(RETRY_WAIT).await;
    }
    let take_over = wait_for_leases(&mut database, lock, progress).await?;
    let begun = database.has_logs().await.context("the database does not say which logs it has")?;
    let (url, database) = (url.to_owned(), Mutex::new(database));
    Ok(DatabaseClaim { url, database, take_over, is_fresh: !begun })
}

impl DatabaseClaim {
    /// Keeps the lock, and takes it again after a lost connection. Returns if another room has the
    /// database.
    pub(super) async fn until_taken(&self) {
        let mut held = self.database.lock().await;
        let mut another_since = None;
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            if another_since.is_none() && held.is_alive().await {
                continue;
            }
            let Ok(mut database) = Database::connect(&self.url).await else { continue };
            match database.try_lock().await {
                Ok(true) => {
                    (*held, another_since) = (database, None);
                    tracing::info!("the database was away: this room has it for itself again");
                }
                Ok(false) => {
                    let since = *another_since.get_or_insert_with(Instant::now);
                    if since.elapsed() >= MAX_FOREIGN_LOCK {
                        return;
                    }
                }
                Err(_) => {}
            }
        }
    }
}

async fn wait_for_leases(
    database: &mut Database,
    lock: &DirectoryLock,
    progress: &Progress,
) -> anyhow::Result<bool> {
    let mut waited = false;
    loop {
        let leased =
            database.owners().await.context("the database does not say who owns its logs")?;
        let of_predecessor = |owner: &LogOwner| lock.is_predecessor(&owner.owner);
        let (before, others) = leased.into_iter().partition::<Vec<_>, _>(of_predecessor);
        let Some(LogOwner { log, owner, address, since, remaining }) =
            others.into_iter().max_by_key(|owner| owner.remaining)
        else {
            return Ok(!before.is_empty());
        };
        if waited {
            bail!(
                "another room is at work on this database: {owner} at {address} owns its log {log} \
                 since {since}. Stop that one, or name another database with DATABASE_URL"
            );
        }
        waited = true;
        progress.print(&format!(
            "the log {log} is leased to {owner} at {address} since {since}: waiting {:.1} seconds for \
             the lease to end",
            remaining.as_secs_f64()
        ));
        tokio::time::sleep(remaining + RETRY_WAIT).await;
    }
}
