//! Records of a log as services and bundles pass them on.

use eventlog_core::Event;
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
    }
}
