//! Hands whose cards a restart has lost while the dealer is silent.

use std::time::Duration;

use eventlog::Entry;
use proto::common::v1::{AbortCause, ErrorReason, MoveKind};
use wire::Record as _;

use super::suspended::{HOURS, aborted, act, ends, has};
use super::{DEALER_TIMEOUT, Harness, Misbehaviour, player, stand_up};
use crate::actor::{Dependencies, SERVICE_ACTOR};
use crate::effects::Effect;
use crate::registry::tests::{Fixture, dependencies, view};

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

/// The task itself: its dealer answers nothing.
#[tokio::test]
async fn a_table_that_is_started_without_its_dealer_is_there_and_suspends_its_hand() {
    let (table, _) = deciding();
    let fixture = Fixture::new();
    let short = Duration::from_millis(100);
    let written = Dependencies { dealer_timeout: short, ..dependencies(&fixture.store).await };
    for (stream, event, _) in &table.log {
        let entry = Entry {
            events: vec![event.on_stream(*stream)],
            request: None,
            actor: SERVICE_ACTOR.into(),
            trace: [0; 16],
        };
        written.log.append(entry).await.unwrap();
    }
    let registry = fixture.open_in(written).await;
    let suspended = async {
        loop {
            let hand = view(&registry, table.state.table.id, false).await.hand.unwrap();
            if hand.suspension.is_some() {
                return hand;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let hand = tokio::time::timeout(Duration::from_secs(20), suspended).await.unwrap();
    assert!(hand.seats.is_empty() && hand.hand_no == 1 && hand.turn.is_none());
    let refused = fixture.run(&registry, table.state.table.id, fixture.request(), stand_up()).await;
    assert_eq!(refused.unwrap_err().reason(), ErrorReason::Unavailable);
}
