//! What tables ask of the wallet.

use proto::common::v1::ErrorReason;
use proto::wallet::v1 as pb;
use proto::wallet::v1::settlement_service_server::SettlementService;
use tonic::{Request, Response, Status};
use wire::{BadField, refused};

use super::{Api, caller, parse};

#[tonic::async_trait]
impl SettlementService for Api {
    async fn buy_in(
        &self,
        request: Request<pb::BuyInRequest>,
    ) -> Result<Response<pb::BuyInResponse>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let done = self.post(&caller, parse::buy_in(request.into_inner())?).await?;
        Ok(Response::new(pb::BuyInResponse { position: done.position.0 }))
    }

    async fn cash_out(
        &self,
        request: Request<pb::CashOutRequest>,
    ) -> Result<Response<pb::CashOutResponse>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let done = self.post(&caller, parse::cash_out(request.into_inner())?).await?;
        Ok(Response::new(pb::CashOutResponse { position: done.position.0 }))
    }

    async fn settle(
        &self,
        request: Request<pb::SettleRequest>,
    ) -> Result<Response<pb::SettleResponse>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let done = self.post(&caller, parse::settle(request.into_inner())?).await?;
        Ok(Response::new(pb::SettleResponse { position: done.position.0 }))
    }

    async fn get_balance(
        &self,
        request: Request<pb::GetBalanceRequest>,
    ) -> Result<Response<pb::GetBalanceResponse>, Status> {
        let pb::GetBalanceRequest { account } = request.into_inner();
        let account: ledger::Account =
            account.parse().map_err(|error: ledger::AccountNameError| {
                BadField::new("account", error.to_string())
            })?;
        let balance = self.wallet.read(|books| books.ledger().balance(&account))?;
        let balance = balance.ok_or_else(|| {
            refused(ErrorReason::AccountUnknown, format!("{account} does not exist"))
                .with("account", account.to_string())
        })?;
        Ok(Response::new(pb::GetBalanceResponse { balance: balance.get() }))
    }
}
