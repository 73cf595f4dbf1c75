//! Conversion of events to leaf records. [`merkle::record`] has the layout and its parser, which an
//! auditor can use without a database.

use sha2::{Digest, Sha256};

pub use merkle::record::{LeafRecord, RECORD_LEN, RecordError, chain_hash};

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
        payload_hash: Sha256::digest(&event.payload).into(),
        previous: event.previous,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use primitives::{StreamId, UnixMicros};

    use super::*;
    use crate::event::{Position, Version};

    fn event() -> Event {
        Event {
            position: Position(1),
            recorded_at: UnixMicros(2),
            stream: StreamId([3; 16]),
            version: Version(4),
            kind: 5,
            schema: 6,
            sealed: false,
            payload: Bytes::from_static(b"abc"),
            request_id: None,
            actor: "dealer".into(),
            trace: [9; 16],
            previous: [7; 32],
        }
    }

    #[test]
    fn every_field_finds_its_place() {
        let record = LeafRecord::parse(&event().record()).unwrap();
        // SHA-256("abc"), from FIPS 180-2.
        let payload_hash = [
            0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae,
            0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61,
            0xf2, 0x00, 0x15, 0xad,
        ];
        let expected = LeafRecord {
            position: 1,
            recorded_at: 2,
            stream: [3; 16],
            version: 4,
            kind: 5,
            schema: 6,
            sealed: false,
            payload_len: 3,
            payload_hash,
            previous: [7; 32],
        };
        assert_eq!(record, expected);
    }

    #[test]
    fn who_asked_is_not_in_the_record() {
        let mut other = event();
        other.actor = "somebody else".into();
        other.trace = [0; 16];
        assert_eq!(other.record(), event().record());
    }
}
