//! Calls about a player's hands.

use proto::audit::v1 as pb;
use proto::audit::v1::audit_service_client::AuditServiceClient;
use proto::audit::v1::hand_service_client::HandServiceClient;

use crate::connection::Client;
use crate::error::Error;

impl Client {
    /// Returns a page of a player's hands, newest first. An empty `player_id` means the bearer of the
    /// token. The last page has an empty `next_page_token`.
    ///
    /// # Errors
    /// See [`Error`]; `ROLE_NOT_ALLOWED` for another player's.
    pub async fn list_player_hands(
        &self,
        request: pb::ListPlayerHandsRequest,
    ) -> Result<pb::ListPlayerHandsResponse, Error> {
        self.call_with_retries(request, |channel, request| async move {
            HandServiceClient::new(channel).list_player_hands(request).await
        })
        .await
    }

    /// Returns a hand that has ended as the bearer of the token may see it, named by table and
    /// number or by its id.
    ///
    /// # Errors
    /// See [`Error`]; `HAND_UNKNOWN`, `HAND_IN_PLAY`, and `SEED_NOT_OPEN` until the hand's seed is
    /// open.
    pub async fn get_hand(
        &self,
        request: pb::GetHandRequest,
    ) -> Result<pb::GetHandResponse, Error> {
        self.call_with_retries(request, |channel, request| async move {
            AuditServiceClient::new(channel).get_hand(request).await
        })
        .await
    }
}
