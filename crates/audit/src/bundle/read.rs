//! Parsing of bundles.

use std::sync::Arc;

use bytes::Bytes;
use eventlog_core::{Event, Position, Version};
use primitives::{HandId, StreamId, UnixMicros};
use prost::Message as _;
use proto::audit::v1 as pb;
use sha2::{Digest, Sha256};
use wire::records::{DealerRecord, PayloadError, Record, TableRecord, WalletRecord};

use super::{Bundle, FORMAT, LOG_NAMES, ProvedLog};

/// Reason why bytes are no bundle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    #[error("these bytes are not a HandBundle in its only spelling")]
    Outer,
    #[error("the contents are not what their SHA-256 says: the file is damaged")]
    Corrupt,
    #[error("the contents are not BundleContents in their only spelling")]
    Inner,
    #[error("this is a bundle of format {0}, this program reads format {FORMAT}")]
    Format(u32),
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
    let outer = pb::HandBundle::decode(bytes).map_err(|_| BundleError::Outer)?;
    if outer.encode_to_vec() != bytes {
        return Err(BundleError::Outer);
    }
    let pb::HandBundle { contents, sha256 } = outer;
    if Sha256::digest(&contents)[..] != array::<32>("the bundle's SHA-256", &sha256)? {
        return Err(BundleError::Corrupt);
    }
    let inner = pb::BundleContents::decode(&contents[..]).map_err(|_| BundleError::Inner)?;
    if inner.encode_to_vec() != contents {
        return Err(BundleError::Inner);
    }
    let pb::BundleContents { format, hand_id, logs } = inner;
    if format != FORMAT {
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

fn log(log: &'static str, read: pb::BundleLog) -> Result<ProvedLog, BundleError> {
    let pb::BundleLog { name, key, checkpoint, records, proof } = read;
    if name != log {
        return Err(BundleError::Logs);
    }
    let mut events: Vec<Event> = Vec::with_capacity(records.len());
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

fn event(log: &'static str, at: usize, record: pb::LogRecord) -> Result<Event, BundleError> {
    let pb::LogRecord {
        position,
        recorded_at_micros,
        stream,
        version,
        r#type,
        schema,
        sealed,
        payload,
        previous,
    } = record;
    let refused = |why: String| BundleError::Payload { log, at, why };
    let small = |number: u32| {
        u16::try_from(number).map_err(|_| refused(format!("{number} is no type or schema")))
    };
    let event = Event {
        position: Position(position),
        recorded_at: UnixMicros(recorded_at_micros),
        stream: StreamId(array("a record's stream", &stream)?),
        version: Version(version),
        kind: small(r#type)?,
        schema: small(schema)?,
        sealed,
        payload: Bytes::from(payload),
        request_id: None,
        actor: Arc::from(""),
        trace: [0; 16],
        previous: array("a record's previous", &previous)?,
    };
    if sealed {
        return Err(refused("the payload is encrypted".to_owned()));
    }
    let (name, again) = encode_again(&event).map_err(|error| refused(error.to_string()))?;
    if again == event.payload {
        Ok(event)
    } else {
        Err(refused(format!("the payload is not a {name} in its only spelling")))
    }
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
