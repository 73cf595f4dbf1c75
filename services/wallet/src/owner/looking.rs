//! Read-only queries of the ledger.

use eventlog::AppendError;
use tokio::time::Instant;

use super::{Landed, Owner};
use crate::wallet::{Look, View};

/// Queries that are answered together.
const MOST: usize = 1_000;

impl Owner {
    /// Answers a query and those that wait behind it, once what was decided before is durable and
    /// the log is confirmed to be still owned.
    pub(super) fn look(&mut self, look: Look) {
        let mut looks = vec![look];
        while looks.len() < MOST
            && let Ok(look) = self.looks.try_recv()
        {
            looks.push(look);
        }
        let now = self.work.at.max((self.ground.clock)());
        let view = View { ledger: &self.work.ledger, now, reader: self.work.log.reader() };
        let mut looked: Vec<_> = looks.into_iter().map(|Look(look)| look(&view)).collect();
        let (log, sent) = (self.work.log.clone(), Instant::now());
        self.work.flights.push_back(Box::pin(async move {
            let mut outcome = log.confirm().await;
            if matches!(outcome, Err(AppendError::Unavailable { .. } | AppendError::Clock(_))) {
                // No write was due: the state in memory stands, and the replies are dropped.
                looked.clear();
                outcome = Ok(());
            }
            Landed { looked, ..Landed::new(outcome, sent) }
        }));
    }
}
