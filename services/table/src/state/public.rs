//! Updates that are the same for every viewer.

use primitives::{HandId, SeatNo, StreamId};
use proto::event::v1 as event;
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use wire::Recorded;

use crate::proof;
use crate::table::Table;
use crate::updates;

/// State that an event removes from the table and that its update needs.
pub enum PriorState {
    Nothing,
    /// The seat before it is vacated.
    Vacated(pb::SeatView),
    /// Number and id of the hand whose seed is opened.
    Seed(u64, HandId),
}

impl PriorState {
    /// Captures the state before the table takes the event.
    #[must_use]
    pub fn of(table: &Table, stream: StreamId, recorded: &Recorded) -> PriorState {
        if let Recorded::HandRevealed(_) | Recorded::SeedRefused(_) = recorded {
            let seed = table.seeds.in_stream(stream);
            return seed.map_or(PriorState::Nothing, |(hand_no, seed)| {
                PriorState::Seed(hand_no, seed.hand)
            });
        }
        let number = if let Recorded::SeatVacated(event::SeatVacated { seat }) = recorded {
            *seat
        } else if let Recorded::SeatRefused(event::SeatRefused { seat, reason: _, text: _ }) =
            recorded
        {
            *seat
        } else {
            return PriorState::Nothing;
        };
        let number = SeatNo::try_from(number).ok();
        let seat = number.and_then(|number| updates::seat_view(table, number));
        seat.map_or(PriorState::Nothing, PriorState::Vacated)
    }
}

/// Whether the update of an event depends on its viewer, or on the whole hand.
#[must_use]
pub fn is_hand_update(recorded: &Recorded) -> bool {
    if let Recorded::ChanceUsed(used) = recorded {
        return !used.restock;
    }
    matches!(
        recorded,
        Recorded::HandSealed(_)
            | Recorded::CardsMoved(_)
            | Recorded::MoveDecided(_)
            | Recorded::HandSettled(_)
    )
}

/// Update of a published event that is the same for every viewer; `table` has taken the event.
#[must_use]
pub fn public_update(table: &Table, recorded: &Recorded, before: PriorState) -> What {
    match before {
        PriorState::Vacated(seat) => {
            return What::Seat(pb::SeatChanged {
                seat: Some(seat),
                vacated: true,
                your_standing: None,
            });
        }
        PriorState::Seed(hand_no, hand_id) => {
            let (seed, refused) = seed_of(recorded);
            let hand_id = hand_id.0.to_vec();
            return What::Seed(pb::SeedPublished { hand_no, hand_id, seed, refused });
        }
        PriorState::Nothing => {}
    }
    if let Recorded::TableClosed(_) = recorded {
        What::Closed(pb::TableClosed {})
    } else if let Recorded::HandCommitted(committed) = recorded {
        let event::HandCommitted { hand_no, commitment } = committed.clone();
        What::NextHand(pb::NextHand { hand_no, commitment, seats: Vec::new() })
    } else if let Recorded::HandOpened(_) | Recorded::EntropyClosed(_) = recorded {
        What::Entropy(updates::entropy(table).unwrap_or_default())
    } else if let Recorded::HandAborted(aborted) = recorded {
        What::Voided(voided(table, aborted))
    } else if let Recorded::TablePaused(paused) = recorded {
        let until = updates::timestamp(primitives::UnixMicros(paused.until_micros));
        What::Paused(pb::Paused { why: paused.why.clone(), until: Some(until) })
    } else if let Recorded::EffectStopped(_) | Recorded::EffectResumed(_) = recorded {
        What::Stopped(pb::StoppedChanged { stopped: table.stopped_effects(false) })
    } else if let Recorded::ChanceUsed(used) = recorded {
        // A restocking shuffle has an update of its own, which shows nothing else.
        let root = used.result.as_ref().and_then(|result| proof::root_of(result).ok());
        What::Action(pb::HandAction { hand_no: table.hand_no, root, ..Default::default() })
    } else {
        let number = seat_of(recorded).and_then(|seat| SeatNo::try_from(seat).ok());
        let seat = number.and_then(|number| updates::seat_view(table, number));
        let standing = number.and_then(|number| table.seats.get(&number)?.standing.as_ref());
        // For the seat's own player alone; removed for everybody else.
        let your_standing = standing.map(crate::standing::play_standing);
        What::Seat(pb::SeatChanged { seat, vacated: false, your_standing })
    }
}

fn seed_of(recorded: &Recorded) -> (Vec<u8>, bool) {
    if let Recorded::HandRevealed(event::HandRevealed { seed }) = recorded {
        (seed.to_vec(), false)
    } else if let Recorded::SeedRefused(event::SeedRefused { seed }) = recorded {
        (seed.to_vec(), true)
    } else {
        (Vec::new(), false)
    }
}

fn voided(table: &Table, aborted: &event::HandAborted) -> pb::HandVoided {
    let event::HandAborted { at_fault, seats, evidence } = aborted.clone();
    let hand_id = table.hand.as_ref().map_or_else(Vec::new, |hand| hand.id.0.to_vec());
    pb::HandVoided { hand_no: table.hand_no, hand_id, at_fault, seats, evidence }
}

fn seat_of(recorded: &Recorded) -> Option<u32> {
    if let Recorded::SeatTaken(event) = recorded {
        Some(event.seat)
    } else if let Recorded::SeatFunded(event) = recorded {
        Some(event.seat)
    } else if let Recorded::LeaveAsked(event) = recorded {
        Some(event.seat)
    } else if let Recorded::SitOutChanged(event) = recorded {
        Some(event.seat)
    } else if let Recorded::SeatRenamed(event) = recorded {
        Some(event.seat)
    } else {
        None
    }
}
