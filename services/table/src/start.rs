//! Start of a hand: its seats and its button.
//!
//! Specification: fairness/SPEC.md §3.4.

use primitives::{SeatNo, UnixMicros};
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;

use crate::batch::Batch;
use crate::table::Table;

/// Starts the next hand at `now`. p1 sits after the button, and the last player has it.
#[must_use]
pub(crate) fn start_hand(table: &Table, now: UnixMicros) -> Batch {
    let hand_no = table.hand_no + 1;
    let hand_id = fairness::hand_id(table.id, hand_no);
    let mut ready = table.seats_to_deal_in(now);
    let button =
        next_button(table.button, &ready.iter().map(|(seat, _)| *seat).collect::<Vec<_>>());
    let first = ready.iter().position(|(seat, _)| *seat > button).unwrap_or(0);
    ready.rotate_left(first);
    let roster = ready.iter().map(|(number, seat)| pb::RosterSeat {
        seat: u32::from(number.get()),
        player_id: seat.player.0.to_vec().into(),
        stack: seat.stack.get(),
        house: seat.is_house,
    });
    let opened = pb::HandOpened {
        table_id: table.id.0.to_vec().into(),
        hand_no,
        commitment: table.dealer_commitments.get(&hand_no).map(|made| made.commitment.clone()),
        rule_set: table.config.rule_set.clone(),
        roster: roster.collect(),
        sabacc_pot: table.sabacc_pot.get(),
        carried_pot: table.carried_pot.get(),
        settings: table.config.settings_text.clone(),
        build: Some(running_build()),
    };
    let started = pb::HandStarted { hand_no, hand_id: hand_id.0.to_vec().into() };
    vec![(table.id.into(), started.into()), (hand_id.into(), opened.into())].into()
}

/// Build of the program that opens the hand.
fn running_build() -> dealer::Build {
    let chassis::build::Build { version, commit: _, sha256 } = chassis::build::running();
    dealer::Build { version: (*version).to_owned(), sha256: sha256.clone() }
}

/// Seat that gets the button: the lowest dealt-in seat at first, then the next dealt-in seat each
/// hand.
fn next_button(last: Option<SeatNo>, dealt_in: &[SeatNo]) -> SeatNo {
    let lowest = dealt_in[0];
    last.and_then(|last| dealt_in.iter().copied().find(|seat| *seat > last)).unwrap_or(lowest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seats(numbers: &[u8]) -> Vec<SeatNo> {
        numbers.iter().map(|number| SeatNo::try_new(*number).unwrap()).collect()
    }

    #[test]
    fn button_starts_lowest_and_goes_round() {
        let check = |last: Option<u8>, dealt_in: &[u8], button: u8| {
            let last = last.map(|last| SeatNo::try_new(last).unwrap());
            assert_eq!(next_button(last, &seats(dealt_in)).get(), button);
        };
        check(None, &[2, 5, 7], 2);
        check(Some(2), &[2, 5, 7], 5);
        check(Some(7), &[2, 5, 7], 2);
        // The seat that had it is gone: the next one after its place.
        check(Some(4), &[2, 5, 7], 5);
        check(Some(8), &[2, 5, 7], 2);
    }
}
