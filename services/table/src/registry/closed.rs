//! Closed tables: without a task, each a row in a list.
//!
//! A request for a closed table is answered from the log. Its first record says what the table was.
//! Nothing more happens there. Requests that were answered before get the same answer again.

use std::sync::Arc;

use eventlog::{ReadError, Version};
use primitives::TableId;
use proto::common::v1::ErrorReason;
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, mpsc};
use wire::{ApiRefusal, TableRecord, api_refusal};

use super::{MAX_QUEUED, TableRegistry};
use crate::actor::{Actor, TableMessage};
use crate::retention::read_refusal;
use crate::state::TableState;
use crate::table::{Closing, Table};

/// Closed tables that may be read from the log at one time; few, since they are never urgent.
pub(super) const MAX_READS: usize = 4;

/// Facts that are kept of a closed table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClosedTable {
    pub hand_no: u64,
    pub sequence: u64,
}

impl ClosedTable {
    #[must_use]
    pub(crate) fn of(table: &Table) -> ClosedTable {
        ClosedTable { hand_no: table.hand_no, sequence: table.sequence }
    }
}

impl TableRegistry {
    /// Starts a task that answers for a closed table until all its senders are dropped.
    pub(super) async fn answer_for_closed(
        self: &Arc<Self>,
        id: TableId,
        closed: ClosedTable,
    ) -> Result<mpsc::Sender<TableMessage>, ApiRefusal> {
        let log = &self.dependencies.log;
        let read = self.read_permits.acquire().await;
        let mut first = log.read_stream(id.into(), Version(1), 1).await;
        drop(read);
        if matches!(first, Err(ReadError::Archived { .. })) {
            // No permit is held while a storage of archives is asked.
            first = log.archive_reader().read_stream(id.into(), Version(1), 1).await;
        }
        let first = first.as_mut().map_err(|error| read_refusal(error))?.pop();
        let corrupt = |why: String| api_refusal(ErrorReason::Corrupt, why);
        let created = first.as_ref().map(|first| (TableRecord::try_from(first), first.recorded_at));
        let Some((Ok(TableRecord::TableCreated(created)), at)) = created else {
            return Err(corrupt(format!("the first record of table {id} is not there")));
        };
        let mut table =
            Table::open(id, &created, at).map_err(|error| corrupt(error.to_string()))?;
        table.closing = Closing::Closed;
        (table.hand_no, table.sequence) = (closed.hand_no, closed.sequence);
        let (sender, messages) = mpsc::channel(MAX_QUEUED);
        let state = TableState::new(table);
        let mut actor = Actor::new(state.into(), self.dependencies.clone(), messages);
        tokio::spawn(async move { actor.answer_until_dropped().await });
        Ok(sender)
    }
}

pub(super) fn read_permits() -> Semaphore {
    Semaphore::new(MAX_READS)
}
