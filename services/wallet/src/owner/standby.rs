//! Standby: waits for the log before it owns the ledger.
//!
//! Specification: ARCHITECTURE.md §4.

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Dependencies, FatalError, Owner, OwnerState, recovery};
use crate::wallet::{Query, QueueLimits, Queues, RequestBatch, Tables, Wallet};

/// An owner without its log. Requests are answered "unavailable" until it has the log.
pub struct Standby {
    ground: Dependencies,
    books: Tables,
    queue: mpsc::Receiver<RequestBatch>,
    looks: mpsc::Receiver<Query>,
    limits: QueueLimits,
}

impl Wallet {
    /// A wallet that takes requests at once and carries them out once it owns its log.
    #[must_use]
    pub fn standby(ground: Dependencies, limits: QueueLimits) -> (Wallet, Standby) {
        let books = Tables::new(ground.repo.clone());
        let (wallet, Queues { batches: queue, queries: looks }) =
            Wallet::new(limits, books.clone());
        (wallet, Standby { ground, books, queue, looks, limits })
    }
}

impl Standby {
    /// Waits for the log as long as it takes, then serves as [`Owner::run`] does.
    ///
    /// # Errors
    /// [`FatalError`], if the log or the tables turn out to be corrupt.
    pub async fn run(self, stopping: CancellationToken) -> Result<(), FatalError> {
        let Standby { ground, books, mut queue, mut looks, limits } = self;
        let queues = recovery::WaitingQueues { batches: &mut queue, queries: &mut looks };
        let read = recovery::open_and_load(&ground, &books, None, queues, &stopping).await?;
        let Some((log, loaded)) = read else { return Ok(()) };
        let queues = Queues { batches: queue, queries: looks };
        Owner::new(ground, books, queues, limits, OwnerState::new(log, loaded)).run(stopping).await
    }
}
