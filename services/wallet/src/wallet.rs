//! Handle of the wallet: runs commands, and reads durable state.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clocklog::Noticed;
use eventlog::{ClockOff, ReadError, Reader, RequestKey, Stored};
use ledger::{Account, AllTerms, Ledger, Refusal, Setter, Standing, Used};
use primitives::{PlayerId, UnixMicros};
use system::clock::Clock;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use crate::answer::Done;
use crate::command::{Request, Wish};
use crate::repo::Repo;

/// Bounds on what waits in memory and on what is done at a time.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Commands accepted and not yet answered; further ones are refused at once.
    pub waiting: usize,
    /// Commands that share a commit, unless one batch alone has more.
    pub group: usize,
    /// Groups in flight to the log at a time.
    pub ahead: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { waiting: 16_384, group: 1000, ahead: 2 }
    }
}

/// Failure of a command: it was not carried out, or its outcome is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Problem {
    /// The ledger refused the command, judged on durable balances.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The request id was used before, for other content.
    #[error("this request id was used before, for something else: make a new one for each command")]
    Reused,
    /// A person sent a request id of the kind that only services derive.
    #[error("UUIDs of version 8 are for ids that services derive: send a UUIDv7")]
    DerivedId,
    /// A person sent a request id of the future: how far ahead it is.
    #[error("the request id was made in the future: set this machine's clock right")]
    IdAhead(Duration),
    /// The caller sent too many request ids that must be looked up: time until the next is
    /// admitted.
    #[error("this request id is no UUIDv7 of about now, and one such id a second is looked up")]
    OddId(Duration),
    /// The player's daily quota of recorded commands is used up: time until the next day.
    #[error("no more commands of this player are recorded today")]
    DaySpent(Duration),
    /// Too many commands wait. Nothing was changed.
    #[error("the wallet has too much to do: repeat the request a little later")]
    Overloaded,
    /// The outcome is unknown: repeating the same request tells it.
    #[error("the wallet's log is out of reach: repeat the same request a little later")]
    Unavailable,
    /// The clocks disagree. Nothing was changed, nor will be until they agree.
    #[error(transparent)]
    Clock(ClockOff),
    /// Stored records contradict each other.
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

/// Outcome of a command.
pub type Outcome = Result<Done, Problem>;

/// Author of a command, as recorded.
#[derive(Clone, Debug)]
pub struct By {
    pub actor: Arc<str>,
    /// Trace of the call; zeros for none.
    pub trace: [u8; 16],
}

/// Handle of a wallet; clones share the same wallet.
#[derive(Clone)]
pub struct Wallet {
    asks: mpsc::Sender<Ask>,
    looks: mpsc::Sender<Look>,
    room: Arc<Semaphore>,
    limit: usize,
    books: Books,
}

/// Commands that arrived together, with the channel for their outcomes.
pub(crate) struct Ask {
    pub(crate) requests: Vec<Named>,
    pub(crate) by: By,
    pub(crate) answer: oneshot::Sender<Vec<Outcome>>,
    /// Requests among them that the log's store has answered before; `None` until it was asked.
    pub(crate) recalled: Option<BTreeMap<RequestKey, Stored>>,
    /// Room in the queue, released with the answer.
    pub(crate) room: OwnedSemaphorePermit,
}

/// A read-only query of the ledger. Returns the reply, to be sent once what it saw is known to be
/// durable.
pub(crate) struct Look(pub(crate) Box<dyn FnOnce(&View<'_>) -> Tell + Send>);

/// Sends the reply of a query.
pub(crate) type Tell = Box<dyn FnOnce() + Send>;

/// State that a query sees.
pub(crate) struct View<'a> {
    pub(crate) ledger: &'a Ledger,
    pub(crate) now: UnixMicros,
    /// Reader of the ledger's log.
    pub(crate) reader: &'a Reader,
}

/// Standing of a player with the use of their limits, from the ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    pub standing: Standing,
    /// Use of each limit; `None` if the account was never opened.
    pub used: Option<Vec<Used>>,
    /// Limits that the player set.
    pub own: AllTerms,
    /// Limits that an operator set for the player.
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

/// Receiving ends of a wallet's handles.
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

/// The wallet's tables, and whether they may be read: not while they are rebuilt.
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

    /// Standing of players, in the order of `players`, by durable state.
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

    /// Runs a query on the ledger; returns its result once the state it saw is durable.
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
            // The caller may have stopped waiting.
            Box::new(move || drop(answer.send(seen)))
        };
        self.looks.try_send(Look(Box::new(look))).map_err(|error| match error {
            TrySendError::Full(_) => Problem::Overloaded,
            TrySendError::Closed(_) => Problem::Unavailable,
        })?;
        answered.await.map_err(|_| Problem::Unavailable)
    }

    /// Carries out a command; returns once it is durable. A caller that stops waiting does not undo
    /// it.
    ///
    /// # Errors
    /// See [`Problem`].
    pub async fn ask(&self, request: Request, by: By) -> Outcome {
        let outcomes = self.ask_all(vec![request], by).await?;
        outcomes.into_iter().next().unwrap_or(Err(Problem::Unavailable))
    }

    /// Carries out commands in their order. Returns the outcome of each, in that order.
    ///
    /// # Errors
    /// [`Problem::Overloaded`] and [`Problem::Unavailable`], if none of them was taken.
    pub async fn ask_all(&self, requests: Vec<Request>, by: By) -> Result<Vec<Outcome>, Problem> {
        let (count, answered) = (requests.len(), self.enqueue(requests, by)?);
        let outcomes = answered.await.map_err(|_| Problem::Unavailable)?;
        if outcomes.len() == count { Ok(outcomes) } else { Err(Problem::Unavailable) }
    }

    /// Records each step of the clock from now on, for as long as it is polled.
    pub fn record_steps(&self, clock: Arc<dyn Clock>) -> impl Future<Output = ()> + Send + use<> {
        let wallet = self.clone();
        clocklog::record(clock, move |noticed| {
            let wallet = wallet.clone();
            async move { wallet.record_step(noticed).await }
        })
    }

    /// Records a step like any command. Returns whether it is on record.
    async fn record_step(&self, Noticed { step, id }: Noticed) -> bool {
        let request = Request { id, wish: Wish::ClockStepped(step), linked: false };
        let by = By { actor: "service:wallet".into(), trace: [0; 16] };
        self.ask(request, by).await.is_ok()
    }

    /// Puts commands into the queue without waiting. The receiver gets their outcomes in order, or
    /// nothing if the log is lost.
    ///
    /// # Errors
    /// [`Problem::Overloaded`] and [`Problem::Unavailable`].
    pub fn enqueue(
        &self,
        requests: Vec<Request>,
        by: By,
    ) -> Result<oneshot::Receiver<Vec<Outcome>>, Problem> {
        // A batch larger than the whole queue takes all of its room.
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

    /// Watches whether the accounts are in memory: false until they are read, which is after the
    /// log is taken.
    #[must_use]
    pub fn loaded(&self) -> watch::Receiver<bool> {
        self.books.loaded.subscribe()
    }

    /// The wallet's tables, as of the last durable event.
    ///
    /// # Errors
    /// [`Problem::Unavailable`] while they are rebuilt, and if the log's store has none.
    pub fn read(&self) -> Result<&Repo, Problem> {
        let whole = self.books.whole.load(Ordering::Acquire);
        self.books.repo.as_ref().filter(|_| whole).ok_or(Problem::Unavailable)
    }
}
