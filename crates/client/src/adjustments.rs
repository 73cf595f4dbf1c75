//! Calls about adjustments: corrections of an account that two operators agree on.

use primitives::RequestId;
use proto::wallet::v1 as pb;
use proto::wallet::v1::wallet_service_client::WalletServiceClient;

use crate::connection::Client;
use crate::error::Error;

/// Proposals of a page: as many as there may be.
const PAGE_SIZE: i32 = 1_000;

impl Client {
    /// Proposes an adjustment of any account by its name, and returns the proposal's id. A negative
    /// amount takes credits from the account. For operators; the reason has 1 to 200 characters.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn propose_adjustment(
        &self,
        account: &str,
        amount: i64,
        reason: &str,
    ) -> Result<RequestId, Error> {
        let request = pb::ProposeAdjustmentRequest {
            request_id: self.request_id(),
            account: account.to_owned(),
            amount_credits: amount,
            reason: reason.to_owned(),
        };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                WalletServiceClient::new(channel).propose_adjustment(request).await
            })
            .await?;
        answer.adjustment_id.parse().map_err(|_| Error::Malformed("the adjustment has no id"))
    }

    /// Approves a proposal of another operator: it is posted. Returns the transfer's position in the
    /// wallet's log.
    ///
    /// # Errors
    /// See [`Error`]; `TRANSFER_REFUSED` with `SAME_OPERATOR` for one's own proposal.
    pub async fn approve_adjustment(&self, adjustment: RequestId) -> Result<u64, Error> {
        let request = pb::ApproveAdjustmentRequest {
            request_id: self.request_id(),
            adjustment_id: adjustment.to_string(),
        };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                WalletServiceClient::new(channel).approve_adjustment(request).await
            })
            .await?;
        Ok(answer.position)
    }

    /// Rejects a proposal, one's own too. Returns the event's position in the wallet's log.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn reject_adjustment(
        &self,
        adjustment: RequestId,
        reason: &str,
    ) -> Result<u64, Error> {
        let request = pb::RejectAdjustmentRequest {
            request_id: self.request_id(),
            adjustment_id: adjustment.to_string(),
            reason: reason.to_owned(),
        };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                WalletServiceClient::new(channel).reject_adjustment(request).await
            })
            .await?;
        Ok(answer.position)
    }

    /// Returns all proposals that wait, oldest first.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn list_adjustments(&self) -> Result<Vec<pb::Adjustment>, Error> {
        let mut adjustments = Vec::new();
        let mut page_token = String::new();
        loop {
            let request = pb::ListAdjustmentsRequest { page_size: PAGE_SIZE, page_token };
            let page = self
                .call_with_retries(request, |channel, request| async move {
                    WalletServiceClient::new(channel).list_adjustments(request).await
                })
                .await?;
            adjustments.extend(page.adjustments);
            if page.next_page_token.is_empty() {
                return Ok(adjustments);
            }
            page_token = page.next_page_token;
        }
    }
}
