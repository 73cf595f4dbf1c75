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

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use eventlog::{AppendError, Clock, Log, OpenError, Position, RequestKey, Stored, TreeHead};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesOrdered;
use ledger::Ledger;
use primitives::UnixMicros;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::task::{JoinSet, yield_now};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::repo::{Repo, Written};
use crate::wallet::{Ask, Books, Limits, Look, Outcome, Problem, Queues, Tell, Wallet};
use group::Deciding;
use load::Loaded;
use quotas::Quotas;
use repeats::{Open, Recalled};
use returning::{Returning, Waits};
use snapshots::{Snapshot, Snapshots};

mod group;
mod history;
pub(crate) mod load;
mod looking;
mod quotas;
mod recovery;
mod repeats;
mod returning;
mod snapshots;
mod standby;

pub use load::{LoadError, newest_snapshot};
pub use standby::Standby;

/// Opens the wallet's log: at start, and again whenever it was lost.
pub type Opener = Box<dyn Fn() -> BoxFuture<'static, Result<Log, OpenError>> + Send + Sync>;

/// Commands that make a group of their own while another is in flight.
const CROWD: usize = 64;
/// Answers sent before the connections get a turn to write them out.
const PART: usize = 16;
/// Longest sleep before the clock is read again for the expiry of a hold.
const TICK: Duration = Duration::from_secs(1);

/// Dependencies of a wallet.
pub struct Ground {
    pub opener: Opener,
    /// The clock that the log is opened with.
    pub clock: Clock,
    /// The wallet's tables; `None` if the log's store has none. Then reads from tables are
    /// unavailable.
    pub repo: Option<Repo>,
}

/// Error that ends the wallet.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// Owner of the ledger and its log.
pub struct Owner {
    ground: Ground,
    books: Books,
    queue: mpsc::Receiver<Ask>,
    looks: mpsc::Receiver<Look>,
    limits: Limits,
    quotas: Quotas,
    work: Work,
    /// Comparison of every entry with the log, while it runs.
    verifying: JoinSet<Result<(), LoadError>>,
    /// Head of the log as this process wrote it, if the log was read again and not compared since.
    written: Option<TreeHead>,
}

/// Ledger and log, with commands that wait or are in flight. Replaced as a whole when a write
/// fails.
struct Work {
    log: Log,
    ledger: Ledger,
    /// Requests for the next group; `asked` is their number of commands.
    asks: Vec<Ask>,
    asked: usize,
    /// Position of the next group.
    next: Position,
    /// Time of the last group.
    at: UnixMicros,
    /// Commands that are decided and not known to be durable.
    open: BTreeMap<RequestKey, Open>,
    flights: FuturesOrdered<BoxFuture<'static, Landed>>,
    snapshots: Snapshots,
    /// Commands in the groups in flight.
    flying: usize,
    /// Lookups in the store of requests that may have been answered before; `asked_for` has their
    /// keys.
    asking: JoinSet<Recalled>,
    asked_for: BTreeSet<RequestKey>,
    /// Callers that were just answered and may be back in a moment.
    returning: Option<Returning>,
    waits: Waits,
}

/// A group whose outcome is known.
struct Landed {
    outcome: Result<(), AppendError>,
    keys: Vec<RequestKey>,
    answers: Vec<Answer>,
    sent: Instant,
    snapshot: Option<Snapshot>,
    looked: Vec<Tell>,
}

impl Landed {
    fn new(outcome: Result<(), AppendError>, sent: Instant) -> Landed {
        let (keys, answers, looked) = (Vec::new(), Vec::new(), Vec::new());
        Landed { outcome, keys, answers, sent, snapshot: None, looked }
    }
}

/// Outcomes for a caller that waits.
struct Answer {
    to: oneshot::Sender<Vec<Outcome>>,
    outcomes: Vec<Outcome>,
    room: OwnedSemaphorePermit,
}

impl Answer {
    fn fail(&mut self, problem: Problem) {
        self.outcomes.fill(Err(problem));
    }

    /// Sends the outcomes. The caller may have stopped waiting; the commands stand all the same.
    fn tell(self) {
        let Answer { to, outcomes, room } = self;
        drop(room);
        let _ = to.send(outcomes);
    }
}

/// Reason why the owner stops serving.
enum Pause {
    /// All handles are gone or the wallet is stopping, and everything is answered.
    Drained,
    Lost,
    /// The tables differ from the log, or the log contradicts itself.
    Unsound(LoadError),
}

impl Work {
    fn new(log: Log, Loaded { ledger, snapshot }: Loaded) -> Work {
        let head = log.head();
        Work {
            snapshots: Snapshots::new(snapshot),
            next: Position(head.size),
            at: head.recorded_at,
            log,
            ledger,
            asks: Vec::new(),
            asked: 0,
            open: BTreeMap::new(),
            flights: FuturesOrdered::new(),
            flying: 0,
            asking: JoinSet::new(),
            asked_for: BTreeSet::new(),
            returning: None,
            waits: Waits::default(),
        }
    }
}

impl Work {
    fn hear(&mut self, ask: Ask) {
        self.asked += ask.requests.len();
        self.asks.push(ask);
    }
}

impl Wallet {
    /// Opens the log and reads the ledger.
    ///
    /// # Errors
    /// [`Fault`], if the log is owned by another process, cannot be read, or is corrupt.
    pub async fn open(ground: Ground, limits: Limits) -> Result<(Wallet, Owner), Fault> {
        let books = Books::new(ground.repo.clone());
        let log = (ground.opener)().await?;
        let loaded = load::load(&log, &books).await?;
        books.set_loaded(true);
        let (wallet, queues) = Wallet::new(limits, books.clone());
        let work = Work::new(log, loaded);
        Ok((wallet, Owner::new((ground, books), queues, limits, work)))
    }
}

impl Owner {
    /// An owner that starts to compare the entries with the log at once.
    fn new((ground, books): (Ground, Books), queues: Queues, limits: Limits, work: Work) -> Owner {
        let Queues { asks: queue, looks } = queues;
        let (quotas, verifying, written) = (Quotas::default(), JoinSet::new(), None);
        let mut owner =
            Owner { ground, books, queue, looks, limits, quotas, work, verifying, written };
        owner.verify_history();
        owner
    }

    /// Serves until `stopping` fires or every handle of the wallet is gone. Then finishes the
    /// accepted commands and releases the log.
    ///
    /// # Errors
    /// [`Fault`], if the log or the tables turn out to be corrupt. A log that is lost or out of
    /// reach is waited for.
    pub async fn run(mut self, stopping: CancellationToken) -> Result<(), Fault> {
        loop {
            match self.serve(&stopping).await {
                Pause::Drained => {
                    self.last_snapshot().await;
                    self.work.log.close().await;
                    return Ok(());
                }
                Pause::Unsound(error) => {
                    tracing::error!(%error, "the wallet serves nothing any more");
                    self.books.set_whole(false);
                    return Err(error.into());
                }
                Pause::Lost => {
                    if !self.recover(&stopping).await? {
                        return Ok(());
                    }
                }
            }
        }
    }

    async fn serve(&mut self, stopping: &CancellationToken) -> Pause {
        let stopped = self.work.log.stopped();
        let mut accepting = true;
        loop {
            if self.has_room() {
                self.gather().await;
            }
            if self.snapshot_due() {
                self.take_snapshot();
            }
            if !accepting && self.work.flights.is_empty() && self.work.asking.is_empty() {
                return Pause::Drained;
            }
            let ahead = self.work.flights.len() < self.limits.ahead;
            let hears = ahead || self.work.flying == 0;
            let next_end = self.work.ledger.next_expiry();
            tokio::select! {
                biased;
                Some(landed) = self.work.flights.next() => {
                    if self.landed(landed).await.is_err() {
                        return Pause::Lost;
                    }
                }
                () = stopped.cancelled() => return Pause::Lost,
                Some(verified) = self.verifying.join_next() => {
                    if let Some(error) = self.verified(verified) {
                        return Pause::Unsound(error);
                    }
                }
                () = stopping.cancelled(), if !self.queue.is_closed() => {
                    self.queue.close();
                }
                Some(Ok(recalled)) = self.work.asking.join_next() => self.recalled(recalled),
                // Before the command queue, which is never empty under load.
                Some(look) = self.looks.recv(), if ahead => self.look(look),
                ask = self.queue.recv(), if accepting && hears && self.work.asked < self.limits.group => {
                    match ask {
                        Some(ask) => self.work.hear(ask),
                        None => accepting = false,
                    }
                }
                () = until(next_end, (self.ground.clock)()), if accepting && ahead => self.expire(),
            }
        }
    }

    /// Whether a group is to be made now. Behind commands in flight only if enough wait, since
    /// small groups cost the database nearly as much as large ones. Queries in flight delay no
    /// group; a group behind them completes after them.
    fn has_room(&self) -> bool {
        let Work { asks, asked, flights, flying, .. } = &self.work;
        let crowd = || *asked >= CROWD.max(flying / 4);
        !asks.is_empty() && (*flying == 0 || (flights.len() < self.limits.ahead && crowd()))
    }

    /// Gathers and decides what waits, within the limits.
    async fn gather(&mut self) {
        let mut count = std::mem::take(&mut self.work.asked);
        let mut asks = std::mem::take(&mut self.work.asks);
        let returning = self.work.returning.take();
        let mut vain = false;
        while count < self.limits.group {
            let ask = match (self.queue.try_recv(), returning) {
                (Ok(ask), _) => ask,
                // A group that is already large gains nothing by waiting.
                (Err(_), Some(back)) if asks.len() < back.asks && count < CROWD => {
                    match timeout_at(back.until, self.queue.recv()).await {
                        Ok(Some(ask)) => ask,
                        Ok(None) => break,
                        Err(_) => {
                            // Three quarters of the callers are enough.
                            vain = asks.len() < back.asks - back.asks / 4;
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
            self.work.waits.end(vain);
        }
        let (ready, before) = self.told_apart(asks);
        if !ready.is_empty() {
            self.decide(ready, &before);
        }
    }

    fn decide(&mut self, asks: Vec<Ask>, before: &BTreeMap<RequestKey, Stored>) {
        self.expire();
        let mut deciding = self.deciding();
        let answers = asks.into_iter().map(|ask| {
            let Ask { requests, by, answer: to, recalled: _, room } = ask;
            let outcomes = deciding.all(requests, &by, before);
            Answer { to, outcomes, room }
        });
        let answers = answers.collect();
        let decided = deciding.finish();
        self.send(decided, answers);
    }

    /// Ends the holds whose time is over, in as many groups as needed.
    fn expire(&mut self) {
        loop {
            let most = self.limits.group.max(1);
            let mut deciding = self.deciding();
            if !deciding.expire(most) {
                return;
            }
            let decided = deciding.finish();
            self.send(decided, Vec::new());
        }
    }

    fn deciding(&mut self) -> Deciding<'_> {
        let Work { ledger, open, next, at, .. } = &mut self.work;
        *at = (*at).max((self.ground.clock)());
        Deciding::new(ledger, open, (*next, *at), &self.quotas)
    }

    /// Hands a group to the log. A group without entries only confirms that the log is still owned.
    fn send(&mut self, decided: group::Decided, answers: Vec<Answer>) {
        let group::Decided { entries, keys, rows, states, next, snapshot } = decided;
        let Work { log, flights, flying, next: first, at, .. } = &mut self.work;
        if entries.is_empty() {
            let (log, sent, mut answers) = (log.clone(), Instant::now(), answers);
            *flying += commands(&answers);
            flights.push_back(Box::pin(async move {
                let mut outcome = log.confirm().await;
                let problem = match &outcome {
                    Err(AppendError::Unavailable { .. }) => Some(Problem::Unavailable),
                    Err(AppendError::Clock(off)) => Some(Problem::Clock(*off)),
                    Ok(()) | Err(_) => None,
                };
                if let Some(problem) = problem {
                    // No write was due: the state in memory stands.
                    answers.iter_mut().for_each(|answer| answer.fail(problem));
                    outcome = Ok(());
                }
                Landed { keys, answers, ..Landed::new(outcome, sent) }
            }));
            return;
        }
        let rows: Option<Arc<dyn eventlog::Rows>> =
            self.books.repo.is_some().then(|| Arc::new(Written { rows, states }) as _);
        let group = eventlog::Group { entries, first: *first, at: *at, rows };
        *first = next;
        let (written, sent) = (log.append_group(group), Instant::now());
        *flying += commands(&answers);
        flights.push_back(Box::pin(async move {
            let landed = Landed::new(written.await.map(drop), sent);
            Landed { keys, answers, snapshot, ..landed }
        }));
    }

    async fn landed(&mut self, landed: Landed) -> Result<(), AppendError> {
        let Landed { outcome, keys, answers, sent, snapshot, looked } = landed;
        if let Err(error) = outcome {
            let unanswered = answers.len();
            tracing::warn!(runbook = "deploy/README.md, The database is away", %error, unanswered, "a group was not written");
            // The others are dropped unanswered, which their callers see as "unavailable".
            if let AppendError::Clock(off) = error {
                answers.into_iter().for_each(|mut answer| {
                    answer.fail(Problem::Clock(off));
                    answer.tell();
                });
            }
            return Err(error);
        }
        for key in keys {
            self.work.open.remove(&key);
        }
        if let (Some(snapshot), Some(repo)) = (snapshot, &self.books.repo) {
            self.work.snapshots.keep(repo.clone(), snapshot);
        }
        looked.into_iter().for_each(|tell| tell());
        self.work.flying = self.work.flying.saturating_sub(commands(&answers));
        let asks = self.work.asks.len() + self.queue.len() + answers.len();
        self.work.returning = self.work.waits.due().then(|| Returning::of(asks, sent.elapsed()));
        let mut answers = answers.into_iter();
        loop {
            answers.by_ref().take(PART).for_each(Answer::tell);
            if answers.len() == 0 {
                return Ok(());
            }
            yield_now().await;
        }
    }
}

/// Number of commands that these answers are for.
fn commands(answers: &[Answer]) -> usize {
    answers.iter().map(|answer| answer.room.num_permits()).sum()
}

/// Sleeps until the next hold expires, at most [`TICK`]; for ever if none is pending.
async fn until(end: Option<UnixMicros>, now: UnixMicros) {
    match end {
        Some(end) => tokio::time::sleep(end.since(now).min(TICK)).await,
        None => std::future::pending().await,
    }
}
