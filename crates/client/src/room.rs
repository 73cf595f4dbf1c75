//! Calls about the room as a whole, and an operator's word on what is played in it.

use primitives::TableId;
use proto::table::v1 as pb;
use proto::table::v1::room_service_client::RoomServiceClient;

use crate::connection::Client;
use crate::error::Error;

impl Client {
    /// Returns the room: what runs, its games, limits and keys; for operators and auditors its
    /// activity too.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn room(&self) -> Result<pb::Room, Error> {
        let answer = self
            .call_with_retries(pb::GetRoomRequest {}, |channel, request| async move {
                RoomServiceClient::new(channel).get_room(request).await
            })
            .await?;
        Ok(answer.room.unwrap_or_default())
    }

    /// Starts no hand at a table until it is enabled. Returns the number of the hand in play, which
    /// goes on to its end; 0 where there is none. For operators.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn disable_table(&self, table: TableId, reason: &str) -> Result<u64, Error> {
        let (request_id, table_id) = (self.request_id(), table.to_string());
        let request = pb::DisableTableRequest { request_id, table_id, reason: reason.to_owned() };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                RoomServiceClient::new(channel).disable_table(request).await
            })
            .await?;
        Ok(answer.hand_in_play)
    }

    /// Lets a table start hands again. For operators.
    ///
    /// # Errors
    /// See [`Error`]; `GAME_DISABLED` where its game is disabled.
    pub async fn enable_table(&self, table: TableId, reason: &str) -> Result<(), Error> {
        let (request_id, table_id) = (self.request_id(), table.to_string());
        let request = pb::EnableTableRequest { request_id, table_id, reason: reason.to_owned() };
        let pb::EnableTableResponse {} = self
            .call_with_retries(request, |channel, request| async move {
                RoomServiceClient::new(channel).enable_table(request).await
            })
            .await?;
        Ok(())
    }

    /// Opens no table of a game, and disables each of its tables, until it is enabled. For operators.
    ///
    /// # Errors
    /// See [`Error`]; `BAD_FIELD` lists the games that there are.
    pub async fn disable_game(&self, variant: &str, reason: &str) -> Result<(), Error> {
        let (variant, reason) = (variant.to_owned(), reason.to_owned());
        let request = pb::DisableGameRequest { request_id: self.request_id(), variant, reason };
        let pb::DisableGameResponse {} = self
            .call_with_retries(request, |channel, request| async move {
                RoomServiceClient::new(channel).disable_game(request).await
            })
            .await?;
        Ok(())
    }

    /// Lets a game be played again. For operators.
    ///
    /// # Errors
    /// See [`Error`]; `BAD_FIELD` lists the games that there are.
    pub async fn enable_game(&self, variant: &str, reason: &str) -> Result<(), Error> {
        let (variant, reason) = (variant.to_owned(), reason.to_owned());
        let request = pb::EnableGameRequest { request_id: self.request_id(), variant, reason };
        let pb::EnableGameResponse {} = self
            .call_with_retries(request, |channel, request| async move {
                RoomServiceClient::new(channel).enable_game(request).await
            })
            .await?;
        Ok(())
    }
}
