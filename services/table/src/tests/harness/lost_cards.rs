//! Hands whose cards a restart has lost while the dealer is silent.

use std::time::Duration;

use proto::common::v1::{ErrorReason, MoveKind};
use proto::event::v1::AbortCause;

use super::suspended::{HOURS, aborted, act, ends, has};
use super::{DEALER_TIMEOUT, Harness, Misbehaviour, player, stand_up};
use crate::effects::Effect;

/// A table of a game with hidden cards at its first decision, and the time that is left for it.
fn deciding() -> (Harness, Duration) {
    let mut table = Harness::new("coruscant", |_| {});
    table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 });
    table.run_effect(|effect| effect == Effect::Start);
    table.wait(Duration::from_secs(2));
    table.run_while(|table| table.state.play.as_ref().is_none_or(|play| play.to_act().is_none()));
    table.wait(Duration::from_secs(7));
    let play = table.state.play.as_ref().unwrap();
    let (deadline, _) = play.deadline(&table.state.table.config).unwrap();
    let left = deadline.since(table.now);
    assert_eq!(left, Duration::from_secs(43));
    (table, left)
}

fn lost(table: &Harness) -> bool {
    table.state.play.as_ref().is_some_and(|play| play.lost_cards.is_some())
}

/// fairness/SPEC.md §3.9, §3.11.
#[test]
fn a_restart_while_the_dealer_is_silent_suspends_the_hand_and_keeps_its_clock() {
    for misbehaviour in [Misbehaviour::Silent, Misbehaviour::OtherCard, Misbehaviour::NoProof] {
        let (mut table, left) = deciding();
        let (alive, turn) = (table.now, table.state.play.as_ref().unwrap().turn);
        table.dealer.misbehaviour = misbehaviour;
        table.wait(Duration::from_secs(300));
        table.restart(alive);
        assert!(lost(&table));
        // Nothing is known of the hand but its opening.
        let view = table.state.view(Some(player(1))).hand.unwrap();
        assert!(view.seats.is_empty() && view.turn.is_none() && view.hand_no == 1);
        assert_eq!(table.refusal(1, stand_up()).0, ErrorReason::Unavailable);
        assert_eq!(table.pending_effects(), [Effect::RecoverCards { hand_no: 1 }]);
        table.wait(DEALER_TIMEOUT);
        assert!(table.run_effect(|effect| effect == Effect::Suspend { hand_no: 1 }));
        let early = act(&table, MoveKind::Void, Vec::new());
        assert_eq!(table.refusal(1, early).0, ErrorReason::HandSuspended);
        // However often the table is started meanwhile, the clock stands.
        for _ in 0..3 {
            table.wait(Duration::from_secs(600));
            table.restart(table.now);
            assert!(lost(&table) && !ends(&mut table));
            assert!(!table.run_effect(|effect| effect == Effect::RecoverCards { hand_no: 1 }));
            assert!(table.state.view(None).hand.unwrap().suspension.is_some());
        }
        table.dealer.misbehaviour = Misbehaviour::None;
        let from = table.log.len();
        assert!(table.run_effect(|effect| effect == Effect::RecoverCards { hand_no: 1 }));
        assert_eq!(table.event_names(from), ["HandContinued"], "{misbehaviour:?}");
        let play = table.state.play.as_ref().unwrap();
        let (deadline, _) = play.deadline(&table.state.table.config).unwrap();
        assert_eq!((deadline.since(table.now), play.turn), (left, turn));
        table.run_while(|table| !table.event_names(0).contains(&"HandFinished"));
        assert!(has(&table, "HandSettled"));
    }
}

#[test]
fn a_hand_whose_cards_stay_lost_is_refunded_when_its_time_is_over() {
    let (mut table, _) = deciding();
    table.dealer.misbehaviour = Misbehaviour::Silent;
    table.restart(table.now);
    table.wait(DEALER_TIMEOUT);
    assert!(table.run_effect(|effect| effect == Effect::Suspend { hand_no: 1 }));
    table.wait(HOURS);
    let from = table.log.len();
    assert!(ends(&mut table));
    assert_eq!(table.event_names(from), ["HandAborted", "HandFinished"]);
    assert_eq!(aborted(&table).cause(), AbortCause::Suspended);
    assert!(aborted(&table).evidence.contains("the cards that the table had lost"));
}

#[test]
fn a_dealer_that_is_back_within_ten_seconds_suspends_nothing() {
    let (mut table, _) = deciding();
    table.dealer.misbehaviour = Misbehaviour::Silent;
    table.restart(table.now);
    assert!(lost(&table));
    table.wait(Duration::from_secs(5));
    table.dealer.misbehaviour = Misbehaviour::None;
    let from = table.log.len();
    assert!(table.run_effect(|effect| effect == Effect::RecoverCards { hand_no: 1 }));
    assert!(!lost(&table) && table.event_names(from).is_empty());
}
