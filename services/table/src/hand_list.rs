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
use proto::event::v1::EventType;
use proto::table::v1::ActivityKind;
use wire::ApiRefusal;

use crate::log_follower;
use crate::room::RoomActivity;
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

    /// Whether a player was dealt into a hand, which may be archived.
    #[must_use]
    pub(crate) fn was_dealt_into(&self, player: PlayerId, table: TableId, hand_no: u64) -> bool {
        let index = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        index.was_dealt_into(player, table, hand_no)
    }

    /// Hand numbers that have started and not ended.
    #[must_use]
    pub(crate) fn hands_in_play(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).room.view().in_play
    }

    /// Takes an event, and counts what it has changed.
    fn apply(&self, event: &eventlog::Event, activity: &RoomActivity) {
        let mut index = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = index.room;
        index.apply(event);
        let now = index.room;
        drop(index);
        for (kind, more) in now.since(&before) {
            activity.count(&kind, more);
        }
        activity.count(&ActivityKind::Records, 1);
        let is_decision = i32::from(event.kind) == i32::from(EventType::MoveDecided);
        activity.count(&ActivityKind::Decisions, u64::from(is_decision));
    }

    fn log_size(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).log_size
    }
}

/// Follows the log from where the list ends, until the log is lost or closed, and counts what comes.
pub(crate) async fn follow(log: Log, list: HandList, activity: Arc<RoomActivity>) {
    let from = Position(list.log_size());
    let apply = |event: &eventlog::Event| list.apply(event, &activity);
    log_follower::follow(log, from, "the list of hands", apply).await;
}
