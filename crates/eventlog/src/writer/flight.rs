//! Batches on their way to the store.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::time::Instant;
use tracing::{Instrument as _, Span};

use crate::batch::Stamped;
use crate::key::RequestKey;
use crate::queue::Waiting;
use crate::store::{Appended, Batch, Store, StoreError};

/// What came of one attempt to write a batch.
pub(super) type Attempted = Result<Appended, StoreError>;

/// A batch that was sent once.
pub(super) struct Flight {
    pub(super) waiting: Vec<Waiting>,
    pub(super) stamped: Stamped,
    /// Those of plain entries.
    requests: BTreeSet<RequestKey>,
    pub(super) batch: Arc<Batch>,
    /// Where it is certain that it was not written, it is tried no longer than this.
    pub(super) give_up: Instant,
    /// Ends with the write: nobody is answered within it, so that in a trace the commit never outlasts
    /// the call that waits for it.
    pub(super) span: Span,
    pub(super) sent: Instant,
    attempt: Attempt,
}

enum Attempt {
    Flying(BoxFuture<'static, Attempted>),
    Over(Attempted),
}

impl Flight {
    /// Sends a batch as soon as it is waited for.
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

    /// Where the batch after it stands.
    pub(super) const fn end(&self) -> u64 {
        self.stamped.tree.size()
    }

    /// Whether it is made of plain entries.
    pub(super) fn is_plain(&self) -> bool {
        self.waiting.iter().all(|waiting| waiting.place().is_none())
    }

    /// Whether one of its entries answers a request that this one would answer too: they would wait for
    /// each other in the database. No engine puts a request into two groups.
    pub(super) fn answers(&self, other: &Waiting) -> bool {
        other.requests().any(|key| self.requests.contains(&key))
    }

    /// Who waits for it, what was written, and how long it would have been tried. Its span ends here.
    pub(super) fn landed(self) -> (Vec<Waiting>, Stamped, Instant) {
        (self.waiting, self.stamped, self.give_up)
    }

    pub(super) const fn is_flying(&self) -> bool {
        matches!(self.attempt, Attempt::Flying(_))
    }

    /// What came of its attempt. Nothing is lost where this is not waited for to the end.
    pub(super) async fn attempted(&mut self) -> Attempted {
        let attempted = match &mut self.attempt {
            Attempt::Flying(attempt) => attempt.await,
            Attempt::Over(attempted) => return attempted.clone(),
        };
        self.attempt = Attempt::Over(attempted.clone());
        attempted
    }
}

/// One commit, within the trace of the first who waits for it and linked to all others.
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
