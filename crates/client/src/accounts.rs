//! Calls of the wallet service. A player of `None` means the bearer of the token.

use primitives::{Credits, PlayerId};
use proto::wallet::v1 as pb;
use proto::wallet::v1::wallet_service_client::WalletServiceClient;

use crate::connection::Client;
use crate::error::Error;

/// Result of creating or removing credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IssueResult {
    /// Credits of the account after the transfer.
    pub balance: Credits,
    /// Position of the transfer in the wallet's log.
    pub position: u64,
}

fn player_id_text(player: Option<PlayerId>) -> String {
    player.map_or_else(String::new, |player| player.to_string())
}

fn issue_result(balance: u64, position: u64) -> Result<IssueResult, Error> {
    let balance = Credits::try_new(balance)
        .map_err(|_| Error::Malformed("the balance is more than there can be"))?;
    Ok(IssueResult { balance, position })
}

impl Client {
    /// Opens an account, or finds it open, and returns its player.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn open_account(&self, player: Option<PlayerId>) -> Result<PlayerId, Error> {
        let request = pb::OpenAccountRequest {
            request_id: self.request_id(),
            player_id: player_id_text(player),
        };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                WalletServiceClient::new(channel).open_account(request).await
            })
            .await?;
        answer
            .account
            .strip_prefix("player/")
            .and_then(|id| id.parse().ok())
            .ok_or(Error::Malformed("the account's name is not player/ and an id"))
    }

    /// Returns an account's credits and the player's credits at tables.
    ///
    /// # Errors
    /// See [`Error`]; `ACCOUNT_UNKNOWN` for an account that was never opened.
    pub async fn get_account(
        &self,
        player: Option<PlayerId>,
    ) -> Result<pb::GetAccountResponse, Error> {
        let request = pb::GetAccountRequest { player_id: player_id_text(player) };
        self.call_with_retries(request, |channel, request| async move {
            WalletServiceClient::new(channel).get_account(request).await
        })
        .await
    }

    /// Returns a page of an account's entries, oldest first. `page_token` is empty for the first
    /// page; the last page has an empty `next_page_token`.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn list_entries(
        &self,
        player: Option<PlayerId>,
        page_size: i32,
        page_token: &str,
    ) -> Result<pb::ListEntriesResponse, Error> {
        let request = pb::ListEntriesRequest {
            player_id: player_id_text(player),
            page_size,
            page_token: page_token.to_owned(),
            start_time: None,
            end_time: None,
        };
        self.call_with_retries(request, |channel, request| async move {
            WalletServiceClient::new(channel).list_entries(request).await
        })
        .await
    }

    /// Creates credits in an account. For operators; the reason has 1 to 200 characters.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn issue(
        &self,
        player: PlayerId,
        amount: Credits,
        reason: &str,
    ) -> Result<IssueResult, Error> {
        let request = pb::IssueRequest {
            request_id: self.request_id(),
            player_id: player.to_string(),
            amount_credits: amount.get(),
            reason: reason.to_owned(),
        };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                WalletServiceClient::new(channel).issue(request).await
            })
            .await?;
        issue_result(answer.balance_credits, answer.position)
    }

    /// Removes credits from an account. For operators; the reason has 1 to 200 characters.
    ///
    /// # Errors
    /// See [`Error`]; `INSUFFICIENT_CREDITS` if the account has fewer.
    pub async fn redeem(
        &self,
        player: PlayerId,
        amount: Credits,
        reason: &str,
    ) -> Result<IssueResult, Error> {
        let request = pb::RedeemRequest {
            request_id: self.request_id(),
            player_id: player.to_string(),
            amount_credits: amount.get(),
            reason: reason.to_owned(),
        };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                WalletServiceClient::new(channel).redeem(request).await
            })
            .await?;
        issue_result(answer.balance_credits, answer.position)
    }
}
