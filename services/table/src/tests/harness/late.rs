//! A delayed room charges no player for its delay.

use std::time::Duration;

use primitives::{Credits, SeatNo};
use proto::common::v1::ErrorReason;
use proto::event::v1 as event;
use wire::TableRecord;

use super::Harness;
use crate::commands::{Command, DecisionRequest};
use crate::effects::Effect;

const EACH: Duration = Duration::from_secs(2);
const LATE: Duration = Duration::from_secs(3);

/// A table of three players who have all committed to the first hand, which is closed to
/// commitments.
pub(crate) fn open() -> Harness {
    let mut table = Harness::new("dice", |_| {});
    assert!(table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 }));
    for number in [1, 2, 4] {
        table.commit(1, number);
    }
    assert!(table.run_effect(|effect| effect == Effect::Start));
    assert!(table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no: 1 }));
    table
}

fn burns(table: &mut Harness) -> bool {
    table.run_effect(|effect| matches!(effect, Effect::Burn { .. }))
}

/// fairness/SPEC.md §3.4.
#[test]
fn a_late_room_burns_no_hand() {
    let mut table = open();
    table.reveal(1, 1);
    table.reveal(1, 2);
    table.room_delay = LATE;
    table.wait(EACH + LATE - Duration::from_millis(1));
    assert!(!burns(&mut table));
    // Messages that had arrived meanwhile are taken now, and the hand goes on.
    table.reveal(1, 4);
    assert!(table.run_effect(|effect| effect == Effect::Seal { hand_no: 1 }));
    assert!(!table.event_names(0).contains(&"HandAborted"));
}

#[test]
fn a_room_that_is_on_time_burns_what_is_withheld() {
    let mut table = open();
    table.reveal(1, 1);
    table.reveal(1, 2);
    table.room_delay = LATE;
    table.wait(EACH);
    assert!(!burns(&mut table));
    table.room_delay = Duration::ZERO;
    assert!(burns(&mut table));
}

/// ARCHITECTURE.md §7.7.
#[test]
fn a_late_room_starts_no_hand_and_gives_no_seat() {
    let mut table = Harness::new("dice", |_| {});
    assert!(table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 }));
    table.starts_held_until = Some(table.now.plus(LATE));
    assert!(!table.run_effect(|effect| effect == Effect::Start));
    let sit = Command::SitDown {
        seat: SeatNo::try_new(3).ok(),
        buy_in: Credits::of(1000),
        funds: None,
        is_house: false,
    };
    assert_eq!(table.refusal(3, sit.clone()).0, ErrorReason::Overloaded);
    // Leaving and sitting out are no new work.
    table.command(1, Command::SitOut { out: true, standing: None }).unwrap();
    table.wait(LATE);
    assert!(table.run_effect(|effect| effect == Effect::Start));
    table.starts_held_until = None;
    table.command(3, sit).unwrap();
}

#[test]
fn a_decision_counts_from_when_it_had_arrived() {
    let used = |waited: Duration| {
        let mut table = Harness::new("dice", |_| {});
        table.wait(EACH);
        for _ in 0..10 {
            table.wait(EACH);
            while table.state.play.as_ref().is_none_or(|play| play.to_act().is_none()) {
                let pending = table.pending_effects();
                if !pending.into_iter().any(|effect| table.run_effect(|other| other == effect)) {
                    break;
                }
            }
        }
        let play = table.state.play.as_ref().unwrap();
        let (hand_no, turn) = (play.hand_no, play.turn);
        let seat = play.seat(play.to_act().unwrap()).get();
        let deadline = play.deadline(&table.state.table.config).unwrap().0;
        // The decision arrived with a second of the time bank left, and the room took this long to
        // judge it.
        let came = deadline.0 - 1_000_000;
        table.arrived = Some(primitives::UnixMicros(came));
        table.now = primitives::UnixMicros(came).plus(waited);
        let decision = rules::next(&play.replay.hand);
        let rules::Next::Decision(decision) = decision else { panic!("no decision") };
        let deck = play.replay.hand.rules().variant().deck;
        let mv = wire::moves::write_with_cards(&decision.default, deck, &play.replay.seats);
        table
            .command(
                seat,
                Command::Act(DecisionRequest { hand_no, turn, mv, signature: Vec::new() }),
            )
            .unwrap();
        let decided = table.log.iter().rev().find_map(|(_, event, _)| match event {
            TableRecord::MoveDecided(decided) => Some(decided.clone()),
            _ => None,
        });
        let event::MoveDecided { bank_used_ms, by_clock, .. } = decided.unwrap();
        (bank_used_ms, by_clock)
    };
    assert_eq!(used(Duration::ZERO), (29_000, false));
    assert_eq!(used(Duration::from_secs(4)), (29_000, false));
}
