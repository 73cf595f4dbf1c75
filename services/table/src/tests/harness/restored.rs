//! A dealer whose store was put back to an older state: the numbers that it has lost come to
//! nothing, and the table plays on without anybody's help.

use proto::common::v1::{AbortCause, AtFault};
use std::time::Duration;

use super::suspended::{HOURS, aborted, ends, has};
use super::{DEALER_TIMEOUT, Harness};
use crate::commands::Command;
use crate::effects::Effect;
use crate::table::Closing;

/// Longer than seats have to commit.
const WINDOW: Duration = Duration::from_secs(3);

fn sit_out(out: bool) -> Command {
    Command::SitOut { out, standing: None }
}

/// Starts the next hand, and has the number behind it promised.
fn start(table: &mut Harness) -> u64 {
    table.run_while(|table| table.state.play.is_none());
    let hand_no = table.state.table.hand_no;
    table.run_effect(|effect| effect == Effect::Commit { hand_no: hand_no + 1 });
    assert!(table.dealer.promised.contains_key(&(hand_no + 1)));
    hand_no
}

/// Waits until the hand in play is suspended.
fn suspend(table: &mut Harness) {
    table.wait(WINDOW);
    table.run_until_idle();
    table.wait(DEALER_TIMEOUT);
    let hand_no = table.state.table.hand_no;
    assert!(table.run_effect(|effect| effect == Effect::Suspend { hand_no }), "{hand_no}");
}

/// Checks that the hand in play has ended at the dealer's charge.
fn is_charged_to_dealer(table: &Harness, hand_no: u64) {
    let aborted = aborted(table);
    assert_eq!((aborted.cause(), aborted.at_fault()), (AbortCause::Suspended, AtFault::Dealer));
    assert_eq!(table.state.table.hand_no, hand_no);
    assert!(table.state.play.is_none() && table.state.table.stops.is_empty());
    assert!(table.state.table.seats.values().all(|seat| seat.stack.get() == 1000));
    assert_eq!(table.state.table.closing, Closing::Open);
}

/// Checks that a hand is played to its end on a number that was not lost.
fn plays_on(table: &mut Harness, hand_no: u64) {
    assert_eq!(start(table), hand_no);
    table.wait(WINDOW);
    table.run_while(|table| !has(table, "HandSettled"));
    assert!(has(table, "HandSettled"), "{:?}", table.event_names(0));
    assert!(table.state.table.stops.is_empty());
}

/// fairness/SPEC.md §3.2, §3.11.
#[test]
fn lost_numbers_come_to_nothing_before_the_antes_as_soon_as_somebody_sits_out() {
    let mut table = Harness::new("dice", |_| {});
    assert_eq!(start(&mut table), 1);
    table.dealer.put_back(0);
    for (hand_no, seat) in [(1, 2), (2, 4)] {
        assert_eq!(start(&mut table), hand_no);
        suspend(&mut table);
        table.command(seat, sit_out(true)).unwrap();
        assert!(table.run_effect(|effect| effect == Effect::EndSuspended { hand_no }));
        is_charged_to_dealer(&table, hand_no);
        table.command(seat, sit_out(false)).unwrap();
    }
    plays_on(&mut table, 3);
}

/// fairness/SPEC.md §3.2, §3.11.
#[test]
fn lost_numbers_come_to_nothing_when_their_time_is_over() {
    let mut table = Harness::new("dice", |_| {});
    start(&mut table);
    table.wait(WINDOW);
    table.run_while(|table| !has(table, "MoveDecided"));
    assert!(has(&table, "MoveDecided"));
    // A table that is started again asks for cards that this dealer does not know any more.
    table.steady = true;
    table.dealer.put_back(0);
    suspend(&mut table);
    table.wait(HOURS);
    assert!(ends(&mut table));
    is_charged_to_dealer(&table, 1);
    assert_eq!(start(&mut table), 2);
    suspend(&mut table);
    table.wait(HOURS);
    assert!(table.run_effect(|effect| effect == Effect::EndSuspended { hand_no: 2 }));
    is_charged_to_dealer(&table, 2);
    plays_on(&mut table, 3);
}

/// fairness/SPEC.md §3.2.
#[test]
fn the_dealer_is_shown_its_promise_for_the_number_before() {
    let mut table = Harness::new("dice", |_| {});
    while table.state.table.hand_no < 4 {
        start(&mut table);
        table.wait(WINDOW);
        table.run_while(|table| table.state.play.is_some());
    }
    let last = table.state.table.last_promise.clone().unwrap();
    assert_eq!(table.dealer.promised.values().last(), Some(&*last));
    assert_eq!(table.dealer.promised.len(), 5);
}
