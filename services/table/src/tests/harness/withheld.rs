//! A player who withholds what they commit to, in every way to come back sooner.

use std::time::Duration;

use fairness::ClientCommitment;
use primitives::{Credits, SeatNo, UnixMicros};
use proto::common::v1::{AtFault, ErrorReason};
use proto::event::v1 as event;
use proto::table::v1::SeatState;
use wire::TableRecord;

use super::{Harness, offer, player, secret, set, stand_up};
use crate::commands::Command;
use crate::effects::Effect;

const WINDOW: Duration = Duration::from_secs(2);
/// Least time of a hand of people.
const HAND: Duration = Duration::from_secs(15);
const WITHHOLDER: u8 = 4;

/// Ways of a withholder to come back.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    /// Waits to be dealt in again by itself.
    Waits,
    /// Asks to sit in again and again.
    SitsIn,
    /// Leaves the table, and takes the same seat or another one.
    ComesAnew,
}

/// What a withholder does with the numbers that they are dealt into.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Plan {
    Withholds,
    /// Withholds at few steps, and reveals often enough to take one back.
    StepsBack(u32),
}

const SIT_IN: Command = Command::SitOut { out: false, standing: None };
const SIT_OUT: Command = Command::SitOut { out: true, standing: None };

fn sit_down(seat: Option<u8>) -> Command {
    let seat = seat.and_then(|seat| SeatNo::try_new(seat).ok());
    Command::SitDown { seat, buy_in: Credits::of(1000), funds: None, is_house: false }
}

fn seat(table: &Harness) -> Option<&crate::table::Seat> {
    let table = &table.state.table;
    table.seats.get(&table.seat_of(player(WITHHOLDER))?)
}

fn leave(table: &mut Harness) {
    table.command(WITHHOLDER, stand_up()).unwrap();
    while table
        .run_effect(|effect| matches!(effect, Effect::PayOut { .. } | Effect::CashOut { .. }))
    {}
}

/// Numbers of the burnt and of the played hands.
fn ended(table: &Harness) -> (usize, usize) {
    let count = |wanted: fn(&TableRecord) -> bool| {
        table.log.iter().filter(|(_, event, _)| wanted(event)).count()
    };
    let burnt = |event: &TableRecord| matches!(event, TableRecord::HandAborted(it) if it.at_fault() == AtFault::Seat);
    (count(burnt), count(|event| matches!(event, TableRecord::HandSettled(_))))
}

/// Tries to come back, in any seat; what is refused changes nothing.
fn come_back(table: &mut Harness, way: Way) {
    let sits_out = seat(table).map(|seat| seat.sitting_out);
    let outcome = match (way, sits_out) {
        (_, Some(false)) | (Way::Waits, Some(true)) => Ok(()),
        (Way::SitsIn, Some(true)) => table.command(WITHHOLDER, SIT_IN),
        (Way::ComesAnew, Some(true)) => {
            leave(table);
            table.command(WITHHOLDER, sit_down(Some(3)))
        }
        (_, None) => table.command(WITHHOLDER, sit_down(Some(3))),
    };
    let refused = outcome.map_err(|refused| refused.reason());
    assert!(matches!(refused, Ok(()) | Err(ErrorReason::Withheld | ErrorReason::RecordsSpent)));
    while table.run_effect(|effect| matches!(effect, Effect::Fund { .. })) {}
}

/// Commits and, where the plan is to reveal, reveals. Returns whether the number is to be burnt.
fn commit_all(table: &mut Harness, hand_no: u64, plan: Plan) -> bool {
    for honest in [1, 2] {
        table.commit(hand_no, honest);
    }
    if seat(table).is_none_or(|seat| seat.sitting_out) {
        return false;
    }
    let step = table.state.table.exclusions.get(player(WITHHOLDER)).map_or(0, |it| it.step);
    let withholds = match plan {
        Plan::Withholds => true,
        Plan::StepsBack(most) => step < most,
    };
    if withholds {
        table.command(WITHHOLDER, offer(hand_no, ClientCommitment([0x5a; 32]))).unwrap();
    } else {
        table.commit(hand_no, WITHHOLDER);
    }
    withholds
}

/// Runs this many hand numbers with one withholder among three. Returns how many were burnt and
/// played.
fn play(numbers: u64, way: Way, plan: Plan) -> (usize, usize) {
    let mut table = Harness::new("dice", |_| {});
    table.steady = true;
    for hand_no in 1..=numbers {
        table.run_effect(|effect| effect == Effect::Commit { hand_no });
        while table.run_effect(|effect| matches!(effect, Effect::Return { .. })) {}
        come_back(&mut table, way);
        let withholds = commit_all(&mut table, hand_no, plan);
        assert!(
            table.run_effect(|effect| effect == Effect::Start),
            "{way:?} {plan:?}: nobody waits: {:?}",
            table.pending_effects()
        );
        assert!(table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no }));
        let dealt = table.state.table.entropy_round().unwrap().roster.clone();
        for (_, player) in dealt {
            if player.0[0] != WITHHOLDER || !withholds {
                table.reveal(hand_no, player.0[0]);
            }
        }
        table.wait(WINDOW);
        if !table.run_effect(|effect| matches!(effect, Effect::Burn { .. })) {
            table.wait(HAND);
            table.run_while(|table| {
                table.state.table.hand_no == hand_no && table.state.play.is_some()
            });
        }
        assert!(table.state.play.is_none());
        assert_eq!(table.state.table.hand_no, hand_no);
    }
    table.published.clear();
    table.crash();
    ended(&table)
}

/// fairness/SPEC.md §3.6.
#[test]
fn of_a_hundred_numbers_a_withholder_burns_ten_at_most_and_all_others_are_played() {
    let ways = [
        (Way::Waits, Plan::Withholds),
        (Way::SitsIn, Plan::Withholds),
        (Way::ComesAnew, Plan::Withholds),
        (Way::Waits, Plan::StepsBack(2)),
        (Way::ComesAnew, Plan::StepsBack(3)),
        (Way::SitsIn, Plan::StepsBack(4)),
    ];
    for (way, plan) in ways {
        let (burnt, played) = play(100, way, plan);
        assert_eq!(burnt + played, 100);
        assert!((4..=10).contains(&burnt), "{way:?} {plan:?}: {burnt} of 100 numbers are burnt");
    }
}

/// Burns the number to come, with the withholder in it.
fn burn(table: &mut Harness) {
    let hand_no = table.state.table.hand_no + 1;
    table.run_effect(|effect| effect == Effect::Commit { hand_no });
    table.command(WITHHOLDER, offer(hand_no, ClientCommitment([0x5a; 32]))).unwrap();
    for honest in [1, 2] {
        table.commit(hand_no, honest);
    }
    assert!(table.run_effect(|effect| effect == Effect::Start));
    assert!(table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no }));
    for honest in [1, 2] {
        table.reveal(hand_no, honest);
    }
    table.wait(WINDOW);
    assert!(table.run_effect(|effect| effect == Effect::Burn { hand_no }));
}

/// Plays the number to come, in which nobody commits.
fn play_one(table: &mut Harness) {
    let hand_no = table.state.table.hand_no + 1;
    table.run_effect(|effect| effect == Effect::Commit { hand_no });
    assert!(table.run_effect(|effect| effect == Effect::Start), "{:?}", table.pending_effects());
    table.wait(WINDOW);
    table.run_while(|table| table.state.table.hand_no == hand_no && table.state.play.is_some());
}

fn excluded(table: &Harness) -> event::SeatExcluded {
    let mut events = table.log.iter().rev();
    let excluded = events.find_map(|(_, event, _)| match event {
        TableRecord::SeatExcluded(excluded) => Some(excluded.clone()),
        _ => None,
    });
    excluded.unwrap()
}

fn returns(table: &mut Harness) -> bool {
    table.run_effect(|effect| matches!(effect, Effect::Return { .. }))
}

/// fairness/SPEC.md §3.6.
#[test]
fn who_withholds_misses_numbers_and_time_and_is_dealt_in_again_by_itself() {
    let mut table = Harness::new("dice", |_| {});
    burn(&mut table);
    assert!(seat(&table).is_some_and(|seat| seat.sitting_out && seat.is_excluded));
    let event = excluded(&table);
    assert_eq!((event.step, event.until_hand_no, event.burnt_hand_no), (1, 3, 1));
    assert_eq!(event.until_micros, table.now.plus(Duration::from_secs(30)).0);
    let view = table.state.view(None).seats[2].clone();
    let shown = view.exclusion.unwrap();
    assert_eq!(view.state(), SeatState::SittingOut);
    assert_eq!((shown.step, shown.until_hand_no, shown.burnt_hand_no), (1, 3, 1));
    // The time is over, and the number has not been missed.
    table.wait(Duration::from_secs(30));
    assert!(!returns(&mut table));
    let hand_no = 2;
    table.run_effect(|effect| effect == Effect::Commit { hand_no });
    assert!(table.run_effect(|effect| effect == Effect::Start));
    // While the number is missed, the next one is open to them.
    let from = table.log.len();
    assert!(returns(&mut table));
    assert_eq!(table.event_names(from), ["SitOutChanged"]);
    assert!(!seat(&table).unwrap().sitting_out);
    assert_eq!(table.state.view(None).seats[2].exclusion, None);
}

#[test]
fn a_missed_number_is_not_enough_before_the_time_is_over() {
    let mut table = Harness::new("dice", |_| {});
    burn(&mut table);
    for _ in 0..3 {
        play_one(&mut table);
    }
    assert!(!returns(&mut table));
    let until = UnixMicros(excluded(&table).until_micros);
    table.wait(until.since(table.now));
    assert!(returns(&mut table));
}

#[test]
fn neither_sitting_in_nor_leaving_nor_another_seat_ends_an_exclusion() {
    let mut table = Harness::new("dice", |_| {});
    burn(&mut table);
    let refused = |table: &mut Harness, command: Command| {
        let refused = table.command(WITHHOLDER, command).unwrap_err();
        assert_eq!(refused.reason(), ErrorReason::Withheld);
        let metadata = |wanted: &str| {
            let found = refused.metadata().find(|(key, _)| *key == wanted);
            found.unwrap().1.to_owned()
        };
        assert_eq!((&*metadata("step"), &*metadata("until_hand_no")), ("1", "3"));
        let until = UnixMicros(excluded(table).until_micros);
        assert_eq!(metadata("until"), wire::time::rfc3339(until));
    };
    refused(&mut table, SIT_IN);
    // Sitting out and in does not either.
    table.command(WITHHOLDER, SIT_OUT).unwrap();
    refused(&mut table, SIT_IN);
    leave(&mut table);
    for seat in [None, Some(3), Some(4)] {
        refused(&mut table, sit_down(seat));
    }
    // Nor is the step forgotten.
    play_one(&mut table);
    table.wait(Duration::from_secs(30));
    table.command(WITHHOLDER, sit_down(Some(3))).unwrap();
    assert!(table.run_effect(|effect| matches!(effect, Effect::Fund { .. })));
    burn(&mut table);
    let event = excluded(&table);
    assert_eq!((event.seat, event.step, event.until_hand_no), (3, 2, event.burnt_hand_no + 3));
}

#[test]
fn who_wants_to_sit_out_is_not_dealt_in_by_itself() {
    let mut table = Harness::new("dice", |_| {});
    burn(&mut table);
    let from = table.log.len();
    table.command(WITHHOLDER, SIT_OUT).unwrap();
    table.command(WITHHOLDER, SIT_OUT).unwrap();
    assert_eq!(table.event_names(from), ["SitOutChanged"]);
    play_one(&mut table);
    table.wait(Duration::from_secs(30));
    assert!(!returns(&mut table));
    table.command(WITHHOLDER, SIT_IN).unwrap();
    assert!(!seat(&table).unwrap().sitting_out);
}

#[test]
fn sitting_out_or_leaving_before_the_number_is_burnt_is_no_way_round() {
    for command in [SIT_OUT, stand_up()] {
        let mut table = Harness::new("dice", |_| {});
        let hand_no = 1;
        table.run_effect(|effect| effect == Effect::Commit { hand_no });
        table.command(WITHHOLDER, offer(hand_no, ClientCommitment([0x5a; 32]))).unwrap();
        assert!(table.run_effect(|effect| effect == Effect::Start));
        table.command(WITHHOLDER, command).unwrap();
        table.wait(WINDOW);
        assert!(table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no }));
        table.wait(WINDOW);
        assert!(table.run_effect(|effect| effect == Effect::Burn { hand_no }));
        while table
            .run_effect(|effect| matches!(effect, Effect::PayOut { .. } | Effect::CashOut { .. }))
        {
        }
        let back = if seat(&table).is_some() { SIT_IN } else { sit_down(Some(3)) };
        assert_eq!(table.refusal(WITHHOLDER, back).0, ErrorReason::Withheld);
        assert!(!returns(&mut table));
    }
}

/// A number that cannot come is not missed: a lost connection must not close a table of two.
#[test]
fn at_a_table_of_two_time_alone_ends_an_exclusion() {
    let mut table = Harness::new("dice", |_| {});
    burn(&mut table);
    table.command(2, SIT_OUT).unwrap();
    assert!(!table.run_effect(|effect| effect == Effect::Start));
    table.wait(Duration::from_secs(29));
    assert!(!returns(&mut table));
    table.wait(Duration::from_secs(1));
    assert!(returns(&mut table));
    table.run_effect(|effect| effect == Effect::Commit { hand_no: 2 });
    assert!(table.run_effect(|effect| effect == Effect::Start));
}

/// A burnt number may be opened afterwards by whom it was burnt for, once, and by nobody else.
/// fairness/SPEC.md §3.6.
#[test]
fn withheld_entropy_is_opened_after_the_burn_and_undoes_nothing() {
    for after_the_seed in [false, true] {
        open_withheld(after_the_seed);
    }
}

/// Opens withheld entropy, before the dealer has opened the seed of its number or after.
fn open_withheld(after_the_seed: bool) {
    let mut table = Harness::new("dice", |_| {});
    table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 });
    for number in [1, 2, WITHHOLDER] {
        table.commit(1, number);
    }
    assert!(table.run_effect(|effect| effect == Effect::Start));
    assert!(table.run_effect(|effect| effect == Effect::CloseEntropy { hand_no: 1 }));
    for honest in [1, 2] {
        table.reveal(1, honest);
    }
    table.wait(WINDOW);
    assert!(table.run_effect(|effect| effect == Effect::Burn { hand_no: 1 }));
    if after_the_seed {
        assert!(table.run_effect(|effect| effect == Effect::Reveal { hand_no: 1 }));
    }
    let exclusions = table.state.table.exclusions.clone();
    let open = |entropy| Command::RevealEntropy { hand_no: 1, entropy };
    leave(&mut table);
    for (number, entropy) in [(WITHHOLDER, secret(1)), (1, secret(1)), (9, secret(WITHHOLDER))] {
        let refusal = table.refusal(number, open(entropy));
        assert!(refusal.1.is_some() || refusal.0 == ErrorReason::NotYourSeat, "{refusal:?}");
    }
    let before = table.log.len();
    table.command(WITHHOLDER, open(secret(WITHHOLDER))).unwrap();
    table.command(WITHHOLDER, open(secret(WITHHOLDER))).unwrap();
    assert_eq!(table.event_names(before), ["EntropyRevealed"]);
    let hand = table.log.iter().rev().find_map(|(stream, event, _)| match event {
        TableRecord::HandAborted(_) => Some(*stream),
        _ => None,
    });
    assert_eq!(table.log.last().map(|(stream, ..)| *stream), hand, "the burnt hand's stream");
    assert_eq!(table.state.table.exclusions, exclusions);
    table.crash();
    assert!(table.state.table.withheld[&1].seats.values().all(|withheld| withheld.is_opened));
    play_one(&mut table);
}

/// A number that too few are left to commit to cannot be missed.
/// fairness/SPEC.md §3.6.
#[test]
fn an_exclusion_ends_with_its_time_where_the_others_are_too_few_to_commit() {
    for (least, committing) in [(3, &[1, 2][..]), (1, &[])] {
        let mut table = Harness::new("dice", |created| {
            set(created, |settings| settings.contributors_min = least);
        });
        burn(&mut table);
        table.run_effect(|effect| effect == Effect::Commit { hand_no: 2 });
        for number in committing {
            table.commit(2, *number);
        }
        let start = |effect| effect == Effect::Start;
        assert!(!table.run_effect(start));
        table.wait(Duration::from_secs(30) - WINDOW);
        assert!(!returns(&mut table), "{least}");
        table.wait(WINDOW);
        assert!(returns(&mut table), "{least}");
        table.commit(2, WITHHOLDER);
        assert!(table.run_effect(start), "{least}");
        assert_eq!(table.state.table.entropy_round().unwrap().roster.len(), 3);
    }
}
