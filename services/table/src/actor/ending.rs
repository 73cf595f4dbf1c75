//! End of a table's task, and what its successor takes over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use primitives::TableId;
use tokio::sync::mpsc;

use super::{Actor, Command};

impl Actor {
    /// Id of the table.
    #[must_use]
    pub fn table(&self) -> TableId {
        self.state.table.id
    }

    /// Reports through `closed` whether the table is closed.
    #[must_use]
    pub fn told_closed(mut self, closed: Arc<AtomicBool>) -> Actor {
        closed.store(self.state.is_closed(), Ordering::Relaxed);
        self.closed = closed;
        self
    }

    /// Flag that was given to [`Actor::told_closed`].
    #[must_use]
    pub fn closed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.closed)
    }

    /// Receiver of the waiting messages, for the table's next task.
    #[must_use]
    pub fn into_commands(self) -> mpsc::Receiver<Command> {
        self.commands
    }

    /// Whether the table is closed and nobody waits: neither a caller nor a stopped effect that an
    /// operator has to resume.
    pub(super) fn is_over(&self) -> bool {
        self.state.is_closed()
            && self.state.table.stops.is_empty()
            && self.broken.is_none()
            && self.busy.is_empty()
            && self.waiting.is_empty()
            && self.deferred.is_empty()
    }

    /// Answers the messages that arrived before the table left the registry.
    pub async fn answer_the_last(&mut self) {
        self.commands.close();
        self.answer_to_the_end().await;
    }

    /// Answers for a closed table until all senders are gone.
    pub async fn answer_to_the_end(&mut self) {
        let mut open = true;
        while open || !self.asking.is_empty() {
            let step = tokio::select! {
                biased;
                Some(Ok(asked)) = self.asking.join_next() => self.asked(asked).await,
                command = self.commands.recv(), if open => match command {
                    Some(command) => self.command(command).await,
                    None => {
                        open = false;
                        Ok(())
                    }
                },
                else => return,
            };
            if step.is_err() {
                return;
            }
        }
    }
}
