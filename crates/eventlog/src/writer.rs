//! The one task that writes a log.
//!
//! **Group commit.** While a batch is on its way to the disk the queue fills; when it is there, all
//! that waits becomes the next batch. No timer: an idle log commits an entry at once, a busy one
//! shares each fsync among all who wait. Whoever was just answered is let run first: without that,
//! 64 callers of one process fell into two halves that took turns, 37 to a commit instead of 64, and on
//! a slow disk half the rate.
//!
//! **Memory follows the store.** Tree, heads and time move when a batch is committed and not before.
//!
//! **Unknown outcomes** are resolved, not feared. Once an attempt's outcome is unknown the same batch
//! is sent again, unchanged, until the store answers: the fence lets it in once at the most. While
//! the epoch is ours only this batch can have moved the size, so a moved size means that it is in.
//! Its callers wait until that is known. A batch that certainly was not written may be given up: its
//! callers hear that the store is unavailable, and the log goes on.
//!
//! **Losing the log** is final: another epoch, or a store that contradicts itself, ends the task,
//! and everyone who waits is told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use merkle::Tree;
use primitives::{RequestId, StreamId, UnixMicros};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, sleep_until};
use tracing::{Instrument as _, Span};

use crate::answered::{Answered, Known};
use crate::batch::{Stamped, Start, stamp};
use crate::error::{AppendError, Source};
use crate::event::{Event, Position, Stored, TreeHead};
use crate::group::Rows;
use crate::heads::{Head, Heads};
use crate::log::Options;
use crate::queue::{Command, Gathering, Waiting};
use crate::store::{Appended, Batch, Renewal, Store, StoreError};

const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// How often others are let run between two batches.
const TURNS: usize = 16;

pub(crate) struct Writer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) options: Options,
    pub(crate) epoch: u64,
    pub(crate) queue: mpsc::Receiver<Command>,
    /// Taken from the queue, but for the next batch.
    pub(crate) carried: Option<Waiting>,
    pub(crate) closing: bool,
    pub(crate) tree: Tree,
    pub(crate) recorded_at: UnixMicros,
    pub(crate) heads: Heads,
    pub(crate) answered: Arc<RwLock<Answered>>,
    pub(crate) head: watch::Sender<TreeHead>,
    pub(crate) commits: broadcast::Sender<Arc<[Event]>>,
    pub(crate) renew_at: Instant,
}

/// The log is another's.
struct Lost;

enum Task {
    Commit(Vec<Waiting>),
    Renew,
}

/// What became of a batch.
enum Written {
    Done,
    Repeated,
    Unavailable(Source),
    Lost,
}

impl Writer {
    /// Runs until the log is closed or lost.
    pub(crate) async fn run(mut self) {
        while let Some(task) = self.next_task().await {
            let outcome = match task {
                Task::Commit(batch) => {
                    let callers = batch.len();
                    let outcome = self.commit(batch).await;
                    self.let_back_in(callers).await;
                    outcome
                }
                Task::Renew => self.renew().await,
            };
            if outcome.is_err() {
                self.closing = false;
                break;
            }
        }
        if self.closing {
            self.release().await;
        }
        self.queue.close();
        if let Some(waiting) = self.carried.take() {
            waiting.refuse(AppendError::Lost);
        }
        while let Some(command) = self.queue.recv().await {
            match command {
                Command::Append(waiting) => waiting.refuse(AppendError::Lost),
                Command::Close => {}
            }
        }
    }

    /// Those who were just answered may have more to write. Where they are tasks of this process they
    /// are let run before the next batch is closed, so that it holds them all: or else half of them
    /// would miss every other commit. Nothing is waited for.
    async fn let_back_in(&self, callers: usize) {
        for _ in 0..TURNS {
            if self.queue.len() >= callers {
                break;
            }
            yield_now().await;
        }
    }

    /// What to do next: write all that waits, within the limits, or renew the lease in an idle
    /// time. None where the log is to be closed.
    async fn next_task(&mut self) -> Option<Task> {
        let first = match self.carried.take() {
            Some(waiting) => waiting,
            None if self.closing => return None,
            None => tokio::select! {
                biased;
                () = sleep_until(self.renew_at) => return Some(Task::Renew),
                command = self.queue.recv() => match command {
                    Some(Command::Append(waiting)) => *waiting,
                    Some(Command::Close) | None => {
                        self.closing = true;
                        return None;
                    }
                },
            },
        };
        let mut batch = Gathering::new(first);
        while !self.closing {
            match self.queue.try_recv() {
                Ok(Command::Append(waiting)) => {
                    if let Some(over) = batch.add(*waiting, &self.options.limits) {
                        self.carried = Some(over);
                        break;
                    }
                }
                Ok(Command::Close) => self.closing = true,
                Err(_) => break,
            }
        }
        Some(Task::Commit(batch.waiting))
    }

    /// Commits a batch, without those in it that were answered before. A group is answered whole, or
    /// refused whole.
    async fn commit(&mut self, mut batch: Vec<Waiting>) -> Result<(), Lost> {
        let give_up = batch.first().map_or_else(Instant::now, |first| first.since)
            + self.options.limits.patience;
        batch = self.refuse_known(batch);
        while let Some(first) = batch.first() {
            let now = match first.place() {
                Some((place, _)) if place.0 != self.tree.size() => {
                    self.misplaced(batch);
                    return Ok(());
                }
                Some((_, at)) => at,
                None => (self.options.clock)(),
            };
            let recorded_at = self.recorded_at.max(now);
            let rows = first.rows();
            let heads = match self.heads_of(&batch, give_up).await {
                Ok(heads) => heads,
                Err(error) => return self.fail(batch, error),
            };
            let start = Start { tree: &self.tree, recorded_at, heads };
            let stamped = stamp(batch.iter().flat_map(Waiting::entries), start);
            // The span ends with the write: nobody is answered within it, so that in a trace the
            // commit never outlasts the call that waits for it.
            let span = commit_span(&self.options.name, &batch);
            let written = self.write(&self.batch(&stamped, rows), give_up).instrument(span).await;
            match written {
                Written::Done => {
                    self.committed(stamped, batch);
                    return Ok(());
                }
                Written::Repeated => match self.answer_repeats(batch, give_up).await {
                    Ok(rest) => batch = rest,
                    Err((batch, error)) => return self.fail(batch, error),
                },
                Written::Unavailable(source) => {
                    return self.fail(batch, StoreError::Unavailable(source));
                }
                Written::Lost => {
                    batch.into_iter().for_each(|waiting| waiting.refuse(AppendError::Lost));
                    return Err(Lost);
                }
            }
        }
        Ok(())
    }

    /// Sends one batch, unchanged, until its outcome is known.
    async fn write(&self, batch: &Batch, give_up: Instant) -> Written {
        let (mut doubt, mut pause) = (false, FIRST_PAUSE);
        loop {
            match self.store.append(batch).await {
                Ok(Appended::Done) => return Written::Done,
                Ok(Appended::Repeated) => return Written::Repeated,
                Ok(Appended::Fenced) => {
                    if let Some(verdict) = self.why_fenced(batch, doubt).await {
                        return verdict;
                    }
                }
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
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn batch(&self, stamped: &Stamped, rows: Option<Arc<dyn Rows>>) -> Batch {
        Batch {
            log: self.options.name.clone(),
            epoch: self.epoch,
            first: self.tree.size(),
            events: stamped.events.clone(),
            requests: stamped.requests.clone(),
            rows,
            lease: self.options.lease,
            alive_at: stamped.recorded_at,
            tree: stamped.tree.peaks().to_vec(),
        }
    }

    /// What a fence that did not let the batch in says about it; nothing where it must be asked
    /// again.
    async fn why_fenced(&self, batch: &Batch, doubt: bool) -> Option<Written> {
        let fence = self.store.fence(&batch.log).await.ok()?;
        let end = batch.first + batch.events.len() as u64;
        match fence {
            Some(fence) if fence.epoch == batch.epoch => {
                if fence.size == end && doubt {
                    return Some(Written::Done);
                }
                if fence.size == batch.first {
                    return None;
                }
                tracing::error!(log = %batch.log, expected = batch.first, found = fence.size, "the log's size moved under its owner: the log stops");
            }
            Some(fence) => {
                tracing::error!(log = %batch.log, epoch = batch.epoch, new_epoch = fence.epoch, new_owner = %fence.owner, "another owner has the log: it stops here");
            }
            None => tracing::error!(log = %batch.log, "the log is gone from its store: it stops"),
        }
        Some(Written::Lost)
    }

    /// The heads of all streams of a batch; one question for all that are not remembered.
    async fn heads_of(
        &mut self,
        batch: &[Waiting],
        give_up: Instant,
    ) -> Result<BTreeMap<StreamId, Head>, StoreError> {
        let events = batch.iter().flat_map(Waiting::entries).flat_map(|it| &it.events);
        let streams: BTreeSet<StreamId> = events.map(|event| event.stream).collect();
        let mut heads = BTreeMap::new();
        let mut unknown = Vec::new();
        for stream in streams {
            match self.heads.get(stream) {
                Some(head) => drop(heads.insert(stream, head)),
                None => unknown.push(stream),
            }
        }
        if !unknown.is_empty() {
            let log = &self.options.name;
            let last = patiently(give_up, || self.store.last_events(log, &unknown)).await?;
            heads.extend(last.iter().map(|event| (event.stream, Head::of(event))));
        }
        Ok(heads)
    }

    /// Answers those of a batch whose requests are known to be answered, as they may be since they
    /// were handed over, and returns the others.
    fn refuse_known(&self, batch: Vec<Waiting>) -> Vec<Waiting> {
        let answered = self.answered.read().unwrap_or_else(PoisonError::into_inner);
        let mut rest = Vec::with_capacity(batch.len());
        for waiting in batch {
            let known = waiting.requests().find_map(|id| match answered.known(id) {
                Known::Stored(stored) => Some(stored),
                Known::Fresh | Known::Ask => None,
            });
            match known {
                Some(stored) => waiting.refuse(AppendError::Duplicate { stored }),
                None => rest.push(waiting),
            }
        }
        rest
    }

    fn misplaced(&self, batch: Vec<Waiting>) {
        let size = self.tree.size();
        for waiting in batch {
            let first = waiting.place().map_or(Position(size), |(first, _)| first);
            waiting.refuse(AppendError::Misplaced { first, size });
        }
    }

    /// Answers those of a batch whose requests were answered before and returns the others.
    async fn answer_repeats(
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

    async fn renew(&mut self) -> Result<(), Lost> {
        match self.store.renew(&self.renewal(self.options.lease)).await {
            Ok(true) => {
                self.renew_at = Instant::now() + self.options.lease / 3;
                Ok(())
            }
            Ok(false) => {
                tracing::error!(log = %self.options.name, epoch = self.epoch, "another owner has the log: it stops here");
                Err(Lost)
            }
            Err(error) => {
                tracing::warn!(log = %self.options.name, %error, "the lease could not be renewed");
                self.renew_at = Instant::now() + (self.options.lease / 6).min(LONGEST_PAUSE);
                Ok(())
            }
        }
    }

    /// Lets the next owner in at once. Where it fails the lease ends by itself.
    async fn release(&self) {
        if let Err(error) = self.store.renew(&self.renewal(Duration::ZERO)).await {
            tracing::warn!(log = %self.options.name, %error, "the lease was not released: it will end by itself");
        }
    }

    fn renewal(&self, lease: Duration) -> Renewal {
        let alive_at = Some((self.options.clock)());
        Renewal { log: self.options.name.clone(), epoch: self.epoch, lease, alive_at }
    }

    /// Nothing of the batch was written.
    fn fail(&self, batch: Vec<Waiting>, error: StoreError) -> Result<(), Lost> {
        let (reply, outcome) = match error {
            StoreError::Unavailable(source) | StoreError::InDoubt(source) => {
                tracing::warn!(log = %self.options.name, entries = batch.len(), %source, "store unavailable: entries given back");
                (AppendError::Unavailable { source: Some(source) }, Ok(()))
            }
            StoreError::Corrupt(what) => {
                tracing::error!(log = %self.options.name, %what, "the store contradicts itself: the log stops");
                (AppendError::Lost, Err(Lost))
            }
        };
        batch.into_iter().for_each(|waiting| waiting.refuse(reply.clone()));
        outcome
    }

    fn committed(&mut self, stamped: Stamped, batch: Vec<Waiting>) {
        let Stamped { recorded_at, events, requests, receipts, tree, heads } = stamped;
        self.recorded_at = recorded_at;
        self.tree = tree;
        heads.into_iter().for_each(|(stream, head)| self.heads.put(stream, head));
        self.renew_at = Instant::now() + self.options.lease / 3;
        {
            let mut answered = self.answered.write().unwrap_or_else(PoisonError::into_inner);
            requests.iter().for_each(|stored| answered.put(stored));
        }
        self.head.send_replace(TreeHead {
            size: self.tree.size(),
            root: self.tree.root(),
            recorded_at: self.recorded_at,
        });
        // An error says that nobody listens.
        let _ = self.commits.send(events);
        let mut receipts = receipts.into_iter();
        batch.into_iter().for_each(|waiting| waiting.confirm(&mut receipts));
    }
}

/// One commit, within the trace of the first who waits for it and linked to all others.
fn commit_span(log: &str, batch: &[Waiting]) -> Span {
    let first = batch.first().and_then(|first| first.span.id());
    let events: usize = batch.iter().map(|waiting| waiting.events).sum();
    let entries: usize = batch.iter().map(|waiting| waiting.entries().len()).sum();
    let span = tracing::info_span!(parent: first, "log.commit", log, entries, events);
    for other in batch.iter().skip(1) {
        span.follows_from(&other.span);
    }
    span
}

/// Repeats a question to a store that is not there.
async fn patiently<T, F>(give_up: Instant, ask: impl Fn() -> F) -> Result<T, StoreError>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let mut pause = FIRST_PAUSE;
    loop {
        match ask().await {
            Err(StoreError::Unavailable(_)) if Instant::now() < give_up => {}
            other => return other,
        }
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
