//! Standby: waits for the log before it owns the ledger.
//!
//! Specification: ARCHITECTURE.md §4.

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Dependencies, FatalError, Owner, OwnerState, recovery};
use crate::wallet::{Query, QueueLimits, Queues, RequestBatch, Tables, Wallet};

/// An owner without its log. Requests are answered "unavailable" until it has the log.
pub struct Standby {
    dependencies: Dependencies,
    tables: Tables,
    batches: mpsc::Receiver<RequestBatch>,
    queries: mpsc::Receiver<Query>,
    limits: QueueLimits,
}

impl Wallet {
    /// A wallet that takes requests at once and carries them out once it owns its log.
    #[must_use]
    pub fn standby(dependencies: Dependencies, limits: QueueLimits) -> (Wallet, Standby) {
        let tables = Tables::new(dependencies.repo.clone());
        let (wallet, Queues { batches, queries }) = Wallet::new(limits, tables.clone());
        (wallet, Standby { dependencies, tables, batches, queries, limits })
    }
}

impl Standby {
    /// Waits for the log as long as it takes, then serves as [`Owner::run`] does.
    ///
    /// # Errors
    /// [`FatalError`], if the log or the tables turn out to be corrupt.
    pub async fn run(self, stopping: CancellationToken) -> Result<(), FatalError> {
        let Standby { dependencies, tables, mut batches, mut queries, limits } = self;
        let queues = recovery::WaitingQueues { batches: &mut batches, queries: &mut queries };
        let read = recovery::open_and_load(&dependencies, &tables, None, queues, &stopping).await?;
        let Some((log, loaded)) = read else { return Ok(()) };
        let queues = Queues { batches, queries };
        Owner::new(dependencies, tables, queues, limits, OwnerState::new(log, loaded))
            .run(stopping)
            .await
    }
}
