//! The calls of the wallet service. Where a player is named, none means the token's own bearer.

use primitives::{Credits, PlayerId};
use proto::wallet::v1 as pb;
use proto::wallet::v1::wallet_service_client::WalletServiceClient;

use crate::connection::Client;
use crate::error::Error;

/// Credits that came into being or went, as an operator's act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posted {
    /// The account's credits after it.
    pub balance: Credits,
    /// The transfer's position in the wallet's log.
    pub position: u64,
}

fn named(player: Option<PlayerId>) -> Vec<u8> {
    player.map_or_else(Vec::new, |player| player.bytes().to_vec())
}

fn posted(balance: u64, position: u64) -> Result<Posted, Error> {
    let balance = Credits::try_new(balance)
        .map_err(|_| Error::Malformed("the balance is more than there can be"))?;
    Ok(Posted { balance, position })
}

impl Client {
    /// Opens an account, or finds it open; answers with the player whose it is.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn open_account(&self, player: Option<PlayerId>) -> Result<PlayerId, Error> {
        let request =
            pb::OpenAccountRequest { request_id: self.request_id(), player_id: named(player) };
        let answer = self
            .repeat(request, |channel, request| async move {
                WalletServiceClient::new(channel).open_account(request).await
            })
            .await?;
        answer
            .account
            .strip_prefix("player/")
            .and_then(|id| id.parse().ok())
            .ok_or(Error::Malformed("the account's name is not player/ and an id"))
    }

    /// An account's credits, and what its player has at tables.
    ///
    /// # Errors
    /// See [`Error`]; `ACCOUNT_UNKNOWN` where it was never opened.
    pub async fn get_account(
        &self,
        player: Option<PlayerId>,
    ) -> Result<pb::GetAccountResponse, Error> {
        let request = pb::GetAccountRequest { player_id: named(player) };
        self.repeat(request, |channel, request| async move {
            WalletServiceClient::new(channel).get_account(request).await
        })
        .await
    }

    /// A page of an account's entries, oldest first. `page_token` is empty for the first page; it is
    /// the last where the answer's `next_page_token` is empty.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn list_entries(
        &self,
        player: Option<PlayerId>,
        page_size: u32,
        page_token: &str,
    ) -> Result<pb::ListEntriesResponse, Error> {
        let request = pb::ListEntriesRequest {
            player_id: named(player),
            page_size,
            page_token: page_token.to_owned(),
            from: None,
            to: None,
        };
        self.repeat(request, |channel, request| async move {
            WalletServiceClient::new(channel).list_entries(request).await
        })
        .await
    }

    /// Brings credits into being. An operator's act, with a reason of 1 to 200 characters.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn issue(
        &self,
        player: PlayerId,
        amount: Credits,
        reason: &str,
    ) -> Result<Posted, Error> {
        let request = pb::IssueRequest {
            request_id: self.request_id(),
            player_id: player.bytes().to_vec(),
            amount: amount.get(),
            reason: reason.to_owned(),
        };
        let answer = self
            .repeat(request, |channel, request| async move {
                WalletServiceClient::new(channel).issue(request).await
            })
            .await?;
        posted(answer.balance, answer.position)
    }

    /// Takes credits out of being. An operator's act, with a reason of 1 to 200 characters.
    ///
    /// # Errors
    /// See [`Error`]; `INSUFFICIENT_CREDITS` where the account has fewer.
    pub async fn redeem(
        &self,
        player: PlayerId,
        amount: Credits,
        reason: &str,
    ) -> Result<Posted, Error> {
        let request = pb::RedeemRequest {
            request_id: self.request_id(),
            player_id: player.bytes().to_vec(),
            amount: amount.get(),
            reason: reason.to_owned(),
        };
        let answer = self
            .repeat(request, |channel, request| async move {
                WalletServiceClient::new(channel).redeem(request).await
            })
            .await?;
        posted(answer.balance, answer.position)
    }
}
