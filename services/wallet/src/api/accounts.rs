//! Accounts of players and acts of operators.

use eventlog::Position;
use ledger::{Account, Command, Refusal};
use primitives::{PlayerId, UnixMicros};
use prost_types::Timestamp;
use proto::common::v1::ErrorReason;
use proto::wallet::v1 as pb;
use proto::wallet::v1::wallet_service_server::WalletService;
use tonic::{Request, Response, Status};
use wire::{BadField, field, refused};

use super::{Api, caller, parse, whose};
use crate::books::{Books, Line};
use crate::record::kind_to_pb;
use crate::wallet::{Done, Problem};

const DEFAULT_PAGE: usize = 100;
const LARGEST_PAGE: usize = 1000;

#[tonic::async_trait]
impl WalletService for Api {
    async fn open_account(
        &self,
        request: Request<pb::OpenAccountRequest>,
    ) -> Result<Response<pb::OpenAccountResponse>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::OpenAccountRequest { request_id, player_id } = request.into_inner();
        let id = field::request_id(&request_id)?;
        let player = whose(&caller, &player_id).map_err(|status| *status)?;
        let account = Account::Player(player).to_string();
        match self.ask(&caller, id, Command::Open(player)).await {
            // What is asked for is the case.
            Ok(_) | Err(Problem::Refused(Refusal::AccountExists { .. })) => {
                Ok(Response::new(pb::OpenAccountResponse { account }))
            }
            Err(problem) => Err(problem.into()),
        }
    }

    async fn get_account(
        &self,
        request: Request<pb::GetAccountRequest>,
    ) -> Result<Response<pb::GetAccountResponse>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::GetAccountRequest { player_id } = request.into_inner();
        let player = whose(&caller, &player_id).map_err(|status| *status)?;
        let found = self.wallet.read(|books| account(books, player))?;
        found.map(Response::new).ok_or_else(|| unknown(player))
    }

    async fn list_entries(
        &self,
        request: Request<pb::ListEntriesRequest>,
    ) -> Result<Response<pb::ListEntriesResponse>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::ListEntriesRequest { player_id, page_size, page_token } = request.into_inner();
        let player = whose(&caller, &player_id).map_err(|status| *status)?;
        let (size, after) = page(page_size, &page_token)?;
        let found = self.wallet.read(|books| {
            books.balance(player)?;
            Some(entries(books.lines(player, after), size))
        })?;
        found.map(Response::new).ok_or_else(|| unknown(player))
    }

    async fn issue(
        &self,
        request: Request<pb::IssueRequest>,
    ) -> Result<Response<pb::IssueResponse>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let (player, transfer) = parse::issue(request.into_inner())?;
        let done = self.post(&caller, transfer).await?;
        let (balance, position) = self.left(player, done)?;
        Ok(Response::new(pb::IssueResponse { balance, position }))
    }

    async fn redeem(
        &self,
        request: Request<pb::RedeemRequest>,
    ) -> Result<Response<pb::RedeemResponse>, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let (player, transfer) = parse::redeem(request.into_inner())?;
        let done = self.post(&caller, transfer).await?;
        let (balance, position) = self.left(player, done)?;
        Ok(Response::new(pb::RedeemResponse { balance, position }))
    }
}

impl Api {
    /// What a transfer left on a player's account, and its position: the same on every repeat.
    fn left(&self, player: PlayerId, done: Done) -> Result<(u64, u64), Status> {
        let balance = self.wallet.read(|books| books.balance_at(player, done.position))?;
        // The books may be older than the answer only while the log is being read again.
        let balance = balance.ok_or(Problem::Unavailable)?;
        Ok((balance.magnitude().get(), done.position.0))
    }
}

fn account(books: &Books, player: PlayerId) -> Option<pb::GetAccountResponse> {
    let balance = books.balance(player)?;
    let seats = books.seats(player).map(|(table, balance)| pb::SeatBalance {
        table_id: table.0.to_vec(),
        balance: balance.magnitude().get(),
    });
    Some(pb::GetAccountResponse {
        account: Account::Player(player).to_string(),
        balance: balance.magnitude().get(),
        seats: seats.collect(),
    })
}

/// A page token is the position of the last entry that was seen.
fn page(size: u32, token: &str) -> Result<(usize, Option<Position>), BadField> {
    let size = match usize::try_from(size) {
        Ok(0) => DEFAULT_PAGE,
        Ok(size) if size <= LARGEST_PAGE => size,
        Ok(_) | Err(_) => return Err(BadField::new("page_size", "0 to 1,000")),
    };
    if token.is_empty() {
        return Ok((size, None));
    }
    let after = token.parse().map_err(|_| {
        BadField::new("page_token", "send what the page before gave as next_page_token")
    })?;
    Ok((size, Some(Position(after))))
}

fn entries(lines: &[Line], size: usize) -> pb::ListEntriesResponse {
    let shown = lines.get(..size).unwrap_or(lines);
    let more = shown.last().filter(|_| shown.len() < lines.len());
    pb::ListEntriesResponse {
        entries: shown.iter().map(entry).collect(),
        next_page_token: more.map(|last| last.position.0.to_string()).unwrap_or_default(),
    }
}

fn entry(line: &Line) -> pb::Entry {
    let Line { position, recorded_at, transfer, kind, table, amount, balance, reason } = line;
    pb::Entry {
        transfer_id: transfer.0.to_vec(),
        recorded_at: Some(timestamp(*recorded_at)),
        kind: kind_to_pb(*kind).into(),
        amount: amount.get(),
        balance: balance.get(),
        // No kind of transfer that belongs to a hand touches a player's account.
        hand_id: Default::default(),
        table_id: table.map(|table| table.0.to_vec()).unwrap_or_default(),
        reason: reason.to_string(),
        position: position.0,
    }
}

fn timestamp(at: UnixMicros) -> Timestamp {
    let seconds = i64::try_from(at.0 / 1_000_000).unwrap_or(i64::MAX);
    let nanos = i32::try_from(at.0 % 1_000_000 * 1000).unwrap_or_default();
    Timestamp { seconds, nanos }
}

fn unknown(player: PlayerId) -> Status {
    let account = Account::Player(player);
    let text = format!("{account} does not exist: open it first");
    refused(ErrorReason::AccountUnknown, text).with("account", account.to_string()).into()
}
