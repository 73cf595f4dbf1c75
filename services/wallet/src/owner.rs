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
//! **Time.** A group has one time, never before that of the group before. Holds whose time is over
//! end before anything else is decided at that time; where nothing is asked a timer sees to them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use eventlog::{AppendError, Clock, Known, Log, OpenError, Position, ReadError, Stored};
use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesOrdered;
use ledger::Ledger;
use primitives::{RequestId, UnixMicros};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::task::yield_now;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::answer::Done;
use crate::repo::{Repo, Written};
use crate::wallet::{Ask, Books, Limits, Outcome, Problem, Wallet};
use group::Deciding;
use returning::{Returning, Waits};

mod group;
pub(crate) mod load;
mod recovery;
mod returning;

pub use load::LoadError;

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
    limits: Limits,
    work: Work,
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
    open: BTreeMap<RequestId, Open>,
    flights: FuturesOrdered<BoxFuture<'static, Landed>>,
    /// Commands in these groups.
    flying: usize,
    /// Who was just answered and may be back in a moment.
    returning: Option<Returning>,
    waits: Waits,
}

/// A command's content, and what it will be answered.
struct Open {
    digest: [u8; 32],
    done: Done,
}

/// A group whose outcome is known.
struct Landed {
    outcome: Result<(), AppendError>,
    ids: Vec<RequestId>,
    answers: Vec<Answer>,
    sent: Instant,
}

/// Somebody who waits, and what he will be told.
struct Answer {
    to: oneshot::Sender<Vec<Outcome>>,
    outcomes: Vec<Outcome>,
    room: OwnedSemaphorePermit,
}

impl Answer {
    fn refuses(&self) -> bool {
        self.outcomes.iter().any(|outcome| matches!(outcome, Err(Problem::Refused(_))))
    }

    fn make_unavailable(&mut self) {
        self.outcomes.fill(Err(Problem::Unavailable));
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
}

impl Work {
    fn new(log: Log, ledger: Ledger) -> Work {
        let head = log.head();
        Work {
            next: Position(head.size),
            at: head.recorded_at,
            log,
            ledger,
            asks: Vec::new(),
            asked: 0,
            open: BTreeMap::new(),
            flights: FuturesOrdered::new(),
            flying: 0,
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
        let ledger = load::load(&log, &books).await?;
        let (wallet, queue) = Wallet::new(limits, books.clone());
        let work = Work::new(log, ledger);
        Ok((wallet, Owner { ground, books, queue, limits, work }))
    }
}

impl Owner {
    /// Serves until `stopping` fires or every handle of the wallet is gone; what was accepted is
    /// finished, then the log is given up.
    ///
    /// # Errors
    /// Where the log turns out to be corrupt. A log that is lost or out of reach is waited for.
    pub async fn run(mut self, stopping: CancellationToken) -> Result<(), Fault> {
        loop {
            match self.serve(&stopping).await {
                Pause::Drained => {
                    self.work.log.close().await;
                    return Ok(());
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
            if !accepting && self.work.flights.is_empty() {
                return Pause::Drained;
            }
            let ahead = self.work.flights.len() < self.limits.ahead;
            let next_end = self.work.ledger.next_expiry();
            tokio::select! {
                biased;
                Some(landed) = self.work.flights.next() => {
                    if self.landed(landed).await.is_err() {
                        return Pause::Lost;
                    }
                }
                () = stopped.cancelled() => return Pause::Lost,
                () = stopping.cancelled(), if !self.queue.is_closed() => {
                    self.queue.close();
                }
                ask = self.queue.recv(), if accepting && ahead && self.work.asked < self.limits.group => {
                    match ask {
                        Some(ask) => self.work.hear(ask),
                        None => accepting = false,
                    }
                }
                () = until(next_end, (self.ground.clock)()), if accepting && ahead => self.expire(),
            }
        }
    }

    /// Whether a group is to be made. Behind one that is on its way only where enough waits: small
    /// groups cost the database nearly as much as large ones.
    fn has_room(&self) -> bool {
        let Work { asks, asked, flights, flying, .. } = &self.work;
        let crowd = || *asked >= CROWD.max(flying / 4);
        !asks.is_empty() && (flights.is_empty() || (flights.len() < self.limits.ahead && crowd()))
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
        match answered_before(&self.work.log, &self.work.open, &asks).await {
            Ok(before) => self.decide(asks, &before),
            Err(error) => {
                tracing::warn!(%error, "the log does not say which requests it has answered");
                let unavailable = |ask: &Ask| vec![Err(Problem::Unavailable); ask.requests.len()];
                asks.into_iter().for_each(|ask| {
                    let outcomes = unavailable(&ask);
                    Answer { to: ask.answer, outcomes, room: ask.room }.tell();
                });
            }
        }
    }

    fn decide(&mut self, asks: Vec<Ask>, before: &BTreeMap<RequestId, Stored>) {
        self.expire();
        let mut deciding = self.deciding();
        let answers = asks.into_iter().map(|ask| {
            let Ask { requests, by, answer: to, room } = ask;
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
        Deciding::new(ledger, open, *next, *at)
    }

    /// Hands a group to the log; or nothing, where it only answers.
    fn send(&mut self, decided: group::Decided, answers: Vec<Answer>) {
        let group::Decided { entries, ids, rows, states, next } = decided;
        let Work { log, flights, flying, next: first, at, .. } = &mut self.work;
        if entries.is_empty() {
            let refuses = answers.iter().any(Answer::refuses);
            if flights.is_empty() && !refuses {
                answers.into_iter().for_each(Answer::tell);
                return;
            }
            let (log, sent, mut answers) = (log.clone(), Instant::now(), answers);
            *flying += commands(&answers);
            flights.push_back(Box::pin(async move {
                let mut outcome = if refuses { log.confirm().await } else { Ok(()) };
                if matches!(outcome, Err(AppendError::Unavailable { .. })) {
                    // Nothing was to be written: what is in memory stands.
                    answers.iter_mut().for_each(Answer::make_unavailable);
                    outcome = Ok(());
                }
                Landed { outcome, ids, answers, sent }
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
            Landed { outcome: written.await.map(drop), ids, answers, sent }
        }));
    }

    async fn landed(&mut self, landed: Landed) -> Result<(), AppendError> {
        let Landed { outcome, ids, answers, sent } = landed;
        if let Err(error) = outcome {
            let unanswered = answers.len();
            tracing::warn!(%error, unanswered, "a group was not written");
            // Dropped unanswered, which says "unavailable".
            return Err(error);
        }
        for id in ids {
            self.work.open.remove(&id);
        }
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

/// Those of the requests that the log has answered.
async fn answered_before(
    log: &Log,
    open: &BTreeMap<RequestId, Open>,
    asks: &[Ask],
) -> Result<BTreeMap<RequestId, Stored>, ReadError> {
    let (mut before, mut ask) = (BTreeMap::new(), Vec::new());
    for named in asks.iter().flat_map(|ask| &ask.requests) {
        let id = named.request.id;
        if open.contains_key(&id) {
            continue;
        }
        match log.known(id) {
            Known::Fresh => {}
            Known::Stored(stored) => drop(before.insert(id, stored)),
            Known::Ask => ask.push(id),
        }
    }
    if !ask.is_empty() {
        before.extend(log.recall_many(&ask).await?);
    }
    Ok(before)
}
