//! Snapshots: taken from time to time and at a stop, to shorten the next start.
//!
//! The event that names a snapshot is decided like any other, at the position of the snapshot. The
//! bytes are stored once that event is durable. If they are not stored, the next start uses an
//! older snapshot or none.
//!
//! Specification: ARCHITECTURE.md §2.10.

use std::time::Duration;

use eventlog::{Position, SnapshotPlace};
use futures_util::StreamExt as _;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::Owner;
use crate::repo::Repo;

/// Events after which a snapshot is taken; the number of accounts if that is larger, so that the
/// cost per event does not grow with the accounts.
const MIN_EVENTS: u64 = 50_000;
/// Longest time between two snapshots, if enough happened.
const MAX_INTERVAL: Duration = Duration::from_secs(600);
/// Accounts for each event: a snapshot by time is taken only after more events than accounts
/// divided by this.
const ACCOUNTS_PER_EVENT: u64 = 100;
/// Longest time that the last snapshot may take.
const FINAL_SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(10);

/// Bytes of the state after the event that names them.
pub(super) struct Snapshot {
    pub(super) size: u64,
    pub(super) bytes: Vec<u8>,
}

/// The last snapshot taken, and those being stored.
pub(super) struct Snapshots {
    /// Size of the log at the last snapshot; 0 if there is none.
    last_size: u64,
    taken_at: Instant,
    being_stored: JoinSet<()>,
}

impl Snapshots {
    pub(super) fn new(last: u64) -> Snapshots {
        Snapshots { last_size: last, taken_at: Instant::now(), being_stored: JoinSet::new() }
    }

    /// Stores a snapshot beside the owner's task; `epoch` is the owner's.
    pub(super) fn store(&mut self, repo: Repo, snapshot: Snapshot, epoch: u64) {
        self.being_stored.spawn(async move {
            let Snapshot { size, bytes } = snapshot;
            let place = SnapshotPlace { size, named_at: Position(size.saturating_sub(1)) };
            match repo.snapshots().store(place, &bytes, epoch).await {
                Ok(()) => tracing::info!(size, bytes = bytes.len(), "a snapshot is kept"),
                Err(error) => tracing::warn!(size, %error, "a snapshot was not kept"),
            }
        });
    }
}

impl Owner {
    pub(super) fn snapshot_due(&mut self) -> bool {
        let work = &mut self.state;
        while work.snapshots.being_stored.try_join_next().is_some() {}
        if self.tables.repo.is_none() || !work.snapshots.being_stored.is_empty() {
            return false;
        }
        let accounts = u64::try_from(work.ledger.accounts().len()).unwrap_or(u64::MAX);
        let events = work.next_position.0.saturating_sub(work.snapshots.last_size);
        let room = work.groups_in_flight.len() < self.limits.max_in_flight;
        let long = || {
            let some = events > accounts / ACCOUNTS_PER_EVENT;
            some && events > 0 && work.snapshots.taken_at.elapsed() >= MAX_INTERVAL
        };
        room && (events >= MIN_EVENTS.max(accounts) || long())
    }

    pub(super) fn take_snapshot(&mut self) {
        self.expire();
        let mut deciding = self.start_group();
        deciding.add_snapshot();
        let decided = deciding.finish();
        self.state.snapshots.last_size = decided.next.0;
        self.state.snapshots.taken_at = Instant::now();
        self.send(decided, Vec::new());
    }

    /// Takes a snapshot when no more commands are accepted, if anything happened since the last
    /// one.
    pub(super) async fn take_final_snapshot(&mut self) {
        let some = self.state.next_position.0 > self.state.snapshots.last_size;
        if self.tables.repo.is_none() || !some {
            return;
        }
        self.take_snapshot();
        let kept = async {
            while let Some(completed) = self.state.groups_in_flight.next().await {
                if self.complete_group(completed).await.is_err() {
                    return;
                }
            }
            while self.state.snapshots.being_stored.join_next().await.is_some() {}
        };
        if timeout(FINAL_SNAPSHOT_TIMEOUT, kept).await.is_err() {
            tracing::warn!("the last snapshot was not kept in time: the next start takes longer");
        }
    }
}
