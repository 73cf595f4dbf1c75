//! Events of a log, before and after they have a position.
//!
//! Payloads may hold secrets (seeds, entropy). Their `Debug` shows a length and never a byte.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use primitives::{RequestId, StreamId, UnixMicros};
use serde::{Deserialize, Serialize};

use crate::record::{LeafRecord, RECORD_LEN, SALT_LEN, author_hash, leaf_record};

/// Position of an event in its log: 0, 1, 2 … without gaps.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug, Serialize, Deserialize,
)]
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
    /// Random bytes that stand before the payload where it is hashed.
    pub salt: [u8; SALT_LEN],
    /// Hash of actor, request id and trace, as the leaf record has it. Readers of proved records
    /// know this hash alone.
    pub author_hash: [u8; 32],
    pub request_id: Option<RequestId>,
    pub actor: Arc<str>,
    pub trace: [u8; 16],
    /// SHA-256 of the leaf record of the previous event in the stream; zeros for the first.
    pub previous: [u8; 32],
}

impl Event {
    /// Leaf record: the bytes that the log's Merkle tree commits to.
    #[must_use]
    pub fn record(&self) -> [u8; RECORD_LEN] {
        self.leaf_record().to_bytes()
    }

    /// Fields of the leaf record.
    #[must_use]
    pub fn leaf_record(&self) -> LeafRecord {
        leaf_record(self)
    }

    /// Hash of the event's own actor, request id and trace.
    #[must_use]
    pub fn hash_author(actor: &str, request_id: Option<RequestId>, trace: &[u8; 16]) -> [u8; 32] {
        author_hash(actor, request_id.as_ref().map(|id| &id.0), trace)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_payload() {
        let event = NewEvent {
            stream: StreamId([1; 16]),
            kind: 1,
            schema: 1,
            sealed: true,
            payload: Bytes::from_static(b"\x53\x45\x43\x52\x45\x54"),
        };
        let text = format!("{event:?}");
        assert!(!text.contains("SECRET") && !text.contains("83, 69"), "{text}");
        assert!(text.contains("payload_len: 6"), "{text}");
    }
}
