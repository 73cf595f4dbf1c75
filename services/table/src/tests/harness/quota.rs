//! Players who only write records, and players who do not play.

use std::time::Duration;

use proto::common::v1::ErrorReason;
use proto::event::v1 as event;
use wire::TableRecord;

use super::{Harness, player, stand_up};
use crate::commands::Command;
use crate::effects::Effect;
use crate::table::Closing;

fn three() -> Harness {
    Harness::new("dice", |_| {})
}

#[test]
fn what_changes_nothing_is_no_event() {
    let mut table = three();
    let before = table.log.len();
    table.command(1, Command::SitOut { out: false, standing: None }).unwrap();
    assert_eq!(table.log.len(), before);
    table.command(1, Command::SitOut { out: true, standing: None }).unwrap();
    table.command(1, Command::SitOut { out: true, standing: None }).unwrap();
    table.command(1, stand_up()).unwrap();
    table.command(1, stand_up()).unwrap();
    assert_eq!(table.event_names(before), ["SitOutChanged", "LeaveAsked"]);
    // A refusal is not counted either.
    let before = table.log.len();
    assert_eq!(table.refusal(9, stand_up()).0, ErrorReason::NotYourSeat);
    assert_eq!(table.log.len(), before);
}

/// ARCHITECTURE.md §7.4.
#[test]
fn a_seat_changes_four_times_between_two_hands() {
    let mut table = three();
    let before = table.log.len();
    let mut out = true;
    for _ in 0..4 {
        table.command(1, Command::SitOut { out, standing: None }).unwrap();
        out = !out;
    }
    for _ in 0..100 {
        assert_eq!(
            table.refusal(1, Command::SitOut { out, standing: None }).0,
            ErrorReason::RecordsSpent
        );
    }
    assert_eq!(table.log.len(), before + 4);
    // Other players have their own records, and leaving is always taken.
    table.command(2, Command::SitOut { out: true, standing: None }).unwrap();
    table.command(1, stand_up()).unwrap();
}

#[test]
fn after_the_end_of_a_hand_counting_begins_anew() {
    let mut table = three();
    for out in [true, false, true, false] {
        table.command(1, Command::SitOut { out, standing: None }).unwrap();
    }
    assert_eq!(
        table.refusal(1, Command::SitOut { out: true, standing: None }).0,
        ErrorReason::RecordsSpent
    );
    for _ in 0..10 {
        table.wait(Duration::from_secs(2));
        table.run_while(|table| table.state.table.finished_at.is_none());
    }
    table.command(1, Command::SitOut { out: true, standing: None }).unwrap();
}

/// Sits down and stands up again until it is refused. Returns the number of records.
fn comes_and_goes(table: &mut Harness, number: u8) -> usize {
    let before = table.log.len();
    for _ in 0..1000 {
        let buy_in = primitives::Credits::of(1000);
        match table
            .command(number, Command::SitDown { seat: None, buy_in, funds: None, is_house: false })
        {
            Ok(()) => {}
            Err(refused) => {
                assert_eq!(refused.reason(), ErrorReason::RecordsSpent);
                return table.log.len() - before;
            }
        }
        table.command(number, stand_up()).unwrap();
        while table.run_effect(|effect| {
            matches!(effect, Effect::Fund { .. } | Effect::PayOut { .. } | Effect::CashOut { .. })
        }) {}
    }
    panic!("there is no end to it");
}

/// ARCHITECTURE.md §7.4.
#[test]
fn one_player_has_64_records_between_two_hands_and_all_have_a_bound() {
    let mut table = three();
    let made = comes_and_goes(&mut table, 9);
    // A player who has sat down can leave.
    assert!((64..64 + 5).contains(&made), "{made}");
    assert!(table.state.table.seat_of(player(9)).is_none());
    let mut all = made;
    for number in 10..60 {
        all += comes_and_goes(&mut table, number);
    }
    assert!((700..768 + 5).contains(&all), "{all}");
    let of_the_table = |table: &Harness| {
        let own = table.state.table.id.into();
        table.log.iter().filter(|(stream, _, _)| *stream == own).count()
    };
    assert!(of_the_table(&table) <= 1024, "{}", of_the_table(&table));
    // Neither time nor a number that is not played to its end opens the table again.
    table.wait(Duration::from_secs(86_400));
    let buy_in = primitives::Credits::of(1000);
    let sit = Command::SitDown { seat: None, buy_in, funds: None, is_house: false };
    assert_eq!(table.refusal(70, sit.clone()).0, ErrorReason::RecordsSpent);
    // Players who come and go keep nobody from taking part in chance.
    play_one(&mut table);
    table.command(70, sit).unwrap();
}

/// Plays the number to come, to which the seated players commit.
fn play_one(table: &mut Harness) {
    let hand_no = table.state.table.hand_no + 1;
    table.run_effect(|effect| effect == Effect::Commit { hand_no });
    for number in [1, 2, 4] {
        table.commit(hand_no, number);
    }
    assert!(table.run_effect(|effect| effect == Effect::Start));
    assert!(table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no }));
    for number in [1, 2, 4] {
        table.reveal(hand_no, number);
    }
    table.run_while(|table| table.state.play.is_some());
}

/// ARCHITECTURE.md §7.4.
#[test]
fn after_1024_records_only_leaving_and_commitments_are_taken() {
    let mut table = three();
    table.steady = true;
    let own = table.state.table.id;
    let found = event::StandingFound { seat: 1, ..event::StandingFound::default() };
    for _ in table.log.len()..1023 {
        table.append(crate::batch::Batch::single(own, found.clone()));
    }
    let out = Command::SitOut { out: true, standing: None };
    table.command(2, out.clone()).unwrap();
    table.command(2, Command::SitOut { out: false, standing: None }).unwrap();
    for _ in 0..2 {
        table.append(crate::batch::Batch::single(own, found.clone()));
    }
    assert_eq!(table.refusal(2, out.clone()).0, ErrorReason::RecordsSpent);
    play_one(&mut table);
    table.command(2, out).unwrap();
    // A player has commitments as long as they have records of their own.
    let renamed = event::SeatRenamed { seat: 1 };
    for _ in 0..64 {
        table.append(crate::batch::Batch::single(own, renamed));
    }
    let hand_no = table.state.table.hand_no + 1;
    table.run_effect(|effect| effect == Effect::Commit { hand_no });
    let commitment = table.commitment(hand_no, 1);
    assert_eq!(table.refusal(1, super::offer(hand_no, commitment)).0, ErrorReason::RecordsSpent);
    table.command(1, stand_up()).unwrap();
}

/// ARCHITECTURE.md §7.4.
#[test]
fn a_burnt_number_gives_no_new_records() {
    let mut table = three();
    let toggle = |out| Command::SitOut { out, standing: None };
    for out in [true, false, true, false] {
        table.command(1, toggle(out)).unwrap();
    }
    table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 });
    for number in [1, 2, 4] {
        table.commit(1, number);
    }
    assert!(table.run_effect(|effect| effect == Effect::Start));
    assert!(table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no: 1 }));
    table.reveal(1, 1);
    table.reveal(1, 2);
    table.wait(Duration::from_secs(2));
    assert!(table.run_effect(|effect| effect == Effect::Burn { hand_no: 1 }));
    assert_eq!(table.refusal(1, toggle(true)).0, ErrorReason::RecordsSpent);
}

/// A player who burns numbers does not use up the records of those who reveal.
/// ARCHITECTURE.md §7.4.
#[test]
fn a_commitment_to_a_number_that_others_burnt_costs_nobody_a_record() {
    let mut table = three();
    table.steady = true;
    let own = table.state.table.id;
    // Seats 1 and 4 have one record left, beside sitting down.
    for seat in [1, 4] {
        for _ in 2..63 {
            table.append(crate::batch::Batch::single(own, event::SeatRenamed { seat }));
        }
    }
    table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 });
    for number in [1, 2, 4] {
        table.commit(1, number);
    }
    let spent = Command::SitOut { out: true, standing: None };
    assert_eq!(table.refusal(1, spent).0, ErrorReason::RecordsSpent);
    assert!(table.run_effect(|effect| effect == Effect::Start));
    assert!(table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no: 1 }));
    table.reveal(1, 1);
    table.reveal(1, 2);
    table.wait(Duration::from_secs(2));
    table.run_effect(|effect| effect == Effect::Commit { hand_no: 2 });
    assert!(table.run_effect(|effect| effect == Effect::Burn { hand_no: 1 }));
    table.commit(2, 1);
    let commitment = table.commitment(2, 4);
    assert_eq!(table.refusal(4, super::offer(2, commitment)).0, ErrorReason::RecordsSpent);
}

#[test]
fn who_sits_out_too_long_is_paid_out() {
    let mut table = three();
    table.command(1, Command::SitOut { out: true, standing: None }).unwrap();
    table.wait(Duration::from_secs(599));
    table.listening_since = table.now;
    assert!(!table.run_effect(|effect| matches!(effect, Effect::RemoveIdle { .. })));
    // Sitting in without being dealt in does not begin it anew.
    table.command(1, Command::SitOut { out: false, standing: None }).unwrap();
    table.command(1, Command::SitOut { out: true, standing: None }).unwrap();
    table.wait(Duration::from_secs(31));
    let before = table.log.len();
    assert!(table.run_effect(|effect| matches!(effect, Effect::RemoveIdle { .. })));
    while table
        .run_effect(|effect| matches!(effect, Effect::PayOut { .. } | Effect::CashOut { .. }))
    {}
    assert_eq!(table.event_names(before), ["LeaveAsked", "CashOutDue", "SeatVacated"]);
    let asked = table.log.iter().find_map(|(_, event, _)| match event {
        TableRecord::LeaveAsked(event::LeaveAsked { seat, why, signature: _ }) => {
            Some((*seat, why.clone()))
        }
        _ => None,
    });
    assert_eq!(asked, Some((1, "idle".to_owned())));
    assert!(table.state.table.seat_of(player(2)).is_some());
}

/// Seats cannot be held for ever without use: the way back takes longer each time.
#[test]
fn whoever_does_not_use_a_seat_again_and_again_waits_before_sitting_down() {
    let mut table = three();
    let buy_in = primitives::Credits::of(1000);
    let sit = Command::SitDown { seat: None, buy_in, funds: None, is_house: false };
    for wait in [0, 60, 120, 240] {
        table.command(1, Command::SitOut { out: true, standing: None }).unwrap();
        table.wait(Duration::from_secs(700));
        assert!(table.run_effect(|effect| matches!(effect, Effect::RemoveIdle { .. })));
        while table
            .run_effect(|effect| matches!(effect, Effect::PayOut { .. } | Effect::CashOut { .. }))
        {
        }
        assert_eq!(table.state.table.seat_of(player(1)), None);
        if wait > 0 {
            table.wait(Duration::from_secs(wait - 1));
            assert_eq!(table.refusal(1, sit.clone()).0, ErrorReason::SatIdle, "{wait}");
            table.wait(Duration::from_secs(1));
        }
        table.command(1, sit.clone()).unwrap();
        assert!(table.run_effect(|effect| matches!(effect, Effect::Fund { .. })));
    }
    // Leaving by oneself costs nothing.
    table.command(2, stand_up()).unwrap();
    while table
        .run_effect(|effect| matches!(effect, Effect::PayOut { .. } | Effect::CashOut { .. }))
    {}
    table.command(2, sit).unwrap();
}

#[test]
fn who_was_just_cut_off_with_the_room_has_time_to_come_back() {
    let mut table = three();
    table.command(1, Command::SitOut { out: true, standing: None }).unwrap();
    table.wait(Duration::from_secs(7200));
    table.listening_since = table.now;
    assert!(!table.run_effect(|effect| matches!(effect, Effect::RemoveIdle { .. })));
    table.wait(Duration::from_secs(30));
    assert!(table.run_effect(|effect| matches!(effect, Effect::RemoveIdle { .. })));
}

/// A table can neither be blocked for ever nor hold anybody's credits: one at which no hand can come
/// any more for want of records closes.
/// ARCHITECTURE.md §7.4.
#[test]
fn a_table_whose_records_are_spent_closes_and_pays_out() {
    let mut table = three();
    let buy_in = primitives::Credits::of(1000);
    let sit = || Command::SitDown { seat: None, buy_in, funds: None, is_house: false };
    let settle = |table: &mut Harness| {
        while table.run_effect(|effect| {
            matches!(effect, Effect::Fund { .. } | Effect::PayOut { .. } | Effect::CashOut { .. })
        }) {}
    };
    table.command(2, stand_up()).unwrap();
    table.command(4, stand_up()).unwrap();
    settle(&mut table);
    let mut rounds = 0;
    'spending: for visitor in 5..40 {
        while table.command(visitor, sit()).is_ok() {
            settle(&mut table);
            table.command(visitor, stand_up()).unwrap();
            settle(&mut table);
            rounds += 1;
            if table.pending_effects().contains(&Effect::CloseSpent) {
                break 'spending;
            }
        }
    }
    assert!(rounds > 100, "{rounds}");
    assert_eq!(table.refusal(50, sit()).0, ErrorReason::RecordsSpent);
    assert!(table.run_effect(|effect| effect == Effect::CloseSpent));
    table.run_until_idle();
    assert!(table.state.table.seats.is_empty());
    assert_eq!(table.state.table.closing, Closing::Closed);
}

/// ARCHITECTURE.md §7.4.
#[test]
fn who_holds_hands_up_by_committing_to_none_is_removed_as_idle() {
    let mut table = Harness::new("dice", |created| {
        super::set(created, |settings| settings.contributors_min = 2);
    });
    table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 });
    table.commit(1, 1);
    let removed = |table: &Harness| {
        let removes = |effect| match effect {
            Effect::RemoveIdle { seat } => Some(seat.get()),
            _ => None,
        };
        table.pending_effects().into_iter().filter_map(removes).collect::<Vec<_>>()
    };
    table.wait(Duration::from_secs(599));
    assert!(removed(&table).is_empty());
    table.wait(Duration::from_secs(1));
    assert_eq!(removed(&table), [2, 4]);
    // Nobody holds a hand up that can start.
    table.commit(1, 4);
    assert!(removed(&table).is_empty());
    assert!(table.run_effect(|effect| effect == Effect::Start));
}
