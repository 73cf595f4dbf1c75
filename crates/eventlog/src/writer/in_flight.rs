//! Batches in flight to the store.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::time::Instant;
use tracing::{Instrument as _, Span};

use crate::batch::StampedBatch;
use crate::key::RequestKey;
use crate::queue::QueuedAppend;
use crate::store::{AppendOutcome, Batch, Store, StoreError};

/// Result of one attempt to write a batch.
pub(super) type AttemptResult = Result<AppendOutcome, StoreError>;

/// Batch that was sent once.
pub(super) struct InFlight {
    pub(super) waiting: Vec<QueuedAppend>,
    pub(super) stamped: StampedBatch,
    /// Request keys of its plain entries.
    requests: BTreeSet<RequestKey>,
    pub(super) batch: Arc<Batch>,
    /// Time until which it is retried while it is certain that it was not written.
    pub(super) retry_deadline: Instant,
    /// Span that ends with the write. Callers are answered after it, so that in a trace the commit
    /// never outlasts the call that waits for it.
    pub(super) span: Span,
    pub(super) sent_at: Instant,
    attempt: Attempt,
}

enum Attempt {
    Pending(BoxFuture<'static, AttemptResult>),
    Finished(AttemptResult),
}

impl InFlight {
    /// Prepares a batch. It is sent when it is first polled.
    pub(super) fn new(
        waiting: Vec<QueuedAppend>,
        stamped: StampedBatch,
        batch: Batch,
        give_up: Instant,
        store: Arc<dyn Store>,
    ) -> InFlight {
        let (span, batch) = (commit_span(&batch.log, &waiting), Arc::new(batch));
        let sent = Arc::clone(&batch);
        let attempt = async move { store.append(&sent).await }.instrument(span.clone());
        let attempt = Attempt::Pending(Box::pin(attempt));
        let plain = waiting.iter().filter(|waiting| waiting.group_start().is_none());
        let requests = plain.flat_map(QueuedAppend::requests).collect();
        let sent = Instant::now();
        InFlight {
            waiting,
            stamped,
            requests,
            batch,
            retry_deadline: give_up,
            span,
            sent_at: sent,
            attempt,
        }
    }

    /// Position after the batch.
    pub(super) const fn end(&self) -> u64 {
        self.stamped.tree.size()
    }

    /// Whether the batch consists of plain entries.
    pub(super) fn is_plain(&self) -> bool {
        self.waiting.iter().all(|waiting| waiting.group_start().is_none())
    }

    /// Whether the batch and `other` have a request key in common. Their statements would then wait
    /// for each other in the database. An engine never puts one request into two groups.
    pub(super) fn shares_request_with(&self, other: &QueuedAppend) -> bool {
        other.requests().any(|key| self.requests.contains(&key))
    }

    /// Waiting callers, stamped batch and retry limit. The span ends here.
    pub(super) fn into_parts(self) -> (Vec<QueuedAppend>, StampedBatch, Instant) {
        (self.waiting, self.stamped, self.retry_deadline)
    }

    pub(super) const fn is_pending(&self) -> bool {
        matches!(self.attempt, Attempt::Pending(_))
    }

    /// Waits for the result of the attempt. Cancel safe.
    pub(super) async fn result(&mut self) -> AttemptResult {
        let attempted = match &mut self.attempt {
            Attempt::Pending(attempt) => attempt.await,
            Attempt::Finished(attempted) => return attempted.clone(),
        };
        self.attempt = Attempt::Finished(attempted.clone());
        attempted
    }
}

/// Span of one commit, in the trace of its first caller and linked to all others.
fn commit_span(log: &str, batch: &[QueuedAppend]) -> Span {
    let first = batch.first().and_then(|first| first.span.id());
    let events: usize = batch.iter().map(|waiting| waiting.events).sum();
    let entries: usize = batch.iter().map(|waiting| waiting.entries().len()).sum();
    let span = tracing::debug_span!(parent: first, "log.commit", log, entries, events);
    for other in batch.iter().skip(1) {
        span.follows_from(&other.span);
    }
    span
}
