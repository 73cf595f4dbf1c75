//! Queue of callers that wait for the writer, and the assembly of their entries into commits.
//!
//! Specification: ARCHITECTURE.md §2.5, §7.6.

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
use crate::group::{Group, ProjectionRows};
use crate::key::RequestKey;
use crate::log::Limits;

pub(crate) enum Command {
    Append(Box<QueuedAppend>),
    /// Releases the log after writing everything queued before.
    Close,
}

/// Queued entry or group, with its caller's reply channel.
pub(crate) struct QueuedAppend {
    pub(crate) command: AppendCommand,
    pub(crate) events: usize,
    pub(crate) bytes: usize,
    pub(crate) since: Instant,
    /// Span of the caller.
    pub(crate) span: Span,
    /// Share of the queue's bytes.
    pub(crate) _queue_permit: OwnedSemaphorePermit,
}

pub(crate) enum AppendCommand {
    Entry(Entry, oneshot::Sender<Result<Receipt, AppendError>>),
    Group(Group, oneshot::Sender<Result<Vec<Receipt>, AppendError>>),
}

impl QueuedAppend {
    pub(crate) fn entries(&self) -> &[Entry] {
        match &self.command {
            AppendCommand::Entry(entry, _) => slice::from_ref(entry),
            AppendCommand::Group(group, _) => &group.entries,
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
    pub(crate) const fn group_start(&self) -> Option<(Position, UnixMicros)> {
        match &self.command {
            AppendCommand::Entry(..) => None,
            AppendCommand::Group(group, _) => Some((group.first, group.at)),
        }
    }

    /// Whether it may be sent while the previous batch is being written.
    pub(crate) fn can_pipeline(&self) -> bool {
        match &self.command {
            AppendCommand::Entry(..) => false,
            AppendCommand::Group(group, _) => {
                group.rows.as_ref().is_none_or(|rows| rows.pipelined().is_some())
            }
        }
    }

    /// Rows of a group for the store's projection.
    pub(crate) fn rows(&self) -> Option<Arc<dyn ProjectionRows>> {
        match &self.command {
            AppendCommand::Entry(..) => None,
            AppendCommand::Group(group, _) => group.rows.clone(),
        }
    }

    /// Answers the caller with its receipts, one for each of its entries. A caller that has gone
    /// needs none.
    pub(crate) fn acknowledge(self, receipts: &mut impl Iterator<Item = Receipt>) {
        match self.command {
            AppendCommand::Entry(_, answer) => {
                if let Some(receipt) = receipts.next() {
                    let _ = answer.send(Ok(receipt));
                }
            }
            AppendCommand::Group(group, answer) => {
                let _ = answer.send(Ok(receipts.take(group.entries.len()).collect()));
            }
        }
    }

    pub(crate) fn refuse(self, error: AppendError) {
        match self.command {
            AppendCommand::Entry(_, answer) => drop(answer.send(Err(error))),
            AppendCommand::Group(_, answer) => drop(answer.send(Err(error))),
        }
    }
}

/// Batch being filled: one group, or entries of many callers.
pub(crate) struct BatchBuilder {
    pub(crate) waiting: Vec<QueuedAppend>,
    events: usize,
    bytes: usize,
    requests: BTreeSet<RequestKey>,
}

impl BatchBuilder {
    pub(crate) fn new(first: QueuedAppend) -> BatchBuilder {
        BatchBuilder {
            events: first.events,
            bytes: first.bytes,
            requests: first.requests().collect(),
            waiting: vec![first],
        }
    }

    /// Whether the batch is a group, which shares a commit with nothing else.
    pub(crate) fn is_group(&self) -> bool {
        self.waiting.iter().any(|waiting| waiting.group_start().is_some())
    }

    /// Adds an entry. Returns it if it exceeds the limits, is a group, or has a request key that is
    /// already in the batch: in the next batch that is an ordinary repeat.
    pub(crate) fn add(&mut self, waiting: QueuedAppend, limits: &Limits) -> Option<QueuedAppend> {
        let events = self.events + waiting.events;
        let bytes = self.bytes + waiting.bytes;
        let over = events > limits.batch_events || bytes > limits.batch_bytes;
        let group = waiting.group_start().is_some() || self.is_group();
        if over || group || waiting.requests().any(|key| self.requests.contains(&key)) {
            return Some(waiting);
        }
        self.requests.extend(waiting.requests());
        (self.events, self.bytes) = (events, bytes);
        self.waiting.push(waiting);
        None
    }
}
