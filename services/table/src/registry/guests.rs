//! Sign-in of guests: their record, then their starting credits, then their tokens.
//!
//! The wallet is asked for the credits under an id that it makes from the player's, so it gives them
//! once. A guest is answered only after that; who got no answer repeats the request, and the wallet
//! is asked again.

use std::time::Duration;

use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use proto::wallet::v1::GiveStartingCreditsRequest;
use wire::{ApiRefusal, status};

use super::TableRegistry;
use crate::author::Author;
use crate::people::refresh_token::SignInSecret;

/// Time for the wallet to answer.
const WALLET_TIMEOUT: Duration = Duration::from_secs(4);

impl TableRegistry {
    /// Makes a new player of a guest.
    pub(crate) async fn sign_in_as_guest(
        &self,
        name: &str,
        secret: &SignInSecret,
        by: Author,
    ) -> Result<pb::SignInAsGuestResponse, ApiRefusal> {
        let (given, name) = self.people.sign_in(name, secret, by).await?;
        let player = given.token.player;
        let request = GiveStartingCreditsRequest { player_id: player.0.to_vec() };
        let mut wallet = self.dependencies.peers.wallet.clone();
        let asked = tokio::time::timeout(WALLET_TIMEOUT, wallet.give_starting_credits(request));
        let answer = asked.await.map_err(|_| no_credits())?.map_err(|status| {
            if status::reason_of(&status) == Some(ErrorReason::RecordsSpent) {
                let message = "as many guests as a day takes were given credits today";
                return wire::api_refusal(ErrorReason::RecordsSpent, message);
            }
            tracing::warn!(%player, %status, "a guest was given no credits");
            no_credits()
        })?;
        Ok(pb::SignInAsGuestResponse {
            player_id: player.to_string(),
            name,
            tokens: Some(self.people.guests()?.tokens(&given)),
            starting_credits: answer.into_inner().amount_credits,
        })
    }
}

fn no_credits() -> ApiRefusal {
    status::unavailable("the wallet does not answer, and without credits nobody signs in")
}
