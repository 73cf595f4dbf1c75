//! Parsing of bundles.

use std::sync::Arc;

use bytes::Bytes;
use eventlog_core::{Event, Position, Version};
use primitives::{HandId, StreamId, UnixMicros};
use prost::Message as _;
use proto::audit::v1 as pb;
use proto::event::v1::EventType;
use sha2::{Digest, Sha256};
use wire::records::{DealerRecord, PayloadError, Record, SCHEMA, TableRecord, WalletRecord};

use super::{Bundle, FIRST_FORMAT, FORMAT, LOG_NAMES, MAX_BYTES, ProvedLog};
use crate::log_event::{LogEvent, WithheldPayload};

/// Reason why bytes are no bundle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    #[error("these bytes are not a HandBundle in its only spelling")]
    Outer,
    #[error("the contents are not what their SHA-256 says: the file is damaged")]
    Corrupt,
    #[error("the contents are not BundleContents in their only spelling")]
    Inner,
    #[error(
        "this is a bundle of format {0}, older than the first that was released, {FIRST_FORMAT}"
    )]
    Format(u32),
    #[error("written by a newer room: take its verify.html")]
    NewerFormat,
    #[error("a bundle has at most {MAX_BYTES} bytes, this has {0}")]
    TooLong(usize),
    #[error("a bundle has at most {MAX_RECORDS} records and hashes in a log")]
    TooMany,
    #[error("a bundle has three logs: table, dealer, wallet, in this order")]
    Logs,
    #[error("{what} has {got} bytes, not {want}")]
    Length { what: &'static str, got: usize, want: usize },
    #[error("record {at} of the {log}'s log does not stand after the one before it")]
    Order { log: &'static str, at: usize },
    #[error("record {at} of the {log}'s log: {why}")]
    Payload { log: &'static str, at: usize, why: String },
}

fn array<const N: usize>(what: &'static str, bytes: &[u8]) -> Result<[u8; N], BundleError> {
    let got = bytes.len();
    bytes.try_into().map_err(|_| BundleError::Length { what, got, want: N })
}

pub(super) fn bundle(bytes: &[u8]) -> Result<Bundle, BundleError> {
    if bytes.len() > MAX_BYTES {
        return Err(BundleError::TooLong(bytes.len()));
    }
    let outer = pb::HandBundle::decode(bytes).map_err(|_| BundleError::Outer)?;
    if outer.encode_to_vec() != bytes {
        return Err(BundleError::Outer);
    }
    let pb::HandBundle { contents, sha256 } = outer;
    if Sha256::digest(&contents)[..] != array::<32>("the bundle's SHA-256", &sha256)? {
        return Err(BundleError::Corrupt);
    }
    // A newer room may write fields that are not known here.
    if first_number(&contents).is_some_and(|format| format > u64::from(FORMAT)) {
        return Err(BundleError::NewerFormat);
    }
    check_counts(&contents)?;
    let inner = pb::BundleContents::decode(&contents[..]).map_err(|_| BundleError::Inner)?;
    if inner.encode_to_vec() != contents {
        return Err(BundleError::Inner);
    }
    let pb::BundleContents { format, hand_id, logs } = inner;
    if !(FIRST_FORMAT..=FORMAT).contains(&format) {
        return Err(BundleError::Format(format));
    }
    let hand_id = HandId(array("the hand's id", &hand_id)?);
    let Ok([table, dealer, wallet]) = <[pb::BundleLog; 3]>::try_from(logs) else {
        return Err(BundleError::Logs);
    };
    let [name_1, name_2, name_3] = LOG_NAMES;
    Ok(Bundle {
        hand_id,
        table: log(name_1, table)?,
        dealer: log(name_2, dealer)?,
        wallet: log(name_3, wallet)?,
    })
}

/// Most records and hashes of all logs. A listed message costs two bytes in the file when it is
/// empty, and hundreds in memory.
const MAX_RECORDS: usize = 500_000;

/// Checks the number of listed messages before they are decoded.
fn check_counts(contents: &[u8]) -> Result<(), BundleError> {
    const LOGS: u32 = 3;
    const RECORDS: u32 = 4;
    const PROOF: u32 = 5;
    let mut count = 0;
    for (field, log) in fields(contents).ok_or(BundleError::Inner)? {
        count += 1;
        if field == LOGS {
            let listed = fields(log).ok_or(BundleError::Inner)?;
            count += listed.iter().filter(|(field, _)| matches!(*field, RECORDS | PROOF)).count();
        }
    }
    if count > MAX_RECORDS { Err(BundleError::TooMany) } else { Ok(()) }
}

/// First field of a message, where it is number 1 and a varint.
fn first_number(mut message: &[u8]) -> Option<u64> {
    const NUMBER_1: u64 = 1 << 3;
    let key = prost::encoding::decode_varint(&mut message).ok()?;
    (key == NUMBER_1).then(|| prost::encoding::decode_varint(&mut message).ok()).flatten()
}

/// Fields of a message that are bytes, with their numbers; `None` if it is no message.
fn fields(mut message: &[u8]) -> Option<Vec<(u32, &[u8])>> {
    let mut found = Vec::new();
    while !message.is_empty() {
        let key = prost::encoding::decode_varint(&mut message).ok()?;
        let (field, kind) = (u32::try_from(key >> 3).ok()?, key & 7);
        let skipped = match kind {
            0 => {
                prost::encoding::decode_varint(&mut message).ok()?;
                continue;
            }
            1 => 8,
            2 => usize::try_from(prost::encoding::decode_varint(&mut message).ok()?).ok()?,
            5 => 4,
            _ => return None,
        };
        let (bytes, rest) = message.split_at_checked(skipped)?;
        message = rest;
        if kind == 2 {
            found.push((field, bytes));
        }
    }
    Some(found)
}

fn log(log: &'static str, read: pb::BundleLog) -> Result<ProvedLog, BundleError> {
    let pb::BundleLog { name, key, checkpoint, records, proof } = read;
    if name != log {
        return Err(BundleError::Logs);
    }
    let mut events: Vec<LogEvent> = Vec::with_capacity(records.len());
    for (at, record) in records.into_iter().enumerate() {
        let event = event(log, at, record)?;
        if events.last().is_some_and(|before| before.position >= event.position) {
            return Err(BundleError::Order { log, at });
        }
        events.push(event);
    }
    let proof = proof.iter().map(|hash| array("a hash of a proof", hash));
    Ok(ProvedLog { key, checkpoint, records: events, proof: proof.collect::<Result<_, _>>()? })
}

/// Parses a record. A withheld payload leaves nothing of itself but hash and length.
fn event(log: &'static str, at: usize, record: pb::LogRecord) -> Result<LogEvent, BundleError> {
    let refused = |why: String| BundleError::Payload { log, at, why };
    let withheld = withheld_payload(&record).map_err(refused)?;
    let event = whole_event(record, withheld.is_some(), refused)?;
    if withheld.is_some() {
        let known = EventType::try_from(i32::from(event.kind)).ok();
        if known.is_none_or(|known| known == EventType::Unspecified) || event.schema != SCHEMA {
            return Err(refused("there is no such type of event".to_owned()));
        }
        return Ok(LogEvent { event, withheld });
    }
    if event.sealed {
        return Err(refused("the payload is encrypted".to_owned()));
    }
    let (name, again) = encode_again(&event).map_err(|error| refused(error.to_string()))?;
    if again == event.payload {
        Ok(LogEvent::from(event))
    } else {
        Err(refused(format!("the payload is not a {name} in its only spelling")))
    }
}

fn withheld_payload(record: &pb::LogRecord) -> Result<Option<WithheldPayload>, String> {
    if record.payload_hash.is_empty() {
        let none = record.payload_len == 0;
        return if none { Ok(None) } else { Err("a length without a payload's hash".to_owned()) };
    }
    if !record.payload.is_empty() || !record.salt.is_empty() {
        return Err("a payload beside the hash of a withheld one".to_owned());
    }
    let hash = record.payload_hash[..].try_into();
    let hash = hash.map_err(|_| "a payload's hash has 32 bytes".to_owned())?;
    Ok(Some(WithheldPayload { hash, length: record.payload_len }))
}

fn whole_event(
    record: pb::LogRecord,
    is_withheld: bool,
    refused: impl Fn(String) -> BundleError,
) -> Result<Event, BundleError> {
    let pb::LogRecord {
        position,
        recorded_at_micros,
        stream,
        version,
        r#type,
        schema,
        sealed,
        payload,
        salt,
        author_hash,
        previous,
        payload_hash: _,
        payload_len: _,
    } = record;
    let small = |number: u32| {
        u16::try_from(number).map_err(|_| refused(format!("{number} is no type or schema")))
    };
    Ok(Event {
        position: Position(position),
        recorded_at: UnixMicros(recorded_at_micros),
        stream: StreamId(array("a record's stream", &stream)?),
        version: Version(version),
        kind: small(r#type)?,
        schema: small(schema)?,
        sealed,
        payload: Bytes::from(payload),
        salt: if is_withheld { [0; 16] } else { array("a record's salt", &salt)? },
        author_hash: array("a record's author_hash", &author_hash)?,
        request_id: None,
        actor: Arc::from(""),
        trace: [0; 16],
        previous: array("a record's previous", &previous)?,
    })
}

/// Name of an event of any log, and its payload encoded from the decoded event.
fn encode_again(event: &Event) -> Result<(&'static str, Bytes), PayloadError> {
    fn of<R: Record>(event: &Event) -> Result<(&'static str, Bytes), PayloadError> {
        R::try_from_event(event).map(|record| (record.name(), record.payload()))
    }
    for of in [of::<TableRecord>, of::<DealerRecord>] {
        let encoded = of(event);
        if !matches!(encoded, Err(PayloadError::Foreign(..))) {
            return encoded;
        }
    }
    of::<WalletRecord>(event)
}
