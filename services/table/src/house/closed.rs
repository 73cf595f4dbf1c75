//! Closed tables: without a task, each a row in a list.
//!
//! A request for a closed table is answered from the log. Its first record says what the table was.
//! Nothing more happens there. Requests that were answered before get the same answer again.

use std::sync::Arc;

use eventlog::Version;
use primitives::TableId;
use proto::common::v1::ErrorReason;
use tokio::sync::{Semaphore, mpsc};
use wire::{Recorded, Refused, refused, status};

use super::{House, QUEUE};
use crate::actor::{Actor, Command};
use crate::state::State;
use crate::table::{Closing, Table};

/// Closed tables that may be read from the log at one time; few, since they are never urgent.
pub(super) const READS: usize = 4;

/// Facts that are kept of a closed table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed {
    pub hand_no: u64,
    pub sequence: u64,
}

impl Closed {
    #[must_use]
    pub fn of(table: &Table) -> Closed {
        Closed { hand_no: table.hand_no, sequence: table.sequence }
    }
}

impl House {
    /// Starts a task that answers for a closed table until all its senders are dropped.
    pub(super) async fn look_back(
        self: &Arc<Self>,
        id: TableId,
        closed: Closed,
    ) -> Result<mpsc::Sender<Command>, Refused> {
        let _read = self.reads.acquire().await;
        let mut first = self.shared.log.read_stream(id.into(), Version(1), 1).await;
        let first =
            first.as_mut().map_err(|_| status::unavailable("the log cannot be read"))?.pop();
        let damaged = |why: String| refused(ErrorReason::Corrupt, why);
        let created = first.as_ref().map(Recorded::try_from);
        let Some(Ok(Recorded::TableCreated(created))) = created else {
            return Err(damaged(format!("the first record of table {id} is not there")));
        };
        let mut table = Table::open(id, &created).map_err(|error| damaged(error.to_string()))?;
        table.closing = Closing::Closed;
        (table.hand_no, table.sequence) = (closed.hand_no, closed.sequence);
        let (sender, commands) = mpsc::channel(QUEUE);
        let past = (State::new(table), Vec::new());
        let mut actor = Actor::new(past, self.shared.clone(), commands);
        tokio::spawn(async move { actor.answer_to_the_end().await });
        Ok(sender)
    }
}

pub(super) fn reads() -> Semaphore {
    Semaphore::new(READS)
}
