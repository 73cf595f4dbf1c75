//! Errors of the log, by the reaction that is expected of the caller.

use std::sync::Arc;
use std::time::Duration;

use eventlog_core::Position;
use primitives::RequestId;

use crate::archive::MountError;
use crate::event::AnsweredRequest;
use crate::store::{ClockSkew, StoreError};

/// Cause of an error, known only by its text and its own sources.
pub type Source = Arc<dyn std::error::Error + Send + Sync>;

/// Error of an append. The entry was not appended, except that [`AppendError::Lost`] leaves it
/// open.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AppendError {
    /// The request was answered before. With the same digest its caller gets the stored answer;
    /// with another digest the caller has reused an id.
    #[error("a request was answered before, at position {}", .stored.first.0)]
    Duplicate { stored: AnsweredRequest },
    /// Too many entries wait to be written. Nothing was appended; the caller may retry.
    #[error("the log's queue is full: repeat the request a little later")]
    QueueFull,
    /// The store was unavailable for as long as the log waits for it, or refused the entry. Nothing
    /// was appended; the caller may retry.
    #[error("the log's database is unavailable: repeat the request later")]
    Unavailable { source: Option<Source> },
    /// A clock was wrong for as long as the log waits for the store. Nothing was appended; the
    /// caller may retry once the clock is right.
    #[error(transparent)]
    Clock(ClockSkew),
    /// Another process owns the log, or the outcome of the entry cannot be known here. The owner
    /// must stop, drop its state and open the log again.
    #[error("this process no longer owns the log: reload before going on")]
    Lost,
    /// The entry exceeds the limits of a commit and can never be appended.
    #[error("the entry is over the log's limits: {events} events, {bytes} bytes")]
    TooLarge { events: usize, bytes: usize },
    /// An entry has no events, or a group no entries.
    #[error("the entry has no events")]
    Empty,
    /// The log does not end where the group must begin: a group before it was not written, or
    /// another caller appends. Nothing was appended.
    #[error("the group was to begin at position {}, the log ends at {}", .first.0, .size)]
    Misplaced { first: Position, size: u64 },
    /// Two entries of the group have the same request key, which is the caller's fault.
    #[error("request {id} is answered twice in one group")]
    DuplicateInGroup { id: RequestId },
}

/// Error of a read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ReadError {
    #[error("the log's database is unavailable: repeat the read later")]
    Unavailable { source: Option<Source> },
    /// The stored log contradicts itself.
    #[error("the log is corrupt: {0}")]
    Corrupt(Arc<str>),
    /// The events were archived and removed from the database.
    #[error("events before position {size} were archived: read the archive, or have it restored")]
    Archived { size: u64 },
    /// The events were archived, and the mounted archives cannot be read. Only of a
    /// [`Reader`](crate::Reader) with archives; the log itself is sound.
    #[error(transparent)]
    Archive(MountError),
    /// The log stopped or was closed. The subscription has ended.
    #[error("the log has stopped: open it again where it is owned now")]
    Stopped,
}

/// Error of opening a log.
#[derive(Clone, Debug, thiserror::Error)]
pub enum OpenError {
    /// Another owner renews its lease, which lasts at least `remaining`.
    #[error(
        "log {log} is owned by {owner} at {address}: it is free {:.1} s after that process stops",
        .remaining.as_secs_f64()
    )]
    Held { log: Arc<str>, owner: Arc<str>, address: Arc<str>, remaining: Duration },
    /// Another process took the log while it was being opened.
    #[error("log {log} was taken by another owner while it was being opened")]
    Lost { log: Arc<str> },
    #[error("the database of log {log} is unavailable")]
    Unavailable { log: Arc<str>, source: Source },
    /// The log was not taken, because this process could not write to it.
    #[error("log {log} cannot be taken: {off}")]
    Clock { log: Arc<str>, off: ClockSkew },
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
    pub(crate) fn from_store(log: &Arc<str>, error: StoreError) -> OpenError {
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
