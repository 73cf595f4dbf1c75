//! Tasks of the tables: started, read again from the log, and restarted after a panic.
//!
//! A panic is a bug, and ends a task with everything that waits for it. The table is then read
//! again from the log, behind a record that says so: whatever the task had handed to the log stands
//! before that record. A table that panics again soon is halted, like one that contradicts its
//! log, and waits for an operator. So no table restarts for ever.

use proto::common::v1::Resolution;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use eventlog::{AppendError, Entry};
use primitives::TableId;
use tokio::sync::mpsc;
use tokio::task::JoinError;
use wire::{Record as _, TableRecord};

use super::{ClosedTable, MAX_QUEUED, RETRY_PAUSE, TableRegistry};
use crate::actor::{Actor, SERVICE_ACTOR, TableMessage, TaskEnd};
use crate::effect_calls::Inconsistency;
use crate::recovery::{self, FoldError, RecoveredTable};
use crate::state::TableState;
use crate::stops;
use crate::table::Table;

/// A panic within this time after the one before counts as a repetition.
const REPEATED_PANIC_WINDOW: Duration = Duration::from_secs(600);
/// Pause before the restart of a table that has panicked more than twice.
const REPEATED_PANIC_PAUSE: Duration = Duration::from_secs(60);

/// Mode in which a table's task is restarted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RestartMode {
    /// The table goes on.
    Running,
    /// The table can be watched and waits for an operator.
    Halted,
}

impl TableRegistry {
    /// Registers a table, or replaces its sender by that of a new task. Returns the messages for the
    /// task.
    pub(super) fn register(&self, id: TableId) -> mpsc::Receiver<TableMessage> {
        let (sender, messages) = mpsc::channel(MAX_QUEUED);
        self.tables().running.insert(id, sender);
        messages
    }

    /// Runs a table's task to its end and restarts it after a panic.
    pub(super) async fn run_guarded(
        self: Arc<Self>,
        recovered: RecoveredTable,
        messages: mpsc::Receiver<TableMessage>,
    ) {
        let id = recovered.table.id;
        let this = Arc::clone(&self);
        let first = async move {
            let actor = Box::pin(this.recover(recovered, messages)).await;
            this.run(actor).await;
        };
        let mut ended = tokio::spawn(first).await;
        let (mut panics, mut last) = (0_u32, self.dependencies.clock.now());
        while ended.is_err_and(|error: JoinError| error.is_panic()) {
            let now = self.dependencies.clock.now();
            panics = if now.since(last) < REPEATED_PANIC_WINDOW { panics + 1 } else { 1 };
            last = now;
            if self.tables().closed.contains_key(&id) {
                return;
            }
            tracing::error!(table = %id, panics, "the table's task has panicked, a fault of this program: the table is read again from its log");
            // Callers meanwhile wait in the queue of the new task.
            let messages = self.register(id);
            let rest = if panics > 2 { REPEATED_PANIC_PAUSE } else { Duration::ZERO };
            let mode = if panics > 1 { RestartMode::Halted } else { RestartMode::Running };
            let again = Arc::clone(&self).restart(id, mode, rest, messages);
            ended = tokio::spawn(again).await;
        }
    }

    async fn restart(
        self: Arc<Self>,
        id: TableId,
        mode: RestartMode,
        rest: Duration,
        messages: mpsc::Receiver<TableMessage>,
    ) {
        let stopped = self.dependencies.log.stopped();
        let recovered = async {
            tokio::time::sleep(rest).await;
            self.record_restart(id).await;
            self.read_table(id).await
        };
        let recovered = match stopped.run_until_cancelled(recovered).await {
            Some(Ok(recovered)) => recovered,
            Some(Err(error)) => {
                tracing::error!(table = %id, %error, "the table cannot be read again");
                return;
            }
            None => return,
        };
        self.dependencies.directory.add_seats(&recovered.table);
        for (player, named) in recovered.renamed(|player| self.people.presented_at(player)) {
            self.publish_name(id, player, named);
        }
        let actor = match mode {
            RestartMode::Running => Box::pin(self.recover(recovered, messages)).await,
            RestartMode::Halted => self.halted_actor(
                recovered.table,
                messages,
                "its task has panicked again and again",
            ),
        };
        self.run(actor).await;
    }

    /// Task of a table that can be watched and waits for an operator.
    fn halted_actor(
        &self,
        table: Table,
        messages: mpsc::Receiver<TableMessage>,
        why: &str,
    ) -> Actor {
        let state = TableState::new(table);
        let mut actor = Actor::new(state.into(), self.dependencies.clone(), messages);
        actor.halt(why);
        actor
    }

    /// Records that the table is read again. Whatever was handed to the log earlier is then in it,
    /// or never will be.
    async fn record_restart(&self, id: TableId) {
        let reason = "the table's task had panicked".to_owned();
        let resumed = stops::resumed_event(None, Resolution::Retry, reason, Vec::new());
        let event = TableRecord::from(resumed).on_stream(id);
        loop {
            let entry = Entry {
                events: vec![event.clone()],
                request: None,
                actor: SERVICE_ACTOR.into(),
                trace: chassis::telemetry::trace_id(),
            };
            match self.dependencies.log.append(entry).await {
                Ok(_) => return,
                // The log stops, and everything is read again by its next owner.
                Err(AppendError::Lost) => return std::future::pending().await,
                Err(error) => {
                    tracing::warn!(runbook = "deploy/README.md, The database is away", table = %id, %error, "a table waits to be read again");
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
            }
        }
    }

    async fn fold_table(&self, id: TableId) -> Result<RecoveredTable, FoldError> {
        let snapshots = self.dependencies.snapshots.store.as_ref();
        recovery::fold_table(&self.dependencies.log, snapshots, id).await
    }

    /// Reads the table from the log, waiting for as long as the database is away.
    async fn read_table(&self, id: TableId) -> Result<RecoveredTable, FoldError> {
        loop {
            match self.fold_table(id).await {
                Err(FoldError::Read(eventlog::ReadError::Unavailable { .. })) => {
                    tokio::time::sleep(RETRY_PAUSE).await;
                }
                other => return other,
            }
        }
    }

    /// Recovers a table with its hand in play. A table that contradicts its own log can be watched
    /// and waits for an operator.
    pub(super) async fn recover(
        &self,
        recovered: RecoveredTable,
        messages: mpsc::Receiver<TableMessage>,
    ) -> Actor {
        let table = recovered.table.clone();
        let (peers, dealer_timeout) = (&self.dependencies.peers, self.dependencies.dealer_timeout);
        let last_alive = self.dependencies.log.last_alive();
        let last_alive = last_alive.unwrap_or_else(|| self.dependencies.clock.now());
        match recovered.recover(peers, dealer_timeout, last_alive).await {
            Ok(recovered) => Actor::new(recovered, self.dependencies.clone(), messages),
            Err(Inconsistency(why)) => self.halted_actor(table, messages, &why),
        }
    }

    /// Reads the table again from its log and drops the stale memory.
    async fn reload(&self, id: TableId, actor: Actor) -> Actor {
        match self.fold_table(id).await {
            Ok(recovered) => self.recover(recovered, actor.into_messages()).await,
            Err(error) => {
                let mut actor = actor;
                actor.halt(&error.to_string());
                actor
            }
        }
    }

    pub(super) async fn run(&self, mut actor: Actor) {
        let id = actor.table_id();
        loop {
            match actor.run().await {
                TaskEnd::Dropped => return,
                TaskEnd::LogLost if self.closing.load(Ordering::Relaxed) => return,
                TaskEnd::LogLost => {
                    tracing::warn!(table = %id, "the table's log is lost");
                    self.lost.send_replace(true);
                    return;
                }
                TaskEnd::Reload => actor = Box::pin(self.reload(id, actor)).await,
                TaskEnd::Closed(closed) => {
                    self.retire(id, closed);
                    actor.answer_remaining().await;
                    return;
                }
            }
        }
    }

    /// Turns the table's entry into that of a closed one, without a task.
    fn retire(&self, id: TableId, closed: ClosedTable) {
        let mut tables = self.tables();
        tables.closed.insert(id, closed);
        tables.running.remove(&id);
    }
}
