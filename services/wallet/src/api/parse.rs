//! Requests that move credits, into transfers.

use ledger::{Account, Amount, Kind, Leg, Transfer};
use primitives::{Credits, PlayerId, RequestId, TableId};
use proto::wallet::v1 as pb;
use wire::BadField;
use wire::field;

const REASON_CHARS: usize = ledger::MAX_REASON_CHARS;

/// The player's account and the transfer.
pub(super) fn issue(request: pb::IssueRequest) -> Result<(PlayerId, Transfer), BadField> {
    let pb::IssueRequest { request_id, player_id, amount, reason } = request;
    let player = field::player_id(&player_id)?;
    let amount = field::positive("amount", amount)?;
    let reason = field::text("reason", &reason, 1, REASON_CHARS)?;
    let legs = pair(Account::Issuance, Account::Player(player), amount);
    let id = field::request_id(&request_id)?;
    Ok((player, Transfer { id, kind: Kind::Issue, legs, reason }))
}

/// The player's account and the transfer.
pub(super) fn redeem(request: pb::RedeemRequest) -> Result<(PlayerId, Transfer), BadField> {
    let pb::RedeemRequest { request_id, player_id, amount, reason } = request;
    let player = field::player_id(&player_id)?;
    let amount = field::positive("amount", amount)?;
    let reason = field::text("reason", &reason, 1, REASON_CHARS)?;
    let legs = pair(Account::Player(player), Account::Issuance, amount);
    let id = field::request_id(&request_id)?;
    Ok((player, Transfer { id, kind: Kind::Redeem, legs, reason }))
}

pub(super) fn buy_in(request: pb::BuyInRequest) -> Result<Transfer, BadField> {
    let pb::BuyInRequest { request_id, table_id, player_id, amount } = request;
    let Seated { id, own, seat, amount } = seated(&request_id, &table_id, &player_id, amount)?;
    let legs = pair(own, seat, amount);
    Ok(Transfer { id, kind: Kind::BuyIn, legs, reason: String::new() })
}

pub(super) fn cash_out(request: pb::CashOutRequest) -> Result<Transfer, BadField> {
    let pb::CashOutRequest { request_id, table_id, player_id, amount } = request;
    let Seated { id, own, seat, amount } = seated(&request_id, &table_id, &player_id, amount)?;
    let legs = pair(seat, own, amount);
    Ok(Transfer { id, kind: Kind::CashOut, legs, reason: String::new() })
}

pub(super) fn settle(request: pb::SettleRequest) -> Result<Transfer, BadField> {
    let pb::SettleRequest { request_id, table_id, kind, legs } = request;
    let id = field::request_id(&request_id)?;
    let table: TableId = field::table_id(&table_id)?;
    let kind = match pb::TransferKind::try_from(kind) {
        Ok(pb::TransferKind::Settlement) => Kind::Settlement { table },
        Ok(pb::TransferKind::PotRefund) => Kind::PotRefund { table },
        Ok(
            pb::TransferKind::Unspecified
            | pb::TransferKind::Issue
            | pb::TransferKind::Redeem
            | pb::TransferKind::BuyIn
            | pb::TransferKind::CashOut,
        )
        | Err(_) => {
            let allowed = "allowed: TRANSFER_KIND_SETTLEMENT, TRANSFER_KIND_POT_REFUND";
            return Err(BadField::new("kind", allowed));
        }
    };
    let legs = legs.iter().enumerate().map(leg).collect::<Result<_, _>>()?;
    Ok(Transfer { id, kind, legs, reason: String::new() })
}

struct Seated {
    id: RequestId,
    own: Account,
    seat: Account,
    amount: Credits,
}

fn seated(request: &[u8], table: &[u8], player: &[u8], amount: u64) -> Result<Seated, BadField> {
    let id = field::request_id(request)?;
    let (table, player) = (field::table_id(table)?, field::player_id(player)?);
    let amount = field::positive("amount", amount)?;
    Ok(Seated { id, own: Account::Player(player), seat: Account::Seat(table, player), amount })
}

fn pair(from: Account, to: Account, amount: Credits) -> Vec<Leg> {
    vec![
        Leg { account: from, amount: Amount::debit(amount) },
        Leg { account: to, amount: Amount::credit(amount) },
    ]
}

fn leg((at, leg): (usize, &pb::Leg)) -> Result<Leg, BadField> {
    let pb::Leg { account, amount } = leg;
    let account = account.parse().map_err(|error: ledger::AccountNameError| {
        BadField::new(format!("legs[{at}].account"), error.to_string())
    })?;
    let amount = Amount::try_new(*amount)
        .map_err(|error| BadField::new(format!("legs[{at}].amount"), error.to_string()))?;
    Ok(Leg { account, amount })
}
