//! What a log needs of its store, and nothing more.
//!
//! A store keeps many logs, told apart by name. For each it keeps the **fence** (epoch, size, owner,
//! lease), the events and the answered requests. The law of a store: [`Store::append`] writes a
//! batch whole, and only where the fence still shows the batch's epoch and first position; it moves
//! the fence's size with it. So there is one writer, no gap and no event written twice, whatever
//! the network does. Writing the same batch twice is harmless: the second time the size has moved.
//!
//! Leases are measured by the store's own clock; times that are recorded come from the owner's.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use merkle::Tree;
use primitives::{RequestId, StreamId, UnixMicros};

use crate::error::Source;
use crate::event::{Event, Position, Stored, Version};
use crate::group::Rows;

#[async_trait]
pub trait Store: Send + Sync {
    /// Takes the log for a new owner where its lease has ended, or at once with `take_over`; makes
    /// it where it does not exist.
    async fn claim(&self, claim: &Claim) -> Result<Claimed, StoreError>;

    /// Makes the owner's lease run from now, for nothing where it is released. `alive_at` is kept
    /// where there is one. False where the epoch is no longer the owner's.
    async fn renew(&self, renewal: &Renewal) -> Result<bool, StoreError>;

    /// The fence as it is; nothing where the log does not exist.
    async fn fence(&self, log: &str) -> Result<Option<Fence>, StoreError>;

    /// Writes a batch whole or not at all. [`StoreError::InDoubt`] where that is not known.
    async fn append(&self, batch: &Batch) -> Result<Appended, StoreError>;

    /// Whether a batch of plain entries may be sent behind another: nothing that is kept beside them
    /// hinders.
    fn takes_entries_ahead(&self) -> bool;

    /// The last event of each of the streams that have one, in any order.
    async fn last_events(&self, log: &str, of: &[StreamId]) -> Result<Vec<Event>, StoreError>;

    /// The answered requests among these, in any order.
    async fn requests(&self, log: &str, of: &[RequestId]) -> Result<Vec<Stored>, StoreError>;

    /// The tree where the log was cut: the events before it were archived and removed, but for the
    /// last of each stream. Nothing where all are here.
    async fn cut(&self, log: &str) -> Result<Option<Tree>, StoreError>;

    /// The answered requests of the greatest ids, those below `below` where it is given, the
    /// greatest first, at most `limit`.
    async fn latest_requests(
        &self,
        log: &str,
        below: Option<RequestId>,
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
}

#[derive(Clone, Debug)]
pub enum Claimed {
    /// The log is the claimant's, under the fence's epoch. `alive_at` and `tree` are as the owner
    /// before left them.
    Yours(Fence),
    /// It is owned, for the given time at least.
    Held { fence: Fence, remaining: Duration },
}

#[derive(Clone, Debug)]
pub struct Renewal {
    pub log: Arc<str>,
    pub epoch: u64,
    pub lease: Duration,
    pub alive_at: Option<UnixMicros>,
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

/// What one commit writes. It never changes once it was sent.
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
    pub alive_at: UnixMicros,
    /// The peaks of the tree with this batch.
    pub tree: Vec<[u8; 32]>,
}

impl Batch {
    /// When its events are recorded.
    #[must_use]
    pub fn recorded_at(&self) -> UnixMicros {
        self.events.first().map_or(self.alive_at, |event| event.recorded_at)
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
    /// What is stored contradicts itself or the request.
    #[error("the store is corrupt: {0}")]
    Corrupt(Arc<str>),
}
