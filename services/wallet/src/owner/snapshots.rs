//! Snapshots: taken now and then and when the wallet stops, so that the next start is short.
//!
//! The event that names a snapshot is decided like any other, at the place that it speaks of; its bytes
//! are kept once that event is durable. Where they are not, an older snapshot does, or none.

use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::Owner;
use crate::repo::Repo;

/// Events after which a snapshot is taken, or as many as there are accounts, where they are more: so
/// that taking them costs each event the same, however many accounts there are.
const EVENTS: u64 = 50_000;
/// The longest time between two, where something happened, and as a part of the accounts …
const LONGEST: Duration = Duration::from_secs(600);
/// … at least so much: one event to so many accounts.
const ACCOUNTS_AN_EVENT: u64 = 100;
/// How long the last one may take.
const LAST: Duration = Duration::from_secs(10);

/// The state after the event that names it.
pub(super) struct Snapshot {
    pub(super) size: u64,
    pub(super) bytes: Vec<u8>,
}

/// Those that were taken, and those that are being kept.
pub(super) struct Snapshots {
    /// The size of the log at the last one, or at which none is needed yet.
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

    /// When nothing more is accepted: whatever happened since the last one is in this one.
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
