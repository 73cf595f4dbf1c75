//! Types of appended and read events.
//!
//! Payloads and answers may hold secrets (seeds, entropy). Their `Debug` shows a length and never a
//! byte.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use primitives::{RequestId, StreamId, UnixMicros};

use crate::key::RequestKey;
use crate::record::{RECORD_LEN, leaf_record};

/// Position of an event in its log: 0, 1, 2 … without gaps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Position(pub u64);

/// Version of an event in its stream: 1, 2, 3 … without gaps. A stream whose last event has version
/// n holds n events. Version 0 stands for a stream without events.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Version(pub u64);

/// Event that has no position yet.
#[derive(Clone, PartialEq, Eq)]
pub struct NewEvent {
    pub stream: StreamId,
    pub kind: u16,
    /// Version of the payload's schema.
    pub schema: u16,
    /// Whether the payload is confidential: it must not leave the services until it is revealed.
    pub sealed: bool,
    /// Payload bytes. The log never decodes or re-encodes them.
    pub payload: Bytes,
}

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

/// Event with its position and version.
#[derive(Clone, PartialEq, Eq)]
pub struct Event {
    pub position: Position,
    /// Time of recording, never earlier than that of the previous position.
    pub recorded_at: UnixMicros,
    pub stream: StreamId,
    pub version: Version,
    pub kind: u16,
    pub schema: u16,
    pub sealed: bool,
    pub payload: Bytes,
    pub request_id: Option<RequestId>,
    pub actor: Arc<str>,
    pub trace: [u8; 16],
    /// SHA-256 of the leaf record of the previous event in the stream; zeros for the first.
    pub previous: [u8; 32],
}

impl Entry {
    /// Key of the request that the entry answers.
    #[must_use]
    pub fn key(&self) -> Option<RequestKey> {
        self.request.as_ref().map(|request| RequestKey::new(&self.actor, request.id))
    }
}

impl Event {
    /// Leaf record: the bytes that the log's Merkle tree commits to.
    #[must_use]
    pub fn record(&self) -> [u8; RECORD_LEN] {
        leaf_record(self).to_bytes()
    }
}

/// Record of a request that the log has answered.
#[derive(Clone, PartialEq, Eq)]
pub struct Stored {
    pub key: RequestKey,
    /// SHA-256 of the content of the first command.
    pub digest: [u8; 32],
    /// Position of the first event that the command caused.
    pub first: Position,
    pub answer: Bytes,
}

impl Stored {
    #[must_use]
    pub fn recall(self, digest: [u8; 32]) -> Recall {
        if self.digest == digest {
            Recall::Same { answer: self.answer, first: self.first }
        } else {
            Recall::Different
        }
    }
}

/// Result of looking up a command by its request id.
#[derive(Clone, PartialEq, Eq)]
pub enum Recall {
    /// The id is new.
    Fresh,
    /// The command was answered; this is the first answer.
    Same { answer: Bytes, first: Position },
    /// The id was used for a command with another content.
    Different,
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

impl fmt::Debug for NewEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NewEvent { stream, kind, schema, sealed, payload } = self;
        f.debug_struct("NewEvent")
            .field("stream", stream)
            .field("kind", kind)
            .field("schema", schema)
            .field("sealed", sealed)
            .field("payload_len", &payload.len())
            .finish()
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("position", &self.position.0)
            .field("recorded_at", &self.recorded_at)
            .field("stream", &self.stream)
            .field("version", &self.version.0)
            .field("kind", &self.kind)
            .field("schema", &self.schema)
            .field("sealed", &self.sealed)
            .field("payload_len", &self.payload.len())
            .field("request_id", &self.request_id)
            .field("actor", &self.actor)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("id", &self.id)
            .field("answer_len", &self.answer.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Stored {
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
            Recall::Same { answer, first } => f
                .debug_struct("Same")
                .field("answer_len", &answer.len())
                .field("first", &first.0)
                .finish(),
            Recall::Different => f.write_str("Different"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_payload_and_no_answer() {
        let secret = Bytes::from_static(b"\x53\x45\x43\x52\x45\x54");
        let event = NewEvent {
            stream: StreamId([1; 16]),
            kind: 1,
            schema: 1,
            sealed: true,
            payload: secret.clone(),
        };
        let request = Request { id: RequestId([2; 16]), digest: [3; 32], answer: secret.clone() };
        let recall = Recall::Same { answer: secret, first: Position(0) };
        let text = format!("{event:?} {request:?} {recall:?}");
        assert!(!text.contains("SECRET") && !text.contains("83, 69"), "{text}");
        assert!(text.contains("payload_len: 6"), "{text}");
    }
}
