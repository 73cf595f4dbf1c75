//! Handle of the wallet: runs commands, and reads durable state.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clocklog::Noticed;
use eventlog::{ClockSkew, KnownRequest, ReadError, Reader, RequestKey};
use ledger::{Account, AllLimitTerms, Ledger, LimitSetter, LimitUsage, Refusal, Standing};
use primitives::{PlayerId, UnixMicros};
use system::clock::Clock;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};

use crate::answer::Answer;
use crate::command::{Request, RequestContent};
use crate::repo::Repo;

/// Bounds on what waits in memory and on what is done at a time.
#[derive(Clone, Copy, Debug)]
pub struct QueueLimits {
    /// Commands accepted and not yet answered; further ones are refused at once.
    pub max_waiting: usize,
    /// Commands that share a commit, unless one batch alone has more.
    pub max_group: usize,
    /// Groups in flight to the log at a time.
    pub max_in_flight: usize,
}

impl Default for QueueLimits {
    fn default() -> QueueLimits {
        QueueLimits { max_waiting: 16_384, max_group: 1000, max_in_flight: 2 }
    }
}

/// Failure of a command: it was not carried out, or its outcome is unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WalletError {
    /// The ledger refused the command, judged on durable balances.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The request id was used before, for other content.
    #[error("this request id was used before, for something else: make a new one for each command")]
    RequestIdReused,
    /// The request id is of a time whose answers are archived: it may have been carried out then.
    #[error("this request id is of a time whose answers are archived: make a new one")]
    RequestIdTooOld,
    /// A person sent a request id of the kind that only services derive.
    #[error("UUIDs of version 8 are for ids that services derive: send a UUIDv7")]
    DerivedRequestId,
    /// A person sent a request id of the future: how far ahead it is.
    #[error("the request id was made in the future: set this machine's clock right")]
    FutureRequestId(Duration),
    /// The caller sent too many request ids that must be looked up: time until the next is
    /// admitted.
    #[error("this request id is no UUIDv7 of about now, and one such id a second is looked up")]
    RequestIdRateLimited(Duration),
    /// The player's daily quota of recorded commands is used up: time until the next day.
    #[error("no more commands of this player are recorded today")]
    DailyQuotaSpent(Duration),
    /// Too many commands wait. Nothing was changed.
    #[error("the wallet has too much to do: repeat the request a little later")]
    Overloaded,
    /// The outcome is unknown: repeating the same request tells it.
    #[error("the wallet's log is out of reach: repeat the same request a little later")]
    Unavailable,
    /// The clocks disagree. Nothing was changed, nor will be until they agree.
    #[error(transparent)]
    Clock(ClockSkew),
    /// Stored records contradict each other.
    #[error("the wallet's records contradict each other: tell the operator")]
    Corrupt,
}

impl From<ReadError> for WalletError {
    fn from(error: ReadError) -> WalletError {
        match error {
            ReadError::Unavailable { source } => {
                let source = source.map(|source| source.to_string());
                tracing::warn!(
                    runbook = "deploy/README.md, The database is away",
                    ?source,
                    "the wallet's tables cannot be read"
                );
                WalletError::Unavailable
            }
            ReadError::Stopped => WalletError::Unavailable,
            ReadError::Corrupt(what) => {
                tracing::error!(%what, "the wallet's tables cannot be read");
                WalletError::Corrupt
            }
            error @ (ReadError::Archived { .. } | ReadError::Archive(_)) => {
                tracing::error!(%error, "the wallet's tables cannot be read");
                WalletError::Corrupt
            }
        }
    }
}

/// Outcome of a command.
pub type Outcome = Result<Answer, WalletError>;

/// Author of a command, as recorded.
#[derive(Clone, Debug)]
pub struct Author {
    pub actor: Arc<str>,
    /// Trace of the call; zeros for none.
    pub trace: [u8; 16],
}

/// Handle of a wallet; clones share the same wallet.
#[derive(Clone)]
pub struct Wallet {
    batches: mpsc::Sender<RequestBatch>,
    queries: mpsc::Sender<Query>,
    permits: Arc<Semaphore>,
    max_waiting: usize,
    tables: Tables,
}

/// Commands that arrived together, with the channel for their outcomes.
pub(crate) struct RequestBatch {
    pub(crate) requests: Vec<KeyedRequest>,
    pub(crate) author: Author,
    pub(crate) reply: oneshot::Sender<Vec<Outcome>>,
    /// Requests among them that the log's store has answered before; `None` until it was asked.
    pub(crate) stored_answers: Option<BTreeMap<RequestKey, KnownRequest>>,
    /// Room in the queue, released with the answer.
    pub(crate) permits: OwnedSemaphorePermit,
}

/// A read-only query of the ledger. Returns the reply, to be sent once what it saw is known to be
/// durable.
pub(crate) struct Query(pub(crate) Box<dyn FnOnce(&QueryContext<'_>) -> SendReply + Send>);

/// Sends the reply of a query.
pub(crate) type SendReply = Box<dyn FnOnce() + Send>;

/// State that a query sees.
pub(crate) struct QueryContext<'a> {
    pub(crate) ledger: &'a Ledger,
    pub(crate) now: UnixMicros,
    /// Reader of the ledger's log.
    pub(crate) reader: &'a Reader,
}

/// Standing of a player with the use of their limits, from the ledger.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlayerLimits {
    pub standing: Standing,
    /// Use of each limit; `None` if the account was never opened.
    pub usage: Option<Vec<LimitUsage>>,
    /// Limits that the player set.
    pub own: AllLimitTerms,
    /// Limits that an operator set for the player.
    pub operator: AllLimitTerms,
}

impl PlayerLimits {
    pub(crate) fn of(ledger: &Ledger, player: PlayerId, now: UnixMicros) -> PlayerLimits {
        let state = ledger.account(&Account::Player(player));
        let terms = |by| state.map(|state| state.limit_terms(by, now)).unwrap_or_default();
        PlayerLimits {
            standing: ledger.standing(player, now),
            usage: ledger.limit_usage(player, now),
            own: terms(LimitSetter::Player),
            operator: terms(LimitSetter::Operator),
        }
    }
}

/// Receiving ends of a wallet's handles.
pub(crate) struct Queues {
    pub(crate) batches: mpsc::Receiver<RequestBatch>,
    pub(crate) queries: mpsc::Receiver<Query>,
}

/// A request with its key in the log and the digest of its content.
pub(crate) struct KeyedRequest {
    pub(crate) request: Request,
    pub(crate) key: RequestKey,
    pub(crate) digest: [u8; 32],
}

/// The wallet's tables, and whether they may be read: not while they are rebuilt.
#[derive(Clone, Default)]
pub(crate) struct Tables {
    pub(crate) repo: Option<Repo>,
    readable: Arc<AtomicBool>,
    loaded: watch::Sender<bool>,
}

impl Tables {
    pub(crate) fn new(repo: Option<Repo>) -> Tables {
        Tables { repo, readable: Arc::default(), loaded: watch::Sender::default() }
    }

    pub(crate) fn set_readable(&self, whole: bool) {
        self.readable.store(whole, Ordering::Release);
    }

    pub(crate) fn set_loaded(&self, loaded: bool) {
        self.loaded.send_replace(loaded);
    }
}

impl Wallet {
    pub(crate) fn new(limits: QueueLimits, tables: Tables) -> (Wallet, Queues) {
        let limit = limits.max_waiting.max(1);
        let (asks, asked) = mpsc::channel(limit);
        let (looks, looked) = mpsc::channel(limit);
        let room = Arc::new(Semaphore::new(limit));
        (
            Wallet { batches: asks, queries: looks, permits: room, max_waiting: limit, tables },
            Queues { batches: asked, queries: looked },
        )
    }

    /// Standing of players, in the order of `players`, by durable state.
    ///
    /// # Errors
    /// [`WalletError::Overloaded`] and [`WalletError::Unavailable`].
    pub async fn player_limits(
        &self,
        players: Vec<PlayerId>,
    ) -> Result<Vec<PlayerLimits>, WalletError> {
        let seen = move |view: &QueryContext<'_>| {
            let seen = |player| PlayerLimits::of(view.ledger, player, view.now);
            players.into_iter().map(seen).collect()
        };
        self.query(seen).await
    }

    /// Runs a query on the ledger; returns its result once the state it saw is durable.
    ///
    /// # Errors
    /// [`WalletError::Overloaded`] and [`WalletError::Unavailable`].
    pub(crate) async fn query<T: Send + 'static>(
        &self,
        query: impl FnOnce(&QueryContext<'_>) -> T + Send + 'static,
    ) -> Result<T, WalletError> {
        let (answer, answered) = oneshot::channel();
        let look = move |view: &QueryContext<'_>| -> SendReply {
            let seen = query(view);
            // The caller may have stopped waiting.
            Box::new(move || drop(answer.send(seen)))
        };
        self.queries.try_send(Query(Box::new(look))).map_err(|error| match error {
            TrySendError::Full(_) => WalletError::Overloaded,
            TrySendError::Closed(_) => WalletError::Unavailable,
        })?;
        answered.await.map_err(|_| WalletError::Unavailable)
    }

    /// Carries out a command; returns once it is durable. A caller that stops waiting does not undo
    /// it.
    ///
    /// # Errors
    /// See [`WalletError`].
    pub async fn execute(&self, request: Request, by: Author) -> Outcome {
        let outcomes = self.execute_all(vec![request], by).await?;
        outcomes.into_iter().next().unwrap_or(Err(WalletError::Unavailable))
    }

    /// Carries out commands in their order. Returns the outcome of each, in that order.
    ///
    /// # Errors
    /// [`WalletError::Overloaded`] and [`WalletError::Unavailable`], if none of them was taken.
    pub async fn execute_all(
        &self,
        requests: Vec<Request>,
        by: Author,
    ) -> Result<Vec<Outcome>, WalletError> {
        let (count, answered) = (requests.len(), self.enqueue(requests, by)?);
        let outcomes = answered.await.map_err(|_| WalletError::Unavailable)?;
        if outcomes.len() == count { Ok(outcomes) } else { Err(WalletError::Unavailable) }
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
        let request = Request { id, content: RequestContent::ClockStepped(step), linked: false };
        let by = Author { actor: "service:wallet".into(), trace: [0; 16] };
        self.execute(request, by).await.is_ok()
    }

    /// Puts commands into the queue without waiting. The receiver gets their outcomes in order, or
    /// nothing if the log is lost.
    ///
    /// # Errors
    /// [`WalletError::Overloaded`] and [`WalletError::Unavailable`].
    pub fn enqueue(
        &self,
        requests: Vec<Request>,
        by: Author,
    ) -> Result<oneshot::Receiver<Vec<Outcome>>, WalletError> {
        // A batch larger than the whole queue takes all of its room.
        let permits = requests.len().clamp(1, self.max_waiting);
        let permits = u32::try_from(permits).map_err(|_| WalletError::Overloaded)?;
        let room = Arc::clone(&self.permits)
            .try_acquire_many_owned(permits)
            .map_err(|_| WalletError::Overloaded)?;
        let named = |request: Request| {
            let (key, digest) = (RequestKey::new(&by.actor, request.id), request.digest());
            KeyedRequest { request, key, digest }
        };
        let requests = requests.into_iter().map(named).collect();
        let (answer, answered) = oneshot::channel();
        self.batches
            .try_send(RequestBatch {
                requests,
                author: by,
                reply: answer,
                stored_answers: None,
                permits: room,
            })
            .map_err(|error| match error {
                TrySendError::Full(_) => WalletError::Overloaded,
                TrySendError::Closed(_) => WalletError::Unavailable,
            })?;
        Ok(answered)
    }

    /// Watches whether the accounts are in memory: false until they are read, which is after the
    /// log is taken.
    #[must_use]
    pub fn loaded(&self) -> watch::Receiver<bool> {
        self.tables.loaded.subscribe()
    }

    /// The wallet's tables, as of the last durable event.
    ///
    /// # Errors
    /// [`WalletError::Unavailable`] while they are rebuilt, and if the log's store has none.
    pub fn repo(&self) -> Result<&Repo, WalletError> {
        let whole = self.tables.readable.load(Ordering::Acquire);
        self.tables.repo.as_ref().filter(|_| whole).ok_or(WalletError::Unavailable)
    }
}
