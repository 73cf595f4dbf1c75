//! Tables and games that an operator disables: no hand starts, and none is cut.

use std::time::Duration;

use primitives::UnixMicros;
use proto::common::v1::ErrorReason;
use proto::event::v1::{GameDisabled, GameEnabled};
use proto::table::v1::table_update::What;
use wire::TableRecord;
use wire::records::RoomEvent;

use super::{Harness, player, set, stand_up};
use crate::commands::Command;
use crate::effects::Effect;
use crate::hand_in_play::HandStage;
use crate::publish::PublishedKind;

/// Number of an operator: commands of theirs are judged without one.
const OPERATOR: u8 = 99;

fn disable(table: &mut Harness, reason: &str) {
    table.command(OPERATOR, Command::Disable(reason.to_owned())).unwrap();
}

fn enable(table: &mut Harness) {
    table.command(OPERATOR, Command::Enable("repaired".to_owned())).unwrap();
}

/// Has the room disable or enable the game of the harness, and the table learn of it.
fn set_game(table: &mut Harness, disabled: bool, reason: &str) {
    let (variant, reason) = ("dice".to_owned(), reason.to_owned());
    let (off, on) = (
        GameDisabled { variant: variant.clone(), reason: reason.clone() },
        GameEnabled { variant, reason },
    );
    let event = if disabled { RoomEvent::GameDisabled(&off) } else { RoomEvent::GameEnabled(&on) };
    table.games.evolve(event, table.now);
    table.state.table.follow_game(&table.games);
}

fn shown(table: &Harness) -> Option<(String, bool)> {
    table.state.view(None).disabled.map(|disabled| (disabled.reason, disabled.with_game))
}

fn started(table: &Harness) -> usize {
    table.event_names(0).iter().filter(|name| **name == "HandStarted").count()
}

/// Events that come after those of the seats, without the records of an operator.
fn without_disabling(table: &Harness) -> Vec<&(primitives::StreamId, TableRecord, UnixMicros)> {
    let by_operator = |event: &TableRecord| {
        matches!(event, TableRecord::TableDisabled(_) | TableRecord::TableEnabled(_))
    };
    table.log.iter().filter(|(_, event, _)| !by_operator(event)).collect()
}

fn is_dealt(table: &Harness) -> bool {
    let play = table.state.play.as_ref();
    play.is_some_and(|play| play.stage == HandStage::Playing && play.to_act().is_some())
}

/// Goes on until something holds; time passes where nothing else is left to do.
fn go_on(table: &mut Harness, until: impl Fn(&Harness) -> bool) {
    for _ in 0..20 {
        table.run_while(|table| !until(table));
        if until(table) {
            return;
        }
        table.wait(Duration::from_secs(3));
    }
    panic!("it never comes to that: {:?}", table.event_names(0));
}

/// A house that is about to lose cannot disable the table to escape: the hand goes on to the same end.
#[test]
fn a_hand_in_play_ends_as_it_would_have_and_no_other_starts() {
    let mut undisturbed = Harness::new("dice", |_| {});
    go_on(&mut undisturbed, |table| started(table) == 2);
    let stages: [fn(&Harness) -> bool; 4] = [
        |table| started(table) == 1,
        is_dealt,
        |table| table.pending_effects().contains(&Effect::Settle { hand_no: 1 }),
        |table| table.pending_effects().contains(&Effect::Post { hand_no: 1 }),
    ];
    for reached in stages {
        let mut table = Harness::new("dice", |_| {});
        go_on(&mut table, reached);
        disable(&mut table, "a fault");
        assert_eq!(shown(&table), Some(("a fault".to_owned(), false)));
        go_on(&mut table, |table| table.event_names(0).contains(&"HandFinished"));
        table.wait(Duration::from_secs(60));
        table.run_until_idle();
        assert_eq!(started(&table), 1, "{:?}", table.event_names(0));
        assert!(table.event_names(0).contains(&"SettlementPosted"));
        assert!(!table.event_names(0).contains(&"HandAborted"));
        let (own, others) = (without_disabling(&table), without_disabling(&undisturbed));
        let ends = |log: &[&(_, TableRecord, UnixMicros)]| {
            log.iter().position(|(_, event, _)| matches!(event, TableRecord::HandFinished(_)))
        };
        let (end, expected) = (ends(&own).unwrap(), ends(&others).unwrap());
        assert!(own[..=end] == others[..=expected], "the hand is the one that was dealt");
        table.restart(table.now);
        table.run_until_idle();
        assert_eq!(started(&table), 1, "after a restart too");
        enable(&mut table);
        assert_eq!(shown(&table), None);
        go_on(&mut table, |table| started(table) == 2);
    }
}

#[test]
fn who_sits_at_a_disabled_table_may_leave_and_nobody_sits_down() {
    let mut table = Harness::new("dice", |_| {});
    disable(&mut table, "a fault");
    let before = table.log.len();
    disable(&mut table, "another word");
    assert_eq!(table.log.len(), before, "it is disabled already, and the first reason stands");
    let buy_in = primitives::Credits::of(1000);
    let sit = Command::SitDown { seat: None, buy_in, funds: None, is_house: false };
    let refused = table.command(3, sit).unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::TableDisabled);
    assert_eq!(refused.metadata().find(|(key, _)| *key == "why"), Some(("why", "a fault")));
    table.command(2, stand_up()).unwrap();
    table.run_until_idle();
    assert!(table.state.table.seat_of(player(2)).is_none());
    let names = table.event_names(before);
    assert!(names.contains(&"CashOutDue") && names.contains(&"SeatVacated"), "{names:?}");
    assert_eq!(started(&table), 0);
    // Closing goes on as ever, and then it is too late to enable it.
    table.command(OPERATOR, Command::Close).unwrap();
    let late = table.command(OPERATOR, Command::Enable("too late".to_owned())).unwrap_err();
    assert_eq!(late.reason(), ErrorReason::TableClosed);
    table.run_until_idle();
    assert!(table.state.is_closed());
}

#[test]
fn a_table_follows_its_game_and_an_operators_own_word_stays() {
    let mut table = Harness::new("dice", |_| {});
    assert!(table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 }));
    set_game(&mut table, true, "the dice are loaded");
    // From the moment it is known, even before it is on record.
    assert!(!table.pending_effects().contains(&Effect::Start));
    assert!(table.run_effect(|effect| effect == Effect::FollowGame));
    assert_eq!(shown(&table), Some(("the dice are loaded".to_owned(), true)));
    table.run_until_idle();
    assert_eq!(started(&table), 0);
    let refused = table.command(OPERATOR, Command::Enable("no".to_owned())).unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::GameDisabled);
    table.restart(table.now);
    assert!(!table.pending_effects().contains(&Effect::FollowGame), "once is enough");

    disable(&mut table, "its felt is torn");
    assert_eq!(shown(&table), Some(("its felt is torn".to_owned(), false)));
    set_game(&mut table, false, "new dice");
    table.run_until_idle();
    assert_eq!(shown(&table), Some(("its felt is torn".to_owned(), false)));
    enable(&mut table);
    set_game(&mut table, true, "loaded again");
    assert!(table.run_effect(|effect| effect == Effect::FollowGame));
    set_game(&mut table, false, "new dice");
    assert!(table.run_effect(|effect| effect == Effect::FollowGame));
    assert_eq!(shown(&table), None);
    table.run_while(|table| started(table) == 0);
    assert_eq!(started(&table), 1);
}

/// Who waits at a disabled table for a hand is not idle, and has time to commit once it is enabled.
#[test]
fn nobody_is_removed_for_a_hand_that_the_house_does_not_start() {
    let mut table = Harness::new("dice", |created| {
        set(created, |settings| settings.contributors_min = 1);
    });
    assert!(table.run_effect(|effect| effect == Effect::Commit { hand_no: 1 }));
    disable(&mut table, "a fault");
    let idle = |table: &Harness| {
        let is_idle = |effect: &Effect| matches!(effect, Effect::RemoveIdle { .. });
        table.pending_effects().iter().filter(|effect| is_idle(effect)).count()
    };
    table.wait(Duration::from_secs(601));
    assert_eq!(idle(&table), 0);
    enable(&mut table);
    assert_eq!(idle(&table), 0);
    table.wait(Duration::from_secs(601));
    assert_eq!(idle(&table), 3, "they have had time");
}

/// An operator cannot fill a bundle with their own records.
#[test]
fn the_records_of_a_table_bound_its_operators_too() {
    let mut table = Harness::new("dice", |_| {});
    table.steady = true;
    let mut last = Ok(());
    for _ in 0..1000 {
        last = table.command(OPERATOR, Command::Disable("on".to_owned()));
        if last.is_err() {
            break;
        }
        enable(&mut table);
    }
    assert_eq!(last.unwrap_err().reason(), ErrorReason::RecordsSpent);
    assert!(table.log.len() < 1100 && shown(&table).is_none(), "{}", table.log.len());
    set_game(&mut table, true, "the dice are loaded");
    assert!(!table.pending_effects().contains(&Effect::FollowGame));
    assert!(!table.pending_effects().contains(&Effect::Start), "it starts nothing all the same");
}

/// The update says what a snapshot would.
#[test]
fn viewers_are_notified() {
    let mut table = Harness::new("dice", |_| {});
    let announced = |table: &Harness| match table.published.last().map(|past| past.duplicate().kind)
    {
        Some(PublishedKind::Public(what)) => match *what {
            What::Disabled(changed) => changed.disabled,
            other => panic!("{other:?}"),
        },
        _ => panic!("no such update"),
    };
    disable(&mut table, "a fault");
    assert_eq!(announced(&table), table.state.view(None).disabled);
    assert_eq!(announced(&table).unwrap().disable_time, Some(wire::time::timestamp(table.now)));
    enable(&mut table);
    assert_eq!((announced(&table), table.state.view(None).disabled), (None, None));
}
