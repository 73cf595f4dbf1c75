//! Accounts of players, and operators' requests about them.

use std::collections::BTreeSet;

use ledger::{Account, Command, Exclusion, Refusal};
use primitives::PlayerId;
use proto::wallet::v1 as pb;
use proto::wallet::v1::wallet_service_server::WalletService;
use tonic::{Request, Response, Status};
use wire::{BadField, field};

use super::{Api, caller, parse, target_player, text};
use crate::answer::{Answer, AnswerContent};
use crate::command::{self, RequestContent};
use crate::rows::StateRow;
use crate::wallet::WalletError;

const MAX_ACCOUNTS: usize = 1000;

#[tonic::async_trait]
impl WalletService for Api {
    async fn open_account(
        &self,
        request: Request<pb::OpenAccountRequest>,
    ) -> Result<Response<pb::OpenAccountResponse>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::OpenAccountRequest { request_id, player_id } = request.into_inner();
        let id = field::request_id(&request_id)?;
        let player = target_player(&caller, &player_id).map_err(|status| *status)?;
        let account = Account::Player(player).to_string();
        match self.execute(&caller, id, Command::OpenAccount(player)).await {
            // The account exists, as requested.
            Ok(_) | Err(WalletError::Refused(Refusal::AccountExists { .. })) => {
                Ok(Response::new(pb::OpenAccountResponse { account }))
            }
            Err(problem) => Err(problem.into()),
        }
    }

    async fn open_accounts(
        &self,
        request: Request<pb::OpenAccountsRequest>,
    ) -> Result<Response<pb::OpenAccountsResponse>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::OpenAccountsRequest { request_id, player_ids } = request.into_inner();
        let id = field::request_id(&request_id)?;
        let content = RequestContent::OpenAccounts(parse_players(&player_ids)?);
        let request = command::Request { id, content, linked: false };
        let done = self.execute_request(&caller, request).await?;
        let opened =
            if let AnswerContent::AccountsOpened(opened) = done.content { opened } else { 0 };
        Ok(Response::new(pb::OpenAccountsResponse { opened }))
    }

    async fn get_account(
        &self,
        request: Request<pb::GetAccountRequest>,
    ) -> Result<Response<pb::GetAccountResponse>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::GetAccountRequest { player_id } = request.into_inner();
        let player = target_player(&caller, &player_id).map_err(|status| *status)?;
        let found = self.account_of(Account::Player(player)).await?;
        let seats = self.wallet.repo()?.seats(player).await.map_err(WalletError::from)?;
        let seats = seats.into_iter().map(|(table, balance)| pb::SeatBalance {
            table_id: table.to_string(),
            balance_credits: balance.magnitude().get(),
        });
        let state = found.state.unwrap_or_else(|| StateRow::empty(found.number));
        let now = Exclusion::Until(self.now());
        let excluded = state.exclusion.filter(|exclusion| *exclusion > now);
        Ok(Response::new(pb::GetAccountResponse {
            account: found.account.to_string(),
            balance_credits: found.balance.magnitude().get(),
            seats: seats.collect(),
            held_credits: state.held.get(),
            frozen: state.frozen,
            closed: state.closed,
            exclusion_end_time: excluded.map(text::exclusion_end),
        }))
    }

    async fn freeze_account(
        &self,
        request: Request<pb::FreezeAccountRequest>,
    ) -> Result<Response<pb::FreezeAccountResponse>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::FreezeAccountRequest { request_id, player_id, reason } = request.into_inner();
        let (id, player, reason) = parse::operator_request(&request_id, &player_id, &reason)?;
        let done = self.execute(&caller, id, Command::FreezeAccount { player, reason }).await?;
        Ok(Response::new(pb::FreezeAccountResponse { position: done.position.0 }))
    }

    async fn unfreeze_account(
        &self,
        request: Request<pb::UnfreezeAccountRequest>,
    ) -> Result<Response<pb::UnfreezeAccountResponse>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::UnfreezeAccountRequest { request_id, player_id, reason } = request.into_inner();
        let (id, player, reason) = parse::operator_request(&request_id, &player_id, &reason)?;
        let done = self.execute(&caller, id, Command::UnfreezeAccount { player, reason }).await?;
        Ok(Response::new(pb::UnfreezeAccountResponse { position: done.position.0 }))
    }

    async fn close_account(
        &self,
        request: Request<pb::CloseAccountRequest>,
    ) -> Result<Response<pb::CloseAccountResponse>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::CloseAccountRequest { request_id, player_id, reason } = request.into_inner();
        let (id, player, reason) = parse::operator_request(&request_id, &player_id, &reason)?;
        let done = self.execute(&caller, id, Command::CloseAccount { player, reason }).await?;
        Ok(Response::new(pb::CloseAccountResponse { position: done.position.0 }))
    }

    async fn list_entries(
        &self,
        request: Request<pb::ListEntriesRequest>,
    ) -> Result<Response<pb::ListEntriesResponse>, Status> {
        self.entries(request).await.map(Response::new)
    }

    type ExportStatementStream = super::statement::Chunks;

    async fn export_statement(
        &self,
        request: Request<pb::ExportStatementRequest>,
    ) -> Result<Response<Self::ExportStatementStream>, Status> {
        self.export(request).await.map(Response::new)
    }

    async fn set_limits(
        &self,
        request: Request<pb::SetLimitsRequest>,
    ) -> Result<Response<pb::SetLimitsResponse>, Status> {
        self.change_limits(request).await.map(Response::new)
    }

    async fn get_limits(
        &self,
        request: Request<pb::GetLimitsRequest>,
    ) -> Result<Response<pb::GetLimitsResponse>, Status> {
        self.read_limits(request).await.map(Response::new)
    }

    async fn exclude(
        &self,
        request: Request<pb::ExcludeRequest>,
    ) -> Result<Response<pb::ExcludeResponse>, Status> {
        self.exclude_player(request).await.map(Response::new)
    }

    async fn issue(
        &self,
        request: Request<pb::IssueRequest>,
    ) -> Result<Response<pb::IssueResponse>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let transfer = parse::issue(request.into_inner())?;
        let done = self.execute(&caller, transfer.id, Command::PostTransfer(transfer)).await?;
        let (balance, position) = balance_and_position(&done)?;
        Ok(Response::new(pb::IssueResponse { balance_credits: balance, position }))
    }

    async fn redeem(
        &self,
        request: Request<pb::RedeemRequest>,
    ) -> Result<Response<pb::RedeemResponse>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let transfer = parse::redeem(request.into_inner())?;
        let done = self.execute(&caller, transfer.id, Command::PostTransfer(transfer)).await?;
        let (balance, position) = balance_and_position(&done)?;
        Ok(Response::new(pb::RedeemResponse { balance_credits: balance, position }))
    }

    async fn propose_adjustment(
        &self,
        request: Request<pb::ProposeAdjustmentRequest>,
    ) -> Result<Response<pb::ProposeAdjustmentResponse>, Status> {
        self.propose(request).await.map(Response::new)
    }

    async fn approve_adjustment(
        &self,
        request: Request<pb::ApproveAdjustmentRequest>,
    ) -> Result<Response<pb::ApproveAdjustmentResponse>, Status> {
        self.approve(request).await.map(Response::new)
    }

    async fn reject_adjustment(
        &self,
        request: Request<pb::RejectAdjustmentRequest>,
    ) -> Result<Response<pb::RejectAdjustmentResponse>, Status> {
        self.reject(request).await.map(Response::new)
    }

    async fn list_adjustments(
        &self,
        request: Request<pb::ListAdjustmentsRequest>,
    ) -> Result<Response<pb::ListAdjustmentsResponse>, Status> {
        self.adjustments(request.into_inner()).await.map(Response::new)
    }
}

/// Balance of the player's account after a transfer, and the transfer's position: equal on every
/// repeat.
fn balance_and_position(done: &Answer) -> Result<(u64, u64), WalletError> {
    match done.content {
        AnswerContent::Balance(balance) => Ok((balance.magnitude().get(), done.position.0)),
        AnswerContent::Empty
        | AnswerContent::AccountsOpened(_)
        | AnswerContent::LimitTerms(_)
        | AnswerContent::ExcludedUntil(_) => Err(WalletError::Corrupt),
    }
}

fn parse_players(ids: &[String]) -> Result<Vec<PlayerId>, BadField> {
    if ids.is_empty() || ids.len() > MAX_ACCOUNTS {
        return Err(BadField::new("player_ids", "1 to 1,000 of them"));
    }
    let mut seen = BTreeSet::new();
    let mut players = Vec::with_capacity(ids.len());
    for (at, id) in ids.iter().enumerate() {
        let player: PlayerId = field::id("", id)
            .map_err(|bad: BadField| BadField::new(format!("player_ids[{at}]"), bad.problem))?;
        if !seen.insert(player) {
            return Err(BadField::new(format!("player_ids[{at}]"), "it is there twice"));
        }
        players.push(player);
    }
    Ok(players)
}
