//! Batches in flight to the store.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::time::Instant;
use tracing::{Instrument as _, Span};

use crate::batch::Stamped;
use crate::key::RequestKey;
use crate::queue::Waiting;
use crate::store::{Appended, Batch, Store, StoreError};

/// Result of one attempt to write a batch.
pub(super) type Attempted = Result<Appended, StoreError>;

/// Batch that was sent once.
pub(super) struct Flight {
    pub(super) waiting: Vec<Waiting>,
    pub(super) stamped: Stamped,
    /// Request keys of its plain entries.
    requests: BTreeSet<RequestKey>,
    pub(super) batch: Arc<Batch>,
    /// Time until which it is retried while it is certain that it was not written.
    pub(super) give_up: Instant,
    /// Span that ends with the write. Callers are answered after it, so that in a trace the commit
    /// never outlasts the call that waits for it.
    pub(super) span: Span,
    pub(super) sent: Instant,
    attempt: Attempt,
}

enum Attempt {
    Flying(BoxFuture<'static, Attempted>),
    Over(Attempted),
}

impl Flight {
    /// Prepares a batch. It is sent when it is first polled.
    pub(super) fn new(
        (waiting, stamped): (Vec<Waiting>, Stamped),
        batch: Batch,
        give_up: Instant,
        store: Arc<dyn Store>,
    ) -> Flight {
        let (span, batch) = (commit_span(&batch.log, &waiting), Arc::new(batch));
        let sent = Arc::clone(&batch);
        let attempt = async move { store.append(&sent).await }.instrument(span.clone());
        let attempt = Attempt::Flying(Box::pin(attempt));
        let plain = waiting.iter().filter(|waiting| waiting.place().is_none());
        let requests = plain.flat_map(Waiting::requests).collect();
        let sent = Instant::now();
        Flight { waiting, stamped, requests, batch, give_up, span, sent, attempt }
    }

    /// Position after the batch.
    pub(super) const fn end(&self) -> u64 {
        self.stamped.tree.size()
    }

    /// Whether the batch consists of plain entries.
    pub(super) fn is_plain(&self) -> bool {
        self.waiting.iter().all(|waiting| waiting.place().is_none())
    }

    /// Whether the batch and `other` have a request key in common. Their statements would then wait
    /// for each other in the database. An engine never puts one request into two groups.
    pub(super) fn answers(&self, other: &Waiting) -> bool {
        other.requests().any(|key| self.requests.contains(&key))
    }

    /// Waiting callers, stamped batch and retry limit. The span ends here.
    pub(super) fn landed(self) -> (Vec<Waiting>, Stamped, Instant) {
        (self.waiting, self.stamped, self.give_up)
    }

    pub(super) const fn is_flying(&self) -> bool {
        matches!(self.attempt, Attempt::Flying(_))
    }

    /// Waits for the result of the attempt. Cancel safe.
    pub(super) async fn attempted(&mut self) -> Attempted {
        let attempted = match &mut self.attempt {
            Attempt::Flying(attempt) => attempt.await,
            Attempt::Over(attempted) => return attempted.clone(),
        };
        self.attempt = Attempt::Over(attempted.clone());
        attempted
    }
}

/// Span of one commit, in the trace of its first caller and linked to all others.
fn commit_span(log: &str, batch: &[Waiting]) -> Span {
    let first = batch.first().and_then(|first| first.span.id());
    let events: usize = batch.iter().map(|waiting| waiting.events).sum();
    let entries: usize = batch.iter().map(|waiting| waiting.entries().len()).sum();
    let span = tracing::debug_span!(parent: first, "log.commit", log, entries, events);
    for other in batch.iter().skip(1) {
        span.follows_from(&other.span);
    }
    span
}
