//! Queue of callers that wait for the writer, and the assembly of their entries into commits.

use std::collections::BTreeSet;
use std::slice;
use std::sync::Arc;

use eventlog_core::Position;
use primitives::{StreamId, UnixMicros};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Instant;
use tracing::Span;

use crate::error::AppendError;
use crate::event::{Entry, Receipt};
use crate::group::{Group, Rows};
use crate::key::RequestKey;
use crate::log::Limits;

pub(crate) enum Command {
    Append(Box<Waiting>),
    /// Releases the log after writing everything queued before.
    Close,
}

/// Queued entry or group, with its caller's reply channel.
pub(crate) struct Waiting {
    pub(crate) wish: Wish,
    pub(crate) events: usize,
    pub(crate) bytes: usize,
    pub(crate) since: Instant,
    /// Span of the caller.
    pub(crate) span: Span,
    /// Share of the queue's bytes.
    pub(crate) _room: OwnedSemaphorePermit,
}

pub(crate) enum Wish {
    Entry(Entry, oneshot::Sender<Result<Receipt, AppendError>>),
    Group(Group, oneshot::Sender<Result<Vec<Receipt>, AppendError>>),
}

impl Waiting {
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.wish {
            Wish::Entry(entry, _) => slice::from_ref(entry),
            Wish::Group(group, _) => &group.entries,
        }
    }

    pub(crate) fn requests(&self) -> impl Iterator<Item = RequestKey> {
        self.entries().iter().filter_map(Entry::key)
    }

    /// Streams of all its events.
    pub(crate) fn streams(&self) -> impl Iterator<Item = StreamId> {
        self.entries().iter().flat_map(|entry| &entry.events).map(|event| event.stream)
    }

    /// Required position and time of a group; `None` for an entry, which may get any position, at
    /// the current time.
    pub(crate) const fn place(&self) -> Option<(Position, UnixMicros)> {
        match &self.wish {
            Wish::Entry(..) => None,
            Wish::Group(group, _) => Some((group.first, group.at)),
        }
    }

    /// Whether it may be sent while the previous batch is being written.
    pub(crate) fn goes_ahead(&self) -> bool {
        match &self.wish {
            Wish::Entry(..) => false,
            Wish::Group(group, _) => group.rows.as_ref().is_none_or(|rows| rows.ahead().is_some()),
        }
    }

    /// Rows of a group for the store's projection.
    pub(crate) fn rows(&self) -> Option<Arc<dyn Rows>> {
        match &self.wish {
            Wish::Entry(..) => None,
            Wish::Group(group, _) => group.rows.clone(),
        }
    }

    /// Answers the caller with its receipts, one for each of its entries. A caller that has gone
    /// needs none.
    pub(crate) fn confirm(self, receipts: &mut impl Iterator<Item = Receipt>) {
        match self.wish {
            Wish::Entry(_, answer) => {
                if let Some(receipt) = receipts.next() {
                    let _ = answer.send(Ok(receipt));
                }
            }
            Wish::Group(group, answer) => {
                let _ = answer.send(Ok(receipts.take(group.entries.len()).collect()));
            }
        }
    }

    pub(crate) fn refuse(self, error: AppendError) {
        match self.wish {
            Wish::Entry(_, answer) => drop(answer.send(Err(error))),
            Wish::Group(_, answer) => drop(answer.send(Err(error))),
        }
    }
}

/// Batch being filled: one group, or entries of many callers.
pub(crate) struct Gathering {
    pub(crate) waiting: Vec<Waiting>,
    events: usize,
    bytes: usize,
    requests: BTreeSet<RequestKey>,
}

impl Gathering {
    pub(crate) fn new(first: Waiting) -> Gathering {
        Gathering {
            events: first.events,
            bytes: first.bytes,
            requests: first.requests().collect(),
            waiting: vec![first],
        }
    }

    /// Whether the batch is a group, which shares a commit with nothing else.
    pub(crate) fn is_a_group(&self) -> bool {
        self.waiting.iter().any(|waiting| waiting.place().is_some())
    }

    /// Adds an entry. Returns it if it exceeds the limits, is a group, or has a request key that is
    /// already in the batch: in the next batch that is an ordinary repeat.
    pub(crate) fn add(&mut self, waiting: Waiting, limits: &Limits) -> Option<Waiting> {
        let events = self.events + waiting.events;
        let bytes = self.bytes + waiting.bytes;
        let over = events > limits.batch_events || bytes > limits.batch_bytes;
        let group = waiting.place().is_some() || self.is_a_group();
        if over || group || waiting.requests().any(|key| self.requests.contains(&key)) {
            return Some(waiting);
        }
        self.requests.extend(waiting.requests());
        (self.events, self.bytes) = (events, bytes);
        self.waiting.push(waiting);
        None
    }
}
