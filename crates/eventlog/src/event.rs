//! Entries that are appended, and the requests that they answer.
//!
//! Answers may hold what nobody may see in a log line (seeds, entropy). Their `Debug`
//! shows a length and never a byte.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use eventlog_core::{NewEvent, Position, Version};
use primitives::{RequestId, UnixMicros};

use crate::key::RequestKey;

/// The command that an entry answers, so that its repeat can be told and answered alike.
#[derive(Clone, PartialEq, Eq)]
pub struct Request {
    /// Unique among those of the entry's actor.
    pub id: RequestId,
    /// SHA-256 of the command's content.
    pub digest: [u8; 32],
    /// The bytes of the first answer, given again on a repeat.
    pub answer: Bytes,
}

/// Events that are appended together: all of them, next to each other, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// At least one.
    pub events: Vec<NewEvent>,
    pub request: Option<Request>,
    /// Who caused it. A zero byte, which a database's text cannot hold, becomes U+FFFD.
    pub actor: Arc<str>,
    pub trace: [u8; 16],
}

/// An entry is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The position of the entry's first event; the others follow it.
    pub first: Position,
    pub recorded_at: UnixMicros,
    /// One for each event, in the entry's order.
    pub versions: Vec<Version>,
}

impl Entry {
    /// Key of the request that it answers.
    #[must_use]
    pub fn key(&self) -> Option<RequestKey> {
        self.request.as_ref().map(|request| RequestKey::new(&self.actor, request.id))
    }
}

/// Record of a request that the log has answered.
#[derive(Clone, PartialEq, Eq)]
pub struct Stored {
    pub key: RequestKey,
    /// SHA-256 of the first command's content.
    pub digest: [u8; 32],
    /// The position of the first event that it caused.
    pub first: Position,
    pub answer: Bytes,
}

impl Stored {
    #[must_use]
    pub fn recall(self, digest: [u8; 32]) -> Recall {
        if self.digest == digest {
            Recall::Same { answer: self.answer, first: self.first }
        } else {
            Recall::Different
        }
    }
}

/// Whether a command was here before.
#[derive(Clone, PartialEq, Eq)]
pub enum Recall {
    /// Its id is new.
    Fresh,
    /// It was answered; this is the first answer.
    Same { answer: Bytes, first: Position },
    /// Its id was used for another content.
    Different,
}

/// The committed log in three values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeHead {
    /// The number of events, and so the position of the next.
    pub size: u64,
    /// RFC 6962 root over the leaf records.
    pub root: [u8; 32],
    /// Of the last event; 0 where there is none.
    pub recorded_at: UnixMicros,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("id", &self.id)
            .field("answer_len", &self.answer.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stored")
            .field("key", &self.key)
            .field("first", &self.first.0)
            .field("answer_len", &self.answer.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Recall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Recall::Fresh => f.write_str("Fresh"),
            Recall::Same { answer, first } => f
                .debug_struct("Same")
                .field("answer_len", &answer.len())
                .field("first", &first.0)
                .finish(),
            Recall::Different => f.write_str("Different"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_answer() {
        let secret = Bytes::from_static(b"\x53\x45\x43\x52\x45\x54");
        let request = Request { id: RequestId([2; 16]), digest: [3; 32], answer: secret.clone() };
        let recall = Recall::Same { answer: secret, first: Position(0) };
        let text = format!("{request:?} {recall:?}");
        assert!(!text.contains("SECRET") && !text.contains("83, 69"), "{text}");
        assert!(text.contains("answer_len: 6"), "{text}");
    }
}
