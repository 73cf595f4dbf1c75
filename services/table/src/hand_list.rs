//! Public list of hand numbers: what became of each, with counts for the room, tables, players and
//! seats.
//!
//! The list is a fold of the log and of nothing else. It is made when the log is folded at the
//! start, and a task of its own follows the log from there ([`follow`]). So it says the same before
//! and after a restart, and no table can leave anything out. A monitor that reads the public leaf
//! records counts the same ends.
//!
//! Memory: a hand that was played, whose seed is open and that was never suspended, has no entry;
//! a run of such hands costs nothing. Every other number has an entry, and each stretch of numbers
//! that a player was dealt into has one. A page is found by ordered maps, so its cost depends on its
//! size alone.
//!
//! - [`index`] folds events, [`counts`] counts, [`pages`] reads pages. Pure.
//!
//! Specification: services/table/README.md "The list of hands".

mod counts;
pub(crate) mod index;
mod pages;
#[cfg(test)]
pub(crate) mod tests;

use std::sync::{Arc, Mutex, PoisonError};

use eventlog::{Log, Position};
use primitives::{PlayerId, TableId};
use proto::audit::v1 as pb;
use wire::ApiRefusal;

use crate::log_follower;
use index::HandIndex;
pub(crate) use pages::{Cursor, NoCursor};

/// Hands that are asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope {
    /// The only table.
    pub table: Option<TableId>,
    /// Only hands that this player was dealt into.
    pub player: Option<PlayerId>,
}

/// The list. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct HandList(Arc<Mutex<HandIndex>>);

impl HandList {
    #[must_use]
    pub(crate) fn new(index: HandIndex) -> HandList {
        HandList(Arc::new(Mutex::new(index)))
    }

    /// One page of up to `take` rows.
    ///
    /// # Errors
    /// There is no such table.
    pub(crate) fn page(
        &self,
        scope: Scope,
        from: Option<Cursor>,
        take: usize,
    ) -> Result<pb::ListHandsResponse, ApiRefusal> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).page(scope, from, take)
    }

    fn apply(&self, event: &eventlog::Event) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).apply(event);
    }

    fn log_size(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).log_size
    }
}

/// Follows the log from where the list ends, until the log is lost or closed.
pub(crate) async fn follow(log: Log, list: HandList) {
    let from = Position(list.log_size());
    log_follower::follow(log, from, "the list of hands", |event| list.apply(event)).await;
}
