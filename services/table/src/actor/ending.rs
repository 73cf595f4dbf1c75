//! End of a table's task, and what its successor takes over.

use primitives::TableId;
use tokio::sync::mpsc;

use super::{Actor, TableMessage};

impl Actor {
    /// Id of the table.
    #[must_use]
    pub(crate) fn table_id(&self) -> TableId {
        self.state.table.id
    }

    /// Receiver of the waiting messages, for the table's next task.
    #[must_use]
    pub(crate) fn into_messages(self) -> mpsc::Receiver<TableMessage> {
        self.messages
    }

    /// Whether the table is closed and nobody waits: neither a caller nor a stopped effect that an
    /// operator has to resume.
    pub(super) fn is_over(&self) -> bool {
        self.state.is_closed()
            && self.state.table.stops.is_empty()
            && self.halted.is_none()
            && self.effects_in_flight.is_empty()
            && self.waiting_buy_ins.is_empty()
            && self.deferred.is_empty()
    }

    /// Answers the messages that arrived before the table left the registry.
    pub(crate) async fn answer_remaining(&mut self) {
        self.messages.close();
        self.answer_until_dropped().await;
    }

    /// Answers for a closed table until all senders are gone.
    pub(crate) async fn answer_until_dropped(&mut self) {
        let mut open = true;
        while open || !self.lookups.is_empty() {
            let step = tokio::select! {
                biased;
                Some(Ok(outcome)) = self.lookups.join_next() => self.finish_lookup(outcome).await,
                message = self.messages.recv(), if open => match message {
                    Some(message) => self.receive(message).await,
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
