//! Rows of events: the adjacent events of one stream that one command caused are one row, so that
//! what they have in common is written once.
//!
//! Each event of a row's content: kind and schema of 16 bits, a byte that is 1 if it is sealed,
//! length of the payload of 32 bits, all big-endian, salt of 16 bytes, payload. The view `events`
//! shows them one by one (`sql/0001_log.sql`).
//!
//! Specification: ARCHITECTURE.md §2.13.

use std::sync::Arc;

use bytes::Bytes;
use eventlog_core::record::chain_hash;
use eventlog_core::{Event, Position, Version};
use primitives::{RequestId, StreamId, UnixMicros};

use crate::event::AnsweredRequest;

/// Bytes of an event in a row's content before its payload.
const HEADER_BYTES: usize = 25;
/// Events and bytes of content after which another row begins.
const MAX_EVENTS: usize = 256;
const MAX_BYTES: usize = 1 << 20;

/// Adjacent events that are written as one row.
pub(super) struct EventGroup<'a> {
    pub(super) first: &'a Event,
    pub(super) count: usize,
    pub(super) content: Vec<u8>,
    /// Request that these events answer, on the first row of its events.
    pub(super) answered: Option<&'a AnsweredRequest>,
}

impl<'a> EventGroup<'a> {
    fn new(first: &'a Event, answered: Option<&'a AnsweredRequest>) -> EventGroup<'a> {
        let mut group = EventGroup { first, count: 0, content: Vec::new(), answered };
        group.push(first);
        group
    }

    /// Whether an event can stand behind those of the group.
    fn takes(&self, next: &Event) -> bool {
        let behind = self.count as u64;
        let EventGroup { first, count, content, answered: _ } = self;
        *count < MAX_EVENTS
            && content.len() < MAX_BYTES
            && next.position.0 == first.position.0 + behind
            && next.version.0 == first.version.0 + behind
            && (next.stream, next.recorded_at, next.request_id, next.trace)
                == (first.stream, first.recorded_at, first.request_id, first.trace)
            && next.actor == first.actor
    }

    fn push(&mut self, event: &Event) {
        let payload = &event.payload[..];
        self.count += 1;
        self.content.reserve(HEADER_BYTES + payload.len());
        self.content.extend_from_slice(&event.kind.to_be_bytes());
        self.content.extend_from_slice(&event.schema.to_be_bytes());
        self.content.push(u8::from(event.sealed));
        let length = u32::try_from(payload.len()).expect("a payload is at most some MiB");
        self.content.extend_from_slice(&length.to_be_bytes());
        self.content.extend_from_slice(&event.salt);
        self.content.extend_from_slice(payload);
    }
}

/// Groups events, which are in order of position. `requests` are those that they answer, in order.
pub(super) fn group<'a>(
    events: &'a [Event],
    requests: &'a [AnsweredRequest],
) -> Vec<EventGroup<'a>> {
    let mut groups: Vec<EventGroup<'a>> = Vec::new();
    let mut requests = requests.iter().peekable();
    for event in events {
        let answered = requests.next_if(|request| request.first == event.position);
        match groups.last_mut() {
            Some(group) if answered.is_none() && group.takes(event) => group.push(event),
            Some(_) | None => groups.push(EventGroup::new(event, answered)),
        }
    }
    groups
}

/// Stored row of events.
pub(super) struct StoredGroup<'a> {
    pub(super) position: Position,
    pub(super) recorded_at: UnixMicros,
    pub(super) stream: StreamId,
    pub(super) version: Version,
    pub(super) count: usize,
    pub(super) request_id: Option<RequestId>,
    pub(super) actor: Arc<str>,
    pub(super) trace: [u8; 16],
    pub(super) previous: [u8; 32],
    pub(super) content: &'a [u8],
}

/// Contradiction within a stored row.
#[derive(Debug, thiserror::Error)]
#[error("the row at position {0} holds other events than it says")]
pub(super) struct BrokenGroup(u64);

impl StoredGroup<'_> {
    /// Unpacks the row's events and appends them to `events`.
    pub(super) fn unpack(self, events: &mut Vec<Event>) -> Result<(), BrokenGroup> {
        let broken = BrokenGroup(self.position.0);
        let author_hash = Event::hash_author(&self.actor, self.request_id, &self.trace);
        let (mut rest, mut previous) = (self.content, self.previous);
        let mut ordinal = 0;
        while let Some((header, behind)) = rest.split_first_chunk::<HEADER_BYTES>() {
            let [a, b, c, d, sealed, l0, l1, l2, l3, salt @ ..] = *header;
            let length = usize::try_from(u32::from_be_bytes([l0, l1, l2, l3])).ok();
            let payload = length.and_then(|length| behind.split_at_checked(length));
            let Some((payload, after)) = payload else { return Err(broken) };
            let event = Event {
                position: Position(self.position.0 + ordinal),
                recorded_at: self.recorded_at,
                stream: self.stream,
                version: Version(self.version.0 + ordinal),
                kind: u16::from_be_bytes([a, b]),
                schema: u16::from_be_bytes([c, d]),
                sealed: sealed == 1,
                payload: Bytes::copy_from_slice(payload),
                salt,
                author_hash,
                request_id: self.request_id,
                actor: self.actor.clone(),
                trace: self.trace,
                previous,
            };
            (rest, ordinal) = (after, ordinal + 1);
            if !rest.is_empty() {
                previous = chain_hash(&event.record());
            }
            events.push(event);
        }
        let is_whole = rest.is_empty() && usize::try_from(ordinal) == Ok(self.count);
        if is_whole { Ok(()) } else { Err(broken) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(position: u64, stream: u8, version: u64) -> Event {
        let actor: Arc<str> = "player:a".into();
        let (request_id, trace) = (Some(RequestId([1; 16])), [2; 16]);
        Event {
            position: Position(position),
            recorded_at: UnixMicros(3),
            stream: StreamId([stream; 16]),
            version: Version(version),
            kind: 0x0102,
            schema: 0x0304,
            sealed: position.is_multiple_of(2),
            payload: vec![7; usize::try_from(position).unwrap()].into(),
            salt: [9; 16],
            author_hash: Event::hash_author(&actor, request_id, &trace),
            request_id,
            actor,
            trace,
            previous: [0; 32],
        }
    }

    /// Links events of one stream.
    fn chained(mut events: Vec<Event>) -> Vec<Event> {
        for n in 1..events.len() {
            if events[n].stream == events[n - 1].stream {
                events[n].previous = chain_hash(&events[n - 1].record());
            }
        }
        events
    }

    fn request(first: u64) -> AnsweredRequest {
        let id = RequestId([1; 16]);
        let key = crate::key::RequestKey::new("player:a", id);
        AnsweredRequest { key, tag: Some([4; 16]), first: Position(first), answer: Bytes::new() }
    }

    fn stored<'a>(group: &'a EventGroup<'_>) -> StoredGroup<'a> {
        let first = group.first;
        StoredGroup {
            position: first.position,
            recorded_at: first.recorded_at,
            stream: first.stream,
            version: first.version,
            count: group.count,
            request_id: first.request_id,
            actor: first.actor.clone(),
            trace: first.trace,
            previous: first.previous,
            content: &group.content,
        }
    }

    #[test]
    fn events_come_back_as_they_were() {
        let events = chained(vec![event(0, 1, 5), event(1, 1, 6), event(2, 1, 7), event(3, 2, 1)]);
        let groups = group(&events, &[]);
        assert_eq!(groups.iter().map(|group| group.count).collect::<Vec<_>>(), [3, 1]);
        let mut unpacked = Vec::new();
        groups.iter().for_each(|group| stored(group).unpack(&mut unpacked).unwrap());
        assert_eq!(unpacked, events);
    }

    #[test]
    fn a_row_ends_where_anything_but_the_event_differs() {
        let other = |change: fn(&mut Event)| {
            let mut events = chained(vec![event(0, 1, 1), event(1, 1, 2)]);
            change(&mut events[1]);
            group(&events, &[]).len()
        };
        assert_eq!(other(|_| ()), 1);
        assert_eq!(other(|event| event.stream = StreamId([2; 16])), 2);
        assert_eq!(other(|event| event.position = Position(2)), 2);
        assert_eq!(other(|event| event.version = Version(3)), 2);
        assert_eq!(other(|event| event.recorded_at = UnixMicros(4)), 2);
        assert_eq!(other(|event| event.request_id = None), 2);
        assert_eq!(other(|event| event.trace = [0; 16]), 2);
        assert_eq!(other(|event| event.actor = "player:b".into()), 2);
        let events: Vec<_> = (0..600).map(|n| event(n, 1, n + 1)).collect();
        assert_eq!(group(&events, &[]).len(), 600_usize.div_ceil(MAX_EVENTS));
    }

    #[test]
    fn an_answer_stands_on_the_first_row_of_its_events() {
        let events = [event(0, 1, 1), event(1, 2, 1), event(2, 2, 2), event(3, 2, 3)];
        let requests = [request(0), request(2)];
        let firsts: Vec<_> = group(&events, &requests)
            .iter()
            .map(|group| (group.count, group.answered.map(|request| request.first.0)))
            .collect();
        assert_eq!(firsts, [(1, Some(0)), (1, None), (2, Some(2))]);
    }

    #[test]
    fn a_row_that_is_not_what_it_says_is_refused() {
        let events = chained(vec![event(0, 1, 1), event(1, 1, 2)]);
        let groups = group(&events, &[]);
        let whole = &groups[0];
        let mut unpacked = Vec::new();
        let short = &whole.content[..whole.content.len() - 1];
        let long = [&whole.content[..], &[0]].concat();
        for content in [short, &long, &whole.content[..HEADER_BYTES]] {
            let group = StoredGroup { content, ..stored(whole) };
            assert!(group.unpack(&mut unpacked).is_err());
        }
    }
}
