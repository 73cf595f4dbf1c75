//! Snapshots: taken from time to time and at a stop, to shorten the next start.
//!
//! The event that names a snapshot is decided like any other, at the position of the snapshot. The
//! bytes are stored once that event is durable. If they are not stored, the next start uses an
//! older snapshot or none.

use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::Owner;
use crate::repo::Repo;

/// Events after which a snapshot is taken; the number of accounts if that is larger, so that the
/// cost per event does not grow with the accounts.
const EVENTS: u64 = 50_000;
/// Longest time between two snapshots, if enough happened.
const LONGEST: Duration = Duration::from_secs(600);
/// Accounts for each event: a snapshot by time is taken only after more events than accounts
/// divided by this.
const ACCOUNTS_AN_EVENT: u64 = 100;
/// Longest time that the last snapshot may take.
const LAST: Duration = Duration::from_secs(10);

/// Bytes of the state after the event that names them.
pub(super) struct Snapshot {
    pub(super) size: u64,
    pub(super) bytes: Vec<u8>,
}

/// The last snapshot taken, and those being stored.
pub(super) struct Snapshots {
    /// Size of the log at the last snapshot; 0 if there is none.
    last: u64,
    taken: Instant,
    keeping: JoinSet<()>,
}

impl Snapshots {
    pub(super) fn new(last: u64) -> Snapshots {
        Snapshots { last, taken: Instant::now(), keeping: JoinSet::new() }
    }

    pub(super) fn keep(&mut self, repo: Repo, snapshot: Snapshot) {
        self.keeping.spawn(async move {
            let Snapshot { size, bytes } = snapshot;
            match repo.keep_snapshot(size, &bytes).await {
                Ok(()) => tracing::info!(size, bytes = bytes.len(), "a snapshot is kept"),
                Err(error) => tracing::warn!(size, %error, "a snapshot was not kept"),
            }
        });
    }
}

impl Owner {
    pub(super) fn snapshot_due(&mut self) -> bool {
        let work = &mut self.work;
        while work.snapshots.keeping.try_join_next().is_some() {}
        if self.books.repo.is_none() || !work.snapshots.keeping.is_empty() {
            return false;
        }
        let accounts = u64::try_from(work.ledger.accounts().len()).unwrap_or(u64::MAX);
        let events = work.next.0.saturating_sub(work.snapshots.last);
        let room = work.flights.len() < self.limits.ahead;
        let long = || {
            let some = events > accounts / ACCOUNTS_AN_EVENT;
            some && events > 0 && work.snapshots.taken.elapsed() >= LONGEST
        };
        room && (events >= EVENTS.max(accounts) || long())
    }

    pub(super) fn take_snapshot(&mut self) {
        self.expire();
        let mut deciding = self.deciding();
        deciding.snapshot();
        let decided = deciding.finish();
        self.work.snapshots.last = decided.next.0;
        self.work.snapshots.taken = Instant::now();
        self.send(decided, Vec::new());
    }

    /// Takes a snapshot when no more commands are accepted, if anything happened since the last
    /// one.
    pub(super) async fn last_snapshot(&mut self) {
        let some = self.work.next.0 > self.work.snapshots.last;
        if self.books.repo.is_none() || !some {
            return;
        }
        self.take_snapshot();
        let kept = async {
            while let Some(landed) = self.work.flights.next().await {
                if self.landed(landed).await.is_err() {
                    return;
                }
            }
            while self.work.snapshots.keeping.join_next().await.is_some() {}
        };
        if timeout(LAST, kept).await.is_err() {
            tracing::warn!("the last snapshot was not kept in time: the next start takes longer");
        }
    }
}
