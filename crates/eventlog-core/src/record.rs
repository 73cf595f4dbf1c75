//! Conversion of events to leaf records. [`merkle::record`] has the layout and its parser, which an
//! auditor can use without a database.

pub use merkle::record::{
    LeafRecord, RECORD_LEN, RecordError, SALT_LEN, author_hash, chain_hash, payload_hash,
};

use crate::event::Event;

/// Leaf record of an event. The payload's length saturates at 4 GiB; the log takes no payload of
/// that size.
#[must_use]
pub(crate) fn leaf_record(event: &Event) -> LeafRecord {
    LeafRecord {
        position: event.position.0,
        recorded_at: event.recorded_at.0,
        stream: event.stream.0,
        version: event.version.0,
        kind: event.kind,
        schema: event.schema,
        sealed: event.sealed,
        payload_len: u32::try_from(event.payload.len()).unwrap_or(u32::MAX),
        payload_hash: payload_hash(&event.salt, &event.payload),
        author_hash: event.author_hash,
        previous: event.previous,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use primitives::{RequestId, StreamId, UnixMicros};

    use super::*;
    use crate::event::{Position, Version};

    fn event() -> Event {
        let (actor, request_id, trace) = ("dealer", Some(RequestId([8; 16])), [9; 16]);
        Event {
            position: Position(1),
            recorded_at: UnixMicros(2),
            stream: StreamId([3; 16]),
            version: Version(4),
            kind: 5,
            schema: 6,
            sealed: false,
            payload: Bytes::from_static(b"abc"),
            salt: [10; 16],
            author_hash: Event::hash_author(actor, request_id, &trace),
            request_id,
            actor: actor.into(),
            trace,
            previous: [7; 32],
        }
    }

    /// ARCHITECTURE.md §2.2.
    #[test]
    fn every_field_finds_its_place() {
        let record = LeafRecord::parse(&event().record()).unwrap();
        let expected = LeafRecord {
            position: 1,
            recorded_at: 2,
            stream: [3; 16],
            version: 4,
            kind: 5,
            schema: 6,
            sealed: false,
            payload_len: 3,
            payload_hash: payload_hash(&[10; 16], b"abc"),
            author_hash: author_hash("dealer", Some(&[8; 16]), &[9; 16]),
            previous: [7; 32],
        };
        assert_eq!(record, expected);
    }

    /// ARCHITECTURE.md §2.2.
    #[test]
    fn salt_and_author_are_in_the_record() {
        let mut other = event();
        other.salt = [0; 16];
        assert_ne!(other.record(), event().record());
        let mut other = event();
        other.author_hash = Event::hash_author("dealer", None, &other.trace);
        assert_ne!(other.record(), event().record());
    }
}
