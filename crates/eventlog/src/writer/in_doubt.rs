//! Resolution of batches that were not simply written: they are sent again until their outcome is
//! known, or sorted by the kind of failure.
//!
//! **A doubt ends with another commit.** A moved size says that the batch is in this store. It does
//! not say that the commit was waited for: if the connection broke during synchronous replication,
//! no replica may have the batch, and the next primary will not have it either. So a write of the
//! owner's, which comes after the batch, is waited for before any caller is answered.
//!
//! **A slow commit** is followed by such a write too. An operator who cancels the wait for a
//! replica (`pg_cancel_backend`) makes the server acknowledge a commit that no replica has, and
//! only a notice says so.
//!
//! **A doubt that cannot end.** If the batch may still be on its way and the store refuses it for
//! good when it is sent again, the log stops: a new epoch keeps the old statement out, and the
//! stored events can be read.
//!
//! Specification: ARCHITECTURE.md §2.6.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tracing::Instrument as _;

use super::in_flight::{AttemptResult, InFlight};
use super::{FIRST_PAUSE, MAX_PAUSE, Writer, retry_while_unavailable};
use crate::error::AppendError;
use crate::event::AnsweredRequest;
use crate::key::RequestKey;
use crate::queue::QueuedAppend;
use crate::store::{AppendOutcome, Batch, StoreError};

/// Outcome of a batch.
pub(super) enum BatchOutcome {
    Written,
    Duplicate,
    /// The batch was certainly not written.
    NotWritten(StoreError),
    Lost,
}

/// Reason why the store did not admit a batch.
enum FenceMismatch {
    /// The batch is written already, perhaps with the one after it.
    AlreadyWritten,
    /// The batch fits: another attempt will be admitted.
    NowMatches,
    Lost,
    /// The store does not answer.
    Unknown,
}

/// Duration from which a commit may have been set not to wait for its replica.
const SLOW_COMMIT: Duration = Duration::from_secs(1);

impl Writer {
    /// Confirms a batch that the store has taken. `sent` is the time at which it was sent.
    pub(super) async fn confirm_written(&mut self, batch: &Batch, sent: Instant) -> BatchOutcome {
        if sent.elapsed() < SLOW_COMMIT {
            BatchOutcome::Written
        } else {
            self.confirm_by_renewal(batch).await
        }
    }

    /// Resolves a batch whose first attempt did not simply succeed. `next` is the batch that was
    /// sent ahead behind it.
    pub(super) async fn resolve_in_doubt(
        &mut self,
        flight: &mut InFlight,
        attempted: AttemptResult,
        next: Option<&mut InFlight>,
    ) -> BatchOutcome {
        let mut ends = vec![flight.end()];
        if let Some(next) = next {
            match next.result().await {
                // Which it can only be after this one.
                Ok(AppendOutcome::Written) => return BatchOutcome::Written,
                Err(StoreError::InDoubt(_)) => ends.push(next.end()),
                Ok(_) | Err(_) => {}
            }
        }
        let (batch, span) = (Arc::clone(&flight.batch), flight.span.clone());
        let written = self
            .write_until_known(&batch, attempted, flight.retry_deadline, &ends)
            .instrument(span)
            .await;
        match written {
            BatchOutcome::Duplicate | BatchOutcome::NotWritten(_) if ends.len() > 1 => {
                // The position of this batch could be taken by another one that the next batch
                // mistakes for it.
                tracing::error!(log = %self.options.name, "the outcome of a batch is unknown and the one before it was not written: the log stops");
                BatchOutcome::Lost
            }
            BatchOutcome::Written
            | BatchOutcome::Duplicate
            | BatchOutcome::NotWritten(_)
            | BatchOutcome::Lost => written,
        }
    }

    /// Sends a batch, unchanged, until its outcome is known. `ends` are the sizes that the log may
    /// have once the batch is written.
    async fn write_until_known(
        &mut self,
        sent: &Batch,
        first: AttemptResult,
        give_up: Instant,
        ends: &[u64],
    ) -> BatchOutcome {
        let batch = Batch { pipelined_after: None, ..sent.clone() };
        let (mut attempted, mut doubt, mut sent_at) = (first, false, Instant::now());
        let mut pause = FIRST_PAUSE;
        let mut ahead = sent.pipelined_after.is_some();
        loop {
            match attempted {
                Ok(AppendOutcome::Written) => return self.confirm_written(&batch, sent_at).await,
                Ok(AppendOutcome::Duplicate) => return BatchOutcome::Duplicate,
                Ok(AppendOutcome::Fenced) => match self.fence_mismatch(&batch, ends, doubt).await {
                    FenceMismatch::AlreadyWritten => return self.confirm_by_renewal(&batch).await,
                    FenceMismatch::Lost => return BatchOutcome::Lost,
                    FenceMismatch::NowMatches | FenceMismatch::Unknown => {}
                },
                Err(error @ StoreError::Unavailable(_)) => {
                    if !doubt && Instant::now() >= give_up {
                        return BatchOutcome::NotWritten(error);
                    }
                }
                Err(StoreError::Clock(off)) => {
                    self.clock_alarm.report_off(&self.options.name, off);
                    if !doubt {
                        return BatchOutcome::NotWritten(StoreError::Clock(off));
                    }
                }
                Err(error @ StoreError::Refused(_)) if !doubt => {
                    return BatchOutcome::NotWritten(error);
                }
                Err(error @ StoreError::Refused(_)) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(log = %self.options.name, error, "a batch of unknown outcome is refused when it is sent again: the log stops, to be read anew");
                    return BatchOutcome::Lost;
                }
                Err(StoreError::InDoubt(source)) => {
                    tracing::warn!(runbook = "deploy/README.md, The database is away", log = %self.options.name, first = batch.first, %source, "unknown outcome: asking again");
                    doubt = true;
                }
                Err(StoreError::Corrupt(what)) => {
                    tracing::error!(log = %self.options.name, %what, "the store contradicts itself: the log stops");
                    return BatchOutcome::Lost;
                }
            }
            // A batch sent ahead has waited long enough.
            if !std::mem::take(&mut ahead) {
                sleep(pause).await;
                pause = (pause * 2).min(MAX_PAUSE);
            }
            let again = Batch { clock: self.options.reading(), ..batch.clone() };
            sent_at = Instant::now();
            attempted = self.store.append(&again).await;
        }
    }

    /// Waits for a commit of the owner's behind a batch that is written, so that the batch is as
    /// durable as that.
    async fn confirm_by_renewal(&mut self, batch: &Batch) -> BatchOutcome {
        let mut pause = FIRST_PAUSE;
        loop {
            let sent_at = Instant::now();
            match self.store.renew(&self.renewal(self.options.lease)).await {
                Ok(true) => {
                    self.health.send_modify(|health| health.renewed = sent_at);
                    return BatchOutcome::Written;
                }
                Ok(false) => {
                    tracing::error!(log = %batch.log, epoch = batch.epoch, "another owner has the log: it stops here");
                    return BatchOutcome::Lost;
                }
                Err(StoreError::Corrupt(what)) => {
                    tracing::error!(log = %batch.log, %what, "the store contradicts itself: the log stops");
                    return BatchOutcome::Lost;
                }
                Err(StoreError::Clock(off)) => self.clock_alarm.report_off(&self.options.name, off),
                Err(error @ StoreError::Refused(_)) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(log = %batch.log, error, "a batch is in, and no write behind it is taken: the log stops, to be read anew");
                    return BatchOutcome::Lost;
                }
                Err(error @ (StoreError::Unavailable(_) | StoreError::InDoubt(_))) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(runbook = "deploy/README.md, The database is away", log = %batch.log, error, "a batch is in, and not known to be durable yet: asking again");
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// Finds out why the store did not admit a batch.
    async fn fence_mismatch(&mut self, batch: &Batch, ends: &[u64], doubt: bool) -> FenceMismatch {
        let Ok(fence) = self.store.fence(&batch.log).await else { return FenceMismatch::Unknown };
        match fence {
            Some(fence) if fence.epoch == batch.epoch => {
                if doubt && ends.contains(&fence.size) {
                    return FenceMismatch::AlreadyWritten;
                }
                if fence.size == batch.first {
                    return FenceMismatch::NowMatches;
                }
                tracing::error!(log = %batch.log, expected = batch.first, found = fence.size, "the log's size moved under its owner: the log stops");
            }
            Some(fence) => {
                tracing::error!(log = %batch.log, epoch = batch.epoch, new_epoch = fence.epoch, new_owner = %fence.owner, "another owner has the log: it stops here");
            }
            None => tracing::error!(log = %batch.log, "the log is gone from its store: it stops"),
        }
        FenceMismatch::Lost
    }

    /// Refuses the entries whose requests were answered before, and returns the others. The stored
    /// answers are cached, so the next repeat is refused earlier.
    pub(super) async fn answer_repeats(
        &mut self,
        batch: Vec<QueuedAppend>,
        give_up: Instant,
    ) -> Result<Vec<QueuedAppend>, (Vec<QueuedAppend>, StoreError)> {
        let keys: Vec<RequestKey> = batch.iter().flat_map(QueuedAppend::requests).collect();
        let log = &self.options.name;
        let stored =
            match retry_while_unavailable(give_up, || self.store.requests(log, &keys)).await {
                Ok(stored) if stored.is_empty() => {
                    let what = "a request is refused as a repeat, and none is stored";
                    return Err((batch, StoreError::Corrupt(what.into())));
                }
                Ok(stored) => stored,
                Err(error) => return Err((batch, error)),
            };
        {
            let now = (self.options.clock)();
            let mut answered = self.answer_cache.write().unwrap_or_else(PoisonError::into_inner);
            stored.iter().for_each(|stored| answered.put(stored, now));
        }
        let mut stored: BTreeMap<RequestKey, AnsweredRequest> =
            stored.into_iter().map(|stored| (stored.key, stored)).collect();
        let mut rest = Vec::new();
        for waiting in batch {
            let repeat = waiting.requests().find_map(|key| stored.remove(&key));
            match repeat {
                Some(stored) => waiting.refuse(AppendError::Duplicate { stored }),
                None => rest.push(waiting),
            }
        }
        Ok(rest)
    }
}
