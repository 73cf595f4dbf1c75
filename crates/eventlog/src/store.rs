//! What a log needs of its store, and nothing more.
//!
//! A store keeps many logs, told apart by name. For each it keeps the **fence** (epoch, size, owner,
//! lease), the events and the answered requests. The law of a store: [`Store::append`] writes a
//! batch whole, and only where the fence still shows the batch's epoch and first position; it moves
//! the fence's size with it. So there is one writer, no gap and no event written twice, whatever
//! the network does. Writing the same batch twice is harmless: the second time the size has moved.
//!
//! Leases are measured by the store's own clock; times that are recorded come from the owner's. Each
//! claim, renewal and append carries a [`Reading`] of the owner's clock, and where that or the time
//! to be recorded is too far from the store's clock nothing is changed ([`StoreError::Clock`]). So no
//! clock that jumps can pin the log's time, or a lease, in the future.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use eventlog_core::{Event, Position, Version};
use merkle::Tree;
use primitives::{StreamId, UnixMicros};

use crate::error::Source;
use crate::event::Stored;
use crate::group::Rows;
use crate::key::RequestKey;

#[async_trait]
pub trait Store: Send + Sync {
    /// Takes the log for a new owner where its lease has ended, or at once with `take_over`; makes
    /// it where it does not exist.
    async fn claim(&self, claim: &Claim) -> Result<Claimed, StoreError>;

    /// Makes the owner's lease run from now, for nothing where it is released. False where the epoch is
    /// no longer the owner's. It is a commit of its own: what was committed before it is as durable.
    async fn renew(&self, renewal: &Renewal) -> Result<bool, StoreError>;

    /// The fence as it is; nothing where the log does not exist.
    async fn fence(&self, log: &str) -> Result<Option<Fence>, StoreError>;

    /// The number of events, read as readers read: no writer's connection is taken for it.
    async fn size(&self, log: &str) -> Result<u64, StoreError> {
        Ok(self.fence(log).await?.map_or(0, |fence| fence.size))
    }

    /// Writes a batch whole or not at all. [`StoreError::InDoubt`] where that is not known.
    async fn append(&self, batch: &Batch) -> Result<Appended, StoreError>;

    /// Whether a batch of plain entries may be sent behind another: nothing that is kept beside them
    /// hinders.
    fn takes_entries_ahead(&self) -> bool;

    /// The last event of each of the streams that have one, in any order.
    async fn last_events(&self, log: &str, of: &[StreamId]) -> Result<Vec<Event>, StoreError>;

    /// The last event of a stream, read as readers read.
    async fn last_of_stream(
        &self,
        log: &str,
        stream: StreamId,
    ) -> Result<Option<Event>, StoreError> {
        Ok(self.last_events(log, &[stream]).await?.pop())
    }

    /// The answered requests among these, in any order.
    async fn requests(&self, log: &str, of: &[RequestKey]) -> Result<Vec<Stored>, StoreError>;

    /// The tree where the log was cut: the events before it were archived and removed, but for the
    /// last of each stream. Nothing where all are here.
    async fn cut(&self, log: &str) -> Result<Option<Tree>, StoreError>;

    /// The answered requests of the greatest keys, those below `below` where it is given, the
    /// greatest first, at most `limit`.
    async fn latest_requests(
        &self,
        log: &str,
        below: Option<RequestKey>,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError>;

    /// Events from a position on, in order, at most `limit`.
    async fn read(&self, log: &str, from: Position, limit: usize)
    -> Result<Vec<Event>, StoreError>;

    /// Events of one stream from a version on, in order, at most `limit`.
    async fn read_stream(
        &self,
        log: &str,
        stream: StreamId,
        from: Version,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError>;
}

/// A wish to own a log.
#[derive(Clone, Debug)]
pub struct Claim {
    pub log: Arc<str>,
    pub owner: Arc<str>,
    /// Where the owner can be called.
    pub address: Arc<str>,
    pub lease: Duration,
    /// Do not wait for the present owner's lease to end.
    pub take_over: bool,
    pub clock: Reading,
}

/// The owner's clock when a statement is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reading {
    pub at: UnixMicros,
    /// How far it may be from the store's clock, beside the time that the statement was on its way.
    pub skew: Duration,
}

#[derive(Clone, Debug)]
pub enum Claimed {
    /// The log is the claimant's, under the fence's epoch, which is a random number that no owner had
    /// before. `alive_at` and `tree` are as the owner before left them. The claim is a commit of its
    /// own, made after everything that it found: once it is answered all of that is as durable as it.
    Yours(Fence),
    /// It is owned, for the given time at least.
    Held { fence: Fence, remaining: Duration },
}

#[derive(Clone, Debug)]
pub struct Renewal {
    pub log: Arc<str>,
    pub epoch: u64,
    pub lease: Duration,
    pub clock: Reading,
    /// Whether the owner serves: the reading is then kept as [`Fence::alive_at`].
    pub serves: bool,
    /// Events that the owner knows to be committed. A store that has fewer is another one, such as a
    /// replica that did not have them all when it took over: there the log has no owner.
    pub size: u64,
}

/// The row that decides who may write and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fence {
    pub epoch: u64,
    pub size: u64,
    pub owner: Arc<str>,
    pub address: Arc<str>,
    /// When an owner last said that it served, by its own clock.
    pub alive_at: Option<UnixMicros>,
    /// The peaks of the Merkle tree at `size`. A convenience: where it is missing or wrong the tree
    /// is built from the events.
    pub tree: Option<Vec<[u8; 32]>>,
}

/// What one commit writes. It never changes once it was sent, but for the reading of the clock, which
/// is taken anew for each attempt.
#[derive(Clone, Debug)]
pub struct Batch {
    pub log: Arc<str>,
    pub epoch: u64,
    /// The size that the fence must show.
    pub first: u64,
    /// Recorded at one time.
    pub events: Arc<[Event]>,
    pub requests: Arc<[Stored]>,
    /// For the store's projection.
    pub rows: Option<Arc<dyn Rows>>,
    /// The first position of the batch before, where that is still being written: the store may begin,
    /// but writes this one only after it, and answers [`Appended::Fenced`] at once or later where it
    /// cannot.
    pub behind: Option<u64>,
    pub lease: Duration,
    pub clock: Reading,
    /// The peaks of the tree with this batch.
    pub tree: Vec<[u8; 32]>,
}

impl Batch {
    /// When its events are recorded.
    #[must_use]
    pub fn recorded_at(&self) -> UnixMicros {
        self.events.first().map_or(self.clock.at, |event| event.recorded_at)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Appended {
    Done,
    /// The fence shows another epoch or size; nothing was written by this attempt.
    Fenced,
    /// A request of the batch was answered before; nothing was written.
    Repeated,
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// Nothing was changed.
    #[error("the store is unavailable")]
    Unavailable(#[source] Source),
    /// The change may have happened, may still happen, or may never.
    #[error("the store did not say what became of the change")]
    InDoubt(#[source] Source),
    /// Nothing was changed by this attempt, nor will it be by the same again.
    #[error("the store refuses the change")]
    Refused(#[source] Source),
    /// Nothing was changed: a clock is wrong.
    #[error(transparent)]
    Clock(ClockOff),
    /// What is stored contradicts itself or the request.
    #[error("the store is corrupt: {0}")]
    Corrupt(Arc<str>),
}

/// A clock that is too far from the store's, in microseconds ahead of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ClockOff {
    #[error("{}", owner_is_off(*.0))]
    Owner(i64),
    #[error(
        "the log's last event is recorded {} ahead of the database's clock, which was set back: nothing is written until that time has passed",
        seconds(*.0)
    )]
    Log(i64),
}

fn owner_is_off(micros: i64) -> String {
    let side = if micros < 0 { "behind" } else { "ahead of" };
    format!(
        "the clock of this process is {} {side} the database's: nothing is written until they agree; set the wrong one right, by NTP on both machines",
        seconds(micros)
    )
}

fn seconds(micros: i64) -> String {
    let tenths = micros.unsigned_abs() / 100_000;
    format!("{}.{} s", tenths / 10, tenths % 10)
}

/// The store's clock: when a statement reached it, and now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoreTime {
    pub received: UnixMicros,
    pub now: UnixMicros,
}

impl Reading {
    /// Refuses a reading, or a time to be recorded, that is too far from the store's clock. An owner's
    /// clock is behind where it was so when the statement arrived; it is ahead where it is so still.
    ///
    /// # Errors
    /// Which clock is off by how much.
    pub fn check(self, recorded_at: Option<UnixMicros>, store: StoreTime) -> Result<(), ClockOff> {
        let Reading { at, skew } = self;
        if at > store.now.plus(skew) {
            return Err(ClockOff::Owner(signed(at.since(store.now))));
        }
        if at.plus(skew) < store.received {
            return Err(ClockOff::Owner(-signed(store.received.since(at))));
        }
        match recorded_at {
            Some(recorded) if recorded > store.now.plus(skew) => {
                Err(ClockOff::Log(signed(recorded.since(store.now))))
            }
            Some(_) | None => Ok(()),
        }
    }
}

fn signed(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}
