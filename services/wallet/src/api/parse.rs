//! Parses requests that move credits into transfers.

use chassis::auth::Role;
use ledger::{Account, Amount, Kind, Leg, Transfer};
use primitives::{Credits, PlayerId, RequestId, TableId};
use proto::wallet::v1 as pb;
use wire::BadField;
use wire::field;

const REASON_CHARS: usize = ledger::MAX_REASON_CHARS;

/// Fields of an operator's request about a player's account: request id, player, reason.
pub(super) fn operator_request(
    request_id: &str,
    player_id: &str,
    reason: &str,
) -> Result<(RequestId, PlayerId, String), BadField> {
    let id = field::request_id(request_id)?;
    let player = field::player_id(player_id)?;
    Ok((id, player, field::text("reason", reason, 1, REASON_CHARS)?))
}

pub(super) fn issue(request: pb::IssueRequest) -> Result<Transfer, BadField> {
    let pb::IssueRequest { request_id, player_id, amount_credits: amount, reason } = request;
    let (id, player, reason) = operator_request(&request_id, &player_id, &reason)?;
    let amount = field::positive("amount_credits", amount)?;
    let legs = two_legs(Account::Issuance, Account::Player(player), amount);
    Ok(Transfer { id, kind: Kind::Issue, legs, reason })
}

pub(super) fn redeem(request: pb::RedeemRequest) -> Result<Transfer, BadField> {
    let pb::RedeemRequest { request_id, player_id, amount_credits: amount, reason } = request;
    let (id, player, reason) = operator_request(&request_id, &player_id, &reason)?;
    let amount = field::positive("amount_credits", amount)?;
    let legs = two_legs(Account::Player(player), Account::Issuance, amount);
    Ok(Transfer { id, kind: Kind::Redeem, legs, reason })
}

pub(super) fn buy_in(request: pb::BuyInRequest) -> Result<Transfer, BadField> {
    let pb::BuyInRequest { request_id, table_id, player_id, amount } = request;
    let SeatTransfer { id, own, seat, amount } =
        seat_transfer(&request_id, &table_id, &player_id, amount)?;
    let legs = two_legs(own, seat, amount);
    Ok(Transfer { id, kind: Kind::BuyIn, legs, reason: String::new() })
}

pub(super) fn cash_out(request: pb::CashOutRequest) -> Result<Transfer, BadField> {
    let pb::CashOutRequest { request_id, table_id, player_id, amount, to_suspense } = request;
    let SeatTransfer { id, own, seat, amount } =
        seat_transfer(&request_id, &table_id, &player_id, amount)?;
    let legs = two_legs(seat, if to_suspense { Account::Suspense } else { own }, amount);
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
            | pb::TransferKind::CashOut
            | pb::TransferKind::Adjustment
            | pb::TransferKind::Capture,
        )
        | Err(_) => {
            let allowed = "allowed: TRANSFER_KIND_SETTLEMENT, TRANSFER_KIND_POT_REFUND";
            return Err(BadField::new("kind", allowed));
        }
    };
    Ok(Transfer { id, kind, legs: parse_legs(&legs)?, reason: String::new() })
}

/// Parses one transfer of a batch and checks that a caller with this role may post its kind.
pub(super) fn transfer(transfer: &pb::Transfer, role: Role) -> Result<Transfer, BadField> {
    let pb::Transfer { transfer_id, kind, table_id, legs, reason, linked: _ } = transfer;
    let id: RequestId = field::id("transfer_id", transfer_id)?;
    if id.0 == [0; 16] {
        return Err(BadField::new("transfer_id", "16 zero bytes name nothing: make up an id"));
    }
    let allowed = |who: Role, kind| {
        let text = "services post BUY_IN, CASH_OUT, SETTLEMENT and POT_REFUND, operators ISSUE and \
                    REDEEM";
        if role == who { Ok(kind) } else { Err(BadField::new("kind", text)) }
    };
    let no_table = |kind| {
        let text = "for SETTLEMENT and POT_REFUND alone";
        if table_id.is_empty() { Ok(kind) } else { Err(BadField::new("table_id", text)) }
    };
    let kind = match pb::TransferKind::try_from(*kind) {
        Ok(pb::TransferKind::Issue) => allowed(Role::Operator, no_table(Kind::Issue)?)?,
        Ok(pb::TransferKind::Redeem) => allowed(Role::Operator, no_table(Kind::Redeem)?)?,
        Ok(pb::TransferKind::BuyIn) => allowed(Role::Service, no_table(Kind::BuyIn)?)?,
        Ok(pb::TransferKind::CashOut) => allowed(Role::Service, no_table(Kind::CashOut)?)?,
        Ok(pb::TransferKind::Settlement) => {
            allowed(Role::Service, Kind::Settlement { table: field::table_id(table_id)? })?
        }
        Ok(pb::TransferKind::PotRefund) => {
            allowed(Role::Service, Kind::PotRefund { table: field::table_id(table_id)? })?
        }
        Ok(
            pb::TransferKind::Unspecified
            | pb::TransferKind::Adjustment
            | pb::TransferKind::Capture,
        )
        | Err(_) => {
            let text = "adjustments and captures have methods of their own; any other is unknown";
            return Err(BadField::new("kind", text));
        }
    };
    let reason = if kind.needs_reason() {
        field::text("reason", reason, 1, REASON_CHARS)?
    } else if reason.is_empty() {
        String::new()
    } else {
        return Err(BadField::new("reason", "for ISSUE and REDEEM alone"));
    };
    Ok(Transfer { id, kind, legs: parse_legs(legs)?, reason })
}

/// Parses an account's name.
pub(super) fn account(field: &str, name: &str) -> Result<Account, BadField> {
    name.parse().map_err(|error: ledger::AccountNameError| BadField::new(field, error.to_string()))
}

struct SeatTransfer {
    id: RequestId,
    own: Account,
    seat: Account,
    amount: Credits,
}

fn seat_transfer(
    request: &[u8],
    table: &[u8],
    player: &[u8],
    amount: u64,
) -> Result<SeatTransfer, BadField> {
    let id = field::request_id(request)?;
    let (table, player) = (field::table_id(table)?, field::player_id(player)?);
    let amount = field::positive("amount", amount)?;
    Ok(SeatTransfer {
        id,
        own: Account::Player(player),
        seat: Account::Seat(table, player),
        amount,
    })
}

pub(super) fn two_legs(from: Account, to: Account, amount: Credits) -> Vec<Leg> {
    vec![
        Leg { account: from, amount: Amount::debit(amount) },
        Leg { account: to, amount: Amount::credit(amount) },
    ]
}

fn parse_legs(legs: &[pb::Leg]) -> Result<Vec<Leg>, BadField> {
    legs.iter().enumerate().map(|(at, leg)| parse_leg(at, leg)).collect()
}

fn parse_leg(at: usize, leg: &pb::Leg) -> Result<Leg, BadField> {
    let pb::Leg { account, amount } = leg;
    let account = account.parse().map_err(|error: ledger::AccountNameError| {
        BadField::new(format!("legs[{at}].account"), error.to_string())
    })?;
    let amount = Amount::try_new(*amount)
        .map_err(|error| BadField::new(format!("legs[{at}].amount"), error.to_string()))?;
    Ok(Leg { account, amount })
}
