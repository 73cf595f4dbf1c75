//! One table's task: the only owner of its state.
//!
//! A command or a paid debt becomes events; the events are appended; only then does the state move,
//! the caller hear, the viewers see. What the log did not take has not happened. While a debt is
//! being paid elsewhere the table goes on listening.

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

/// Deeds that wait while one is being written; more are refused at once.
const DEFERRED: usize = 64;

/// What a table is asked.
pub enum Command {
    Look(Look),
    Do(Box<Order>),
}

/// What changes nothing, and is answered by the table as it stands.
pub enum Look {
    View {
        viewer: Option<PlayerId>,
        /// With every reason why something has stopped.
        full: bool,
        reply: oneshot::Sender<pb::TableView>,
    },
    /// Nothing comes back of a table that is closed.
    Summary {
        reply: oneshot::Sender<Option<pb::TableSummary>>,
    },
    Watch {
        viewer: Option<PlayerId>,
        resume: Option<u64>,
        reply: oneshot::Sender<Watched>,
    },
    /// A fault of this program.
    #[cfg(test)]
    Panic,
}

/// What was sent to a viewer first, and the rest as it comes.
pub type Watched = Result<(Vec<pb::WatchTableResponse>, Backlog), Refused>;

/// A deed, by whom, under which request.
pub struct Order {
    pub deed: Deed,
    pub player: Option<PlayerId>,
    pub request: RequestId,
    /// SHA-256 of the request's content.
    pub digest: [u8; 32],
    pub actor: Arc<str>,
    pub trace: [u8; 16],
    /// When it had arrived at the edge, or here where that is not known.
    pub arrived: UnixMicros,
    pub span: tracing::Span,
    /// The encoded answer.
    pub reply: oneshot::Sender<Result<Vec<u8>, Refused>>,
}

/// What all tables share.
#[derive(Clone)]
pub struct Surroundings {
    pub log: Log,
    pub peers: Peers,
    pub clock: Arc<dyn Clock>,
    /// Signs the log, sooner where a hand has ended.
    pub notary: Notary,
    pub directory: Directory,
    /// Signs receipts.
    pub key: Arc<ReceiptKey>,
    /// How long the dealer may be silent before a hand is aborted.
    pub patience: Duration,
    /// How long a silent owner keeps the log.
    pub lease: Duration,
    /// How late the room is.
    pub lateness: Arc<Lateness>,
    pub bounds: Arc<Bounds>,
}

/// What a table's task is made of.
pub struct Actor {
    state: State,
    log: Log,
    peers: Peers,
    clock: Arc<dyn Clock>,
    notary: Notary,
    key: Arc<ReceiptKey>,
    patience: Duration,
    lease: Duration,
    /// When the store last said that the log is ours, asked by this table.
    confirmed: Option<Instant>,
    lateness: Arc<Lateness>,
    /// What requests had to wait at this table.
    own: Measured,
    /// Commands taken so far.
    judged: usize,
    /// As many are taken before a deadline that is over passes, for each of those.
    judged_first: BTreeMap<Over, usize>,
    /// The table has been listening without a break since then.
    since: UnixMicros,
    /// When the wallet last said how idle players stand.
    checked: UnixMicros,
    publisher: Publisher,
    /// How players are shown, and who sits where.
    directory: Directory,
    paying: JoinSet<Returned>,
    busy: BTreeSet<Debt>,
    /// When a debt that failed is tried again, and how often it has.
    later: BTreeMap<Debt, (UnixMicros, u32)>,
    waiting: Vec<Waiting>,
    /// Questions to the store about requests, and which these are.
    asking: JoinSet<Asked>,
    asked_for: BTreeSet<RequestKey>,
    bounds: Arc<Bounds>,
    /// Since when the log takes nothing.
    outage: Option<UnixMicros>,
    /// Since when the log took nothing, where it does again: the clock that ran is owed that time.
    lost_time: Option<UnixMicros>,
    /// How far the clock was set in all, as far as this table has followed.
    stepped: i64,
    /// How far it was set since the log's last word on the clock that runs: that clock, the outage and the
    /// lost time are told by the clock as it was before.
    set_by: i64,
    /// Memory and log contradict each other: nothing moves until the table is read again.
    broken: Option<(UnixMicros, String)>,
    /// Whether the table is closed, for whoever lists tables.
    closed: Arc<AtomicBool>,
    commands: mpsc::Receiver<Command>,
    /// Deeds that came while another was being written.
    deferred: VecDeque<Box<Order>>,
}

/// A debt that came back, within the span it was asked in.
struct Returned {
    debt: Debt,
    plan: Option<Plan>,
    reply: Result<Reply, Failure>,
    span: tracing::Span,
}

/// Why a table's task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The table is closed and owes nothing.
    Closed(Closed),
    /// An operator lets it be read again from its log.
    ReadAgain,
    /// Nobody asks any more: the house is closing.
    Dropped,
    /// The log is no longer ours: memory is worth nothing.
    Lost,
}

impl Actor {
    /// A table as it stands; `past` is what its viewers may be told again.
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

    /// Runs the table until nobody asks any more or the log is lost.
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
                // Taken where it is polled, so that none is lost to another branch.
                Some(order) = poll_fn(|_| Poll::Ready(self.deferred.pop_front())) => {
                    self.command(Command::Do(order)).await
                }
                command = self.commands.recv() => match command {
                    Some(command) => self.command(command).await,
                    None => Err(Ended::Dropped),
                },
                () = sleep => Ok(()),
            };
            // Not among the others, so that none of them, however often it comes, holds a clock up.
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

    /// Waits for the log. Whoever only looks is answered meanwhile, by what is durable: a slow disk or
    /// a lost database keeps nobody from seeing the table. Deeds wait their turn.
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

    /// Appends, then moves the state and tells. The inner error: nothing has happened.
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
            // What is recorded now is told by the clock as it is.
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

    /// The log takes nothing: whoever had something to say could not be heard.
    fn unheard(&mut self, why: &str) -> Refused {
        self.since = self.clock.now();
        let since = self.time();
        self.outage.get_or_insert(since);
        status::unavailable(why)
    }

    /// Moves the state by a durable event, and tells the viewers.
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

    /// Nothing moves any more until an operator lets the table be read again; it can be looked at.
    pub(crate) fn break_down(&mut self, why: &str) {
        tracing::error!(table = %self.state.table.id, why, "the table waits for an operator: see `sabacc resume`");
        self.broken = Some((self.clock.now(), why.to_owned()));
    }
}
