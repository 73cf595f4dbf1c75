//! Settled hands that are not posted: the dealer opens no seed, or the wallet takes no transfer.

use std::time::Duration;

use eventlog::MemStore;
use proto::event::v1::Resolution;

use super::{DEALER_TIMEOUT, Harness, Misbehaviour};
use crate::commands::Command;
use crate::effects::Effect;
use crate::hand_in_play::HandStage;
use crate::registry::tests::dependencies;
use crate::settle;
use crate::state::RecoveredState;
use crate::stops::Resume;

const OPERATOR: u8 = 200;
const BEFORE: [u64; 3] = [1000; 3];

fn retry() -> Command {
    let reason = "looked at it".to_owned();
    Command::Resume(Resume { reason, resolution: Resolution::Retry })
}

fn stacks(table: &Harness) -> Vec<u64> {
    table.state.table.seats.values().map(|seat| seat.stack.get()).collect()
}

fn is_settled(table: &Harness) -> bool {
    table.state.play.as_ref().is_some_and(|play| play.stage == HandStage::Settled)
}

/// A table whose first hand is settled and not posted.
fn settled() -> Harness {
    let mut table = Harness::new("dice", |_| {});
    table.run_until_idle();
    table.wait(Duration::from_secs(2));
    table.run_while(|table| !is_settled(table));
    assert!(is_settled(&table) && table.state.table.hand_no == 1);
    table
}

#[test]
fn a_seed_that_is_refused_stops_and_an_operator_has_it_tried_again() {
    let mut table = settled();
    table.dealer.misbehaviour = Misbehaviour::NoSeed;
    table.run_until_idle();
    assert!(table.event_names(0).ends_with(&["EffectStopped"]));
    assert_eq!(table.state.table.stopped_effects(false)[0].what, "the seed of hand 1");
    let why = &table.state.table.stopped_effects(true)[0].why;
    assert_eq!(why, "the opening of the seed was refused: a kept seed is missing");
    // No call is made, and no time limit ends the wait.
    table.wait(DEALER_TIMEOUT * 100);
    let before = table.log.len();
    table.run_until_idle();
    assert_eq!(table.log.len(), before);
    table.dealer.misbehaviour = Misbehaviour::None;
    table.command(OPERATOR, retry()).unwrap();
    table.run_while(|table| table.state.table.hand_no == 1);
    assert!(table.event_names(0).contains(&"SettlementPosted"));
    assert!(table.state.table.stops.is_empty() && stacks(&table) != BEFORE);
}

#[test]
fn a_dealer_who_is_away_stops_nothing() {
    let mut table = settled();
    table.dealer.misbehaviour = Misbehaviour::Silent;
    table.run_until_idle();
    assert!(table.state.table.stops.is_empty());
    assert!(table.pending_effects().contains(&Effect::Reveal { hand_no: 1 }));
}

#[tokio::test]
async fn a_settled_hand_is_taken_up_and_paid_without_its_cards() {
    let mut table = Harness::new("spike", |_| {});
    table.run_until_idle();
    table.wait(Duration::from_secs(2));
    table.run_while(|table| !is_settled(table));
    assert!(is_settled(&table));
    // The dealer does not answer.
    let shared = dependencies(&MemStore::new()).await;
    let found = crate::recovery::recovered_table(table.log.iter().cloned()).ok().unwrap();
    let RecoveredState { state, past } =
        found.recover(&shared.peers, Duration::from_millis(50)).await.unwrap();
    assert!(past.is_empty());
    let (new, old) = (state.play.as_ref().unwrap(), table.state.play.as_ref().unwrap());
    let pending = |state: &crate::state::TableState| {
        crate::effects::pending_effects(&state.table, state.play.as_ref(), &table.timing())
    };
    assert_eq!(pending(&state), pending(&table.state));
    let legs = |play| settle::settlement_request(&table.state.table, play).unwrap().legs;
    assert!(!legs(old).is_empty());
    assert_eq!(legs(new), legs(old));
    let posted = |play| settle::conclude_post(&table.state.table, play, 9).unwrap().events;
    assert_eq!(posted(new), posted(old));
    assert_eq!(new.version, old.version);
    // The table can be watched, and goes on by itself.
    assert!(state.view(None).hand.is_some());
    table.state = state;
    table.steady = true;
    table.run_while(|table| table.state.table.hand_no == 1);
    assert!(
        table.event_names(0).contains(&"SettlementPosted")
            && !table.event_names(0).contains(&"HandAborted")
    );
}
