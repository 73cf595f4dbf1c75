//! The callers who wait for the writer, and how many of them share a commit.

use std::collections::BTreeSet;

use primitives::RequestId;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Instant;
use tracing::Span;

use crate::error::AppendError;
use crate::event::{Entry, Receipt};
use crate::log::Limits;

pub(crate) enum Command {
    Append(Box<Waiting>),
    /// Give the log up; everything that came before is written first.
    Close,
}

/// A caller who waits for an entry.
pub(crate) struct Waiting {
    pub(crate) entry: Entry,
    pub(crate) bytes: usize,
    pub(crate) since: Instant,
    /// The caller's.
    pub(crate) span: Span,
    pub(crate) answer: oneshot::Sender<Result<Receipt, AppendError>>,
    /// Its share of the queue's bytes.
    pub(crate) _room: OwnedSemaphorePermit,
}

impl Waiting {
    pub(crate) fn request(&self) -> Option<RequestId> {
        self.entry.request.as_ref().map(|request| request.id)
    }

    /// Whoever has gone away needs no answer.
    pub(crate) fn tell(self, result: Result<Receipt, AppendError>) {
        let _ = self.answer.send(result);
    }
}

/// A batch while it is filled.
pub(crate) struct Gathering {
    pub(crate) waiting: Vec<Waiting>,
    events: usize,
    bytes: usize,
    requests: BTreeSet<RequestId>,
}

impl Gathering {
    pub(crate) fn new(first: Waiting) -> Gathering {
        Gathering {
            events: first.entry.events.len(),
            bytes: first.bytes,
            requests: first.request().into_iter().collect(),
            waiting: vec![first],
        }
    }

    /// Gives back what is over the limits, and a request that is in the batch already: in the next
    /// batch it is a repeat like any other.
    pub(crate) fn add(&mut self, waiting: Waiting, limits: &Limits) -> Option<Waiting> {
        let events = self.events + waiting.entry.events.len();
        let bytes = self.bytes + waiting.bytes;
        let over = events > limits.batch_events || bytes > limits.batch_bytes;
        if over || waiting.request().is_some_and(|id| !self.requests.insert(id)) {
            return Some(waiting);
        }
        (self.events, self.bytes) = (events, bytes);
        self.waiting.push(waiting);
        None
    }
}
