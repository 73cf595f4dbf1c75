//! Marks of bots, shown at every table where the player sits.

use primitives::PlayerId;
use proto::table::v1 as pb;
use wire::ApiRefusal;

use super::TableRegistry;
use crate::author::Author;

impl TableRegistry {
    /// Marks a player as a bot, or clears the mark, and shows it at their tables.
    pub(crate) async fn mark_player(
        &self,
        player: PlayerId,
        bot: bool,
        by: Author,
    ) -> Result<pb::MarkPlayerResponse, ApiRefusal> {
        if self.people.mark(player, bot, by).await? {
            self.publish_player(player);
        }
        Ok(pb::MarkPlayerResponse {})
    }
}
