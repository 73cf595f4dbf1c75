//! The ledger's events as the wallet writes them.

use ::ledger::{Event, Kind, Transfer};
use primitives::StreamId;
use proto::event::v1 as pb;
use proto::wallet::v1::{Leg, TransferKind};
use wire::Recorded;

/// The stream and the event.
pub(super) fn record(entry: &Event) -> (StreamId, Recorded) {
    let (table, player, recorded): (_, _, Recorded) = match entry {
        Event::Opened(account) => {
            let opened = pb::AccountOpened { account: account.to_string() };
            (account.table(), account.player(), opened.into())
        }
        Event::Posted(transfer) => (transfer.table(), transfer.player(), posted(transfer).into()),
    };
    let player = player.map(StreamId::from).unwrap_or_default();
    (table.map_or(player, StreamId::from), recorded)
}

fn posted(transfer: &Transfer) -> pb::TransferPosted {
    let kind = match transfer.kind {
        Kind::Issue => TransferKind::Issue,
        Kind::Redeem => TransferKind::Redeem,
        Kind::BuyIn => TransferKind::BuyIn,
        Kind::CashOut => TransferKind::CashOut,
        Kind::Settlement { .. } => TransferKind::Settlement,
        Kind::PotRefund { .. } => TransferKind::PotRefund,
    };
    let legs = transfer
        .legs
        .iter()
        .map(|leg| Leg { account: leg.account.to_string(), amount: leg.amount.get() });
    pb::TransferPosted {
        transfer_id: transfer.id.0.to_vec().into(),
        kind: kind.into(),
        legs: legs.collect(),
        table_id: transfer.table().map(|table| table.0.to_vec()).unwrap_or_default().into(),
        hand_id: transfer.hand().map(|hand| hand.0.to_vec()).unwrap_or_default().into(),
        reason: transfer.reason.clone(),
    }
}
