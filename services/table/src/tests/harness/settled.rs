//! Settled hands that are not posted: the dealer opens no seed, or the wallet takes no transfer.

use std::time::Duration;

use eventlog::MemStore;
use proto::common::v1::ErrorReason;
use proto::event::v1::{AtFault, Resolution};
use wire::Recorded;

use super::{DEALER_TIMEOUT, Harness, Misbehaviour};
use crate::commands::Command;
use crate::effects::Effect;
use crate::hand_in_play::HandStage;
use crate::peers::PeerCall;
use crate::registry::tests::dependencies;
use crate::settle;
use crate::state::RecoveredState;
use crate::stops::Resume;
use crate::table::Closing;

const OPERATOR: u8 = 200;
const BEFORE: [u64; 3] = [1000; 3];

fn void(hand_no: u64) -> Command {
    Command::Void { hand_no, reason: "the seed is lost".to_owned() }
}

fn retry() -> Command {
    let reason = "looked at it".to_owned();
    Command::Resume(Resume { reason, resolution: Resolution::Retry })
}

fn stacks(table: &Harness) -> Vec<u64> {
    table.state.table.seats.values().map(|seat| seat.stack.get()).collect()
}

fn is_settlement(job: &PeerCall) -> bool {
    matches!(job, PeerCall::Settle(_))
}

fn is_settled(table: &Harness) -> bool {
    table.state.play.as_ref().is_some_and(|play| play.stage == HandStage::Settled)
}

/// A table whose first hand is settled and not posted.
fn settled(delay: u32) -> Harness {
    let mut table = Harness::new("dice", |created| created.reveal_delay_seconds = delay);
    table.run_until_idle();
    table.wait(Duration::from_secs(2));
    table.run_while(|table| !is_settled(table));
    assert!(is_settled(&table) && table.state.table.hand_no == 1);
    table
}

/// Checks that the hand is void, that everybody has their credits from before it, and that the
/// table plays on.
fn is_void(table: &mut Harness) {
    let from = table.log.len();
    table.command(OPERATOR, void(1)).unwrap();
    assert_eq!(table.event_names(from), ["HandAborted", "HandFinished"]);
    let aborted = table.log.iter().rev().find_map(|(_, event, _)| match event {
        Recorded::HandAborted(aborted) => Some(aborted.clone()),
        _ => None,
    });
    let aborted = aborted.unwrap();
    assert_eq!(aborted.at_fault(), AtFault::Operator);
    assert_eq!(aborted.evidence, "the seed is lost");
    assert_eq!(stacks(table), BEFORE);
    assert!(table.state.table.sabacc_pot.is_zero() && table.state.table.stops.is_empty());
    assert_eq!(table.refusal(OPERATOR, void(1)).0, ErrorReason::NotYourTurn);
    table.run_while(|table| table.state.table.hand_no == 1);
    assert_eq!(table.state.table.hand_no, 2);
}

#[test]
fn a_seed_that_is_refused_stops_and_an_operator_has_it_tried_again() {
    let mut table = settled(0);
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
    let mut table = settled(0);
    table.dealer.misbehaviour = Misbehaviour::Silent;
    table.run_until_idle();
    assert!(table.state.table.stops.is_empty());
    assert!(table.pending_effects().contains(&Effect::Reveal { hand_no: 1 }));
}

/// fairness/SPEC.md §3.10.
#[test]
fn a_settled_hand_whose_seed_stays_closed_is_made_void() {
    for stopped in [false, true] {
        let mut table = settled(0);
        table.dealer.misbehaviour = Misbehaviour::NoSeed;
        if stopped {
            table.run_until_idle();
            assert_eq!(table.state.table.stops.len(), 1);
        }
        is_void(&mut table);
        assert!(!table.wallet_calls.iter().any(is_settlement));
        // The seed is asked for again and again.
        assert!(!table.run_effect(|effect| effect == Effect::Reveal { hand_no: 1 }));
        assert!(table.state.table.stops.is_empty());
        table.dealer.misbehaviour = Misbehaviour::None;
        assert!(table.run_effect(|effect| effect == Effect::Reveal { hand_no: 1 }));
        assert!(!table.dealer.opened[&1]);
        // No credit was made or lost.
        table.command(OPERATOR, Command::Close).unwrap();
        for _ in 0..3 {
            table.wait(DEALER_TIMEOUT);
            table.run_until_idle();
        }
        assert_eq!(table.state.table.closing, Closing::Closed);
        let paid = table.wallet_calls.iter().map(|job| match job {
            PeerCall::CashOut(request) => request.amount,
            _ => 0,
        });
        assert_eq!(paid.sum::<u64>(), BEFORE.iter().sum::<u64>());
    }
}

#[test]
fn a_seed_that_was_under_way_when_its_hand_became_void_is_taken() {
    let mut table = settled(0);
    let reveal = Effect::Reveal { hand_no: 1 };
    let asked = |table: &Harness| {
        let (table, play) = (&table.state.table, table.state.play.as_ref());
        match crate::effect_calls::prepare(table, play, reveal).unwrap().call {
            PeerCall::Reveal(request) => request,
            job => panic!("{job:?}"),
        }
    };
    let before = asked(&table);
    table.command(OPERATOR, void(1)).unwrap();
    assert_eq!(asked(&table), before);
}

#[test]
fn a_settled_hand_whose_transfer_the_wallet_refuses_is_made_void() {
    for delay in [0, 3600] {
        let mut table = settled(delay);
        table.wallet_refuses = Some((is_settlement, ErrorReason::TransferRefused));
        table.run_until_idle();
        assert_eq!(table.state.table.stopped_effects(false)[0].what, "the posting of hand 1");
        is_void(&mut table);
    }
}

#[test]
fn a_settled_hand_whose_transfer_may_be_posted_is_not_made_void() {
    // The wallet says what it may also say of a transfer that it has posted.
    for reason in [ErrorReason::Corrupt, ErrorReason::RequestIdReused, ErrorReason::RoleNotAllowed]
    {
        let mut table = settled(0);
        table.wallet_refuses = Some((is_settlement, reason));
        table.run_until_idle();
        assert_eq!(table.state.table.stops.len(), 1);
        assert_eq!(table.refusal(OPERATOR, void(1)).0, ErrorReason::NotYourTurn);
    }
    for delay in [0, 3600] {
        let mut table = settled(delay);
        table.wallet_silent = true;
        table.run_until_idle();
        assert!(table.pending_effects().contains(&Effect::Post { hand_no: 1 }));
        assert_eq!(table.refusal(OPERATOR, void(1)).0, ErrorReason::NotYourTurn);
    }
    // It is asked for once more.
    let mut table = settled(0);
    table.wallet_refuses = Some((is_settlement, ErrorReason::TransferRefused));
    table.run_until_idle();
    table.command(OPERATOR, retry()).unwrap();
    assert_eq!(table.refusal(OPERATOR, void(1)).0, ErrorReason::NotYourTurn);
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
