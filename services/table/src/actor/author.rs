//! Authors of the entries that a table appends.

use std::sync::Arc;

use eventlog::Request;

/// Author, trace and request of an entry.
pub(super) struct Author {
    pub(super) actor: Arc<str>,
    pub(super) trace: [u8; 16],
    pub(super) request: Option<Request>,
}

impl Author {
    pub(super) fn service() -> Author {
        Author {
            actor: "service:table".into(),
            trace: chassis::telemetry::trace_id(),
            request: None,
        }
    }

    pub(super) fn clock() -> Author {
        Author { actor: "clock".into(), ..Author::service() }
    }
}
