//! The wallet's records as the ledger's own events; nothing is believed that the ledger would not
//! have written in just these words.

use ::ledger::{Account, Amount, Event as Entry, Kind, Leg, Transfer};
use eventlog::Event;
use primitives::{PlayerId, RequestId, StreamId, TableId};
use proto::event::v1 as pb;
use proto::wallet::v1::TransferKind;
use wire::Recorded;

/// The ledger's event behind a stored one.
pub(crate) fn entry(event: &Event) -> Result<Entry, String> {
    let recorded = Recorded::try_from(event).map_err(|error| error.to_string())?;
    let entry = if let Recorded::AccountOpened(opened) = &recorded {
        Entry::Opened(account(&opened.account)?)
    } else if let Recorded::TransferPosted(posted) = &recorded {
        Entry::Posted(transfer(posted)?)
    } else {
        return Err(format!("no wallet writes {}", recorded.name()));
    };
    let stream = stream(&entry);
    if stream == event.stream {
        Ok(entry)
    } else {
        Err(format!("the record lies in stream {}, not in {stream}", event.stream))
    }
}

/// The transfer behind a message, whose table and hand must be those of its kind, legs and id.
pub(crate) fn transfer(posted: &pb::TransferPosted) -> Result<Transfer, String> {
    let pb::TransferPosted { transfer_id, kind, legs, table_id, hand_id, reason } = posted;
    let id = RequestId::try_from(&transfer_id[..]).map_err(|error| error.to_string())?;
    let table = || TableId::try_from(&table_id[..]).map_err(|error| error.to_string());
    let kind = match TransferKind::try_from(*kind) {
        Ok(TransferKind::Issue) => Kind::Issue,
        Ok(TransferKind::Redeem) => Kind::Redeem,
        Ok(TransferKind::BuyIn) => Kind::BuyIn,
        Ok(TransferKind::CashOut) => Kind::CashOut,
        Ok(TransferKind::Settlement) => Kind::Settlement { table: table()? },
        Ok(TransferKind::PotRefund) => Kind::PotRefund { table: table()? },
        Ok(TransferKind::Unspecified) | Err(_) => {
            return Err(format!("there is no kind {kind} of transfer"));
        }
    };
    let legs = legs
        .iter()
        .map(|leg| {
            let amount = Amount::try_new(leg.amount).map_err(|error| error.to_string())?;
            Ok(Leg { account: account(&leg.account)?, amount })
        })
        .collect::<Result<_, String>>()?;
    let transfer = Transfer { id, kind, legs, reason: reason.clone() };
    let table = transfer.table().map(|table| table.0.to_vec()).unwrap_or_default();
    let hand = transfer.hand().map(|hand| hand.0.to_vec()).unwrap_or_default();
    if table_id[..] == table[..] && hand_id[..] == hand[..] {
        Ok(transfer)
    } else {
        Err("the transfer's table or hand is not that of its kind, legs and id".to_owned())
    }
}

fn account(name: &str) -> Result<Account, String> {
    name.parse().map_err(|error| format!("{name:?}: {error}"))
}

/// What involves a table lies in the table's stream, what involves only a player in the player's.
fn stream(entry: &Entry) -> StreamId {
    let (table, player) = match entry {
        Entry::Opened(account) => (account.table(), account.player()),
        Entry::Posted(transfer) => (transfer.table(), transfer.player()),
    };
    let player = player.map_or(StreamId::default(), |player: PlayerId| player.into());
    table.map_or(player, StreamId::from)
}
