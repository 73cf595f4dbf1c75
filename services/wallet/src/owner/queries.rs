//! Read-only queries of the ledger.

use eventlog::AppendError;
use tokio::time::Instant;

use super::{GroupOutcome, Owner};
use crate::wallet::{Query, QueryContext};

/// Queries that are answered together.
const MAX_QUERIES: usize = 1_000;

impl Owner {
    /// Answers a query and those that wait behind it, once what was decided before is durable and
    /// the log is confirmed to be still owned.
    pub(super) fn answer_queries(&mut self, look: Query) {
        let mut looks = vec![look];
        while looks.len() < MAX_QUERIES
            && let Ok(look) = self.queries.try_recv()
        {
            looks.push(look);
        }
        let now = self.state.last_time.max((self.dependencies.clock)());
        let view = QueryContext {
            ledger: &self.state.ledger,
            now,
            reader: self.state.log.archive_reader(),
        };
        let mut looked: Vec<_> = looks.into_iter().map(|Query(look)| look(&view)).collect();
        let (log, sent) = (self.state.log.clone(), Instant::now());
        self.state.groups_in_flight.push_back(Box::pin(async move {
            let mut outcome = log.confirm_ownership().await;
            if matches!(outcome, Err(AppendError::Unavailable { .. } | AppendError::Clock(_))) {
                // No write was due: the state in memory stands, and the replies are dropped.
                looked.clear();
                outcome = Ok(());
            }
            GroupOutcome { query_replies: looked, ..GroupOutcome::new(outcome, sent) }
        }));
    }
}
