//! Events as released programs have stored them: every later program reads them as the same message,
//! and writes the same bytes. `tests/golden/events` has samples of each type, in which every field is
//! set and every member of a oneof occurs. A stored sample is never changed.
//!
//! `SABACC_WRITE_EVENTS=1` adds samples of types that have none.
//!
//! Specification: proto/README.md, "Releases".

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;

use prost::Message as _;
use prost_reflect::{
    DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, ReflectMessage as _,
    Value,
};
use proto::event::v1::EventType;
use serde_json::json;
use wire::records::{DealerRecord, Record, TableRecord, WalletRecord, event_name};

/// Depth from which on messages stay empty.
const MAX_DEPTH: u32 = 6;
/// Most samples of one type.
const MAX_SAMPLES: usize = 64;

fn pool() -> DescriptorPool {
    DescriptorPool::decode(proto::DESCRIPTORS).expect("the committed descriptors are whole")
}

fn types() -> impl Iterator<Item = EventType> {
    (1..=i32::from(u16::MAX)).filter_map(|number| EventType::try_from(number).ok())
}

/// File of the samples of a service's events, one a line.
fn file(service: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/events");
    PathBuf::from(folder).join(format!("{service}.jsonl"))
}

/// Reads a payload as the service does. Returns its name and its bytes when written again.
fn read_as<R: Record>(event_type: EventType, payload: &[u8]) -> Option<Vec<u8>> {
    let record = R::decode(event_type, payload)?.expect("a stored payload can be read");
    Some(record.payload().to_vec())
}

/// Service that writes a type of event, and whether the payload is sealed. A step of the clock, which
/// all write, is listed with the first.
fn service(event_type: EventType) -> (&'static str, bool) {
    fn of<R: Record>(event_type: EventType) -> Option<(&'static str, bool)> {
        let record = R::decode(event_type, &[])?.expect("an empty message can be read");
        Some((R::SERVICE, record.is_sealed()))
    }
    of::<TableRecord>(event_type)
        .or_else(|| of::<DealerRecord>(event_type))
        .or_else(|| of::<WalletRecord>(event_type))
        .expect("every type of event is of a service")
}

/// Sample of a message: each field is set, and each oneof to its member number `round`.
fn sample(descriptor: &MessageDescriptor, round: usize, depth: u32) -> DynamicMessage {
    let mut message = DynamicMessage::new(descriptor.clone());
    if depth == MAX_DEPTH {
        return message;
    }
    for field in descriptor.fields() {
        let oneof = field.containing_oneof().filter(|oneof| !oneof.is_synthetic());
        if let Some(oneof) = oneof {
            let members: Vec<FieldDescriptor> = oneof.fields().collect();
            if members[round % members.len()] != field {
                continue;
            }
        }
        let one = value(&field, round, depth);
        assert!(!field.is_map(), "{}: maps have no order of bytes", field.full_name());
        let set = match (field.is_list(), depth) {
            (true, 0) => Value::List(vec![one.clone(), one]),
            (true, _) => Value::List(vec![one]),
            (false, _) => one,
        };
        message.set_field(&field, set);
    }
    message
}

fn value(field: &FieldDescriptor, round: usize, depth: u32) -> Value {
    let number = field.number() * 100 + u32::try_from(round).expect("few rounds");
    let signed = i32::try_from(number).expect("small numbers");
    match field.kind() {
        Kind::Double => Value::F64(f64::from(number) / 4.0),
        Kind::Float => panic!("{} is a float", field.full_name()),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(-signed),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(-i64::from(number) << 33),
        Kind::Uint32 | Kind::Fixed32 => Value::U32(number),
        Kind::Uint64 | Kind::Fixed64 => Value::U64(u64::from(number) << 33),
        Kind::Bool => Value::Bool(true),
        Kind::String => Value::String(format!("{} {number}", field.name())),
        Kind::Bytes => Value::Bytes(number.to_be_bytes().repeat(4).into()),
        Kind::Message(message) => Value::Message(sample(&message, round, depth + 1)),
        Kind::Enum(values) => {
            let known: Vec<i32> = values.values().map(|value| value.number()).collect();
            Value::EnumNumber(known[(round + 1) % known.len()])
        }
    }
}

/// Samples of a type: as many as it takes until every member of every oneof has occurred.
fn samples(pool: &DescriptorPool, event_type: EventType) -> Vec<DynamicMessage> {
    let mut samples: Vec<DynamicMessage> = Vec::new();
    for name in messages(event_type) {
        let descriptor = pool.get_message_by_name(&name).expect("each type has a message");
        let rounds = rounds(&descriptor, 0);
        samples.extend((0..rounds.min(MAX_SAMPLES)).map(|round| sample(&descriptor, round, 0)));
    }
    samples
}

/// Full names of the messages that a type of event is stored as: of a sealed one its hidden part too.
fn messages(event_type: EventType) -> Vec<String> {
    let named = |name: &str| format!("sabacc.event.v1.{name}");
    let own = named(&event_name(event_type));
    let (_, is_sealed) = service(event_type);
    if is_sealed { vec![own, named("SealedPayload")] } else { vec![own] }
}

/// Number of rounds after which every member of every oneof has occurred.
fn rounds(descriptor: &MessageDescriptor, depth: u32) -> usize {
    if depth == MAX_DEPTH {
        return 1;
    }
    let own = descriptor.oneofs().filter(|oneof| !oneof.is_synthetic());
    let own = own.map(|oneof| oneof.fields().count());
    let inner = descriptor
        .fields()
        .filter_map(|field| field.kind().as_message().map(|message| rounds(message, depth + 1)));
    own.chain(inner).fold(1, least_common_multiple)
}

fn least_common_multiple(a: usize, b: usize) -> usize {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    a / x * b
}

fn stored(service: &str) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(file(service)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

fn write_missing() {
    let pool = pool();
    let mut lines: BTreeMap<&str, Vec<serde_json::Value>> =
        ["dealer", "table", "wallet"].map(|service| (service, stored(service))).into();
    for event_type in types() {
        let lines = lines.get_mut(service(event_type).0).expect("all three are there");
        if lines.iter().any(|line| line["type"] == json!(i32::from(event_type))) {
            continue;
        }
        lines.extend(samples(&pool, event_type).into_iter().map(|message| {
            json!({
                "type": i32::from(event_type),
                "message": message.descriptor().full_name(),
                "payload": hex(&message.encode_to_vec()),
                "content": serde_json::to_value(&message).expect("a message is JSON"),
            })
        }));
    }
    for (service, lines) in lines {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(file(service), text).expect("the folder can be written");
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).expect("ASCII"));
    digits.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal digits")).collect()
}

/// proto/README.md, "Releases".
#[test]
fn stored_events_are_read_as_they_were_written() {
    #[expect(clippy::disallowed_methods, reason = "a test's own switch")]
    let adds_missing = env::var_os("SABACC_WRITE_EVENTS").is_some();
    if adds_missing {
        write_missing();
    }
    let pool = pool();
    let mut missing: Vec<EventType> = types().collect();
    for service in ["dealer", "table", "wallet"] {
        for line in stored(service) {
            let number = line["type"].as_i64().and_then(|number| i32::try_from(number).ok());
            let event_type = number.and_then(|number| EventType::try_from(number).ok());
            let event_type = event_type.unwrap_or_else(|| panic!("a type is gone: {line}"));
            missing.retain(|missing| *missing != event_type);
            let name = line["message"].as_str().expect("a name");
            assert!(messages(event_type).iter().any(|of| of == name), "{event_type:?}: {name}");
            let payload = unhex(line["payload"].as_str().expect("hexadecimal"));

            let descriptor = pool.get_message_by_name(name).expect("the message is still there");
            let message = DynamicMessage::decode(descriptor, &payload[..]).expect("it can be read");
            assert_eq!(serde_json::to_value(&message).expect("JSON"), line["content"], "{name}");
            assert!(message.unknown_fields().next().is_none(), "{name} has lost a field");
            assert_eq!(message.encode_to_vec(), payload, "{name}");

            if name == messages(event_type).last().expect("at least one") {
                let written = [
                    read_as::<TableRecord>(event_type, &payload),
                    read_as::<DealerRecord>(event_type, &payload),
                    read_as::<WalletRecord>(event_type, &payload),
                ];
                let written: Vec<Vec<u8>> = written.into_iter().flatten().collect();
                assert!(!written.is_empty() && written.iter().all(|it| *it == payload), "{name}");
            }
        }
    }
    assert!(missing.is_empty(), "no stored sample of {missing:?}: SABACC_WRITE_EVENTS=1 adds them");
}
