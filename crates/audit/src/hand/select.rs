//! One hand's events out of streams that hold those of many.

use eventlog_core::Event;
use primitives::HandId;
use wire::Recorded;

/// The number of the hand that an event of a table's stream is about, where it belongs to the hand's
/// records.
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

/// Out of a table's stream: that the hand's seed was committed to, what seats committed to for it,
/// that it started, that it finished.
pub fn of_table(number: u64, stream: impl IntoIterator<Item = Event>) -> Vec<Event> {
    let ours =
        |event: &Event| Recorded::try_from(event).is_ok_and(|it| hand_no(&it) == Some(number));
    stream.into_iter().filter(ours).collect()
}

/// Out of the wallet's stream of the table: whatever was posted in the hand's name.
pub fn of_wallet(hand: HandId, stream: impl IntoIterator<Item = Event>) -> Vec<Event> {
    let ours = |event: &Event| {
        let Ok(Recorded::TransferPosted(posted)) = Recorded::try_from(event) else { return false };
        posted.transfer_id[..] == hand.0 || posted.hand_id[..] == hand.0
    };
    stream.into_iter().filter(ours).collect()
}
