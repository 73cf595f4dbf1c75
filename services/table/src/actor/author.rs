//! Authors of the entries that a table appends.

use std::sync::Arc;

use eventlog::Request;

use crate::author::Author;

/// Author of entries that the service makes by itself.
pub(crate) const SERVICE_ACTOR: &str = "service:table";

/// Author, trace and request of an entry.
pub(super) struct EntryAuthor {
    pub(super) actor: Arc<str>,
    pub(super) trace: [u8; 16],
    pub(super) request: Option<Request>,
}

impl EntryAuthor {
    /// Author of a command that is recorded with its answer.
    pub(super) fn of_command(author: Author, answer: Vec<u8>) -> EntryAuthor {
        let request = Some(author.answered(answer));
        EntryAuthor { actor: author.actor, trace: author.trace, request }
    }

    pub(super) fn service() -> EntryAuthor {
        EntryAuthor {
            actor: SERVICE_ACTOR.into(),
            trace: chassis::telemetry::trace_id(),
            request: None,
        }
    }

    pub(super) fn clock() -> EntryAuthor {
        EntryAuthor { actor: "clock".into(), ..EntryAuthor::service() }
    }
}
