//! What can go wrong, sorted by what the caller should do.

use std::sync::Arc;
use std::time::Duration;

use eventlog_core::Position;
use primitives::RequestId;

use crate::event::Stored;
use crate::store::{ClockOff, StoreError};

/// Nothing more is known of a cause than its text and its own causes.
pub type Source = Arc<dyn std::error::Error + Send + Sync>;

/// An entry was not appended, except that [`AppendError::Lost`] may leave it open.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AppendError {
    /// The request was answered before. Compare the digests: the same content gets the stored
    /// answer, another content is the caller's mistake.
    #[error("a request was answered before, at position {}", .stored.first.0)]
    Duplicate { stored: Stored },
    /// Too much waits to be written. Nothing was appended: repeat later.
    #[error("the log's queue is full: repeat the request a little later")]
    Full,
    /// The store did not take it within the patience of the log, or refuses it. Nothing was appended:
    /// repeat later.
    #[error("the log's database is unavailable: repeat the request later")]
    Unavailable { source: Option<Source> },
    /// A clock is wrong, and stayed so for the patience of the log. Nothing was appended: repeat once it
    /// is right.
    #[error(transparent)]
    Clock(ClockOff),
    /// Another owner has the log, or what became of the entry cannot be known here. The owner must
    /// stop, forget what it has in memory and open the log again.
    #[error("this process no longer owns the log: reload before going on")]
    Lost,
    /// The entry can never fit. A mistake of the caller's limits.
    #[error("the entry is over the log's limits: {events} events, {bytes} bytes")]
    TooLarge { events: usize, bytes: usize },
    /// An entry holds at least one event, a group at least one entry.
    #[error("the entry has no events")]
    Empty,
    /// The log does not end where the group was to begin: something before it was not written, or
    /// somebody else appends. Nothing was appended.
    #[error("the group was to begin at position {}, the log ends at {}", .first.0, .size)]
    Misplaced { first: Position, size: u64 },
    /// Two entries of the group answer the same request. A mistake of the caller's.
    #[error("request {id} is answered twice in one group")]
    Twice { id: RequestId },
}

/// The log could not be read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ReadError {
    #[error("the log's database is unavailable: repeat the read later")]
    Unavailable { source: Option<Source> },
    /// What is stored contradicts itself.
    #[error("the log is corrupt: {0}")]
    Corrupt(Arc<str>),
    /// What was asked for was archived and removed from the database.
    #[error("events before position {size} were archived: read the archive, or have it restored")]
    Archived { size: u64 },
    /// The log stopped or was closed: nothing more will come on this subscription.
    #[error("the log has stopped: open it again where it is owned now")]
    Stopped,
}

/// The log could not be taken.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OpenError {
    /// Another owner renews its lease, which lasts for `remaining` at least.
    #[error(
        "log {log} is owned by {owner} at {address}: it is free {:.1} s after that process stops",
        .remaining.as_secs_f64()
    )]
    Held { log: Arc<str>, owner: Arc<str>, address: Arc<str>, remaining: Duration },
    /// Somebody else took the log while it was being opened.
    #[error("log {log} was taken by another owner while it was being opened")]
    Lost { log: Arc<str> },
    #[error("the database of log {log} is unavailable")]
    Unavailable { log: Arc<str>, source: Source },
    /// Nothing was taken: this process could not write it.
    #[error("log {log} cannot be taken: {off}")]
    Clock { log: Arc<str>, off: ClockOff },
    #[error("log {log} is corrupt: {what}")]
    Corrupt { log: Arc<str>, what: Arc<str> },
}

impl From<StoreError> for ReadError {
    fn from(error: StoreError) -> ReadError {
        match error {
            StoreError::Unavailable(source)
            | StoreError::InDoubt(source)
            | StoreError::Refused(source) => ReadError::Unavailable { source: Some(source) },
            StoreError::Clock(off) => ReadError::Unavailable { source: Some(Arc::new(off)) },
            StoreError::Corrupt(what) => ReadError::Corrupt(what),
        }
    }
}

impl OpenError {
    pub(crate) fn of(log: &Arc<str>, error: StoreError) -> OpenError {
        let log = log.clone();
        match error {
            StoreError::Unavailable(source)
            | StoreError::InDoubt(source)
            | StoreError::Refused(source) => OpenError::Unavailable { log, source },
            StoreError::Clock(off) => OpenError::Clock { log, off },
            StoreError::Corrupt(what) => OpenError::Corrupt { log, what },
        }
    }
}
