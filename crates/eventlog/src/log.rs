//! The owner's handle of a log.

use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use primitives::{RequestId, StreamId, UnixMicros};
use tokio_util::sync::CancellationToken;

use crate::error::{AppendError, OpenError, ReadError};
use crate::event::{Entry, Event, Position, Recall, Receipt, TreeHead, Version};
use crate::store::Store;

/// What time it is.
pub type Clock = Arc<dyn Fn() -> UnixMicros + Send + Sync>;

/// How a log is opened.
#[derive(Clone)]
pub struct Options {
    /// The log's name within its store, such as `table/0`.
    pub name: Arc<str>,
    /// Who owns it: shown to whoever is refused.
    pub owner: Arc<str>,
    /// Where the owner can be called.
    pub address: Arc<str>,
    /// How long a silent owner keeps the log.
    pub lease: Duration,
    /// Take the log at once, even where its owner's lease runs. The other owner stops at its next
    /// write.
    pub take_over: bool,
    pub clock: Clock,
    pub limits: Limits,
}

/// Bounds on what is in memory and in one commit.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Events in one commit; also the most that one entry may hold.
    pub batch_events: usize,
    /// Bytes of payloads and answers in one commit; also the most that one entry may hold.
    pub batch_bytes: usize,
    /// Entries that wait to be committed.
    pub queue_entries: usize,
    /// Bytes of payloads and answers that wait to be committed.
    pub queue_bytes: usize,
    /// Streams whose last event is remembered.
    pub streams: usize,
    /// Commits that a live subscription may fall behind before it reads from the store again.
    pub live_commits: usize,
    /// How long an entry waits for a store that is not there.
    pub patience: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            batch_events: 1000,
            batch_bytes: 1 << 20,
            queue_entries: 10_000,
            queue_bytes: 32 << 20,
            streams: 100_000,
            live_commits: 64,
            patience: Duration::from_secs(5),
        }
    }
}

/// An owned log. Clones are handles of the same.
#[derive(Clone)]
pub struct Log {}

#[expect(
    clippy::unimplemented,
    clippy::unused_async,
    unused_variables,
    reason = "signatures first"
)]
impl Log {
    /// Takes the log and reads where it ends. Waits for the lease of a silent owner to end; an
    /// owner that renews it is [`OpenError::Held`].
    pub async fn open(store: Arc<dyn Store>, options: Options) -> Result<Log, OpenError> {
        unimplemented!()
    }

    /// Appends an entry; answers once it is durable.
    pub async fn append(&self, entry: Entry) -> Result<Receipt, AppendError> {
        unimplemented!()
    }

    /// Whether a command was answered before. `digest` is SHA-256 of its content.
    pub async fn recall(&self, id: RequestId, digest: [u8; 32]) -> Result<Recall, ReadError> {
        unimplemented!()
    }

    /// Events from a position on, in order, at most `limit`: fewer only where the log ends.
    pub async fn read(&self, from: Position, limit: usize) -> Result<Vec<Event>, ReadError> {
        unimplemented!()
    }

    /// Events of a stream from a version on, in order, at most `limit`: fewer only where it ends.
    pub async fn read_stream(
        &self,
        stream: StreamId,
        from: Version,
        limit: usize,
    ) -> Result<Vec<Event>, ReadError> {
        unimplemented!()
    }

    /// All events from a position on, for as long as the log is owned here: first those stored,
    /// then each as it is committed, never before. A slow reader is sent back to the store and
    /// misses nothing. An error does not end it, but for [`ReadError::Stopped`]: polling on reads
    /// again from where it was.
    pub fn subscribe(
        &self,
        from: Position,
    ) -> impl Stream<Item = Result<Event, ReadError>> + Send + Unpin + use<> {
        Box::pin(futures_util::stream::empty())
    }

    /// The committed log.
    #[must_use]
    pub fn head(&self) -> TreeHead {
        unimplemented!()
    }

    /// The number of committed events.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.head().size
    }

    /// The root over the committed events.
    #[must_use]
    pub fn root(&self) -> [u8; 32] {
        self.head().root
    }

    /// When the owner before last said that it served, by its own clock; nothing for a new log.
    /// Clocks that ran then go on from there.
    #[must_use]
    pub fn last_alive(&self) -> Option<UnixMicros> {
        unimplemented!()
    }

    /// Fires when the log is no longer owned here, or closed. The owner must stop.
    #[must_use]
    pub fn stopped(&self) -> CancellationToken {
        unimplemented!()
    }

    /// Writes what waits, gives the log up for the next owner and stops. Other handles get
    /// [`AppendError::Lost`] from then on.
    pub async fn close(self) {
        unimplemented!()
    }
}
