//! Selection of one hand's events from streams that hold those of many.

use eventlog_core::Event;
use primitives::HandId;
use wire::Recorded;

/// Returns the number of the hand whose records include this event of a table's stream, if there is
/// such a hand.
#[must_use]
pub fn hand_no(recorded: &Recorded) -> Option<u64> {
    if let Recorded::HandCommitted(noted) = recorded {
        Some(noted.hand_no)
    } else if let Recorded::EntropyCommitted(given) = recorded {
        Some(given.hand_no)
    } else if let Recorded::HandStarted(started) = recorded {
        Some(started.hand_no)
    } else if let Recorded::HandFinished(finished) = recorded {
        Some(finished.hand_no)
    } else {
        None
    }
}

/// Selects a hand's events from the stream of its table: the dealer's commitment, the seats'
/// commitments, its start and its end.
pub fn select_from_table(number: u64, stream: impl IntoIterator<Item = Event>) -> Vec<Event> {
    let ours =
        |event: &Event| Recorded::try_from(event).is_ok_and(|it| hand_no(&it) == Some(number));
    stream.into_iter().filter(ours).collect()
}

/// Selects the transfers posted for a hand from the wallet's stream of its table.
pub fn select_from_wallet(hand: HandId, stream: impl IntoIterator<Item = Event>) -> Vec<Event> {
    let ours = |event: &Event| {
        let Ok(Recorded::TransferPosted(posted)) = Recorded::try_from(event) else { return false };
        posted.transfer_id[..] == hand.0 || posted.hand_id[..] == hand.0
    };
    stream.into_iter().filter(ours).collect()
}
