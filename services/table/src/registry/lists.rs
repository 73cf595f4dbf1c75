//! Lists that follow from the log, for readers.

use primitives::{PlayerId, TableId};
use proto::audit::v1::ListPlayerHandsResponse;
use tokio_util::sync::CancellationToken;
use wire::ApiRefusal;

use super::TableRegistry;
use crate::actor::Dependencies;
use crate::hand_list::HandList;
use crate::lobby::Lobby;
use crate::player_hands::HandsQuery;

impl TableRegistry {
    /// List of all hand numbers.
    #[must_use]
    pub(crate) const fn hand_list(&self) -> &HandList {
        &self.hand_list
    }

    /// Page of a player's hands.
    pub(crate) async fn player_hands(
        &self,
        query: HandsQuery,
    ) -> Result<ListPlayerHandsResponse, ApiRefusal> {
        let Dependencies { player_hands, log, .. } = &self.dependencies;
        player_hands.page(query, log.size()).await
    }

    /// List of open tables.
    #[must_use]
    pub(crate) const fn lobby(&self) -> &Lobby {
        &self.lobby
    }

    /// Waits a moment for the lobby to have what is committed.
    pub(crate) async fn wait_for_lobby(&self) {
        self.lobby.wait_for(self.dependencies.log.size()).await;
    }

    /// Token that fires when this process owns the log no more.
    #[must_use]
    pub(crate) fn log_stopped(&self) -> CancellationToken {
        self.dependencies.log.stopped()
    }

    /// Tables at which a player sits, by their ids.
    #[must_use]
    pub(crate) fn tables_of(&self, player: PlayerId) -> Vec<TableId> {
        self.dependencies.directory.tables_of(player)
    }
}
