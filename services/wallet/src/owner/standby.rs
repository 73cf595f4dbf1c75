//! Standby: waits for the log before it owns the ledger.

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Fault, Ground, Owner, Work, recovery};
use crate::wallet::{Ask, Books, Limits, Look, Queues, Wallet};

/// An owner without its log. Requests are answered "unavailable" until it has the log.
pub struct Standby {
    ground: Ground,
    books: Books,
    queue: mpsc::Receiver<Ask>,
    looks: mpsc::Receiver<Look>,
    limits: Limits,
}

impl Wallet {
    /// A wallet that takes requests at once and carries them out once it owns its log.
    #[must_use]
    pub fn standby(ground: Ground, limits: Limits) -> (Wallet, Standby) {
        let books = Books::new(ground.repo.clone());
        let (wallet, Queues { asks: queue, looks }) = Wallet::new(limits, books.clone());
        (wallet, Standby { ground, books, queue, looks, limits })
    }
}

impl Standby {
    /// Waits for the log as long as it takes, then serves as [`Owner::run`] does.
    ///
    /// # Errors
    /// [`Fault`], if the log or the tables turn out to be corrupt.
    pub async fn run(self, stopping: CancellationToken) -> Result<(), Fault> {
        let Standby { ground, books, mut queue, mut looks, limits } = self;
        let queues = (&mut queue, &mut looks);
        let read = recovery::read((&ground, &books, None), queues, &stopping).await?;
        let Some((log, loaded)) = read else { return Ok(()) };
        let queues = Queues { asks: queue, looks };
        Owner::new((ground, books), queues, limits, Work::new(log, loaded)).run(stopping).await
    }
}
