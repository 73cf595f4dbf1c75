//! Interface of a log's store.
//!
//! A store keeps many logs, distinguished by name. For each it keeps the **fence** (epoch, owner),
//! the lease, the events and the answered requests. The main invariant: [`Store::append`]
//! writes a batch whole or not at all, only if the fence shows the batch's epoch and the log ends
//! where the batch begins. So there is one writer, no gap, and no event written twice, whatever the
//! network does. Writing a batch twice is harmless: the second time the log ends elsewhere. A claim
//! and an append of one log exclude each other: a claim counts every event of an append that it
//! waited for.
//!
//! Leases are measured by the store's clock; times of recording come from the owner's. A lease is
//! given by a claim and prolonged by renewals, not by appends. It only says how long others wait: an
//! owner whose lease has ended may append until another one claims the log. Each claim,
//! renewal and append carries a [`ClockReading`] of the owner's clock. If that or the time to be
//! recorded is too far from the store's clock, nothing is changed ([`StoreError::Clock`]). So a
//! clock that jumps cannot move the log's time, or a lease, far into the future.
//!
//! Specification: ARCHITECTURE.md §2.3.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use eventlog_core::{Event, Position, Version};
use merkle::Tree;
use primitives::{StreamId, UnixMicros};

use crate::error::Source;
use crate::event::{AnsweredRequest, StreamEnd};
use crate::group::ProjectionRows;
use crate::key::RequestKey;

/// Bytes of payloads that end a read. An event belongs to it if those before it have fewer, so the
/// first one always does, and a read is longer by one event at the most.
pub const READ_BYTES: u64 = 4 << 20;

#[async_trait]
pub trait Store: Send + Sync {
    /// Takes the log for a new owner if its lease has ended, or at once with `take_over`. Creates
    /// the log if it does not exist.
    async fn claim(&self, claim: &Claim) -> Result<ClaimOutcome, StoreError>;

    /// Restarts the owner's lease; a lease of zero releases it. `false` if the owner's epoch is
    /// gone. A renewal is a commit of its own: all commits before it are as durable as it is.
    async fn renew(&self, renewal: &Renewal) -> Result<bool, StoreError>;

    /// Current fence; `None` if the log does not exist.
    async fn fence(&self, log: &str) -> Result<Option<Fence>, StoreError>;

    /// Number of events. Read over a reader's connection, not a writer's.
    async fn size(&self, log: &str) -> Result<u64, StoreError> {
        Ok(self.fence(log).await?.map_or(0, |fence| fence.size))
    }

    /// Writes a batch whole or not at all. [`StoreError::InDoubt`] if the outcome is unknown.
    async fn append(&self, batch: &Batch) -> Result<AppendOutcome, StoreError>;

    /// Whether a batch of plain entries may be sent behind another one. `false` if the store's
    /// projection does not allow it.
    fn pipelines_entries(&self) -> bool;

    /// Ends of those of the streams that have events, in any order. An archived one has been compared
    /// with the log's tile.
    async fn stream_ends(&self, log: &str, of: &[StreamId]) -> Result<Vec<StreamEnd>, StoreError>;

    /// End of a stream. Read over a reader's connection, not a writer's.
    async fn stream_end(
        &self,
        log: &str,
        stream: StreamId,
    ) -> Result<Option<StreamEnd>, StoreError> {
        Ok(self.stream_ends(log, &[stream]).await?.pop())
    }

    /// Answered requests among these keys, in any order.
    async fn requests(
        &self,
        log: &str,
        of: &[RequestKey],
    ) -> Result<Vec<AnsweredRequest>, StoreError>;

    /// Tree at the log's cut: the events before it were archived and removed. `None` if no event
    /// was removed.
    async fn cut(&self, log: &str) -> Result<Option<Tree>, StoreError>;

    /// Greatest key of a request whose answer was removed with its events; `None` if there is none.
    /// It never becomes smaller.
    async fn forgotten(&self, log: &str) -> Result<Option<RequestKey>, StoreError>;

    /// Greatest keys of answered requests (below `below`, if given), the greatest first, at most
    /// `limit`.
    async fn latest_keys(
        &self,
        log: &str,
        below: Option<RequestKey>,
        limit: usize,
    ) -> Result<Vec<RequestKey>, StoreError>;

    /// Events from a position on, in order, at most `limit`, and none behind [`READ_BYTES`] of
    /// payloads.
    async fn read(&self, log: &str, from: Position, limit: usize)
    -> Result<Vec<Event>, StoreError>;

    /// Events of one stream from a version on, in order, at most `limit`, and none behind
    /// [`READ_BYTES`] of payloads.
    async fn read_stream(
        &self,
        log: &str,
        stream: StreamId,
        from: Version,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError>;
}

/// Request to own a log.
#[derive(Clone, Debug)]
pub struct Claim {
    pub log: Arc<str>,
    pub owner: Arc<str>,
    /// Address at which the owner can be called.
    pub address: Arc<str>,
    pub lease: Duration,
    /// Whether to take the log without waiting for the present owner's lease.
    pub take_over: bool,
    pub clock: ClockReading,
}

/// Reading of the owner's clock when a statement is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClockReading {
    pub at: UnixMicros,
    /// Largest difference from the store's clock, not counting the time that the statement was on
    /// its way.
    pub skew: Duration,
}

#[derive(Clone, Debug)]
pub enum ClaimOutcome {
    /// The log belongs to the claimant, under the fence's epoch, which is a random number that no
    /// owner had before. `alive_at`, `saved_size` and `tree` are as the previous owner left them.
    /// The claim is a commit of its own, made after everything that it found, so all of that is as
    /// durable as the claim.
    Granted(Fence),
    /// Another owner has the log, for at least the given time.
    Held { fence: Fence, remaining: Duration },
}

#[derive(Clone, Debug)]
pub struct Renewal {
    pub log: Arc<str>,
    pub epoch: u64,
    pub lease: Duration,
    pub clock: ClockReading,
    /// Whether the owner serves. If so, the reading is kept as [`Fence::alive_at`].
    pub is_serving: bool,
    /// Number of events that the owner knows to be committed. A store with fewer events is another
    /// one, such as a lagging replica after a fail-over: there the renewal fails.
    pub size: u64,
    /// Peaks of the Merkle tree at `size`, to be kept with it as [`Fence::tree`] and
    /// [`Fence::saved_size`]. `None` leaves both as they are.
    pub tree: Option<Vec<[u8; 32]>>,
}

/// Who may write a log, at which position, and what its owner has left for the next one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fence {
    pub epoch: u64,
    /// Number of events: the log ends where its last event does.
    pub size: u64,
    pub owner: Arc<str>,
    pub address: Arc<str>,
    /// Time of the last renewal of an owner that served, by its own clock.
    pub alive_at: Option<UnixMicros>,
    /// Number of events at a renewal. A log with fewer has lost some.
    pub saved_size: u64,
    /// Peaks of the Merkle tree at `saved_size`. Optional: if they are missing or wrong, the tree is
    /// built from the events.
    pub tree: Option<Vec<[u8; 32]>>,
}

/// Content of one commit. It does not change once it was sent, except the reading of the clock,
/// which is taken anew for each attempt.
#[derive(Clone, Debug)]
pub struct Batch {
    pub log: Arc<str>,
    pub epoch: u64,
    /// Size that the log must have.
    pub first: u64,
    /// Events, all recorded at the same time.
    pub events: Arc<[Event]>,
    pub requests: Arc<[AnsweredRequest]>,
    /// Rows for the store's projection.
    pub rows: Option<Arc<dyn ProjectionRows>>,
    /// First position of the previous batch, if that is still being written. The store may begin
    /// with this batch, but writes it only after that one. If it cannot, it answers
    /// [`AppendOutcome::Fenced`], at once or later.
    pub pipelined_after: Option<u64>,
    pub clock: ClockReading,
}

impl Batch {
    /// Time at which the batch's events are recorded.
    #[must_use]
    pub fn recorded_at(&self) -> UnixMicros {
        self.events.first().map_or(self.clock.at, |event| event.recorded_at)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AppendOutcome {
    Written,
    /// The log has another epoch or size; this attempt wrote nothing.
    Fenced,
    /// A request of the batch was answered before; nothing was written.
    Duplicate,
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// Nothing was changed.
    #[error("the store is unavailable")]
    Unavailable(#[source] Source),
    /// The change may have happened, may still happen, or may never happen.
    #[error("the store did not say what became of the change")]
    InDoubt(#[source] Source),
    /// This attempt changed nothing, and the same change would be refused again.
    #[error("the store refuses the change")]
    Refused(#[source] Source),
    /// Nothing was changed, because a clock is wrong.
    #[error(transparent)]
    Clock(ClockSkew),
    /// The stored log contradicts itself or the request.
    #[error("the store is corrupt: {0}")]
    Corrupt(Arc<str>),
}

/// Clock that is too far from the store's, with the difference in microseconds; positive is ahead.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ClockSkew {
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

/// Times of the store's clock: when a statement arrived, and now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoreTime {
    pub received: UnixMicros,
    pub now: UnixMicros,
}

impl ClockReading {
    /// Refuses a reading, or a time to be recorded, that is too far from the store's clock. A
    /// reading is behind compared with the time at which the statement arrived, and ahead compared
    /// with the time now.
    ///
    /// # Errors
    /// The clock that is off, and the difference.
    pub fn check(self, recorded_at: Option<UnixMicros>, store: StoreTime) -> Result<(), ClockSkew> {
        let ClockReading { at, skew } = self;
        if at > store.now.plus(skew) {
            return Err(ClockSkew::Owner(signed(at.since(store.now))));
        }
        if at.plus(skew) < store.received {
            return Err(ClockSkew::Owner(-signed(store.received.since(at))));
        }
        match recorded_at {
            Some(recorded) if recorded > store.now.plus(skew) => {
                Err(ClockSkew::Log(signed(recorded.since(store.now))))
            }
            Some(_) | None => Ok(()),
        }
    }
}

fn signed(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}
