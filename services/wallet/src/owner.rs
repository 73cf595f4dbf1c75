//! The one task that owns the ledger.
//!
//! **Ahead of the log.** There is one ledger in memory and it leads: a command is decided against it
//! and its events are applied at once, before they are durable. What waits in the queue is gathered
//! into a group, decided one after the other at one time, and handed to the log as one commit
//! together with its rows of the tables. Where enough waits, the next group is decided while that is being
//! written, and the log sends it ahead of its turn, so that both processors work. Enough is a crowd, and
//! a quarter of what is on its way: small groups cost the database nearly as much as large ones. With
//! 64 callers of batches of 100 transfers that is 70,000 a second instead of 42,000, over as many
//! streams 70,000 instead of 43,000; 64 callers of one transfer each stay in one group
//! (14,600 to 17,600 a second; two groups of 16 and 48 at once 14,300, and a tenth more processor time).
//!
//! **Told in parts.** Told all at once, a crowd is written out only after the last of its answers is made, and
//! comes back as late: callers, this process and the database wait for each other by turns. In parts of
//! 16 the first are back while the last are told, and fewer miss the next group: 7,100 and 7,300
//! transfers a second of 64 callers instead of 6,600 and 6,700 (slices of 0.3 s, by turns; where `pgbench -N`
//! did 3,300), parts of 8 between the two.
//!
//! **Durable first.** Nobody is answered before the group is durable, and groups land in their order; so
//! an answer never rests on what might still be lost, a refusal neither: a group that only refuses waits
//! for those before it, and asks whose the log is. Without that a wallet whose log another has taken said
//! no by what it remembered, even to a request that the other had carried out.
//!
//! **One failure, one cure.** Where a group is not written, everything on its way is answered
//! "unavailable", memory is thrown away and the log is read again (`recovery`). Nothing is taken back
//! one by one.
//!
//! **Once.** A request that was answered before is known from the log's memory or, below its floor,
//! by one question for all of a group; one that is on its way is found among those. Either is told
//! the first answer, or that its id was used for something else.
//!
//! **Looked at.** How players stand, what is held and what is proposed is read off the same ledger: answered
//! once all that was decided before is durable, and never by a wallet whose log another has taken.
//!
//! **Time.** A group has one time, never before that of the group before. Holds whose time is over
//! end before anything else is decided at that time; where nothing is asked a timer sees to them.

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

/// Commands that are worth a group of their own while another is on its way.
const CROWD: usize = 64;
/// So many are told, then the connections are let send what they were told.
const PART: usize = 16;
/// The longest that an end of a hold is waited for without looking at the clock again.
const TICK: Duration = Duration::from_secs(1);

/// What a wallet stands on.
pub struct Ground {
    pub opener: Opener,
    /// The one that the log is opened with.
    pub clock: Clock,
    /// The tables beside the log; none where its store has none. Then nothing is read but answers.
    pub repo: Option<Repo>,
}

/// The wallet cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// The owner before and while it runs.
pub struct Owner {
    ground: Ground,
    books: Books,
    queue: mpsc::Receiver<Ask>,
    looks: mpsc::Receiver<Look>,
    limits: Limits,
    quotas: Quotas,
    work: Work,
    /// The comparison of every entry with the log, while it runs.
    verifying: JoinSet<Result<(), LoadError>>,
    /// The log as it was written here, where it was read again and not compared yet.
    written: Option<TreeHead>,
}

/// What is in memory of the log, and what is on its way there: thrown away whole when a write fails.
struct Work {
    log: Log,
    ledger: Ledger,
    /// What waits for the next group, and how many commands that is.
    asks: Vec<Ask>,
    asked: usize,
    /// Where the next group will stand.
    next: Position,
    /// The time of the last group.
    at: UnixMicros,
    /// Commands that are decided and not known to be durable.
    open: BTreeMap<RequestKey, Open>,
    flights: FuturesOrdered<BoxFuture<'static, Landed>>,
    snapshots: Snapshots,
    /// Commands in these groups.
    flying: usize,
    /// Questions to the store whether requests were answered before, and which.
    asking: JoinSet<Recalled>,
    asked_for: BTreeSet<RequestKey>,
    /// Who was just answered and may be back in a moment.
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

/// Somebody who waits, and what he will be told.
struct Answer {
    to: oneshot::Sender<Vec<Outcome>>,
    outcomes: Vec<Outcome>,
    room: OwnedSemaphorePermit,
}

impl Answer {
    fn fail(&mut self, problem: Problem) {
        self.outcomes.fill(Err(problem));
    }

    /// Whoever no longer waits is not told; his commands stand all the same.
    fn tell(self) {
        let Answer { to, outcomes, room } = self;
        drop(room);
        let _ = to.send(outcomes);
    }
}

/// Why the owner stops looking at commands.
enum Pause {
    /// Nobody can ask any more, and everything is answered.
    Drained,
    Lost,
    /// What the tables say is not what the log says, or the log contradicts itself.
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
    /// Opens the log and reads what is on the accounts.
    ///
    /// # Errors
    /// Where the log is another's, cannot be read, or is corrupt.
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
    /// An owner whose entries begin to be compared with the log at once.
    fn new((ground, books): (Ground, Books), queues: Queues, limits: Limits, work: Work) -> Owner {
        let Queues { asks: queue, looks } = queues;
        let (quotas, verifying, written) = (Quotas::default(), JoinSet::new(), None);
        let mut owner =
            Owner { ground, books, queue, looks, limits, quotas, work, verifying, written };
        owner.verify_history();
        owner
    }

    /// Serves until `stopping` fires or every handle of the wallet is gone; what was accepted is
    /// finished, then the log is given up.
    ///
    /// # Errors
    /// Where the log turns out to be corrupt. A log that is lost or out of reach is waited for.
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
                // Before the queue, which is never empty where more waits than one group takes.
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

    /// Whether a group is to be made. Behind commands that are on their way only where enough waits: small
    /// groups cost the database nearly as much as large ones. Looks alone hold nobody back; what comes
    /// behind them lands behind them.
    fn has_room(&self) -> bool {
        let Work { asks, asked, flights, flying, .. } = &self.work;
        let crowd = || *asked >= CROWD.max(flying / 4);
        !asks.is_empty() && (*flying == 0 || (flights.len() < self.limits.ahead && crowd()))
    }

    /// Decides all that waits, within the limits.
    async fn gather(&mut self) {
        let mut count = std::mem::take(&mut self.work.asked);
        let mut asks = std::mem::take(&mut self.work.asks);
        let returning = self.work.returning.take();
        let mut vain = false;
        while count < self.limits.group {
            let ask = match (self.queue.try_recv(), returning) {
                (Ok(ask), _) => ask,
                // What is large already gains nothing by waiting.
                (Err(_), Some(back)) if asks.len() < back.asks && count < CROWD => {
                    match timeout_at(back.until, self.queue.recv()).await {
                        Ok(Some(ask)) => ask,
                        Ok(None) => break,
                        Err(_) => {
                            // Three quarters are a crowd.
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

    /// Ends what is over, in as many groups as that takes.
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

    /// Hands a group to the log; or nothing, where it only answers.
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
                    // Nothing was to be written: what is in memory stands.
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
            // Others are dropped unanswered, which says "unavailable".
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

/// Commands that these answers are for.
fn commands(answers: &[Answer]) -> usize {
    answers.iter().map(|answer| answer.room.num_permits()).sum()
}

/// Until the next hold is over, or the clock should be looked at again; for ever where none is pending.
async fn until(end: Option<UnixMicros>, now: UnixMicros) {
    match end {
        Some(end) => tokio::time::sleep(end.since(now).min(TICK)).await,
        None => std::future::pending().await,
    }
}
