//! Settled hands: they stand, whether the dealer opens a seed or the wallet takes the transfer.

use std::time::Duration;

use eventlog::MemStore;
use proto::common::v1::{ErrorReason, Resolution};

use super::{DEALER_TIMEOUT, Harness, Misbehaviour};
use crate::commands::Command;
use crate::effects::Effect;
use crate::hand_in_play::HandStage;
use crate::peers::PeerCall;
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

fn is_settlement(job: &PeerCall) -> bool {
    matches!(job, PeerCall::Settle(_))
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
fn a_seed_that_is_refused_is_asked_for_again_and_holds_nothing_up() {
    for misbehaviour in [Misbehaviour::NoSeed, Misbehaviour::Silent] {
        let mut table = settled();
        assert!(table.run_effect(|effect| effect == Effect::Post { hand_no: 1 }));
        assert!(stacks(&table) != BEFORE);
        table.dealer.misbehaviour = misbehaviour;
        // No time limit ends the wait, and nothing stops.
        table.wait(DEALER_TIMEOUT * 100);
        let before = table.log.len();
        assert!(!table.run_effect(|effect| effect == Effect::Reveal { hand_no: 1 }));
        assert_eq!(table.log.len(), before);
        assert!(table.state.table.stops.is_empty());
        table.dealer.misbehaviour = Misbehaviour::None;
        assert!(table.run_effect(|effect| effect == Effect::Reveal { hand_no: 1 }));
    }
}

/// fairness/SPEC.md §3.11.
#[test]
fn a_settled_hand_is_neither_suspended_nor_ended() {
    let mut table = settled();
    table.dealer.misbehaviour = Misbehaviour::Silent;
    table.wallet_silent = true;
    table.wait(DEALER_TIMEOUT * 1000);
    let pending = table.pending_effects();
    assert!(!pending.contains(&Effect::Suspend { hand_no: 1 }), "{pending:?}");
    assert!(pending.contains(&Effect::Post { hand_no: 1 }));
    // Nor where the wallet refuses its transfer: that is tried until it is taken.
    table.wallet_silent = false;
    table.wallet_refuses = Some((is_settlement, ErrorReason::TransferRefused));
    assert!(table.run_effect(|effect| effect == Effect::Post { hand_no: 1 }));
    assert!(table.event_names(0).ends_with(&["EffectStopped"]));
    table.wallet_refuses = None;
    table.command(OPERATOR, retry()).unwrap();
    assert!(table.run_effect(|effect| effect == Effect::Post { hand_no: 1 }));
    assert!(!table.event_names(0).contains(&"HandAborted") && stacks(&table) != BEFORE);
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
    let RecoveredState { state, past, dealer_answered: _ } =
        found.recover(&shared.peers, Duration::from_millis(50), table.now).await.unwrap();
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
