//! Tasks of the tables: started, read again from the log, and restarted after a panic.
//!
//! A panic is a bug, and ends a task with everything that waits for it. The table is then read
//! again from the log, behind a record that says so: whatever the task had handed to the log stands
//! before that record. A table that panics again soon is suspended, like one that contradicts its
//! log, and waits for an operator. So no table restarts for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use eventlog::{AppendError, Entry};
use primitives::TableId;
use proto::event::v1::{EffectResumed, Resolution};
use tokio::sync::mpsc;
use tokio::task::JoinError;
use wire::Recorded;

use super::{Closed, House, PAUSE, QUEUE, Running};
use crate::actor::{Actor, Command, Ended};
use crate::pay::Broken;
use crate::recovery::{self, FoldError, Found};
use crate::state::State;
use crate::table::Table;

/// A panic within this time after the one before counts as a repetition.
const SOON: Duration = Duration::from_secs(600);
/// Pause before the restart of a table that has panicked more than twice.
const REST: Duration = Duration::from_secs(60);

/// Inputs of a table's task.
pub(super) struct Task {
    pub(super) commands: mpsc::Receiver<Command>,
    pub(super) closed: Arc<AtomicBool>,
}

/// Mode in which a table's task is restarted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// The table goes on.
    Up,
    /// The table can be watched and waits for an operator.
    Down,
}

impl House {
    /// Registers a table, or replaces its sender by that of a new task.
    pub(super) fn register(&self, id: TableId) -> Task {
        let (sender, commands) = mpsc::channel(QUEUE);
        let mut tables = self.tables();
        let before = tables.running.remove(&id).map(|running| running.closed);
        let closed = before.unwrap_or_default();
        let running = Running { commands: sender, closed: Arc::clone(&closed) };
        tables.running.insert(id, running);
        Task { commands, closed }
    }

    /// Runs a table's task to its end and restarts it after a panic.
    pub(super) async fn start(self: Arc<Self>, found: Found, task: Task) {
        let id = found.table.id;
        let this = Arc::clone(&self);
        let first = async move {
            let actor = Box::pin(this.take_up(found, task.commands)).await;
            this.run(actor.told_closed(task.closed)).await;
        };
        let mut ended = tokio::spawn(first).await;
        let (mut panics, mut last) = (0_u32, self.shared.clock.now());
        while ended.is_err_and(|error: JoinError| error.is_panic()) {
            let now = self.shared.clock.now();
            panics = if now.since(last) < SOON { panics + 1 } else { 1 };
            last = now;
            if self.tables().closed.contains_key(&id) {
                return;
            }
            tracing::error!(table = %id, panics, "the table's task has panicked, a fault of this program: the table is read again from its log");
            // Callers meanwhile wait in the queue of the new task.
            let task = self.register(id);
            let rest = if panics > 2 { REST } else { Duration::ZERO };
            let taken = if panics > 1 { Taken::Down } else { Taken::Up };
            let again = Arc::clone(&self).begin_again((id, taken), rest, task);
            ended = tokio::spawn(again).await;
        }
    }

    async fn begin_again(
        self: Arc<Self>,
        (id, taken): (TableId, Taken),
        rest: Duration,
        task: Task,
    ) {
        let stopped = self.shared.log.stopped();
        let found = async {
            tokio::time::sleep(rest).await;
            self.wait_for_what_is_under_way(id).await;
            self.read(id).await
        };
        let found = match stopped.run_until_cancelled(found).await {
            Some(Ok(found)) => found,
            Some(Err(error)) => {
                tracing::error!(table = %id, %error, "the table cannot be read again");
                return;
            }
            None => return,
        };
        self.shared.directory.seats(&found.table);
        for (player, named) in found.renamed(|player| self.people.named_at(player)) {
            self.tell_renamed(id, player, named);
        }
        let Task { commands, closed } = task;
        let actor = match taken {
            Taken::Up => Box::pin(self.take_up(found, commands)).await,
            Taken::Down => {
                self.broken_down(found.table, commands, "its task has panicked again and again")
            }
        };
        self.run(actor.told_closed(closed)).await;
    }

    /// Task of a table that can be watched and waits for an operator.
    fn broken_down(&self, table: Table, commands: mpsc::Receiver<Command>, why: &str) -> Actor {
        let past = (State::new(table), Vec::new());
        let mut actor = Actor::new(past, self.shared.clone(), commands);
        actor.break_down(why);
        actor
    }

    /// Records that the table is read again. Whatever was handed to the log earlier is then in it,
    /// or never will be.
    async fn wait_for_what_is_under_way(&self, id: TableId) {
        let resumed = EffectResumed {
            effect: None,
            resolution: Resolution::Retry.into(),
            reason: "the table's task had panicked".to_owned(),
            transfer_id: prost::bytes::Bytes::new(),
        };
        let event = Recorded::from(resumed).on(id);
        loop {
            let entry = Entry {
                events: vec![event.clone()],
                request: None,
                actor: "service:table".into(),
                trace: chassis::telemetry::trace_id(),
            };
            match self.shared.log.append(entry).await {
                Ok(_) => return,
                // The log stops, and everything is read again by its next owner.
                Err(AppendError::Lost) => return std::future::pending().await,
                Err(error) => {
                    tracing::warn!(runbook = "deploy/README.md, The database is away", table = %id, %error, "a table waits to be read again");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    /// Reads the table from the log, waiting for as long as the database is away.
    async fn read(&self, id: TableId) -> Result<Found, FoldError> {
        loop {
            match recovery::fold_table(&self.shared.log, id).await {
                Err(FoldError::Read(eventlog::ReadError::Unavailable { .. })) => {
                    tokio::time::sleep(PAUSE).await;
                }
                other => return other,
            }
        }
    }

    /// Recovers a table with its hand in play. A table that contradicts its own log can be watched
    /// and waits for an operator.
    pub(super) async fn take_up(&self, found: Found, commands: mpsc::Receiver<Command>) -> Actor {
        let table = found.table.clone();
        let (peers, patience) = (&self.shared.peers, self.shared.patience);
        match found.take_up(peers, patience).await {
            Ok(past) => Actor::new(past, self.shared.clone(), commands),
            Err(Broken(why)) => self.broken_down(table, commands, &why),
        }
    }

    /// Reads the table again from its log and drops the stale memory.
    async fn read_again(&self, id: TableId, actor: Actor) -> Actor {
        let closed = actor.closed();
        match recovery::fold_table(&self.shared.log, id).await {
            Ok(found) => self.take_up(found, actor.into_commands()).await.told_closed(closed),
            Err(error) => {
                let mut actor = actor;
                actor.break_down(&error.to_string());
                actor
            }
        }
    }

    pub(super) async fn run(&self, mut actor: Actor) {
        let id = actor.table();
        loop {
            match actor.run().await {
                Ended::Dropped => return,
                Ended::Lost if self.closing.load(Ordering::Relaxed) => return,
                Ended::Lost => {
                    tracing::warn!(table = %id, "the table's log is lost");
                    self.lost.send_replace(true);
                    return;
                }
                Ended::ReadAgain => actor = Box::pin(self.read_again(id, actor)).await,
                Ended::Closed(closed) => {
                    self.retire(id, closed);
                    actor.answer_the_last().await;
                    return;
                }
            }
        }
    }

    /// Turns the table's entry into that of a closed one, without a task.
    fn retire(&self, id: TableId, closed: Closed) {
        let mut tables = self.tables();
        tables.closed.insert(id, closed);
        tables.running.remove(&id);
    }
}
