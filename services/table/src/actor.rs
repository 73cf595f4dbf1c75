//! Task of one table: the only owner of its state.
//!
//! A command or the outcome of an effect becomes events. The events are appended. Only then does
//! the state move, the caller get an answer, and viewers get updates. An event that the log did not
//! take has not happened. While an effect is in flight the table keeps receiving commands.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::Duration;

use eventlog::{AppendError, Entry, Log, Receipt, RequestKey};
use notary::Notary;
use primitives::{PlayerId, RequestId, StreamId, UnixMicros};
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use system::clock::Clock;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::Instrument as _;
use wire::{Recorded, Refused, refused, status};

use crate::backlog::Backlog;
use crate::bounds::Bounds;
use crate::debt::Debt;
use crate::deeds::Deed;
use crate::house::Closed;
use crate::lateness::{Lateness, Measured};
use crate::pay::Paid;
use crate::peers::{Failure, Peers, Reply};
use crate::people::directory::Directory;
use crate::plan::Plan;
use crate::proof::Faces;
use crate::publish::{Past, Publisher};
use crate::receipt::ReceiptKey;
use crate::state::State;
use author::Author;
use paying::Over;
use repeats::{Asked, Waiting};

mod author;
mod clock;
mod confirm;
mod ending;
mod looks;
mod orders;
mod paying;
mod repeats;
#[cfg(test)]
mod tests;

/// Commands that wait while an append is in flight; more are refused at once.
const DEFERRED: usize = 64;

/// Message to a table's task.
pub enum Command {
    Look(Look),
    Do(Box<Order>),
}

/// Read-only request, answered from the table's current state.
pub enum Look {
    View {
        viewer: Option<PlayerId>,
        /// Includes the reason of every stopped effect.
        full: bool,
        reply: oneshot::Sender<pb::TableView>,
    },
    /// The reply is `None` for a closed table.
    Summary {
        reply: oneshot::Sender<Option<pb::TableSummary>>,
    },
    Watch {
        viewer: Option<PlayerId>,
        resume: Option<u64>,
        reply: oneshot::Sender<Watched>,
    },
    /// Simulates a bug of this program.
    #[cfg(test)]
    Panic,
}

/// First messages for a viewer, and the channel with those that follow.
pub type Watched = Result<(Vec<pb::WatchTableResponse>, Backlog), Refused>;

/// A command with its caller, its request id and the channel for its answer.
pub struct Order {
    pub deed: Deed,
    pub player: Option<PlayerId>,
    pub request: RequestId,
    /// SHA-256 of the request's content.
    pub digest: [u8; 32],
    pub actor: Arc<str>,
    pub trace: [u8; 16],
    /// Time of arrival at the edge, or here where that is not known.
    pub arrived: UnixMicros,
    pub span: tracing::Span,
    /// Channel for the encoded answer.
    pub reply: oneshot::Sender<Result<Vec<u8>, Refused>>,
}

/// Dependencies that all tables share.
#[derive(Clone)]
pub struct Surroundings {
    pub log: Log,
    pub peers: Peers,
    pub clock: Arc<dyn Clock>,
    /// Signs checkpoints of the log; is asked to hurry when a hand has ended.
    pub notary: Notary,
    pub directory: Directory,
    /// Signs receipts.
    pub key: Arc<ReceiptKey>,
    /// Time for which the dealer may be silent before a hand is aborted.
    pub patience: Duration,
    /// Time for which a silent owner keeps the log.
    pub lease: Duration,
    /// Delay of the room.
    pub lateness: Arc<Lateness>,
    pub bounds: Arc<Bounds>,
}

/// State and dependencies of a table's task.
pub struct Actor {
    state: State,
    log: Log,
    peers: Peers,
    clock: Arc<dyn Clock>,
    notary: Notary,
    key: Arc<ReceiptKey>,
    patience: Duration,
    lease: Duration,
    /// Instant of the last confirmation by the store that this process owns the log.
    confirmed: Option<Instant>,
    lateness: Arc<Lateness>,
    /// Delay that requests met at this table.
    own: Measured,
    /// Number of messages taken so far.
    judged: usize,
    /// For each passed deadline, the count of messages that is reached before it has its effect.
    judged_first: BTreeMap<Over, usize>,
    /// Time since which the table has been listening without a break.
    since: UnixMicros,
    /// Time of the wallet's last report on the standing of idle players.
    checked: UnixMicros,
    publisher: Publisher,
    /// Display names of players, and the tables at which they sit.
    directory: Directory,
    paying: JoinSet<Returned>,
    busy: BTreeSet<Debt>,
    /// Next try of each failed effect, and the number of its tries so far.
    later: BTreeMap<Debt, (UnixMicros, u32)>,
    waiting: Vec<Waiting>,
    /// Lookups of requests in the store, and their keys.
    asking: JoinSet<Asked>,
    asked_for: BTreeSet<RequestKey>,
    bounds: Arc<Bounds>,
    /// Time since which the log takes nothing.
    outage: Option<UnixMicros>,
    /// Time since which the log took nothing, once it takes entries again. The running clock gets
    /// that time back.
    lost_time: Option<UnixMicros>,
    /// Total steps of the clock that this table has followed, in microseconds.
    stepped: i64,
    /// Microseconds by which the clock was stepped since the last record about the running clock.
    /// The deadline, `outage` and `lost_time` are in time before these steps.
    set_by: i64,
    /// Time and reason of a contradiction between memory and log. Nothing moves until the table is
    /// read again.
    broken: Option<(UnixMicros, String)>,
    /// Whether the table is closed, for listings of tables.
    closed: Arc<AtomicBool>,
    commands: mpsc::Receiver<Command>,
    /// Commands that arrived while an append was in flight.
    deferred: VecDeque<Box<Order>>,
}

/// Result of a call for an effect, with the span that it was made in.
struct Returned {
    debt: Debt,
    plan: Option<Plan>,
    reply: Result<Reply, Failure>,
    span: tracing::Span,
}

/// Reason why a table's task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The table is closed and has no pending effects.
    Closed(Closed),
    /// An operator has the table read again from its log.
    ReadAgain,
    /// All senders are gone: the registry is closing.
    Dropped,
    /// This process has lost the log, so its memory is stale.
    Lost,
}

impl Actor {
    /// Builds the task of a table. `past` are the events that viewers may be sent again.
    #[must_use]
    pub fn new(
        (state, past): (State, Vec<Past>),
        surroundings: Surroundings,
        commands: mpsc::Receiver<Command>,
    ) -> Actor {
        let Surroundings {
            log,
            peers,
            clock,
            notary,
            directory,
            key,
            patience,
            lease,
            lateness,
            bounds,
        } = surroundings;
        let mut publisher = Publisher::new(state.table.id, directory.clone());
        for past in past {
            publisher.remember(past);
        }
        let (since, stepped) = (clock.now(), clock.stepped());
        Actor {
            state,
            log,
            peers,
            clock,
            notary,
            key,
            patience,
            lease,
            confirmed: None,
            lateness,
            own: Measured::default(),
            judged: 0,
            judged_first: BTreeMap::new(),
            since,
            checked: since,
            publisher,
            directory,
            paying: JoinSet::new(),
            busy: BTreeSet::new(),
            later: BTreeMap::new(),
            waiting: Vec::new(),
            asking: JoinSet::new(),
            asked_for: BTreeSet::new(),
            bounds,
            outage: None,
            lost_time: None,
            stepped,
            set_by: 0,
            broken: None,
            closed: Arc::default(),
            commands,
            deferred: VecDeque::new(),
        }
    }

    /// Runs the table until all senders are gone or the log is lost.
    pub async fn run(&mut self) -> Ended {
        if self.resume_clock().await == Err(Ended::Lost) {
            return Ended::Lost;
        }
        loop {
            if let Err(ended) = self.follow_clock().await {
                return ended;
            }
            let wake = match self.pay_debts().await {
                Ok(wake) => wake,
                Err(ended) => return ended,
            };
            if wake.is_none() && self.asking.is_empty() && self.is_over() {
                return Ended::Closed(Closed::of(&self.state.table));
            }
            let clock = Arc::clone(&self.clock);
            let sleep = async move {
                match wake {
                    Some(at) => clock.sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            let stopped = self.log.stopped();
            let step = tokio::select! {
                biased;
                () = stopped.cancelled() => Err(Ended::Lost),
                Some(paid) = self.paying.join_next() => match paid {
                    Ok(Returned { debt, plan, reply, span }) => {
                        self.paid(debt, plan, reply).instrument(span).await
                    }
                    Err(error) => {
                        self.break_down(&format!("paying a debt failed: {error}"));
                        Ok(())
                    }
                },
                Some(Ok(asked)) = self.asking.join_next() => self.asked(asked).await,
                // Taken in the poll itself, so that no command is lost when another branch wins.
                Some(order) = poll_fn(|_| Poll::Ready(self.deferred.pop_front())) => {
                    self.command(Command::Do(order)).await
                }
                command = self.commands.recv() => match command {
                    Some(command) => self.command(command).await,
                    None => Err(Ended::Dropped),
                },
                () = sleep => Ok(()),
            };
            // Not a branch of the select, so that no other branch can hold a clock up, however
            // often it fires.
            let step = match step {
                Ok(()) if self.has_run_out() => self.tick().await,
                Ok(()) | Err(_) => step,
            };
            let step = match step {
                Ok(()) => self.make_up_lost_time().await,
                Err(ended) => Err(ended),
            };
            if let Err(ended) = step {
                let reason = pb::EndReason::ServerStopping;
                self.publisher.end(reason, self.state.table.sequence);
                return ended;
            }
        }
    }

    async fn command(&mut self, command: Command) -> Result<(), Ended> {
        self.judged = self.judged.wrapping_add(1);
        match command {
            Command::Look(look) => {
                self.look(look);
                Ok(())
            }
            Command::Do(order) => {
                self.follow_clock().await?;
                let span = order.span.clone();
                self.order(*order).instrument(span).await
            }
        }
    }

    /// Waits for the log. Read-only requests are answered meanwhile from the durable state, so that
    /// a slow disk or a lost database keeps nobody from seeing the table. Commands wait.
    async fn written(&mut self, entry: Entry) -> Result<Receipt, AppendError> {
        let log = self.log.clone();
        let began = self.clock.now();
        let mut appending = pin!(log.append(entry));
        loop {
            tokio::select! {
                biased;
                outcome = &mut appending => {
                    let now = self.clock.now();
                    self.lateness.observe(now.since(began), now);
                    return outcome;
                }
                Some(command) = self.commands.recv() => match command {
                    Command::Look(look) => self.look(look),
                    Command::Do(order) if self.deferred.len() < DEFERRED => {
                        self.deferred.push_back(order);
                    }
                    Command::Do(order) => {
                        let message = "this table has too much to do: try again in a moment";
                        let _ = order.reply.send(Err(refused(ErrorReason::Overloaded, message)));
                    }
                },
            }
        }
    }

    /// Appends a batch, then moves the state and sends updates. The inner error means that nothing
    /// was recorded.
    async fn append(&mut self, paid: Paid, by: Author) -> Result<Result<Receipt, Refused>, Ended> {
        let Paid { events, faces } = paid;
        let entry = Entry {
            events: events.iter().map(|(stream, event)| event.on(*stream)).collect(),
            request: by.request,
            actor: by.actor,
            trace: by.trace,
        };
        let receipt = match self.written(entry).await {
            Ok(receipt) => receipt,
            Err(AppendError::Lost) => return Err(Ended::Lost),
            Err(AppendError::Duplicate { .. }) => return Ok(Err(status::request_id_reused())),
            Err(AppendError::Full) => {
                let message = "too much is being written: try again in a moment";
                return Ok(Err(refused(ErrorReason::Overloaded, message)));
            }
            Err(AppendError::Unavailable { .. }) => {
                return Ok(Err(self.unheard("the database cannot be reached")));
            }
            Err(AppendError::Clock(off)) => return Ok(Err(self.unheard(&off.to_string()))),
            Err(
                error @ (AppendError::TooLarge { .. }
                | AppendError::Empty
                | AppendError::Misplaced { .. }
                | AppendError::Twice { .. }),
            ) => {
                self.break_down(&error.to_string());
                return Ok(Err(refused(ErrorReason::Corrupt, error.to_string())));
            }
        };
        self.lost_time = self.lost_time.or(self.outage.take());
        if self.lost_time.is_none() {
            // Times that are recorded now are in the clock's current time.
            self.set_by = self.set_by.max(0);
        }
        for (stream, event) in &events {
            self.apply((*stream, event), &faces, receipt.recorded_at);
            if matches!(event, Recorded::HandFinished(_)) {
                self.notary.hurry();
            }
        }
        Ok(Ok(receipt))
    }

    /// Notes that the log takes nothing, so that nobody could be heard; returns the refusal.
    fn unheard(&mut self, why: &str) -> Refused {
        self.since = self.clock.now();
        let since = self.time();
        self.outage.get_or_insert(since);
        status::unavailable(why)
    }

    /// Applies a durable event to the state and sends the updates.
    fn apply(&mut self, (stream, event): (StreamId, &Recorded), faces: &Faces, at: UnixMicros) {
        if let Recorded::HandAborted(aborted) = event {
            let (table, hand_no) = (&self.state.table.id, self.state.table.hand_no);
            tracing::warn!(%table, hand_no, at_fault = ?aborted.at_fault(), "a hand is aborted");
        }
        if let Recorded::EffectStopped(stopped) = event {
            let (table, why) = (&self.state.table.id, &stopped.why);
            tracing::error!(%table, why, "something has stopped at a table: see `sabacc resume`");
        }
        let before = self.state.play.as_ref().map(|play| play.replay.hand.clone());
        self.directory.moves(&self.state.table, event);
        match self.state.apply((stream, event), faces, at) {
            Ok(Some(kind)) => {
                let past = Past { sequence: self.state.table.sequence, at, kind };
                let closed = matches!(event, Recorded::TableClosed(_));
                self.publisher.publish(past, before.as_ref(), self.state.play.as_ref());
                if closed {
                    self.closed.store(true, Ordering::Relaxed);
                    let sequence = self.state.table.sequence;
                    self.publisher.end(pb::EndReason::TableClosed, sequence);
                }
            }
            Ok(None) => {}
            Err(broken) => self.break_down(&broken.0),
        }
    }

    /// Stops all changes until an operator has the table read again. It can still be watched.
    pub(crate) fn break_down(&mut self, why: &str) {
        tracing::error!(table = %self.state.table.id, why, "the table waits for an operator: see `sabacc resume`");
        self.broken = Some((self.clock.now(), why.to_owned()));
    }
}
