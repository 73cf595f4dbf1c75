//! Selection of one hand's events from streams that hold those of many.

use eventlog_core::Event;
use primitives::HandId;
use wire::records::{TableEvent, TableRecord, TableSubject, WalletRecord};

/// Returns the number of the hand whose records include this event of a table's stream, if there is
/// such a hand.
#[must_use]
pub fn hand_no(recorded: &TableRecord) -> Option<u64> {
    let TableSubject::Table(event) = recorded.subject() else { return None };
    match event {
        TableEvent::HandCommitted(noted) => Some(noted.hand_no),
        TableEvent::EntropyCommitted(given) => Some(given.hand_no),
        TableEvent::HandStarted(started) => Some(started.hand_no),
        TableEvent::HandFinished(finished) => Some(finished.hand_no),
        TableEvent::TableCreated(_)
        | TableEvent::CloseAsked(_)
        | TableEvent::PotRefundDue(_)
        | TableEvent::PotRefunded(_)
        | TableEvent::TableClosed(_)
        | TableEvent::AbsentPaid(_)
        | TableEvent::TablePaused(_)
        | TableEvent::EffectStopped(_)
        | TableEvent::EffectResumed(_) => None,
    }
}

/// Selects a hand's events from the stream of its table: the dealer's commitment, the seats'
/// commitments, its start and its end.
pub fn select_from_table(number: u64, stream: impl IntoIterator<Item = Event>) -> Vec<Event> {
    let ours =
        |event: &Event| TableRecord::try_from(event).is_ok_and(|it| hand_no(&it) == Some(number));
    stream.into_iter().filter(ours).collect()
}

/// Selects the transfers posted for a hand from the wallet's stream of its table.
pub fn select_from_wallet(hand: HandId, stream: impl IntoIterator<Item = Event>) -> Vec<Event> {
    let ours = |event: &Event| {
        let Ok(WalletRecord::TransferPosted(posted)) = WalletRecord::try_from(event) else {
            return false;
        };
        posted.transfer_id[..] == hand.0 || posted.hand_id[..] == hand.0
    };
    stream.into_iter().filter(ours).collect()
}
