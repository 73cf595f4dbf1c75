//! Calls about limits of play, and keeping out of it.

use primitives::PlayerId;
use prost_types::Timestamp;
use proto::wallet::v1 as pb;
use proto::wallet::v1::wallet_service_client::WalletServiceClient;

use crate::accounts::player_id_text;
use crate::connection::Client;
use crate::error::Error;

/// Limits to set. Measures that are `None` stay as they are; of the others all windows are set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NewLimits {
    /// The most credits brought to tables.
    pub buy_in: Option<pb::Limits>,
    /// The most credits lost net in hands.
    pub loss: Option<pb::Limits>,
    /// The most seconds with credits at any table.
    pub time: Option<pb::Limits>,
}

impl Client {
    /// Sets limits: a player their own, an operator the operator's of a player. A tighter limit holds
    /// at once, a looser one after 24 hours. `None` means the bearer of the token.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn set_limits(
        &self,
        player: Option<PlayerId>,
        limits: NewLimits,
    ) -> Result<pb::SetLimitsResponse, Error> {
        let NewLimits { buy_in, loss, time } = limits;
        let request = pb::SetLimitsRequest {
            request_id: self.request_id(),
            player_id: player_id_text(player),
            limits: buy_in,
            loss,
            time,
        };
        self.call_with_retries(request, |channel, request| async move {
            WalletServiceClient::new(channel).set_limits(request).await
        })
        .await
    }

    /// Returns a player's limits, how far they are used, and how the player stands. `None` means the
    /// bearer of the token.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn get_limits(
        &self,
        player: Option<PlayerId>,
    ) -> Result<pb::GetLimitsResponse, Error> {
        let request = pb::GetLimitsRequest { player_id: player_id_text(player) };
        self.call_with_retries(request, |channel, request| async move {
            WalletServiceClient::new(channel).get_limits(request).await
        })
        .await
    }

    /// Keeps a player out of play until a time, or for good where it is `None`. It can be made longer
    /// and never shorter. Returns until when. A player of `None` means the bearer of the token.
    ///
    /// # Errors
    /// See [`Error`]; `TRANSFER_REFUSED` with `EXCLUSION_SHORTER` or `TIME_PASSED`.
    pub async fn exclude(
        &self,
        player: Option<PlayerId>,
        until: Option<Timestamp>,
    ) -> Result<Option<Timestamp>, Error> {
        let request = pb::ExcludeRequest {
            request_id: self.request_id(),
            player_id: player_id_text(player),
            end_time: until,
        };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                WalletServiceClient::new(channel).exclude(request).await
            })
            .await?;
        Ok(answer.end_time)
    }
}
