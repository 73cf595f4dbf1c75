use eventlog_core::{Position, Version};
use primitives::UnixMicros;
use proto::event::v1 as pb;

use super::*;

fn event(record: &impl Record, sealed: bool) -> Event {
    let NewEvent { stream, kind, schema, sealed: _, payload } = record.on_stream(StreamId([1; 16]));
    Event {
        position: Position(0),
        recorded_at: UnixMicros(0),
        stream,
        version: Version(1),
        kind,
        schema,
        sealed,
        payload,
        salt: [0; 16],
        author_hash: [0; 32],
        request_id: None,
        actor: "test".into(),
        trace: [0; 16],
        previous: [0; 32],
    }
}

#[test]
fn sealed_events_are_read_as_what_is_to_be_seen_of_them() {
    let sealed = pb::SealedPayload {
        player_id: vec![2; 16].into(),
        nonce: vec![3; 24].into(),
        sealed: vec![4; 80].into(),
    };
    let named = TableRecord::PlayerNamed(sealed);
    assert!(named.on_stream(StreamId([1; 16])).sealed);
    assert_eq!(named.kind(), 33);
    assert!(TableRecord::try_from(&event(&named, true)).as_ref() == Ok(&named));
    let read = TableRecord::try_from(&event(&named, false)).map(|event| event.kind());
    assert_eq!(read, Err(PayloadError::Sealing(33)));
    let erased =
        TableRecord::from(pb::PlayerErased { reason: "asked".to_owned(), ..Default::default() });
    assert!(!erased.on_stream(StreamId([1; 16])).sealed);
    let read = TableRecord::try_from(&event(&erased, true)).map(|event| event.kind());
    assert_eq!(read, Err(PayloadError::Sealing(34)));
}

/// Logs whose service writes events of a type.
fn services(event_type: EventType) -> Vec<&'static str> {
    fn of<R: Record>(event_type: EventType) -> Option<&'static str> {
        let Ok(record) = R::decode(event_type, &[])? else { panic!("{event_type:?}") };
        assert_eq!((record.event_type(), record.name()), (event_type, &event_name(event_type)[..]));
        Some(R::SERVICE)
    }
    let all = [of::<TableRecord>, of::<DealerRecord>, of::<WalletRecord>];
    all.into_iter().filter_map(|of| of(event_type)).collect()
}

#[test]
fn every_type_of_event_is_of_one_log_and_steps_of_the_clock_are_of_all() {
    let numbers = (1..=i32::from(u16::MAX)).map(EventType::try_from);
    let types: Vec<EventType> = numbers.filter_map(Result::ok).collect();
    assert!(types.len() > 60, "{}", types.len());
    for event_type in types {
        let count = if event_type == EventType::ClockStepped { 3 } else { 1 };
        assert_eq!(services(event_type).len(), count, "{event_type:?}");
    }
}

#[test]
fn an_event_of_another_service_is_refused_by_name() {
    let closed = event(&TableRecord::from(pb::TableClosed {}), false);
    let refused = PayloadError::Foreign("wallet", "TableClosed".to_owned());
    assert_eq!(WalletRecord::try_from(&closed), Err(refused));
}
