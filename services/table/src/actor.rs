//! Task of one table: the only owner of its state.
//!
//! A command or the outcome of an effect becomes events. The events are appended. Only then does
//! the state move, the caller get an answer, and viewers get updates. An event that the log did not
//! take has not happened. While an effect is in flight the table keeps receiving commands.
//!
//! [`Actor::run`] is the loop: it starts the effects that are pending, then waits for a message,
//! the reply of an effect or the clock. This file has the loop, the append and what follows it; the
//! rest of the way is in the folder:
//!
//! - `repeats` tells a new command from a repeat, and keeps callers whose buy-in is under way.
//! - `commands` has a new command judged ([`crate::commands::judge`]), appended and answered, with
//!   a receipt where one is due.
//! - `effects` starts pending effects ([`crate::effects`]), and appends what their answers give.
//! - `clock` decides for a player whose time is over, and gives lost time back.
//! - `apply` moves the state past a durable event, and follows the room's word on the game.
//! - `queries` answers read-only requests, `confirm` answers that write nothing.
//! - `ending` is what a successor takes over; `author` and `logging` serve the others.
//!
//! Specification: ARCHITECTURE.md §1.3, §3.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use eventlog::{AppendError, Entry, Log, Position, Receipt, RequestKey};
use notary::Notary;
use primitives::{PlayerId, UnixMicros};
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use system::clock::Clock;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::Instrument as _;
use wire::{ApiRefusal, Record as _, TableRecord, api_refusal, status};

use crate::answer::Outcome;
use crate::author::Author;
use crate::backlog::BacklogReceiver;
use crate::batch::Batch;
use crate::bounds::Bounds;
use crate::commands::Command;
use crate::development::Development;
use crate::effects::Effect;
use crate::peers::{CallFailure, Peers, Reply};
use crate::people::directory::Directory;
use crate::people::guests::GuestIssuer;
use crate::plan::Plan;
use crate::player_hands::PlayerHands;
use crate::publish::Publisher;
use crate::receipt::ReceiptKey;
use crate::registry::ClosedTable;
use crate::room::RoomActivity;
use crate::room::games::Games;
use crate::room_delay::{DelayWindow, RoomDelay};
use crate::snapshot::SnapshotPolicy;
use crate::state::{RecoveredState, TableState};
use author::EntryAuthor;
pub(crate) use author::SERVICE_ACTOR;
use effects::PassedDeadline;
use repeats::{LookupOutcome, WaitingBuyIn};

mod apply;
mod author;
mod clock;
mod commands;
mod confirm;
mod effects;
mod ending;
mod logging;
mod queries;
mod repeats;
#[cfg(test)]
mod tests;

/// Commands that wait while an append is in flight; more are refused at once.
const MAX_DEFERRED: usize = 64;

/// Message to a table's task.
pub(crate) enum TableMessage {
    Query(Query),
    Command(Box<CommandRequest>),
}

/// Read-only request, answered from the table's current state.
pub(crate) enum Query {
    View {
        viewer: Option<PlayerId>,
        /// Includes the reason of every stopped effect.
        full: bool,
        reply: oneshot::Sender<pb::TableView>,
    },
    /// The reply is `None` where the player has no seat.
    Seat {
        player: PlayerId,
        reply: oneshot::Sender<Option<pb::PlayerSeat>>,
    },
    Watch {
        viewer: Option<PlayerId>,
        resume: Option<u64>,
        reply: oneshot::Sender<WatchStart>,
    },
    /// Simulates a bug of this program.
    #[cfg(test)]
    Panic,
}

/// First messages for a viewer, and the channel with those that follow.
pub(crate) type WatchStart = Result<(Vec<pb::WatchTableResponse>, BacklogReceiver), ApiRefusal>;

/// A command with its author and the channel for its answer.
pub(crate) struct CommandRequest {
    pub command: Command,
    pub player: Option<PlayerId>,
    pub author: Author,
    /// Time of arrival at the edge, or here where that is not known.
    pub arrived: UnixMicros,
    pub span: tracing::Span,
    /// Channel for the encoded answer.
    pub reply: oneshot::Sender<Outcome>,
}

/// Dependencies that all tables share.
#[derive(Clone)]
pub(crate) struct Dependencies {
    pub log: Log,
    pub peers: Peers,
    pub clock: Arc<dyn Clock>,
    /// Signs checkpoints of the log; is asked to hurry when a hand has ended.
    pub notary: Notary,
    pub directory: Directory,
    /// Signs receipts.
    pub receipt_key: Arc<ReceiptKey>,
    /// Time for which the dealer may be silent before a hand is suspended.
    pub dealer_timeout: Duration,
    /// Time for which a silent owner keeps the log.
    pub lease: Duration,
    /// Delay of the room.
    pub room_delay: Arc<RoomDelay>,
    pub bounds: Arc<Bounds>,
    /// Issuer of guests' tokens, where the room has guests.
    pub guests: Option<Arc<GuestIssuer>>,
    /// Games that are disabled.
    pub games: Arc<watch::Sender<Games>>,
    pub activity: Arc<RoomActivity>,
    /// Lists of players' hands.
    pub player_hands: PlayerHands,
    pub snapshots: SnapshotPolicy,
    /// Marks of the tables that are opened from now on.
    pub development: Development,
}

/// State and dependencies of a table's task.
pub(crate) struct Actor {
    state: TableState,
    log: Log,
    peers: Peers,
    clock: Arc<dyn Clock>,
    notary: Notary,
    receipt_key: Arc<ReceiptKey>,
    dealer_timeout: Duration,
    lease: Duration,
    /// Instant of the last confirmation by the store that this process owns the log.
    ownership_confirmed_at: Option<Instant>,
    room_delay: Arc<RoomDelay>,
    /// Delay that requests met at this table.
    own_delay: DelayWindow,
    /// Number of messages taken so far.
    messages_taken: usize,
    /// For each passed deadline, the value of `messages_taken` at which it has its effect. Messages
    /// that had arrived by then come first.
    take_first: BTreeMap<PassedDeadline, usize>,
    /// Time since which the table has been listening without a break.
    listening_since: UnixMicros,
    /// Whether the dealer has opened the cards of a recovered hand, so that it is not silent.
    dealer_answered: bool,
    /// Time of the wallet's last report on the standing of idle players.
    standing_checked_at: UnixMicros,
    publisher: Publisher,
    /// Display names of players, and the tables at which they sit.
    directory: Directory,
    effect_calls: JoinSet<EffectReply>,
    effects_in_flight: BTreeSet<Effect>,
    /// Next try of each failed effect, and the number of its tries so far.
    retries: BTreeMap<Effect, (UnixMicros, u32)>,
    waiting_buy_ins: Vec<WaitingBuyIn>,
    /// Lookups of requests in the store, and their keys.
    lookups: JoinSet<LookupOutcome>,
    lookup_keys: BTreeSet<RequestKey>,
    bounds: Arc<Bounds>,
    games: watch::Receiver<Games>,
    activity: Arc<RoomActivity>,
    /// Time since which the log takes nothing.
    outage_since: Option<UnixMicros>,
    /// Time since which the log took nothing, once it takes entries again. The running clock gets
    /// that time back.
    lost_since: Option<UnixMicros>,
    /// Total steps of the clock that this table has followed, in microseconds.
    followed_steps: i64,
    /// Microseconds by which the clock was stepped since the last record about the running clock.
    /// The deadline, `outage_since` and `lost_since` are in time before these steps.
    unrecorded_steps: i64,
    /// Time and reason of a contradiction between memory and log. Nothing moves until the table is
    /// read again.
    halted: Option<(UnixMicros, String)>,
    messages: mpsc::Receiver<TableMessage>,
    /// Commands that arrived while an append was in flight.
    deferred: VecDeque<Box<CommandRequest>>,
}

/// Result of a call for an effect, with the span that it was made in.
struct EffectReply {
    effect: Effect,
    plan: Option<Plan>,
    reply: Result<Reply, CallFailure>,
    span: tracing::Span,
}

/// Reason why a table's task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskEnd {
    /// The table is closed and has no pending effects.
    Closed(ClosedTable),
    /// An operator has the table read again from its log.
    Reload,
    /// All senders are gone: the registry is closing.
    Dropped,
    /// This process has lost the log, so its memory is stale.
    LogLost,
}

impl Actor {
    /// Builds the task of a table.
    #[must_use]
    pub(crate) fn new(
        recovered: RecoveredState,
        dependencies: Dependencies,
        messages: mpsc::Receiver<TableMessage>,
    ) -> Actor {
        let RecoveredState { mut state, past, dealer_answered } = recovered;
        let Dependencies {
            log,
            peers,
            clock,
            notary,
            directory,
            receipt_key,
            dealer_timeout,
            lease,
            room_delay,
            bounds,
            // A table knows players, and not how they have come in.
            guests: _,
            games,
            activity,
            player_hands: _,
            // What a table was opened with is in its settings.
            snapshots: _,
            development: _,
        } = dependencies;
        let mut publisher = Publisher::new(state.table.id, directory.clone());
        for past in past {
            publisher.remember(past);
        }
        let (since, stepped) = (clock.now(), clock.total_step_micros());
        state.table.assume_close_asked(since);
        let games = games.subscribe();
        state.table.follow_game(&games.borrow());
        Actor {
            state,
            log,
            peers,
            clock,
            notary,
            receipt_key,
            dealer_timeout,
            lease,
            ownership_confirmed_at: None,
            room_delay,
            own_delay: DelayWindow::default(),
            messages_taken: 0,
            take_first: BTreeMap::new(),
            listening_since: since,
            dealer_answered,
            standing_checked_at: since,
            publisher,
            directory,
            effect_calls: JoinSet::new(),
            effects_in_flight: BTreeSet::new(),
            retries: BTreeMap::new(),
            waiting_buy_ins: Vec::new(),
            lookups: JoinSet::new(),
            lookup_keys: BTreeSet::new(),
            bounds,
            games,
            activity,
            outage_since: None,
            lost_since: None,
            followed_steps: stepped,
            unrecorded_steps: 0,
            halted: None,
            messages,
            deferred: VecDeque::new(),
        }
    }

    /// Runs the table until all senders are gone or the log is lost.
    pub(crate) async fn run(&mut self) -> TaskEnd {
        if self.resume_clock().await == Err(TaskEnd::LogLost) {
            return TaskEnd::LogLost;
        }
        loop {
            if let Err(ended) = self.follow_clock().await {
                return ended;
            }
            // Before the effects, however many messages wait: a hand of a disabled game starts nowhere.
            if self.games.has_changed().unwrap_or_default() {
                self.follow_game();
            }
            let wake = match self.run_effects().await {
                Ok(wake) => wake,
                Err(ended) => return ended,
            };
            if wake.is_none() && self.lookups.is_empty() && self.is_over() {
                return TaskEnd::Closed(ClosedTable::of(&self.state.table));
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
                () = stopped.cancelled() => Err(TaskEnd::LogLost),
                Some(done) = self.effect_calls.join_next() => match done {
                    Ok(EffectReply { effect, plan, reply, span }) => {
                        self.conclude_effect(effect, plan, reply).instrument(span).await
                    }
                    Err(error) => {
                        self.halt(&format!("the call for an effect failed: {error}"));
                        Ok(())
                    }
                },
                Some(Ok(outcome)) = self.lookups.join_next() => self.finish_lookup(outcome).await,
                // Taken in the poll itself, so that no command is lost when another branch wins.
                Some(request) = poll_fn(|_| Poll::Ready(self.deferred.pop_front())) => {
                    self.receive(TableMessage::Command(request)).await
                }
                message = self.messages.recv() => match message {
                    Some(message) => self.receive(message).await,
                    None => Err(TaskEnd::Dropped),
                },
                Ok(()) = self.games.changed() => {
                    self.follow_game();
                    Ok(())
                }
                () = sleep => Ok(()),
            };
            // Not a branch of the select, so that no other branch can hold a clock up, however
            // often it fires.
            let step = match step {
                Ok(()) if self.clock_has_run_out() => self.decide_by_clock().await,
                Ok(()) | Err(_) => step,
            };
            let step = match step {
                Ok(()) => self.restore_lost_time().await,
                Err(ended) => Err(ended),
            };
            if let Err(ended) = step {
                let reason = pb::EndReason::ServerStopping;
                self.publisher.end_streams(reason, self.state.table.sequence);
                return ended;
            }
        }
    }

    async fn receive(&mut self, message: TableMessage) -> Result<(), TaskEnd> {
        self.messages_taken = self.messages_taken.wrapping_add(1);
        match message {
            TableMessage::Query(query) => {
                self.answer_query(query);
                Ok(())
            }
            TableMessage::Command(request) => {
                self.follow_clock().await?;
                let span = request.span.clone();
                self.take_command(*request).instrument(span).await
            }
        }
    }

    /// Waits for the log. Read-only requests are answered meanwhile from the durable state, so that
    /// a slow disk or a lost database keeps nobody from seeing the table. Commands wait.
    async fn wait_for_append(&mut self, entry: Entry) -> Result<Receipt, AppendError> {
        let log = self.log.clone();
        let began = self.clock.now();
        let mut appending = pin!(log.append(entry));
        loop {
            tokio::select! {
                biased;
                outcome = &mut appending => {
                    let now = self.clock.now();
                    let took = now.since(began);
                    self.room_delay.observe(took, now);
                    self.activity.observe(&pb::LatencyStep::Append, took);
                    return outcome;
                }
                Some(message) = self.messages.recv() => match message {
                    TableMessage::Query(query) => self.answer_query(query),
                    TableMessage::Command(request) if self.deferred.len() < MAX_DEFERRED => {
                        self.deferred.push_back(request);
                    }
                    TableMessage::Command(request) => {
                        let message = "this table has too much to do: try again in a moment";
                        let refusal = api_refusal(ErrorReason::Overloaded, message);
                        let _ = request.reply.send(Err(refusal));
                    }
                },
            }
        }
    }

    /// Appends a batch, then moves the state and sends updates. The inner error means that nothing
    /// was recorded.
    async fn append(
        &mut self,
        batch: Batch,
        by: EntryAuthor,
    ) -> Result<Result<Receipt, ApiRefusal>, TaskEnd> {
        let Batch { events, mut inputs } = batch;
        let entry = Entry {
            events: events.iter().map(|(stream, event)| event.on_stream(*stream)).collect(),
            request: by.request,
            actor: by.actor,
            trace: by.trace,
        };
        let receipt = match self.wait_for_append(entry).await {
            Ok(receipt) => receipt,
            Err(AppendError::Lost) => return Err(TaskEnd::LogLost),
            Err(AppendError::Duplicate { .. }) => return Ok(Err(status::request_id_reused())),
            Err(AppendError::QueueFull) => {
                let message = "too much is being written: try again in a moment";
                return Ok(Err(api_refusal(ErrorReason::Overloaded, message)));
            }
            Err(AppendError::Unavailable { .. }) => {
                return Ok(Err(self.log_unavailable("the database cannot be reached")));
            }
            Err(AppendError::Clock(off)) => return Ok(Err(self.log_unavailable(&off.to_string()))),
            Err(
                error @ (AppendError::TooLarge { .. }
                | AppendError::Empty
                | AppendError::Misplaced { .. }
                | AppendError::DuplicateInGroup { .. }),
            ) => {
                self.halt(&error.to_string());
                return Ok(Err(api_refusal(ErrorReason::Corrupt, error.to_string())));
            }
        };
        self.lost_since = self.lost_since.or(self.outage_since.take());
        if self.lost_since.is_none() {
            // Times that are recorded now are in the clock's current time.
            self.unrecorded_steps = self.unrecorded_steps.max(0);
        }
        for ((stream, event), position) in events.iter().zip(receipt.first.0..) {
            self.apply(*stream, event, &mut inputs, receipt.recorded_at);
            let noted = self.state.table.note_position(*stream, event, Position(position));
            if let Err(broken) = noted {
                self.halt(&broken.to_string());
            }
            if matches!(event, TableRecord::HandFinished(_)) {
                self.notary.request_signature();
            }
        }
        Ok(Ok(receipt))
    }

    /// Notes that the log takes nothing, so that no command could be taken; returns the refusal.
    fn log_unavailable(&mut self, why: &str) -> ApiRefusal {
        self.listening_since = self.clock.now();
        let since = self.time_before_steps();
        self.outage_since.get_or_insert(since);
        status::unavailable(why)
    }

    /// Stops all changes until an operator has the table read again. It can still be watched.
    pub(crate) fn halt(&mut self, why: &str) {
        tracing::error!(table = %self.state.table.id, why, "the table waits for an operator: see `sabacc table resume`");
        self.halted = Some((self.clock.now(), why.to_owned()));
    }
}
