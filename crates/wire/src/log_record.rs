//! Records of a log as services and bundles pass them on.

use eventlog_core::Event;
use eventlog_core::record::payload_hash;
use proto::audit::v1::LogRecord;

/// Converts an event to a record of its log. Of request, actor and trace it has the hash alone.
#[must_use]
pub fn log_record(event: &Event) -> LogRecord {
    LogRecord {
        position: event.position.0,
        recorded_at_micros: event.recorded_at.0,
        stream: event.stream.0.to_vec(),
        version: event.version.0,
        r#type: event.kind.into(),
        schema: event.schema.into(),
        sealed: event.sealed,
        payload: event.payload.to_vec(),
        salt: event.salt.to_vec(),
        author_hash: event.author_hash.to_vec(),
        previous: event.previous.to_vec(),
        payload_hash: Vec::new(),
        payload_len: 0,
    }
}

/// Converts an event to a record without its payload and salt: it proves that the event stands in
/// the log, and hides what it says.
#[must_use]
pub fn leaf_only(event: &Event) -> LogRecord {
    LogRecord {
        payload: Vec::new(),
        salt: Vec::new(),
        payload_hash: payload_hash(&event.salt, &event.payload).to_vec(),
        payload_len: u32::try_from(event.payload.len()).unwrap_or(u32::MAX),
        ..log_record(event)
    }
}
