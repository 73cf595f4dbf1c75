//! The wallet's events as its log keeps them.

use eventlog::NewEvent;
use ledger::{Account, Amount, Event, Kind, Leg, Transfer};
use primitives::{PlayerId, RequestId, StreamId, TableId};
use proto::event::v1 as pb;
use proto::wallet::v1::{Leg as PbLeg, TransferKind};
use wire::Recorded;

/// What the log holds is not what a wallet writes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the wallet's log is corrupt at position {position}: {what}")]
pub struct Corrupt {
    pub position: u64,
    pub what: String,
}

/// An event as it is appended. What involves a table lies in the table's stream, what involves only
/// a player in the player's.
#[must_use]
pub fn new_event(event: &Event) -> NewEvent {
    let recorded: Recorded = match event {
        Event::Opened(account) => pb::AccountOpened { account: account.to_string() }.into(),
        Event::Posted(transfer) => posted(transfer).into(),
    };
    recorded.on(stream(event))
}

/// The event behind a stored one.
///
/// # Errors
/// Where no wallet can have written it.
pub fn parse(stored: &eventlog::Event) -> Result<Event, Corrupt> {
    let corrupt = |what| Corrupt { position: stored.position.0, what };
    let event = match Recorded::try_from(stored) {
        Ok(Recorded::AccountOpened(message)) => opened_of(&message),
        Ok(Recorded::TransferPosted(message)) => posted_of(&message),
        Ok(other) => Err(format!("no wallet writes {}", other.name())),
        Err(error) => Err(error.to_string()),
    };
    let event = event.map_err(corrupt)?;
    if stream(&event) == stored.stream {
        Ok(event)
    } else {
        Err(corrupt(format!("the event belongs to stream {}", stream(&event))))
    }
}

/// What a transfer is for, as the API says it.
#[must_use]
pub const fn kind_to_pb(kind: Kind) -> TransferKind {
    match kind {
        Kind::Issue => TransferKind::Issue,
        Kind::Redeem => TransferKind::Redeem,
        Kind::BuyIn => TransferKind::BuyIn,
        Kind::CashOut => TransferKind::CashOut,
        Kind::Settlement { .. } => TransferKind::Settlement,
        Kind::PotRefund { .. } => TransferKind::PotRefund,
    }
}

fn posted(transfer: &Transfer) -> pb::TransferPosted {
    let legs = transfer
        .legs
        .iter()
        .map(|leg| PbLeg { account: leg.account.to_string(), amount: leg.amount.get() });
    pb::TransferPosted {
        transfer_id: transfer.id.0.to_vec().into(),
        kind: kind_to_pb(transfer.kind).into(),
        legs: legs.collect(),
        table_id: transfer.table().map(|table| table.0.to_vec()).unwrap_or_default().into(),
        hand_id: transfer.hand().map(|hand| hand.0.to_vec()).unwrap_or_default().into(),
        reason: transfer.reason.clone(),
    }
}

fn opened_of(message: &pb::AccountOpened) -> Result<Event, String> {
    let pb::AccountOpened { account } = message;
    account.parse().map(Event::Opened).map_err(|error| format!("{account:?}: {error}"))
}

fn posted_of(message: &pb::TransferPosted) -> Result<Event, String> {
    let pb::TransferPosted { transfer_id, kind, legs, table_id, hand_id: _, reason } = message;
    let id = RequestId::try_from(&transfer_id[..]).map_err(|error| error.to_string())?;
    let table = || TableId::try_from(&table_id[..]).map_err(|error| error.to_string());
    let kind = match TransferKind::try_from(*kind) {
        Ok(TransferKind::Issue) => Kind::Issue,
        Ok(TransferKind::Redeem) => Kind::Redeem,
        Ok(TransferKind::BuyIn) => Kind::BuyIn,
        Ok(TransferKind::CashOut) => Kind::CashOut,
        Ok(TransferKind::Settlement) => Kind::Settlement { table: table()? },
        Ok(TransferKind::PotRefund) => Kind::PotRefund { table: table()? },
        Ok(TransferKind::Unspecified) | Err(_) => return Err(format!("transfer kind {kind}")),
    };
    let legs = legs.iter().map(leg).collect::<Result<_, _>>()?;
    let transfer = Transfer { id, kind, legs, reason: reason.clone() };
    if posted(&transfer) == *message {
        Ok(Event::Posted(transfer))
    } else {
        Err("the transfer's table or hand is not that of its kind, legs and id".into())
    }
}

fn leg(leg: &PbLeg) -> Result<Leg, String> {
    let PbLeg { account, amount } = leg;
    let account: Account = account.parse().map_err(|error| format!("{account:?}: {error}"))?;
    let amount = Amount::try_new(*amount).map_err(|error| error.to_string())?;
    Ok(Leg { account, amount })
}

fn stream(event: &Event) -> StreamId {
    let (table, player) = match event {
        Event::Opened(account) => (account.table(), account.player()),
        Event::Posted(transfer) => (transfer.table(), transfer.player()),
    };
    let player = player.map_or(StreamId::default(), |player: PlayerId| player.into());
    table.map_or(player, StreamId::from)
}
