//! Requests of tables and other services to the wallet.

use ledger::Command;
use proto::wallet::v1 as pb;
use proto::wallet::v1::settlement_service_server::SettlementService;
use tonic::{Request, Response, Status, Streaming};

use super::{Api, caller, parse};

#[tonic::async_trait]
impl SettlementService for Api {
    async fn buy_in(
        &self,
        request: Request<pb::BuyInRequest>,
    ) -> Result<Response<pb::BuyInResponse>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let transfer = parse::buy_in(request.into_inner())?;
        let done = self.execute(&caller, transfer.id, Command::PostTransfer(transfer)).await?;
        Ok(Response::new(pb::BuyInResponse { position: done.position.0 }))
    }

    async fn cash_out(
        &self,
        request: Request<pb::CashOutRequest>,
    ) -> Result<Response<pb::CashOutResponse>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let transfer = parse::cash_out(request.into_inner())?;
        let done = self.execute(&caller, transfer.id, Command::PostTransfer(transfer)).await?;
        Ok(Response::new(pb::CashOutResponse { position: done.position.0 }))
    }

    async fn settle(
        &self,
        request: Request<pb::SettleRequest>,
    ) -> Result<Response<pb::SettleResponse>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let transfer = parse::settle(request.into_inner())?;
        let done = self.execute(&caller, transfer.id, Command::PostTransfer(transfer)).await?;
        Ok(Response::new(pb::SettleResponse { position: done.position.0 }))
    }

    async fn post_batch(
        &self,
        request: Request<pb::PostBatchRequest>,
    ) -> Result<Response<pb::PostBatchResponse>, Status> {
        self.batch(request).await.map(Response::new)
    }

    type PostStream = super::batch::Results;

    async fn post(
        &self,
        request: Request<Streaming<pb::PostRequest>>,
    ) -> Result<Response<Self::PostStream>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        Ok(Response::new(self.stream(&caller, request.into_inner())))
    }

    async fn place_hold(
        &self,
        request: Request<pb::PlaceHoldRequest>,
    ) -> Result<Response<pb::PlaceHoldResponse>, Status> {
        self.place(request).await.map(Response::new)
    }

    async fn capture_hold(
        &self,
        request: Request<pb::CaptureHoldRequest>,
    ) -> Result<Response<pb::CaptureHoldResponse>, Status> {
        self.capture(request).await.map(Response::new)
    }

    async fn release_hold(
        &self,
        request: Request<pb::ReleaseHoldRequest>,
    ) -> Result<Response<pb::ReleaseHoldResponse>, Status> {
        self.release(request).await.map(Response::new)
    }

    async fn check_standing(
        &self,
        request: Request<pb::CheckStandingRequest>,
    ) -> Result<Response<pb::CheckStandingResponse>, Status> {
        self.read_standings(request.into_inner()).await.map(Response::new)
    }

    async fn give_starting_credits(
        &self,
        request: Request<pb::GiveStartingCreditsRequest>,
    ) -> Result<Response<pb::GiveStartingCreditsResponse>, Status> {
        self.give_starting(request).await.map(Response::new)
    }

    async fn get_hold(
        &self,
        request: Request<pb::GetHoldRequest>,
    ) -> Result<Response<pb::GetHoldResponse>, Status> {
        self.find_hold(request.into_inner()).await.map(Response::new)
    }

    async fn get_balance(
        &self,
        request: Request<pb::GetBalanceRequest>,
    ) -> Result<Response<pb::GetBalanceResponse>, Status> {
        self.balance(request.into_inner()).await.map(Response::new)
    }
}
