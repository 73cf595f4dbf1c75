//! Parts of records that bundles leave out.
//!
//! Specification: fairness/SPEC.md §15.2.

use merkle::record::payload_hash;
use proto::audit::v1::LogRecord;
use proto::event::v1::EventType;
use wire::records::{DealerRecord, Record as _, TableRecord};

use crate::log_event::{is_always_withheld, is_secret_at_dealer, is_secret_at_table};

/// Replaces the payload of a record by its hash where a bundle may not show it: where it concerns
/// one player and the operators alone, and, until the hand's seed is open, where it holds a secret
/// of the hand. A record whose salt has another length than a log's is left as it is.
pub fn withhold(record: &mut LogRecord, is_seed_open: bool) {
    let kind = u16::try_from(record.r#type).unwrap_or_default();
    let hidden = record.sealed || is_always_withheld(kind);
    if !hidden && (is_seed_open || !holds_secret(record)) {
        return;
    }
    let Ok(salt) = record.salt[..].try_into() else { return };
    record.payload_hash = payload_hash(&salt, &record.payload).to_vec();
    record.payload_len = u32::try_from(record.payload.len()).unwrap_or(u32::MAX);
    record.payload.clear();
    record.salt.clear();
}

/// Whether a record holds a secret of a hand whose seed is not open. One that cannot be decoded may
/// hold any.
fn holds_secret(record: &LogRecord) -> bool {
    let Ok(kind) = i32::try_from(record.r#type) else { return true };
    let Ok(event_type) = EventType::try_from(kind) else { return true };
    if let Some(decoded) = TableRecord::decode(event_type, &record.payload) {
        return decoded.map_or(true, |recorded| is_secret_at_table(&recorded));
    }
    if let Some(decoded) = DealerRecord::decode(event_type, &record.payload) {
        return decoded.map_or(true, |recorded| is_secret_at_dealer(&recorded));
    }
    false
}
