//! List of open tables, for pages and for watchers.
//!
//! The list is a fold of the log ([`index`]). It is made when the log is folded at the start, and a
//! task of its own follows the log from there ([`follow`]). A change has the number of its record, so
//! it is the same before and after a restart, and a watcher goes on where they were.
//!
//! Watchers are not sent changes: each asks for those behind its own last one, once a second at most
//! ([`watch`]). So a change costs the same whatever the number of watchers, a table that changes all
//! the time is sent once a second, and a slow reader gets fewer messages. A watcher keeps a page of
//! messages, and with the filter `mine` the tables that it was sent.
//!
//! Specification: services/table/README.md "The lobby".

mod filter;
mod index;
#[cfg(test)]
mod tests;
mod watch;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use eventlog::{Event, Log, Position};
use primitives::TableId;
use proto::table::v1 as pb;
use tokio::sync::watch as latest;

use crate::log_follower;

pub(crate) use filter::Filter;
pub(crate) use index::LobbyIndex;
pub(crate) use watch::LobbyWatch;

/// Longest wait of a reader for the list to follow what was committed before.
const FOLLOW_TIMEOUT: Duration = Duration::from_millis(500);

/// The list. Clones share it.
#[derive(Clone)]
pub(crate) struct Lobby(Arc<Shared>);

struct Shared {
    index: Mutex<LobbyIndex>,
    /// Records of the log that are in the list.
    log_size: latest::Sender<u64>,
    /// Number of the last change.
    changed: latest::Sender<u64>,
}

impl Default for Lobby {
    fn default() -> Lobby {
        Lobby::new(LobbyIndex::default())
    }
}

impl Lobby {
    #[must_use]
    pub(crate) fn new(index: LobbyIndex) -> Lobby {
        let (log_size, changed) = (index.log_size(), index.last_change());
        let (log_size, changed) = (latest::Sender::new(log_size), latest::Sender::new(changed));
        Lobby(Arc::new(Shared { index: Mutex::new(index), log_size, changed }))
    }

    /// Up to `take` tables behind one, by their ids, and the table that the next page begins behind.
    #[must_use]
    pub(crate) fn page(
        &self,
        filter: &Filter,
        after: Option<TableId>,
        take: usize,
    ) -> (Vec<pb::TableSummary>, Option<TableId>) {
        self.read(|index| index.page(filter, after, take))
    }

    /// Number of open tables.
    #[must_use]
    pub(crate) fn open_tables(&self) -> u64 {
        self.read(|index| index.open_tables())
    }

    /// Waits until the list has the first `log_size` records, for [`FOLLOW_TIMEOUT`] at most: a
    /// caller finds the table that they have just opened.
    pub(crate) async fn wait_for(&self, log_size: u64) {
        let mut followed = self.0.log_size.subscribe();
        let reached = followed.wait_for(|size| *size >= log_size);
        let _ = tokio::time::timeout(FOLLOW_TIMEOUT, reached).await;
    }

    fn apply(&self, event: &Event) {
        let changed = self.read(|index| {
            index.apply(event);
            index.last_change()
        });
        self.0.changed.send_if_modified(|last| std::mem::replace(last, changed) != changed);
        self.0.log_size.send_replace(event.position.0 + 1);
    }

    fn read<T>(&self, query: impl FnOnce(&mut LobbyIndex) -> T) -> T {
        query(&mut self.0.index.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn log_size(&self) -> u64 {
        *self.0.log_size.borrow()
    }
}

/// Follows the log from where the list ends, until the log is lost or closed.
pub(crate) async fn follow(log: Log, lobby: Lobby) {
    let from = Position(lobby.log_size());
    log_follower::follow(log, from, "the lobby", |event| lobby.apply(event)).await;
}
