//! The one task that writes a log.
//!
//! **Group commit.** While a batch is being written, the queue fills; then all waiting entries
//! become the next batch. There is no timer: an idle log commits an entry at once, a busy one
//! shares each fsync among all waiting callers. Callers that were just answered run before the next
//! batch is closed; otherwise they fall into two uneven groups that take turns, and commits are
//! smaller.
//!
//! **Ahead of its turn.** Entries that wait behind the batch being written are sent meanwhile, if
//! that is possible and worthwhile (`pipeline`).
//!
//! **The lease** is renewed beside the batches (`lease`).
//!
//! **Memory follows the store.** Tree, heads and time change only when a batch is committed.
//!
//! **Unknown outcomes** are resolved. Once an attempt's outcome is unknown, the same batch is sent
//! again, unchanged, until the store answers: it is written at most once. While the epoch is
//! ours only this batch can have moved the log's end, so a moved end means that it was written.
//! Its callers wait until that is known. A batch that was certainly not written may be given up:
//! its callers get the error that the store is unavailable, and the log goes on.
//!
//! **Losing the log** is final: another epoch, or a store that contradicts itself, ends the task,
//! and every waiting caller is answered.
//!
//! Specification: ARCHITECTURE.md §2.5.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use eventlog_core::{Event, Position};
use merkle::Tree;
use primitives::{StreamId, UnixMicros};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep};

use crate::answer_cache::{AnswerCache, RequestLookup};
use crate::batch::{BatchStart, StampedBatch, stamp};
use crate::error::AppendError;
use crate::event::{AnsweredRequest, TreeHead};
use crate::log::{Health, Options};
use crate::queue::{BatchBuilder, Command, QueuedAppend};
use crate::store::{AppendOutcome, Batch, Store, StoreError};
use crate::stream_heads::{StreamHead, StreamHeads};
pub(crate) use clock_alarm::ClockAlarm;
pub(crate) use cpu_headroom::CpuHeadroom;
use in_doubt::BatchOutcome;
use in_flight::{AttemptResult, InFlight};
pub(crate) use lease::LeaseTimer;
use pipeline::MIN_PIPELINED_ENTRIES;

mod clock_alarm;
mod cpu_headroom;
mod damaged;
mod in_doubt;
mod in_flight;
mod lease;
mod pipeline;

const FIRST_PAUSE: Duration = Duration::from_millis(5);
const MAX_PAUSE: Duration = Duration::from_millis(500);

/// Time between two attempts while a clock is off.
const CLOCK_PAUSE: Duration = Duration::from_millis(100);

/// Most yields to other tasks between two batches.
const MAX_YIELDS_PER_COMMIT: usize = 16;

pub(crate) struct Writer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) options: Options,
    pub(crate) epoch: u64,
    pub(crate) queue: mpsc::Receiver<Command>,
    /// Entries taken from the queue and not sent yet, in the queue's order.
    pub(crate) backlog: VecDeque<QueuedAppend>,
    pub(crate) closing: bool,
    pub(crate) tree: Tree,
    pub(crate) recorded_at: UnixMicros,
    pub(crate) heads: StreamHeads,
    pub(crate) answer_cache: Arc<RwLock<AnswerCache>>,
    pub(crate) head: watch::Sender<TreeHead>,
    pub(crate) commits: broadcast::Sender<Arc<[Event]>>,
    pub(crate) lease: LeaseTimer,
    /// Whether a renewal has found another owner.
    pub(crate) is_lost: bool,
    pub(crate) cpu_headroom: CpuHeadroom,
    pub(crate) clock_alarm: ClockAlarm,
    pub(crate) health: watch::Sender<Health>,
}

/// Another process owns the log.
struct OwnershipLost;

impl Writer {
    /// Runs until the log is closed or lost.
    pub(crate) async fn run(mut self) {
        while let Some(batch) = self.next_batch().await {
            if self.commit(batch).await.is_err() {
                self.is_lost = true;
            }
        }
        if !self.is_lost {
            self.release().await;
        }
        self.queue.close();
        self.backlog.drain(..).for_each(|waiting| waiting.refuse(AppendError::Lost));
        while let Some(command) = self.queue.recv().await {
            match command {
                Command::Append(waiting) => waiting.refuse(AppendError::Lost),
                Command::Close => {}
            }
        }
    }

    /// Lets the callers that were just answered run, if they are tasks of this process, so that the
    /// next batch holds their next entries too. Otherwise half of them would miss every other
    /// commit. It does not wait.
    async fn yield_to_callers(&mut self, callers: usize) {
        for _ in 0..MAX_YIELDS_PER_COMMIT {
            if self.queue.len() + self.backlog.len() >= callers {
                break;
            }
            yield_now().await;
        }
    }

    /// Next batch: all waiting entries, within the limits. Renews the lease while there is none.
    /// `None` if the log is lost or to be closed.
    async fn next_batch(&mut self) -> Option<Vec<QueuedAppend>> {
        while self.backlog.is_empty() && !self.is_lost {
            if self.closing {
                return None;
            }
            tokio::select! {
                biased;
                step = self.lease.next() => self.take_lease_step(step),
                command = self.queue.recv() => self.receive(command),
            }
        }
        if self.is_lost {
            return None;
        }
        self.receive_all();
        // Two batches alternate between the database and this process; with a single one each of
        // the two would be idle half of the time.
        let half = self.backlog.len() / 2;
        let most = if half >= MIN_PIPELINED_ENTRIES && self.can_pipeline(half) {
            half
        } else {
            usize::MAX
        };
        self.take_batch(most)
    }

    fn receive(&mut self, command: Option<Command>) {
        match command {
            Some(Command::Append(waiting)) => self.backlog.push_back(*waiting),
            Some(Command::Close) | None => self.closing = true,
        }
    }

    /// Takes all commands that are in the queue now.
    fn receive_all(&mut self) {
        while !self.closing && self.backlog.len() < self.options.limits.batch_events {
            match self.queue.try_recv() {
                Ok(command) => self.receive(Some(command)),
                Err(_) => break,
            }
        }
    }

    /// Takes the first entries of the backlog that fit into one batch, at most `most`.
    fn take_batch(&mut self, most: usize) -> Option<Vec<QueuedAppend>> {
        let first = if most == 0 { None } else { self.backlog.pop_front() };
        let mut batch = BatchBuilder::new(first?);
        while batch.waiting.len() < most
            && let Some(next) = self.backlog.pop_front()
        {
            if let Some(over) = batch.add(next, &self.options.limits) {
                self.backlog.push_front(over);
                break;
            }
        }
        Some(batch.waiting)
    }

    /// Commits a batch, and the batches that follow it ahead of their turn. Entries whose requests
    /// were answered before are refused as duplicates. A group is appended or refused as a whole.
    async fn commit(&mut self, batch: Vec<QueuedAppend>) -> Result<(), OwnershipLost> {
        let give_up = batch.first().map_or_else(Instant::now, |first| self.retry_deadline(first));
        let Some(mut flight) = self.stamp_and_send(batch, give_up).await? else { return Ok(()) };
        loop {
            let mut next = None;
            let written = match self.wait_for_batch(&mut flight, &mut next).await {
                Ok(AppendOutcome::Written) => {
                    self.confirm_written(&flight.batch, flight.sent_at).await
                }
                attempted => self.resolve_in_doubt(&mut flight, attempted, next.as_mut()).await,
            };
            let plain = flight.is_plain();
            let (waiting, stamped, give_up) = flight.into_parts();
            let rest = match written {
                BatchOutcome::Written => {
                    let callers = waiting.len();
                    self.apply_commit(stamped, waiting);
                    if self.is_lost {
                        let after = next.into_iter().flat_map(|next| next.waiting);
                        after.for_each(|it| it.refuse(AppendError::Lost));
                        return Err(OwnershipLost);
                    }
                    if plain || next.is_none() {
                        self.yield_to_callers(callers).await;
                    }
                    let Some(next) = next else { return Ok(()) };
                    flight = next;
                    continue;
                }
                BatchOutcome::Duplicate => {
                    self.requeue(next);
                    match self.answer_repeats(waiting, give_up).await {
                        Ok(rest) => rest,
                        Err((waiting, error)) => return self.refuse_batch(waiting, error),
                    }
                }
                BatchOutcome::NotWritten(StoreError::Clock(_)) if Instant::now() < give_up => {
                    self.requeue(next);
                    // The next attempt gets a new time, which may be right.
                    sleep(CLOCK_PAUSE).await;
                    waiting
                }
                BatchOutcome::NotWritten(error) => {
                    self.requeue(next);
                    return self.refuse_batch(waiting, error);
                }
                BatchOutcome::Lost => {
                    let after = next.into_iter().flat_map(|next| next.waiting);
                    waiting.into_iter().chain(after).for_each(|it| it.refuse(AppendError::Lost));
                    return Err(OwnershipLost);
                }
            };
            flight = match self.stamp_and_send(rest, give_up).await? {
                Some(flight) => flight,
                None => return Ok(()),
            };
        }
    }

    fn retry_deadline(&self, waiting: &QueuedAppend) -> Instant {
        waiting.since + self.options.limits.store_timeout
    }

    /// Waits for a batch, and sends the next one meanwhile if that can go ahead.
    async fn wait_for_batch(
        &mut self,
        flight: &mut InFlight,
        next: &mut Option<InFlight>,
    ) -> AttemptResult {
        let mut tried = false;
        loop {
            if next.is_none() && !tried && self.is_worth_pipelining(flight) {
                // An obstacle remains until the batch is written.
                tried = true;
                *next = self.send_pipelined(flight);
            }
            let receives = next.is_none() && !tried && self.should_receive(flight);
            tokio::select! {
                biased;
                attempted = flight.result() => return attempted,
                () = wait_for_attempt(next) => {}
                step = self.lease.next(), if !self.is_lost => self.take_lease_step(step),
                command = self.queue.recv(), if receives => {
                    self.receive(command);
                    self.receive_all();
                }
            }
        }
    }

    /// Stamps and sends a batch. `None` if it has no entry left to write.
    async fn stamp_and_send(
        &mut self,
        batch: Vec<QueuedAppend>,
        give_up: Instant,
    ) -> Result<Option<InFlight>, OwnershipLost> {
        let batch = self.refuse_answered(batch);
        let Some(first) = batch.first() else { return Ok(None) };
        let now = match first.group_start() {
            Some((place, _)) if place.0 != self.tree.size() => {
                self.refuse_misplaced(batch);
                return Ok(None);
            }
            Some((_, at)) => at,
            None => (self.options.clock)(),
        };
        let heads = match self.heads_of(&batch, give_up).await {
            Ok(heads) => heads,
            Err(error @ StoreError::Corrupt(_)) => {
                let rest = self.refuse_damaged(batch, error, give_up).await?;
                return Box::pin(self.stamp_and_send(rest, give_up)).await;
            }
            Err(error) => return self.refuse_batch(batch, error).map(|()| None),
        };
        let recorded_at = self.recorded_at.max(now);
        let authenticator = &self.options.authenticator;
        let start = BatchStart { tree: &self.tree, recorded_at, authenticator, heads };
        let stamped = stamp(batch.iter().flat_map(QueuedAppend::entries), start);
        Ok(Some(self.send(batch, stamped, None)))
    }

    fn send(
        &self,
        waiting: Vec<QueuedAppend>,
        stamped: StampedBatch,
        behind: Option<u64>,
    ) -> InFlight {
        let first = waiting.first();
        let give_up = first.map_or_else(Instant::now, |first| self.retry_deadline(first));
        let batch = Batch {
            log: self.options.name.clone(),
            epoch: self.epoch,
            first: stamped.tree.size() - stamped.events.len() as u64,
            events: stamped.events.clone(),
            requests: stamped.requests.clone(),
            rows: first.and_then(QueuedAppend::rows),
            pipelined_after: behind,
            clock: self.options.reading(),
        };
        InFlight::new(waiting, stamped, batch, give_up, Arc::clone(&self.store))
    }

    /// Heads of all streams of a batch. One query finds all that are not cached.
    async fn heads_of(
        &mut self,
        batch: &[QueuedAppend],
        give_up: Instant,
    ) -> Result<BTreeMap<StreamId, StreamHead>, StoreError> {
        let mut heads = BTreeMap::new();
        let mut unknown = Vec::new();
        for stream in streams(batch) {
            match self.heads.get(stream) {
                Some(head) => drop(heads.insert(stream, head)),
                None => unknown.push(stream),
            }
        }
        if !unknown.is_empty() {
            let log = &self.options.name;
            let ends =
                retry_while_unavailable(give_up, || self.store.stream_ends(log, &unknown)).await?;
            heads.extend(ends.iter().map(|end| (end.stream(), StreamHead::from_end(end))));
        }
        Ok(heads)
    }

    /// Refuses the entries whose requests were answered since they were queued, and returns the
    /// others.
    fn refuse_answered(&self, batch: Vec<QueuedAppend>) -> Vec<QueuedAppend> {
        let mut rest = Vec::with_capacity(batch.len());
        for waiting in batch {
            match self.find_answered(&waiting) {
                Some(stored) => waiting.refuse(AppendError::Duplicate { stored }),
                None => rest.push(waiting),
            }
        }
        rest
    }

    fn find_answered(&self, waiting: &QueuedAppend) -> Option<AnsweredRequest> {
        let now = (self.options.clock)();
        let answered = self.answer_cache.read().unwrap_or_else(PoisonError::into_inner);
        waiting.requests().find_map(|key| match answered.lookup(key, now) {
            RequestLookup::Answered(stored) => Some(stored),
            RequestLookup::Fresh | RequestLookup::Unknown => None,
        })
    }

    fn refuse_misplaced(&self, batch: Vec<QueuedAppend>) {
        let size = self.tree.size();
        for waiting in batch {
            let first = waiting.group_start().map_or(Position(size), |(first, _)| first);
            waiting.refuse(AppendError::Misplaced { first, size });
        }
    }

    /// Refuses all entries of a batch that was not written.
    fn refuse_batch(
        &self,
        batch: Vec<QueuedAppend>,
        error: StoreError,
    ) -> Result<(), OwnershipLost> {
        let trouble = Some(error.to_string().into());
        self.health.send_modify(|health| health.outage = trouble);
        let (reply, outcome) = match error {
            StoreError::Clock(off) => (AppendError::Clock(off), Ok(())),
            StoreError::Refused(source) => {
                tracing::error!(runbook = "deploy/README.md, The database is away", log = %self.options.name, entries = batch.len(), %source, "the store refuses entries: given back");
                (AppendError::Unavailable { source: Some(source) }, Ok(()))
            }
            StoreError::Unavailable(source) | StoreError::InDoubt(source) => {
                tracing::warn!(runbook = "deploy/README.md, The database is away", log = %self.options.name, entries = batch.len(), %source, "store unavailable: entries given back");
                (AppendError::Unavailable { source: Some(source) }, Ok(()))
            }
            StoreError::Corrupt(what) => {
                tracing::error!(log = %self.options.name, %what, "the store contradicts itself: the log stops");
                (AppendError::Lost, Err(OwnershipLost))
            }
        };
        batch.into_iter().for_each(|waiting| waiting.refuse(reply.clone()));
        outcome
    }

    fn apply_commit(&mut self, stamped: StampedBatch, batch: Vec<QueuedAppend>) {
        let StampedBatch { recorded_at, events, requests, receipts, tree, heads } = stamped;
        self.recorded_at = recorded_at;
        self.tree = tree;
        heads.into_iter().for_each(|(stream, head)| self.heads.put(stream, head));
        self.record_write();
        {
            let mut answered = self.answer_cache.write().unwrap_or_else(PoisonError::into_inner);
            requests.iter().for_each(|stored| answered.put(stored, recorded_at));
        }
        self.head.send_replace(TreeHead {
            size: self.tree.size(),
            root: self.tree.root(),
            recorded_at: self.recorded_at,
        });
        // The send fails if there is no subscriber.
        let _ = self.commits.send(events);
        let mut receipts = receipts.into_iter();
        batch.into_iter().for_each(|waiting| waiting.acknowledge(&mut receipts));
    }
}

/// Waits for the end of an attempt that is in flight; never ends if there is none.
async fn wait_for_attempt(next: &mut Option<InFlight>) {
    match next {
        Some(next) if next.is_pending() => {
            let _ = next.result().await;
        }
        Some(_) | None => std::future::pending().await,
    }
}

/// Streams of a batch.
fn streams(batch: &[QueuedAppend]) -> BTreeSet<StreamId> {
    batch.iter().flat_map(QueuedAppend::streams).collect()
}

/// Repeats a query while the store is unavailable, until `give_up`.
async fn retry_while_unavailable<T, F>(
    give_up: Instant,
    ask: impl Fn() -> F,
) -> Result<T, StoreError>
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
        pause = (pause * 2).min(MAX_PAUSE);
    }
}
