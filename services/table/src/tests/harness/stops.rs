//! Refused effects stop alone, and an operator resumes them.

use proto::common::v1::{EffectKind, ErrorReason, Resolution};
use proto::event::v1 as event;
use proto::wallet::v1 as wallet;
use wire::TableRecord;

use super::{DEALER_TIMEOUT, Harness, Misbehaviour, stand_up};
use crate::commands::Command;
use crate::effects::Effect;
use crate::peers::PeerCall;
use crate::stops::Resume;
use crate::table::Closing;

const OPERATOR: u8 = 200;

fn resume(resolution: Resolution) -> Command {
    Command::Resume(Resume { reason: "looked at it".to_owned(), resolution })
}

fn is_cash_out(job: &PeerCall) -> bool {
    matches!(job, PeerCall::CashOut(_))
}

fn is_settlement(job: &PeerCall) -> bool {
    matches!(job, PeerCall::Settle(_))
}

fn cash_outs(table: &Harness) -> Vec<wallet::CashOutRequest> {
    let cash_out = |job: &PeerCall| match job {
        PeerCall::CashOut(request) => Some(request.clone()),
        _ => None,
    };
    table.wallet_calls.iter().filter_map(cash_out).collect()
}

/// Plays until the hand of this number is over.
fn play_to(table: &mut Harness, hand_no: u64) {
    for _ in 0..100 {
        if table.state.table.hand_no > hand_no {
            return;
        }
        table.wait(std::time::Duration::from_secs(2));
        table.run_while(|table| table.state.table.hand_no <= hand_no);
    }
    panic!("hand {hand_no} is never over: {:?}", table.pending_effects());
}

/// A table whose seat 1 leaves, and whose cash-out the wallet refuses.
fn refused(reason: ErrorReason) -> Harness {
    let mut table = Harness::new("dice", |_| {});
    play_to(&mut table, 1);
    table.command(1, stand_up()).unwrap();
    table.wallet_refuses = Some((is_cash_out, reason));
    let hand_no = table.state.table.hand_no;
    play_to(&mut table, hand_no + 1);
    assert_eq!(table.event_names(0).iter().filter(|name| **name == "EffectStopped").count(), 1);
    table
}

#[test]
fn a_refused_cash_out_stops_itself_and_nothing_else() {
    let mut table = refused(ErrorReason::TransferRefused);
    let from = table.state.table.hand_no;
    play_to(&mut table, from + 2);
    // Everybody sees that an effect waits; only operators see why.
    let view = table.state.view(None);
    assert_eq!(view.stopped.len(), 1);
    let stopped = &view.stopped[0];
    assert_eq!((stopped.what.as_str(), stopped.why.as_str()), ("the cash-out of seat 1", ""));
    assert!(stopped.stop_time.is_some() && stopped.payable_to_suspense);
    assert!(table.state.table.stopped_effects(true)[0].why.contains("refused"));
    // Other players can leave.
    table.wallet_refuses = None;
    table.command(2, stand_up()).unwrap();
    table.run_until_idle();
    table.wait(std::time::Duration::from_secs(2));
    table.run_until_idle();
    assert_eq!(table.state.table.seats.len(), 2);
    // It is tried again under the request id that was refused.
    let asked = cash_outs(&table);
    table.command(OPERATOR, resume(Resolution::Retry)).unwrap();
    table.run_until_idle();
    assert_eq!(table.state.table.seats.len(), 1);
    assert!(table.state.table.stops.is_empty());
    assert_eq!(cash_outs(&table).last(), Some(&asked[0]));
    let again = table.refusal(OPERATOR, resume(Resolution::Retry));
    assert_eq!(again.0, ErrorReason::NothingStopped);
}

#[test]
fn a_refused_cash_out_goes_to_suspense() {
    let mut table = refused(ErrorReason::TransferRefused);
    table.wallet_refuses = None;
    let first = cash_outs(&table).pop().unwrap();
    table.command(OPERATOR, resume(Resolution::PayToSuspense)).unwrap();
    assert!(table.run_effect(|effect| matches!(effect, Effect::CashOut { .. })));
    let second = cash_outs(&table).pop().unwrap();
    assert!(second.to_suspense && !first.to_suspense);
    assert_ne!(second.request_id, first.request_id);
    assert_eq!((second.amount, &second.player_id), (first.amount, &first.player_id));
    assert_eq!(table.state.table.seats.len(), 2);
    let resumed = table.log.iter().find_map(|(_, event, _)| match event {
        TableRecord::EffectResumed(resumed) => Some(resumed.clone()),
        _ => None,
    });
    let resumed = resumed.unwrap();
    assert_eq!(resumed.resolution(), Resolution::PayToSuspense);
    assert_eq!(
        (resumed.reason.as_str(), &*resumed.transfer_id),
        ("looked at it", second.request_id.as_slice())
    );
}

#[test]
fn an_id_that_was_refused_as_used_is_not_used_again() {
    let mut table = refused(ErrorReason::RequestIdReused);
    table.wallet_refuses = None;
    table.command(OPERATOR, resume(Resolution::Retry)).unwrap();
    assert!(table.run_effect(|effect| matches!(effect, Effect::CashOut { .. })));
    let asked = cash_outs(&table);
    let [first, second] = &asked[..] else { panic!("{asked:?}") };
    assert_ne!(first.request_id, second.request_id);
    assert!(!second.to_suspense);
}

#[test]
fn a_settlement_that_is_refused_holds_hands_back_and_is_never_paid_otherwise() {
    let mut table = Harness::new("dice", |_| {});
    play_to(&mut table, 1);
    table.wallet_refuses = Some((is_settlement, ErrorReason::TransferRefused));
    for _ in 0..3 {
        table.wait(DEALER_TIMEOUT);
        table.run_until_idle();
    }
    let hand_no = table.state.table.hand_no;
    assert_eq!(
        table.state.table.stopped_effects(false)[0].what,
        format!("the posting of hand {hand_no}")
    );
    assert!(table.state.table.hand.is_some());
    // The table can be watched, and left once the effect goes on.
    assert!(table.state.view(None).hand.is_some());
    table.command(1, stand_up()).unwrap();
    let suspense = table.refusal(OPERATOR, resume(Resolution::PayToSuspense));
    assert_eq!(suspense.0, ErrorReason::NothingStopped);
    table.wallet_refuses = None;
    table.command(OPERATOR, resume(Resolution::Retry)).unwrap();
    play_to(&mut table, hand_no);
    assert_eq!(table.state.table.seats.len(), 2);
    assert!(table.state.table.stops.is_empty());
    let settlement = |job: &PeerCall| match job {
        PeerCall::Settle(request) => Some(request.clone()),
        _ => None,
    };
    let settlements: Vec<_> = table.wallet_calls.iter().filter_map(settlement).collect();
    let [.., refused, posted] = &settlements[..] else { panic!("{settlements:?}") };
    assert_eq!(refused, posted);
}

#[test]
fn what_is_refused_of_a_hand_ends_with_the_hand() {
    let mut table = Harness::new("dice", |_| {});
    table.dealer.misbehaviour = Misbehaviour::Denies;
    table.wait(std::time::Duration::from_secs(2));
    table.run_until_idle();
    table.wait(std::time::Duration::from_secs(2));
    table.run_until_idle();
    assert_eq!(table.state.table.stops.len(), 1, "{:?}", table.event_names(0));
    table.dealer.misbehaviour = Misbehaviour::None;
    // The hand is suspended meanwhile, and ended when its time is over.
    table.wait(DEALER_TIMEOUT);
    table.run_until_idle();
    assert!(table.event_names(0).ends_with(&["HandSuspended"]), "{:?}", table.event_names(0));
    table.wait(std::time::Duration::from_secs(2 * 3600));
    table.run_while(|table| table.state.table.hand_no < 2);
    assert!(table.event_names(0).contains(&"HandAborted"));
    assert!(table.state.table.stops.is_empty());
}

#[test]
fn a_share_that_its_player_cannot_take_goes_to_suspense_and_the_table_closes() {
    let mut table = Harness::new("dice", |_| {});
    play_to(&mut table, 2);
    table.command(1, stand_up()).unwrap();
    let hand_no = table.state.table.hand_no;
    play_to(&mut table, hand_no);
    assert!(!table.state.table.sabacc_pot.is_zero(), "the test needs a pot");
    table.command(OPERATOR, Command::Close).unwrap();
    table.wallet_refuses = Some((is_cash_out, ErrorReason::TransferRefused));
    for _ in 0..3 {
        table.wait(DEALER_TIMEOUT);
        table.run_until_idle();
    }
    assert_eq!(table.state.table.closing, Closing::Refunded);
    // Both seats and the share of the player who has left.
    assert_eq!(table.state.table.stops.len(), 3);
    table.wallet_refuses = None;
    table.command(OPERATOR, resume(Resolution::PayToSuspense)).unwrap();
    table.run_until_idle();
    assert_eq!(table.state.table.closing, Closing::Closed);
    let paid = cash_outs(&table);
    let suspense: u64 = paid.iter().filter(|paid| paid.to_suspense).map(|paid| paid.amount).sum();
    let rest: u64 = paid[..1].iter().map(|paid| paid.amount).sum();
    assert_eq!(suspense + rest, 3000);
}

#[test]
fn a_stop_is_announced_to_everybody_and_is_an_event() {
    let table = refused(ErrorReason::TransferRefused);
    let stopped = table.log.iter().find_map(|(_, event, _)| match event {
        TableRecord::EffectStopped(stopped) => Some(stopped.clone()),
        _ => None,
    });
    let event::EffectStopped { effect, why, reason, padding: _ } = stopped.unwrap();
    assert_eq!(effect.unwrap().kind(), EffectKind::CashOut);
    assert_eq!((why.as_str(), reason.as_str()), ("an effect was refused: no", "TRANSFER_REFUSED"));
}
