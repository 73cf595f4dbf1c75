//! Batches that were not simply written: sent again until their outcome is known, or sorted out.

use std::collections::BTreeMap;
use std::sync::Arc;

use primitives::RequestId;
use tokio::time::{Instant, sleep};
use tracing::Instrument as _;

use super::flight::{Attempted, Flight};
use super::{FIRST_PAUSE, LONGEST_PAUSE, Writer, patiently};
use crate::error::{AppendError, Source};
use crate::event::Stored;
use crate::queue::Waiting;
use crate::store::{Appended, Batch, StoreError};

/// What became of a batch.
pub(super) enum Written {
    Done,
    Repeated,
    Unavailable(Source),
    Lost,
}

/// Why a batch was not let in.
enum Fenced {
    /// It is in, and so is perhaps the one after it.
    Written,
    /// The fence is as it should be: another attempt gets in.
    Early,
    Lost,
    /// The store does not say.
    Unknown,
}

impl Writer {
    /// What becomes of a batch whose first attempt did not just succeed, and which `next` went ahead of.
    pub(super) async fn attend(
        &self,
        flight: &mut Flight,
        attempted: Attempted,
        next: Option<&mut Flight>,
    ) -> Written {
        let mut ends = vec![flight.end()];
        if let Some(next) = next {
            match next.attempted().await {
                // Which it is after this one alone.
                Ok(Appended::Done) => return Written::Done,
                Err(StoreError::InDoubt(_)) => ends.push(next.end()),
                Ok(_) | Err(_) => {}
            }
        }
        let (batch, span) = (Arc::clone(&flight.batch), flight.span.clone());
        let written = self.write(&batch, (attempted, flight.give_up), &ends).instrument(span).await;
        match written {
            Written::Repeated | Written::Unavailable(_) if ends.len() > 1 => {
                // What takes this one's place could be what the next one takes for it.
                tracing::error!(log = %self.options.name, "the outcome of a batch is unknown and the one before it was not written: the log stops");
                Written::Lost
            }
            Written::Done | Written::Repeated | Written::Unavailable(_) | Written::Lost => written,
        }
    }

    /// Sends one batch, unchanged, until its outcome is known. `ends`: the sizes that the log may have
    /// once it is written.
    async fn write(
        &self,
        sent: &Batch,
        (first, give_up): (Attempted, Instant),
        ends: &[u64],
    ) -> Written {
        let batch = Batch { behind: None, ..sent.clone() };
        let (mut attempted, mut doubt) = (first, false);
        let mut pause = FIRST_PAUSE;
        let mut ahead = sent.behind.is_some();
        loop {
            match attempted {
                Ok(Appended::Done) => return Written::Done,
                Ok(Appended::Repeated) => return Written::Repeated,
                Ok(Appended::Fenced) => match self.why_fenced(&batch, ends, doubt).await {
                    Fenced::Written => return Written::Done,
                    Fenced::Lost => return Written::Lost,
                    Fenced::Early | Fenced::Unknown => {}
                },
                Err(StoreError::Unavailable(source)) => {
                    if !doubt && Instant::now() >= give_up {
                        return Written::Unavailable(source);
                    }
                }
                Err(StoreError::InDoubt(source)) => {
                    tracing::warn!(log = %self.options.name, first = batch.first, %source, "unknown outcome: asking again");
                    doubt = true;
                }
                Err(StoreError::Corrupt(what)) => {
                    tracing::error!(log = %self.options.name, %what, "the store contradicts itself: the log stops");
                    return Written::Lost;
                }
            }
            // What came before its turn has waited long enough.
            if !std::mem::take(&mut ahead) {
                sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            attempted = self.store.append(&batch).await;
        }
    }

    /// What a fence that did not let a batch in says about it.
    async fn why_fenced(&self, batch: &Batch, ends: &[u64], doubt: bool) -> Fenced {
        let Ok(fence) = self.store.fence(&batch.log).await else { return Fenced::Unknown };
        match fence {
            Some(fence) if fence.epoch == batch.epoch => {
                if doubt && ends.contains(&fence.size) {
                    return Fenced::Written;
                }
                if fence.size == batch.first {
                    return Fenced::Early;
                }
                tracing::error!(log = %batch.log, expected = batch.first, found = fence.size, "the log's size moved under its owner: the log stops");
            }
            Some(fence) => {
                tracing::error!(log = %batch.log, epoch = batch.epoch, new_epoch = fence.epoch, new_owner = %fence.owner, "another owner has the log: it stops here");
            }
            None => tracing::error!(log = %batch.log, "the log is gone from its store: it stops"),
        }
        Fenced::Lost
    }

    /// Answers those of a batch whose requests were answered before and returns the others.
    pub(super) async fn answer_repeats(
        &self,
        batch: Vec<Waiting>,
        give_up: Instant,
    ) -> Result<Vec<Waiting>, (Vec<Waiting>, StoreError)> {
        let ids: Vec<RequestId> = batch.iter().flat_map(Waiting::requests).collect();
        let log = &self.options.name;
        let stored = match patiently(give_up, || self.store.requests(log, &ids)).await {
            Ok(stored) if stored.is_empty() => {
                let what = "a request is refused as a repeat, and none is stored";
                return Err((batch, StoreError::Corrupt(what.into())));
            }
            Ok(stored) => stored,
            Err(error) => return Err((batch, error)),
        };
        let mut stored: BTreeMap<RequestId, Stored> =
            stored.into_iter().map(|stored| (stored.id, stored)).collect();
        let mut rest = Vec::new();
        for waiting in batch {
            let repeat = waiting.requests().find_map(|id| stored.remove(&id));
            match repeat {
                Some(stored) => waiting.refuse(AppendError::Duplicate { stored }),
                None => rest.push(waiting),
            }
        }
        Ok(rest)
    }
}
