//! The wallet as its callers see it: ask, and read what is durable.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chassis::clock::Clock;
use clocklog::Noticed;
use eventlog::{ClockOff, ReadError, Reader, RequestKey, Stored};
use ledger::{Account, AllTerms, Ledger, Refusal, Setter, Standing, Used};
use primitives::{PlayerId, UnixMicros};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use crate::answer::Done;
use crate::command::{Request, Wish};
use crate::repo::Repo;

/// Bounds on what waits in memory and on what is done at a time.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Commands that were accepted and are not answered; more are refused at once.
    pub waiting: usize,
    /// Commands that share a commit, unless one batch alone has more.
    pub group: usize,
    /// Groups that are on their way to the log at a time.
    pub ahead: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { waiting: 16_384, group: 1000, ahead: 2 }
    }
}

/// A command was not carried out, or nobody here knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Problem {
    /// A no, on durable balances.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The request id was used before, for another content.
    #[error("this request id was used before, for something else: make a new one for each command")]
    Reused,
    /// A person sent a request id that only services derive.
    #[error("UUIDs of version 8 are for ids that services derive: send a UUIDv7")]
    DerivedId,
    /// A person sent a request id of the future: how far ahead it is.
    #[error("the request id was made in the future: set this machine's clock right")]
    IdAhead(Duration),
    /// One odd request id too many; the time until the next is taken.
    #[error("this request id is no UUIDv7 of about now, and one such id a second is looked up")]
    OddId(Duration),
    /// The player has had as many commands recorded as a day takes; the time until the next.
    #[error("no more commands of this player are recorded today")]
    DaySpent(Duration),
    /// Too much waits. Nothing was changed.
    #[error("the wallet has too much to do: repeat the request a little later")]
    Overloaded,
    /// Perhaps carried out, perhaps not: repeating the same request tells.
    #[error("the wallet's log is out of reach: repeat the same request a little later")]
    Unavailable,
    /// Nothing was changed, nor will be until the clocks agree.
    #[error(transparent)]
    Clock(ClockOff),
    /// What is stored contradicts itself.
    #[error("the wallet's records contradict each other: tell the operator")]
    Corrupt,
}

impl From<ReadError> for Problem {
    fn from(error: ReadError) -> Problem {
        match error {
            ReadError::Unavailable { source } => {
                let source = source.map(|source| source.to_string());
                tracing::warn!(
                    runbook = "deploy/README.md, The database is away",
                    ?source,
                    "the wallet's tables cannot be read"
                );
                Problem::Unavailable
            }
            ReadError::Stopped => Problem::Unavailable,
            ReadError::Corrupt(what) => {
                tracing::error!(%what, "the wallet's tables cannot be read");
                Problem::Corrupt
            }
            error @ ReadError::Archived { .. } => {
                tracing::error!(%error, "the wallet's tables cannot be read");
                Problem::Corrupt
            }
        }
    }
}

/// What became of a command.
pub type Outcome = Result<Done, Problem>;

/// Who asks, for the record.
#[derive(Clone, Debug)]
pub struct By {
    pub actor: Arc<str>,
    /// The trace the call belongs to; zeros for none.
    pub trace: [u8; 16],
}

/// A handle of the wallet; its clones are handles of the same.
#[derive(Clone)]
pub struct Wallet {
    asks: mpsc::Sender<Ask>,
    looks: mpsc::Sender<Look>,
    room: Arc<Semaphore>,
    limit: usize,
    books: Books,
}

/// Commands that came together, and whoever waits for what becomes of them.
pub(crate) struct Ask {
    pub(crate) requests: Vec<Named>,
    pub(crate) by: By,
    pub(crate) answer: oneshot::Sender<Vec<Outcome>>,
    /// Those of the requests that the log's store has answered before, once it was asked.
    pub(crate) recalled: Option<BTreeMap<RequestKey, Stored>>,
    /// Given back with the answer.
    pub(crate) room: OwnedSemaphorePermit,
}

/// A question that moves nothing: what is seen now, to be told once it is known to be durable.
pub(crate) struct Look(pub(crate) Box<dyn FnOnce(&View<'_>) -> Tell + Send>);

/// Tells whoever looked what they saw.
pub(crate) type Tell = Box<dyn FnOnce() + Send>;

/// What a look is at.
pub(crate) struct View<'a> {
    pub(crate) ledger: &'a Ledger,
    pub(crate) now: UnixMicros,
    /// Of the ledger's log.
    pub(crate) reader: &'a Reader,
}

/// How a player stands, by the ledger itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    pub standing: Standing,
    /// What is used of each limit; nothing where the account was never opened.
    pub used: Option<Vec<Used>>,
    /// The player's own limits and the operator's.
    pub own: AllTerms,
    pub operator: AllTerms,
}

impl Seen {
    pub(crate) fn of(ledger: &Ledger, player: PlayerId, now: UnixMicros) -> Seen {
        let state = ledger.account(&Account::Player(player));
        let terms = |by| state.map(|state| state.terms(by, now)).unwrap_or_default();
        Seen {
            standing: ledger.standing(player, now),
            used: ledger.used(player, now),
            own: terms(Setter::Player),
            operator: terms(Setter::Operator),
        }
    }
}

/// The receiving ends of a wallet's handles.
pub(crate) struct Queues {
    pub(crate) asks: mpsc::Receiver<Ask>,
    pub(crate) looks: mpsc::Receiver<Look>,
}

/// A request with its key in the log and the digest of its content.
pub(crate) struct Named {
    pub(crate) request: Request,
    pub(crate) key: RequestKey,
    pub(crate) digest: [u8; 32],
}

/// The tables, and whether they are whole: while they are made anew nobody reads them.
#[derive(Clone, Default)]
pub(crate) struct Books {
    pub(crate) repo: Option<Repo>,
    whole: Arc<AtomicBool>,
    loaded: watch::Sender<bool>,
}

impl Books {
    pub(crate) fn new(repo: Option<Repo>) -> Books {
        Books { repo, whole: Arc::default(), loaded: watch::Sender::default() }
    }

    pub(crate) fn set_whole(&self, whole: bool) {
        self.whole.store(whole, Ordering::Release);
    }

    pub(crate) fn set_loaded(&self, loaded: bool) {
        self.loaded.send_replace(loaded);
    }
}

impl Wallet {
    pub(crate) fn new(limits: Limits, books: Books) -> (Wallet, Queues) {
        let limit = limits.waiting.max(1);
        let (asks, asked) = mpsc::channel(limit);
        let (looks, looked) = mpsc::channel(limit);
        let room = Arc::new(Semaphore::new(limit));
        (Wallet { asks, looks, room, limit, books }, Queues { asks: asked, looks: looked })
    }

    /// How players stand, in the order asked for, by what is durable.
    ///
    /// # Errors
    /// [`Problem::Overloaded`] and [`Problem::Unavailable`].
    pub async fn look(&self, players: Vec<PlayerId>) -> Result<Vec<Seen>, Problem> {
        let seen = move |view: &View<'_>| {
            let seen = |player| Seen::of(view.ledger, player, view.now);
            players.into_iter().map(seen).collect()
        };
        self.see(seen).await
    }

    /// Anything that the ledger says, by what is durable.
    ///
    /// # Errors
    /// [`Problem::Overloaded`] and [`Problem::Unavailable`].
    pub(crate) async fn see<T: Send + 'static>(
        &self,
        see: impl FnOnce(&View<'_>) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let (answer, answered) = oneshot::channel();
        let look = move |view: &View<'_>| -> Tell {
            let seen = see(view);
            // Whoever no longer waits is not told.
            Box::new(move || drop(answer.send(seen)))
        };
        self.looks.try_send(Look(Box::new(look))).map_err(|error| match error {
            TrySendError::Full(_) => Problem::Overloaded,
            TrySendError::Closed(_) => Problem::Unavailable,
        })?;
        answered.await.map_err(|_| Problem::Unavailable)
    }

    /// Has a command carried out; answers once it is durable. A caller who stops waiting does not
    /// undo it.
    ///
    /// # Errors
    /// See [`Problem`].
    pub async fn ask(&self, request: Request, by: By) -> Outcome {
        let outcomes = self.ask_all(vec![request], by).await?;
        outcomes.into_iter().next().unwrap_or(Err(Problem::Unavailable))
    }

    /// Has commands carried out in their order; the outcome of each, in that order.
    ///
    /// # Errors
    /// [`Problem::Overloaded`] and [`Problem::Unavailable`], where that is so of all of them.
    pub async fn ask_all(&self, requests: Vec<Request>, by: By) -> Result<Vec<Outcome>, Problem> {
        let (count, answered) = (requests.len(), self.enqueue(requests, by)?);
        let outcomes = answered.await.map_err(|_| Problem::Unavailable)?;
        if outcomes.len() == count { Ok(outcomes) } else { Err(Problem::Unavailable) }
    }

    /// Has each step of the clock from now on recorded, for as long as it is polled.
    pub fn record_steps(&self, clock: Arc<dyn Clock>) -> impl Future<Output = ()> + Send + use<> {
        let wallet = self.clone();
        clocklog::record(clock, move |noticed| {
            let wallet = wallet.clone();
            async move { wallet.record_step(noticed).await }
        })
    }

    /// Has a step recorded like any command; whether it is on record.
    async fn record_step(&self, Noticed { step, id }: Noticed) -> bool {
        let request = Request { id, wish: Wish::ClockStepped(step), linked: false };
        let by = By { actor: "service:wallet".into(), trace: [0; 16] };
        self.ask(request, by).await.is_ok()
    }

    /// Puts commands into the queue, now; what becomes of them comes later, in order, or nothing
    /// where the log is lost.
    ///
    /// # Errors
    /// [`Problem::Overloaded`] and [`Problem::Unavailable`].
    pub fn enqueue(
        &self,
        requests: Vec<Request>,
        by: By,
    ) -> Result<oneshot::Receiver<Vec<Outcome>>, Problem> {
        // A batch larger than all the room there is waits for the whole of it.
        let permits = requests.len().clamp(1, self.limit);
        let permits = u32::try_from(permits).map_err(|_| Problem::Overloaded)?;
        let room = Arc::clone(&self.room)
            .try_acquire_many_owned(permits)
            .map_err(|_| Problem::Overloaded)?;
        let named = |request: Request| {
            let (key, digest) = (RequestKey::new(&by.actor, request.id), request.digest());
            Named { request, key, digest }
        };
        let requests = requests.into_iter().map(named).collect();
        let (answer, answered) = oneshot::channel();
        self.asks.try_send(Ask { requests, by, answer, recalled: None, room }).map_err(
            |error| match error {
                TrySendError::Full(_) => Problem::Overloaded,
                TrySendError::Closed(_) => Problem::Unavailable,
            },
        )?;
        Ok(answered)
    }

    /// Whether the accounts are in memory, each time that changes: not while they are read, which is
    /// after the log is taken.
    #[must_use]
    pub fn loaded(&self) -> watch::Receiver<bool> {
        self.books.loaded.subscribe()
    }

    /// The books, as of the last durable event.
    ///
    /// # Errors
    /// [`Problem::Unavailable`] while they are made anew, and where the log has none.
    pub fn read(&self) -> Result<&Repo, Problem> {
        let whole = self.books.whole.load(Ordering::Acquire);
        self.books.repo.as_ref().filter(|_| whole).ok_or(Problem::Unavailable)
    }
}
