//! Entries that are appended, and the requests that they answer.
//!
//! Answers may hold what nobody may see in a log line (seeds, entropy). Their `Debug`
//! shows a length and never a byte.
//!
//! Specification: ARCHITECTURE.md §2.1.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use eventlog_core::record::{LeafRecord, RECORD_LEN};
use eventlog_core::{Event, NewEvent, Position, Version};
use primitives::{RequestId, StreamId, UnixMicros};

use crate::authenticator::{AnswerTag, Authenticator};
use crate::key::RequestKey;

/// Command that an entry answers, so that a repeat is recognised and gets the same answer.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// Id, unique among the requests of the entry's actor.
    pub id: RequestId,
    /// SHA-256 of the command's content.
    pub digest: [u8; 32],
    /// Bytes of the first answer, returned again on a repeat.
    pub answer: Bytes,
}

/// Events that are appended together: all of them, adjacent, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// At least one event.
    pub events: Vec<NewEvent>,
    pub request: Option<Request>,
    /// Author of the entry. A zero byte, which a text of the database cannot hold, is replaced by
    /// U+FFFD.
    pub actor: Arc<str>,
    pub trace: [u8; 16],
}

/// Proof that an entry is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Position of the entry's first event; the others follow it.
    pub first: Position,
    pub recorded_at: UnixMicros,
    /// Version of each event, in the entry's order.
    pub versions: Vec<Version>,
}

impl Entry {
    /// Key of the request that the entry answers.
    #[must_use]
    pub fn key(&self) -> Option<RequestKey> {
        self.request.as_ref().map(|request| RequestKey::new(&self.actor, request.id))
    }
}

/// Record of a request that the log has answered.
#[derive(Clone, PartialEq, Eq)]
pub struct AnsweredRequest {
    pub key: RequestKey,
    /// Tag over the command's content and the answer. `None` where the log has no event of this
    /// request: no owner has written the answer, and no repeat gets it.
    pub tag: Option<AnswerTag>,
    /// Position of the first event that the command caused.
    pub first: Position,
    pub answer: Bytes,
}

impl AnsweredRequest {
    /// Finding about a command whose content has this SHA-256.
    #[must_use]
    pub fn recall(self, digest: &[u8; 32], authenticator: &Authenticator) -> Recall {
        if authenticator.answers(&self, digest) {
            Recall::Repeated { answer: self.answer, first: self.first }
        } else {
            Recall::IdReused
        }
    }
}

/// Finding about a request that is not new.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KnownRequest {
    Answered(AnsweredRequest),
    /// The id is of a time whose answers were removed with the events. It may have been answered.
    TooOld,
}

impl KnownRequest {
    /// Finding about a command whose content has this SHA-256.
    #[must_use]
    pub fn recall(self, digest: &[u8; 32], authenticator: &Authenticator) -> Recall {
        match self {
            KnownRequest::Answered(stored) => stored.recall(digest, authenticator),
            KnownRequest::TooOld => Recall::TooOld,
        }
    }
}

/// Result of looking up a command by its request id.
#[derive(Clone, PartialEq, Eq)]
pub enum Recall {
    /// The id is new.
    Fresh,
    /// The command was answered; this is the first answer.
    Repeated { answer: Bytes, first: Position },
    /// The id was used for a command with another content.
    IdReused,
    /// See [`KnownRequest::TooOld`].
    TooOld,
}

/// Last event of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StreamEnd {
    Stored(Event),
    /// The event was archived and removed; its leaf record stays.
    Archived(LeafRecord),
}

impl StreamEnd {
    #[must_use]
    pub fn stream(&self) -> StreamId {
        match self {
            StreamEnd::Stored(event) => event.stream,
            StreamEnd::Archived(record) => StreamId(record.stream),
        }
    }

    #[must_use]
    pub fn position(&self) -> Position {
        match self {
            StreamEnd::Stored(event) => event.position,
            StreamEnd::Archived(record) => Position(record.position),
        }
    }

    /// Number of events of the stream.
    #[must_use]
    pub fn version(&self) -> Version {
        match self {
            StreamEnd::Stored(event) => event.version,
            StreamEnd::Archived(record) => Version(record.version),
        }
    }

    #[must_use]
    pub fn kind(&self) -> u16 {
        match self {
            StreamEnd::Stored(event) => event.kind,
            StreamEnd::Archived(record) => record.kind,
        }
    }

    /// Leaf record.
    #[must_use]
    pub fn record(&self) -> [u8; RECORD_LEN] {
        match self {
            StreamEnd::Stored(event) => event.record(),
            StreamEnd::Archived(record) => record.to_bytes(),
        }
    }
}

/// Size, root and time of the committed log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeHead {
    /// Number of events, which is the position of the next.
    pub size: u64,
    /// RFC 6962 root over the leaf records.
    pub root: [u8; 32],
    /// Time of recording of the last event; 0 if there is none.
    pub recorded_at: UnixMicros,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("id", &self.id)
            .field("answer_len", &self.answer.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for AnsweredRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stored")
            .field("key", &self.key)
            .field("first", &self.first.0)
            .field("answer_len", &self.answer.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Recall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Recall::Fresh => f.write_str("Fresh"),
            Recall::Repeated { answer, first } => f
                .debug_struct("Same")
                .field("answer_len", &answer.len())
                .field("first", &first.0)
                .finish(),
            Recall::IdReused => f.write_str("Different"),
            Recall::TooOld => f.write_str("TooOld"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_answer() {
        let secret = Bytes::from_static(b"\x53\x45\x43\x52\x45\x54");
        let request = Request { id: RequestId([2; 16]), digest: [3; 32], answer: secret.clone() };
        let recall = Recall::Repeated { answer: secret, first: Position(0) };
        let text = format!("{request:?} {recall:?}");
        assert!(!text.contains("SECRET") && !text.contains("83, 69"), "{text}");
        assert!(text.contains("answer_len: 6"), "{text}");
    }
}
