//! The task that owns the ledger.
//!
//! **Ahead of the log.** The ledger in memory leads: a command is decided against it and its events
//! are applied at once, before they are durable. Waiting commands are gathered into a group,
//! decided one after the other at one time, and handed to the log as one commit together with the
//! rows of the tables. If enough commands wait, the next group is decided while the group before is
//! being written, so that both processors work. Enough is a minimum batch and a quarter of the
//! commands in flight: small groups cost the database nearly as much as large ones.
//!
//! **Answered in parts.** Answers are sent a few at a time, so that the first callers can send
//! their next commands while the last are being answered. Sent all at once, every answer would
//! leave as late as the last one, and more callers would miss the next group.
//!
//! **Durable first.** No command is answered before its group is durable, and groups complete in
//! their order. So no answer rests on a state that might still be lost. That holds for refusals
//! too: a group that only refuses waits for those before it and confirms that the log is still
//! owned. Otherwise a wallet that lost its log would refuse by stale memory, even a request that
//! the new owner has carried out.
//!
//! **Failure.** If a group is not written, everything in flight is answered "unavailable", the
//! memory is dropped and the log is read again (`recovery`). Nothing is undone one by one.
//!
//! **Idempotence.** A request that was answered before is known from the log's memory or, if it is
//! older, by one query of the store. A request in flight is known to the owner. Either gets its
//! first answer, or a refusal if the id was used for other content.
//!
//! **Queries.** Standings, holds and adjustments are read from the same ledger. The reply is sent
//! once all that was decided before is durable, and never by a wallet that lost its log.
//!
//! **Time.** A group has one time, never earlier than that of the group before. Holds whose time is
//! over end before anything else is decided at that time; a timer ends them if no command comes.
//!
//! Specification: ARCHITECTURE.md §2.5.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use eventlog::{AppendError, Clock, Log, OpenError, Position, RequestKey, TreeHead};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesOrdered;
use ledger::Ledger;
use primitives::UnixMicros;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::command::RequestContent;
use crate::repo::Repo;
use crate::wallet::{
    Outcome, Query, QueueLimits, Queues, RequestBatch, SendReply, Tables, Wallet, WalletError,
};
use group::GroupBuilder;
use load::LoadedLedger;
use lookups::{LookupResult, RequestInFlight, StoredRequests};
use quotas::Quotas;
use returning_callers::{ReturningCallers, WaitBackoff};
use snapshots::{Snapshot, Snapshots};

mod commit;
mod group;
mod history_comparison;
pub(crate) mod load;
mod lookups;
mod queries;
mod quotas;
mod recovery;
mod returning_callers;
mod snapshots;
mod standby;

pub use load::{LoadError, newest_snapshot};
pub use standby::Standby;

/// Opens the wallet's log: at start, and again whenever it was lost.
pub type Opener = Box<dyn Fn() -> BoxFuture<'static, Result<Log, OpenError>> + Send + Sync>;

/// Commands that make a group of their own while another is in flight.
const MIN_BATCH: usize = 64;
/// Answers sent before the connections get a turn to write them out.
const REPLIES_PER_YIELD: usize = 16;
/// Longest sleep before the clock is read again for the expiry of a hold.
const MAX_SLEEP: Duration = Duration::from_secs(1);

/// Dependencies of a wallet.
pub struct Dependencies {
    pub opener: Opener,
    /// The clock that the log is opened with.
    pub clock: Clock,
    /// The wallet's tables; `None` if the log's store has none. Then reads from tables are
    /// unavailable.
    pub repo: Option<Repo>,
}

/// Error that ends the wallet.
#[derive(Debug, thiserror::Error)]
pub enum FatalError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// Owner of the ledger and its log.
pub struct Owner {
    dependencies: Dependencies,
    tables: Tables,
    batches: mpsc::Receiver<RequestBatch>,
    queries: mpsc::Receiver<Query>,
    limits: QueueLimits,
    quotas: Quotas,
    state: OwnerState,
    /// Comparison of every entry with the log, while it runs.
    comparison: JoinSet<Result<(), LoadError>>,
    /// Head of the log as this process wrote it, if the log was read again and not compared since.
    unverified_head: Option<TreeHead>,
}

/// Ledger and log, with commands that wait or are in flight. Replaced as a whole when a write
/// fails.
struct OwnerState {
    log: Log,
    ledger: Ledger,
    /// Requests for the next group; `asked` is their number of commands.
    waiting: Vec<RequestBatch>,
    waiting_commands: usize,
    /// Position of the next group.
    next_position: Position,
    /// Time of the last group.
    last_time: UnixMicros,
    /// Commands that are decided and not known to be durable.
    requests_in_flight: BTreeMap<RequestKey, RequestInFlight>,
    groups_in_flight: FuturesOrdered<BoxFuture<'static, GroupOutcome>>,
    snapshots: Snapshots,
    /// Commands in the groups in flight.
    commands_in_flight: usize,
    /// Lookups in the store of requests that may have been answered before; `lookup_keys` has
    /// their keys.
    lookups: JoinSet<LookupResult>,
    lookup_keys: BTreeSet<RequestKey>,
    /// Callers that were just answered and may be back in a moment.
    returning: Option<ReturningCallers>,
    waits: WaitBackoff,
    /// Comparison of the tables with the ledger as it was read, while it runs.
    tables_comparison: JoinSet<Result<(), LoadError>>,
}

/// A group whose outcome is known.
struct GroupOutcome {
    outcome: Result<(), AppendError>,
    keys: Vec<RequestKey>,
    command_replies: Vec<PendingReply>,
    sent_at: Instant,
    snapshot: Option<Snapshot>,
    query_replies: Vec<SendReply>,
}

impl GroupOutcome {
    fn new(outcome: Result<(), AppendError>, sent: Instant) -> GroupOutcome {
        let (keys, answers, looked) = (Vec::new(), Vec::new(), Vec::new());
        GroupOutcome {
            outcome,
            keys,
            command_replies: answers,
            sent_at: sent,
            snapshot: None,
            query_replies: looked,
        }
    }
}

/// Outcomes for a caller that waits.
struct PendingReply {
    reply: oneshot::Sender<Vec<Outcome>>,
    outcomes: Vec<Outcome>,
    permits: OwnedSemaphorePermit,
}

impl PendingReply {
    fn fail(&mut self, problem: WalletError) {
        self.outcomes.fill(Err(problem));
    }

    /// Sends the outcomes. The caller may have stopped waiting; the commands stand all the same.
    fn send(self) {
        let PendingReply { reply: to, outcomes, permits: room } = self;
        drop(room);
        let _ = to.send(outcomes);
    }
}

/// Reason why the owner stops serving.
enum StopReason {
    /// All handles are gone or the wallet is stopping, and everything is answered.
    Drained,
    LogLost,
    /// The tables differ from the log, or the log contradicts itself.
    Fatal(LoadError),
}

impl OwnerState {
    fn new(log: Log, loaded: LoadedLedger) -> OwnerState {
        let LoadedLedger { ledger, snapshot_size: snapshot, comparison } = loaded;
        let head = log.head();
        OwnerState {
            snapshots: Snapshots::new(snapshot),
            next_position: Position(head.size),
            last_time: head.recorded_at,
            log,
            ledger,
            waiting: Vec::new(),
            waiting_commands: 0,
            requests_in_flight: BTreeMap::new(),
            groups_in_flight: FuturesOrdered::new(),
            commands_in_flight: 0,
            lookups: JoinSet::new(),
            lookup_keys: BTreeSet::new(),
            returning: None,
            waits: WaitBackoff::default(),
            tables_comparison: comparison,
        }
    }
}

impl OwnerState {
    fn receive(&mut self, ask: RequestBatch) {
        self.waiting_commands += ask.requests.len();
        self.waiting.push(ask);
    }
}

impl Wallet {
    /// Opens the log and reads the ledger.
    ///
    /// # Errors
    /// [`FatalError`], if the log is owned by another process, cannot be read, or is corrupt.
    pub async fn open(
        dependencies: Dependencies,
        limits: QueueLimits,
    ) -> Result<(Wallet, Owner), FatalError> {
        let tables = Tables::new(dependencies.repo.clone());
        let log = (dependencies.opener)().await?;
        let loaded = load::load(&log, &tables).await?;
        tables.set_loaded(true);
        let (wallet, queues) = Wallet::new(limits, tables.clone());
        let work = OwnerState::new(log, loaded);
        Ok((wallet, Owner::new(dependencies, tables, queues, limits, work)))
    }
}

impl Owner {
    /// An owner that starts to compare the entries with the log at once.
    fn new(
        dependencies: Dependencies,
        tables: Tables,
        queues: Queues,
        limits: QueueLimits,
        work: OwnerState,
    ) -> Owner {
        let Queues { batches: queue, queries: looks } = queues;
        let (quotas, verifying, written) = (Quotas::default(), JoinSet::new(), None);
        let mut owner = Owner {
            dependencies,
            tables,
            batches: queue,
            queries: looks,
            limits,
            quotas,
            state: work,
            comparison: verifying,
            unverified_head: written,
        };
        owner.verify_history();
        owner
    }

    /// Serves until `stopping` fires or every handle of the wallet is gone. Then finishes the
    /// accepted commands and releases the log.
    ///
    /// # Errors
    /// [`FatalError`], if the log or the tables turn out to be corrupt. A log that is lost or out
    /// of reach is waited for.
    pub async fn run(mut self, stopping: CancellationToken) -> Result<(), FatalError> {
        loop {
            match self.serve(&stopping).await {
                StopReason::Drained => {
                    self.take_final_snapshot().await;
                    self.state.log.close().await;
                    return Ok(());
                }
                StopReason::Fatal(error) => {
                    tracing::error!(%error, "the wallet serves nothing any more");
                    self.tables.set_readable(false);
                    return Err(error.into());
                }
                StopReason::LogLost => {
                    if !self.recover(&stopping).await? {
                        return Ok(());
                    }
                }
            }
        }
    }

    async fn serve(&mut self, stopping: &CancellationToken) -> StopReason {
        let stopped = self.state.log.stopped();
        let mut accepting = true;
        loop {
            if self.group_due() {
                self.gather().await;
            }
            if self.snapshot_due() {
                self.take_snapshot();
            }
            if !accepting && self.state.groups_in_flight.is_empty() && self.state.lookups.is_empty()
            {
                return StopReason::Drained;
            }
            let ahead = self.state.groups_in_flight.len() < self.limits.max_in_flight;
            let receives = ahead || self.state.commands_in_flight == 0;
            let next_end = self.state.ledger.next_expiry();
            tokio::select! {
                biased;
                Some(completed) = self.state.groups_in_flight.next() => {
                    if self.complete_group(completed).await.is_err() {
                        return StopReason::LogLost;
                    }
                }
                () = stopped.cancelled() => return StopReason::LogLost,
                Some(compared) = self.state.tables_comparison.join_next() => {
                    match load::finish_comparison(compared, &self.tables) {
                        Ok(()) => {}
                        Err(error) if error.is_final() => return StopReason::Fatal(error),
                        Err(error) => {
                            tracing::warn!(runbook = "deploy/README.md, The database is away", %error, "the tables were not compared with the log: it is read again");
                            return StopReason::LogLost;
                        }
                    }
                }
                Some(verified) = self.comparison.join_next() => {
                    if let Some(error) = self.finish_comparison(verified) {
                        return StopReason::Fatal(error);
                    }
                }
                () = stopping.cancelled(), if !self.batches.is_closed() => {
                    self.batches.close();
                }
                Some(Ok(recalled)) = self.state.lookups.join_next() => self.finish_lookup(recalled),
                // Before the command queue, which is never empty under load.
                Some(look) = self.queries.recv(), if ahead => self.answer_queries(look),
                ask = self.batches.recv(), if accepting && receives && self.state.waiting_commands < self.limits.max_group => {
                    match ask {
                        Some(ask) => self.state.receive(ask),
                        None => accepting = false,
                    }
                }
                () = sleep_until_expiry(next_end, (self.dependencies.clock)()), if accepting && ahead => self.expire(),
            }
        }
    }

    /// Whether a group is to be made now. Behind commands in flight only if enough wait, since
    /// small groups cost the database nearly as much as large ones. Queries in flight delay no
    /// group; a group behind them completes after them.
    fn group_due(&self) -> bool {
        let OwnerState {
            waiting: asks,
            waiting_commands: asked,
            groups_in_flight: flights,
            commands_in_flight: flying,
            ..
        } = &self.state;
        let has_batch = || *asked >= MIN_BATCH.max(flying / 4);
        !asks.is_empty()
            && (*flying == 0 || (flights.len() < self.limits.max_in_flight && has_batch()))
    }

    /// Gathers and decides what waits, within the limits.
    async fn gather(&mut self) {
        let mut count = std::mem::take(&mut self.state.waiting_commands);
        let mut asks = std::mem::take(&mut self.state.waiting);
        let returning = self.state.returning.take();
        let mut in_vain = false;
        while count < self.limits.max_group {
            let ask = match (self.batches.try_recv(), returning) {
                (Ok(ask), _) => ask,
                // A group that is already large gains nothing by waiting.
                (Err(_), Some(back)) if asks.len() < back.batches && count < MIN_BATCH => {
                    match timeout_at(back.until, self.batches.recv()).await {
                        Ok(Some(ask)) => ask,
                        Ok(None) => break,
                        Err(_) => {
                            // Three quarters of the callers are enough.
                            in_vain = asks.len() < back.batches - back.batches / 4;
                            break;
                        }
                    }
                }
                (Err(_), Some(_) | None) => break,
            };
            count += ask.requests.len();
            asks.push(ask);
        }
        if returning.is_some() {
            self.state.waits.record_wait(in_vain);
        }
        let (ready, before) = self.split_repeats(asks);
        if !ready.is_empty() {
            self.decide(ready, &before);
        }
    }

    fn decide(&mut self, asks: Vec<RequestBatch>, before: &StoredRequests) {
        self.expire();
        let most = self.limits.max_group;
        let mut asks = asks.into_iter().peekable();
        while asks.peek().is_some() {
            let mut deciding = self.start_group();
            let (mut answers, mut opened) = (Vec::new(), 0);
            // A command that opens accounts writes an event for each: many at once need many commits.
            while let Some(ask) =
                asks.next_if(|ask| answers.is_empty() || opened + opened_accounts(ask) <= most)
            {
                opened += opened_accounts(&ask);
                let RequestBatch { requests, author: by, reply: to, permits: room, .. } = ask;
                let outcomes = deciding.decide_all(requests, &by, before);
                answers.push(PendingReply { reply: to, outcomes, permits: room });
            }
            let decided = deciding.finish();
            self.send(decided, answers);
        }
    }

    /// Ends the holds whose time is over, in as many groups as needed.
    fn expire(&mut self) {
        loop {
            let most = self.limits.max_group.max(1);
            let mut deciding = self.start_group();
            if !deciding.expire(most) {
                return;
            }
            let decided = deciding.finish();
            self.send(decided, Vec::new());
        }
    }

    fn start_group(&mut self) -> GroupBuilder<'_> {
        let OwnerState {
            ledger, requests_in_flight: open, next_position: next, last_time: at, ..
        } = &mut self.state;
        *at = (*at).max((self.dependencies.clock)());
        GroupBuilder::new(ledger, open, *next, *at, &self.quotas)
    }
}

/// Number of accounts that commands may open.
fn opened_accounts(ask: &RequestBatch) -> usize {
    let of = |content: &RequestContent| match content {
        RequestContent::OpenAccounts(players) => players.len(),
        RequestContent::Command(_)
        | RequestContent::SetLimits { .. }
        | RequestContent::ClockStepped(_) => 0,
    };
    ask.requests.iter().map(|named| of(&named.request.content)).sum()
}

/// Number of commands that these answers are for.
fn command_count(answers: &[PendingReply]) -> usize {
    answers.iter().map(|answer| answer.permits.num_permits()).sum()
}

/// Sleeps until the next hold expires, at most [`MAX_SLEEP`]; for ever if none is pending.
async fn sleep_until_expiry(end: Option<UnixMicros>, now: UnixMicros) {
    match end {
        Some(end) => tokio::time::sleep(end.since(now).min(MAX_SLEEP)).await,
        None => std::future::pending().await,
    }
}
