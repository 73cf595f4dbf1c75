//! Marks of bots: the house's word that a program plays for a player.
//!
//! An operator sets and clears them; a player's token does neither, so nobody hides behind another's
//! mark or takes their own away. A mark is an event of the player's stream, readable by everybody,
//! with the operator as its actor; it outlives the player's name and erasure. It promises what the
//! house says, and no more: that a player without a mark is a person, nobody can prove.

use primitives::PlayerId;
use prost::Message as _;
use proto::event::v1::PlayerMarked;
use proto::table::v1 as pb;
use wire::{ApiRefusal, TableRecord};

use super::{People, permissions};
use crate::author::Author;

impl People {
    /// Whether the house marks a player as a bot.
    #[must_use]
    pub(crate) fn is_bot(&self, player: PlayerId) -> bool {
        self.directory.is_bot(player)
    }

    /// Marks a player as a bot, or clears the mark. Returns whether anything changed.
    pub(crate) async fn mark(
        &self,
        player: PlayerId,
        bot: bool,
        by: Author,
    ) -> Result<bool, ApiRefusal> {
        let _one_at_a_time = self.write_lock.lock().await;
        if self.first_answer(&by, by.digest).await?.is_some() {
            return Ok(false);
        }
        self.with_registry(|registry| permissions::check_not_erased(registry, player))?;
        if self.directory.is_bot(player) == bot {
            return Ok(false);
        }
        let events = [TableRecord::from(PlayerMarked { bot })];
        let answer = pb::MarkPlayerResponse {}.encode_to_vec();
        self.append(player.into(), &events, answer, by).await?;
        self.directory.set_bot(player, bot);
        Ok(true)
    }
}
