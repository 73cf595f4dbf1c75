//! Whose the logs of a database are, asked before anything in it is changed.
//!
//! A room whose process was killed leaves its logs leased for some seconds. The next one of the same
//! folder holds the folder's lock, so it knows that the room before it is dead and takes the logs at
//! once; any other waits for the leases to end. Who renews a lease meanwhile is alive: two rooms on one
//! database are one too many, and this one is refused.

use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::folder::Lock;
use crate::repo::{Database, LogOwner};
use crate::say::Progress;

/// After a lease should have ended it is looked at again.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// How often the database is asked for its lock, which a room that was killed gives up in a moment.
const ATTEMPTS: u32 = 10;

/// The database's lock is looked after this often: it goes with the connection, as in a restart.
const LOOK_AFTER: Duration = Duration::from_secs(2);
/// As long as another may hold the lock that finds out meanwhile that it came too late.
const GIVEN_UP: Duration = Duration::from_secs(30);

/// A database that a room has for itself, as long as this connection lasts.
pub(super) struct Own {
    url: String,
    database: Mutex<Database>,
    /// Whether its logs are to be taken from a dead room of the same folder.
    pub(super) take_over: bool,
}

/// Waits until the logs of a database are free for the room that holds this lock. Two that are started at
/// the same moment find no owner of any log: only one of them gets the database's own lock.
pub(super) async fn own(url: &str, lock: &Lock, progress: &Progress) -> anyhow::Result<Own> {
    let mut database = Database::connect(url).await.context("the database cannot be asked")?;
    let mut attempts = 1..=ATTEMPTS;
    while !database.lock().await.context("the database gives no lock")? {
        if attempts.next().is_none() {
            // Who it is can be said where it owns a log already.
            may_own(&mut database, lock, progress).await?;
            bail!(
                "another room is just being started on this database. Stop that one, or name \
                 another database with DATABASE_URL"
            );
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
    let take_over = may_own(&mut database, lock, progress).await?;
    Ok(Own { url: url.to_owned(), database: Mutex::new(database), take_over })
}

impl Own {
    /// Keeps the lock, and takes it again where it went with its connection. Ends where another room has
    /// the database now.
    pub(super) async fn taken(&self) {
        let mut held = self.database.lock().await;
        let mut another_since = None;
        loop {
            tokio::time::sleep(LOOK_AFTER).await;
            if another_since.is_none() && held.answers().await {
                continue;
            }
            let Ok(mut database) = Database::connect(&self.url).await else { continue };
            match database.lock().await {
                Ok(true) => {
                    (*held, another_since) = (database, None);
                    tracing::info!("the database was away: this room has it for itself again");
                }
                Ok(false) => {
                    let since = *another_since.get_or_insert_with(Instant::now);
                    if since.elapsed() >= GIVEN_UP {
                        return;
                    }
                }
                Err(_) => {}
            }
        }
    }
}

async fn may_own(
    database: &mut Database,
    lock: &Lock,
    progress: &Progress,
) -> anyhow::Result<bool> {
    let mut waited = false;
    loop {
        let leased =
            database.owners().await.context("the database does not say who owns its logs")?;
        let (before, others): (Vec<_>, Vec<_>) =
            leased.into_iter().partition(|owner| lock.is_predecessor(&owner.owner));
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
        progress.say(&format!(
            "the log {log} is leased to {owner} at {address} since {since}: waiting {:.1} seconds for \
             the lease to end",
            remaining.as_secs_f64()
        ));
        tokio::time::sleep(remaining + LOOK_AGAIN).await;
    }
}
