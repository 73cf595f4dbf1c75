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

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tracing::Instrument as _;

use super::flight::{Attempted, Flight};
use super::{FIRST_PAUSE, LONGEST_PAUSE, Writer, patiently};
use crate::error::AppendError;
use crate::event::Stored;
use crate::key::RequestKey;
use crate::queue::Waiting;
use crate::store::{Appended, Batch, StoreError};

/// Outcome of a batch.
pub(super) enum Written {
    Done,
    Repeated,
    /// The batch was certainly not written.
    Not(StoreError),
    Lost,
}

/// Reason why the fence did not admit a batch.
enum Fenced {
    /// The batch is written already, perhaps with the one after it.
    Written,
    /// The fence matches the batch: another attempt will be admitted.
    Early,
    Lost,
    /// The store does not answer.
    Unknown,
}

/// Duration from which a commit may have been told not to wait for its replica.
const LONG: Duration = Duration::from_secs(1);

impl Writer {
    /// Confirms a batch that the store has taken. `sent` is the time at which it was sent.
    pub(super) async fn surely_written(&self, batch: &Batch, sent: Instant) -> Written {
        if sent.elapsed() < LONG { Written::Done } else { self.write_behind(batch).await }
    }

    /// Resolves a batch whose first attempt did not simply succeed. `next` is the batch that was
    /// sent ahead behind it.
    pub(super) async fn attend(
        &self,
        flight: &mut Flight,
        attempted: Attempted,
        next: Option<&mut Flight>,
    ) -> Written {
        let mut ends = vec![flight.end()];
        if let Some(next) = next {
            match next.attempted().await {
                // Which it can only be after this one.
                Ok(Appended::Done) => return Written::Done,
                Err(StoreError::InDoubt(_)) => ends.push(next.end()),
                Ok(_) | Err(_) => {}
            }
        }
        let (batch, span) = (Arc::clone(&flight.batch), flight.span.clone());
        let written = self.write(&batch, (attempted, flight.give_up), &ends).instrument(span).await;
        match written {
            Written::Repeated | Written::Not(_) if ends.len() > 1 => {
                // The position of this batch could be taken by another one that the next batch
                // mistakes for it.
                tracing::error!(log = %self.options.name, "the outcome of a batch is unknown and the one before it was not written: the log stops");
                Written::Lost
            }
            Written::Done | Written::Repeated | Written::Not(_) | Written::Lost => written,
        }
    }

    /// Sends a batch, unchanged, until its outcome is known. `ends` are the sizes that the log may
    /// have once the batch is written.
    async fn write(
        &self,
        sent: &Batch,
        (first, give_up): (Attempted, Instant),
        ends: &[u64],
    ) -> Written {
        let batch = Batch { behind: None, ..sent.clone() };
        let (mut attempted, mut doubt, mut sent_at) = (first, false, Instant::now());
        let mut pause = FIRST_PAUSE;
        let mut ahead = sent.behind.is_some();
        loop {
            match attempted {
                Ok(Appended::Done) => return self.surely_written(&batch, sent_at).await,
                Ok(Appended::Repeated) => return Written::Repeated,
                Ok(Appended::Fenced) => match self.why_fenced(&batch, ends, doubt).await {
                    Fenced::Written => return self.write_behind(&batch).await,
                    Fenced::Lost => return Written::Lost,
                    Fenced::Early | Fenced::Unknown => {}
                },
                Err(error @ StoreError::Unavailable(_)) => {
                    if !doubt && Instant::now() >= give_up {
                        return Written::Not(error);
                    }
                }
                Err(StoreError::Clock(off)) => {
                    self.clock.is_off(&self.options.name, off);
                    if !doubt {
                        return Written::Not(StoreError::Clock(off));
                    }
                }
                Err(error @ StoreError::Refused(_)) if !doubt => return Written::Not(error),
                Err(error @ StoreError::Refused(_)) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(log = %self.options.name, error, "a batch of unknown outcome is refused when it is sent again: the log stops, to be read anew");
                    return Written::Lost;
                }
                Err(StoreError::InDoubt(source)) => {
                    tracing::warn!(runbook = "deploy/README.md, The database is away", log = %self.options.name, first = batch.first, %source, "unknown outcome: asking again");
                    doubt = true;
                }
                Err(StoreError::Corrupt(what)) => {
                    tracing::error!(log = %self.options.name, %what, "the store contradicts itself: the log stops");
                    return Written::Lost;
                }
            }
            // A batch sent ahead has waited long enough.
            if !std::mem::take(&mut ahead) {
                sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            let again = Batch { clock: self.options.reading(), ..batch.clone() };
            sent_at = Instant::now();
            attempted = self.store.append(&again).await;
        }
    }

    /// Waits for a commit of the owner's behind a batch that is written, so that the batch is as
    /// durable as that.
    async fn write_behind(&self, batch: &Batch) -> Written {
        let mut pause = FIRST_PAUSE;
        loop {
            match self.store.renew(&self.renewal(self.options.lease)).await {
                Ok(true) => return Written::Done,
                Ok(false) => {
                    tracing::error!(log = %batch.log, epoch = batch.epoch, "another owner has the log: it stops here");
                    return Written::Lost;
                }
                Err(StoreError::Corrupt(what)) => {
                    tracing::error!(log = %batch.log, %what, "the store contradicts itself: the log stops");
                    return Written::Lost;
                }
                Err(StoreError::Clock(off)) => self.clock.is_off(&self.options.name, off),
                Err(error @ StoreError::Refused(_)) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(log = %batch.log, error, "a batch is in, and no write behind it is taken: the log stops, to be read anew");
                    return Written::Lost;
                }
                Err(error @ (StoreError::Unavailable(_) | StoreError::InDoubt(_))) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::warn!(runbook = "deploy/README.md, The database is away", log = %batch.log, error, "a batch is in, and not known to be durable yet: asking again");
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Finds out why the fence did not admit a batch.
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

    /// Refuses the entries whose requests were answered before, and returns the others. The stored
    /// answers are cached, so the next repeat is refused earlier.
    pub(super) async fn answer_repeats(
        &self,
        batch: Vec<Waiting>,
        give_up: Instant,
    ) -> Result<Vec<Waiting>, (Vec<Waiting>, StoreError)> {
        let keys: Vec<RequestKey> = batch.iter().flat_map(Waiting::requests).collect();
        let log = &self.options.name;
        let stored = match patiently(give_up, || self.store.requests(log, &keys)).await {
            Ok(stored) if stored.is_empty() => {
                let what = "a request is refused as a repeat, and none is stored";
                return Err((batch, StoreError::Corrupt(what.into())));
            }
            Ok(stored) => stored,
            Err(error) => return Err((batch, error)),
        };
        {
            let now = (self.options.clock)();
            let mut answered = self.answered.write().unwrap_or_else(PoisonError::into_inner);
            stored.iter().for_each(|stored| answered.put(stored, now));
        }
        let mut stored: BTreeMap<RequestKey, Stored> =
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
