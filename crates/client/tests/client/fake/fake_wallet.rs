//! Wallet of the scripted server: one account with a balance.

use super::*;

#[tonic::async_trait]
impl WalletService for FakeServer {
    async fn open_account(
        &self,
        request: Request<wallet::OpenAccountRequest>,
    ) -> Answer<wallet::OpenAccountResponse> {
        let mut table = self.table();
        table.call("open_account", &request.get_ref().request_id, &request)?;
        let account = format!("player/{}", primitives::PlayerId(ME));
        Ok(Response::new(wallet::OpenAccountResponse { account }))
    }

    async fn get_account(
        &self,
        _: Request<wallet::GetAccountRequest>,
    ) -> Answer<wallet::GetAccountResponse> {
        let balance = self.table().balance;
        Ok(Response::new(wallet::GetAccountResponse {
            balance_credits: balance,
            ..Default::default()
        }))
    }

    async fn list_entries(
        &self,
        _: Request<wallet::ListEntriesRequest>,
    ) -> Answer<wallet::ListEntriesResponse> {
        Err(Status::unimplemented("no entries"))
    }

    async fn issue(&self, request: Request<wallet::IssueRequest>) -> Answer<wallet::IssueResponse> {
        let mut table = self.table();
        table.call("issue", &request.get_ref().request_id, &request)?;
        table.balance += request.get_ref().amount_credits;
        Ok(Response::new(wallet::IssueResponse { balance_credits: table.balance, position: 3 }))
    }

    async fn redeem(&self, _: Request<wallet::RedeemRequest>) -> Answer<wallet::RedeemResponse> {
        let refusal =
            api_refusal(ErrorReason::InsufficientCredits, "the account has fewer credits");
        Err(refusal.with("short", "5").into())
    }
    async fn open_accounts(
        &self,
        _: Request<wallet::OpenAccountsRequest>,
    ) -> Answer<wallet::OpenAccountsResponse> {
        Err(unimplemented())
    }

    async fn freeze_account(
        &self,
        _: Request<wallet::FreezeAccountRequest>,
    ) -> Answer<wallet::FreezeAccountResponse> {
        Err(unimplemented())
    }

    async fn unfreeze_account(
        &self,
        _: Request<wallet::UnfreezeAccountRequest>,
    ) -> Answer<wallet::UnfreezeAccountResponse> {
        Err(unimplemented())
    }

    async fn close_account(
        &self,
        _: Request<wallet::CloseAccountRequest>,
    ) -> Answer<wallet::CloseAccountResponse> {
        Err(unimplemented())
    }

    async fn set_limits(
        &self,
        _: Request<wallet::SetLimitsRequest>,
    ) -> Answer<wallet::SetLimitsResponse> {
        Err(unimplemented())
    }

    async fn get_limits(
        &self,
        _: Request<wallet::GetLimitsRequest>,
    ) -> Answer<wallet::GetLimitsResponse> {
        Err(unimplemented())
    }

    async fn exclude(&self, _: Request<wallet::ExcludeRequest>) -> Answer<wallet::ExcludeResponse> {
        Err(unimplemented())
    }

    async fn propose_adjustment(
        &self,
        _: Request<wallet::ProposeAdjustmentRequest>,
    ) -> Answer<wallet::ProposeAdjustmentResponse> {
        Err(unimplemented())
    }

    async fn approve_adjustment(
        &self,
        _: Request<wallet::ApproveAdjustmentRequest>,
    ) -> Answer<wallet::ApproveAdjustmentResponse> {
        Err(unimplemented())
    }

    async fn reject_adjustment(
        &self,
        _: Request<wallet::RejectAdjustmentRequest>,
    ) -> Answer<wallet::RejectAdjustmentResponse> {
        Err(unimplemented())
    }

    async fn list_adjustments(
        &self,
        _: Request<wallet::ListAdjustmentsRequest>,
    ) -> Answer<wallet::ListAdjustmentsResponse> {
        Err(unimplemented())
    }

    type ExportStatementStream =
        Pin<Box<dyn Stream<Item = Result<wallet::ExportStatementResponse, Status>> + Send>>;

    async fn export_statement(
        &self,
        _: Request<wallet::ExportStatementRequest>,
    ) -> Answer<Self::ExportStatementStream> {
        Err(unimplemented())
    }
}
