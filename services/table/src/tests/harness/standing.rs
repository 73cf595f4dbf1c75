//! Players whom the wallet bars from play: the questions, the consequences, and the updates.

use primitives::SeatNo;
use proto::common::v1::{LimitMark, LimitMeasure, LimitWindow};
use proto::table::v1::table_update::What;
use proto::table::v1::watch_table_response::Message;

use super::*;
use crate::publish::Publisher;
use crate::standing::CHECK_INTERVAL;
use crate::tests::harness::stand_up;

fn stands(kind: StandingKind) -> PlayStanding {
    PlayStanding { kind: kind.into(), ..PlayStanding::default() }
}

fn mark(left: u64) -> LimitMark {
    let (measure, window) = (LimitMeasure::Loss.into(), LimitWindow::Day.into());
    LimitMark { measure, window, limit: 100, left }
}

fn reached() -> PlayStanding {
    PlayStanding { limit: Some(mark(0)), ..stands(StandingKind::LimitReached) }
}

fn nearly(left: u64) -> PlayStanding {
    PlayStanding { nearly: vec![mark(left)], ..stands(StandingKind::MayPlay) }
}

/// A table of three players at "dice" whose first hand has begun.
fn in_play() -> Harness {
    let mut table = Harness::new("dice", |_| {});
    table.run_while(|table| table.state.play.is_none());
    table
}

fn seat(table: &Harness, number: u8) -> Option<&crate::table::Seat> {
    table.state.table.seats.get(&SeatNo::try_new(number).unwrap())
}

fn start(effect: Effect) -> bool {
    effect == Effect::Start
}

/// Plays until the hand in play is over; starts none after it.
fn to_the_end(table: &mut Harness) {
    for _ in 0..10_000 {
        if table.state.table.hand.is_none() {
            return;
        }
        let pending = table.pending_effects();
        let paid = pending
            .into_iter()
            .any(|effect| !start(effect) && table.run_effect(|other| other == effect));
        if !paid && !table.decide() {
            table.wait(Duration::from_secs(3));
        }
    }
    panic!("there is no end to it");
}

fn last_roster(table: &Harness) -> Vec<u32> {
    let opened = table.log.iter().rev().find_map(|(_, event, _)| match event {
        TableRecord::HandOpened(opened) => Some(opened.roster.iter().map(|it| it.seat).collect()),
        _ => None,
    });
    opened.unwrap()
}

/// Contents of the updates that one viewer got, without the first `skip`.
fn updates(table: &Harness, viewer: Option<PlayerId>, skip: usize) -> Vec<What> {
    let mut publisher = Publisher::new(TABLE, Default::default());
    for past in table.published.iter().skip(skip) {
        publisher.remember(past.duplicate());
    }
    let first = table.published.get(skip).map_or(0, |past| past.sequence);
    let messages = publisher.updates_since(viewer, first.saturating_sub(1)).unwrap_or_default();
    messages
        .into_iter()
        .filter_map(|message| match message.message {
            Some(Message::Update(update)) => update.what,
            _ => None,
        })
        .collect()
}

#[test]
fn whoever_excludes_themselves_is_out_after_the_hand_in_play_and_paid_out() {
    let mut table = in_play();
    table.standings.insert(2, stands(StandingKind::Excluded));
    let from = table.log.len();
    to_the_end(&mut table);
    assert!(seat(&table, 2).is_some_and(|seat| !seat.leaving), "the hand was played to its end");
    assert!(!table.event_names(from).contains(&"HandAborted"));
    let skip = table.published.len();
    let from = table.log.len();
    assert!(table.run_effect(start));
    assert_eq!(table.event_names(from), ["StandingFound", "LeaveAsked"], "nobody is dealt in yet");
    assert!(table.run_effect(|effect| matches!(effect, Effect::PayOut { .. })));
    assert!(table.run_effect(|effect| matches!(effect, Effect::CashOut { .. })));
    assert!(seat(&table, 2).is_none());
    table.run_while(|table| table.state.table.hand_no == 1);
    assert_eq!(last_roster(&table).len(), 2);
    assert!(!last_roster(&table).contains(&2));
    // The others see that a seat leaves, and not why.
    for viewer in [None, Some(player(1)), Some(player(4))] {
        for what in updates(&table, viewer, skip) {
            if let What::Seat(changed) = what {
                assert_eq!(changed.your_standing, None);
            }
        }
    }
    let own = updates(&table, Some(player(2)), skip);
    let standing = own.iter().find_map(|what| match what {
        What::Seat(changed) => changed.your_standing.clone(),
        _ => None,
    });
    assert_eq!(standing.map(|it| it.kind()), Some(StandingKind::Excluded));
}

#[test]
fn a_frozen_player_keeps_the_seat_and_the_credits_and_is_dealt_no_hand() {
    let mut table = in_play();
    table.standings.insert(4, stands(StandingKind::Frozen));
    to_the_end(&mut table);
    let stack = seat(&table, 4).unwrap().stack;
    assert!(table.run_effect(start));
    assert!(seat(&table, 4).is_some_and(|seat| seat.sitting_out && !seat.leaving));
    for hand_no in 1..3 {
        table.run_while(|table| table.state.table.hand_no == hand_no);
        to_the_end(&mut table);
        assert!(!last_roster(&table).contains(&4));
    }
    assert_eq!(seat(&table, 4).unwrap().stack, stack);
    // A command to sit in is refused by the table's record and by the wallet's present word …
    let back = |standing| Command::SitOut { out: false, standing };
    assert_eq!(table.refusal(4, back(None)).0, ErrorReason::BarredFromPlay);
    let frozen = stands(StandingKind::Frozen);
    assert_eq!(table.refusal(4, back(Some(frozen))).0, ErrorReason::BarredFromPlay);
    // … until the restriction ends and the player sits in by themselves.
    table.standings.clear();
    let from = table.log.len();
    table.command(4, back(Some(stands(StandingKind::MayPlay)))).unwrap();
    assert_eq!(table.event_names(from), ["StandingFound", "SitOutChanged"]);
    let now = table.state.table.hand_no;
    table.wait(Duration::from_secs(2));
    table.run_while(|table| table.state.table.hand_no == now);
    assert!(last_roster(&table).contains(&4));
}

#[test]
fn a_limit_is_announced_before_it_is_reached_and_when_it_is_and_leaving_stays_free() {
    let mut table = in_play();
    to_the_end(&mut table);
    table.standings.insert(1, nearly(15));
    let skip = table.published.len();
    table.run_while(|table| table.state.table.hand_no == 1);
    table.run_while(|table| table.state.play.as_ref().is_none_or(|play| play.sealed.is_none()));
    let started = |viewer| {
        let what = updates(&table, viewer, skip);
        what.into_iter().find_map(|what| match what {
            What::HandStarted(started) => Some(started),
            _ => None,
        })
    };
    let own = started(Some(player(1))).unwrap();
    assert_eq!(own.your_standing, Some(nearly(15)));
    for viewer in [None, Some(player(2))] {
        assert_eq!(started(viewer).unwrap().your_standing, None);
    }
    assert_eq!(table.state.view(Some(player(1))).your_standing, Some(nearly(15)));
    assert_eq!(table.state.view(Some(player(2))).your_standing, None);
    to_the_end(&mut table);
    // The same notice with less left is not recorded.
    table.standings.insert(1, nearly(3));
    let from = table.log.len();
    assert!(table.run_effect(start));
    assert!(!table.event_names(from).contains(&"StandingFound"));
    to_the_end(&mut table);
    table.standings.insert(1, reached());
    let from = table.log.len();
    assert!(table.run_effect(start));
    assert_eq!(table.event_names(from), ["StandingFound", "SitOutChanged"]);
    assert_eq!(table.state.view(Some(player(1))).your_standing, Some(reached()));
    let hand_no = table.state.table.hand_no;
    table.run_while(|table| table.state.table.hand_no == hand_no);
    assert!(!last_roster(&table).contains(&1));
    table.command(1, stand_up()).unwrap();
    assert!(table.run_effect(|effect| matches!(effect, Effect::PayOut { .. })));
}

#[test]
fn no_hand_starts_while_the_wallet_says_nothing_and_the_hand_in_play_goes_on() {
    let mut table = in_play();
    table.standings.insert(2, stands(StandingKind::Excluded));
    table.wallet_silent = true;
    // Runs everything that needs no wallet.
    for _ in 0..5 {
        table.run_until_idle();
        table.wait(Duration::from_secs(3));
    }
    assert!(table.event_names(0).contains(&"HandSettled"));
    table.wallet_silent = false;
    to_the_end(&mut table);
    table.wallet_silent = true;
    let from = table.log.len();
    for _ in 0..5 {
        assert!(!table.run_effect(start));
        table.wait(Duration::from_secs(5));
    }
    assert!(table.pending_effects().contains(&Effect::Start), "it is owed all the same");
    assert_eq!(table.event_names(from), [] as [&str; 0]);
    table.wallet_silent = false;
    assert!(table.run_effect(start));
    assert_eq!(table.event_names(from), ["StandingFound", "LeaveAsked"]);
}

#[test]
fn idle_players_are_asked_about_from_time_to_time() {
    let mut table = Harness::new("dice", |_| {});
    for number in [1, 2, 4] {
        table.command(number, Command::SitOut { out: true, standing: None }).unwrap();
    }
    table.run_until_idle();
    let check = |effect| effect == Effect::CheckStanding;
    assert!(!table.run_effect(check), "not at once");
    table.wait(CHECK_INTERVAL);
    let from = table.log.len();
    assert!(table.pending_effects().contains(&Effect::CheckStanding));
    table.run_effect(check);
    assert_eq!(table.event_names(from), [] as [&str; 0], "nothing new, nothing on record");
    assert!(!table.pending_effects().contains(&Effect::CheckStanding));
    table.standings.insert(4, stands(StandingKind::Excluded));
    table.standings.insert(1, reached());
    table.wait(CHECK_INTERVAL);
    assert!(table.run_effect(check));
    // A player who sits out already gets no further event.
    let expected = ["StandingFound", "StandingFound", "LeaveAsked"];
    assert_eq!(table.event_names(from), expected);
    table.run_until_idle();
    assert!(seat(&table, 4).is_none() && seat(&table, 1).is_some());
    // A player alone at a table is asked about as well.
    table.standings.insert(2, stands(StandingKind::Excluded));
    table.command(1, stand_up()).unwrap();
    table.run_until_idle();
    table.wait(CHECK_INTERVAL);
    table.run_until_idle();
    assert!(table.state.table.seats.is_empty());
}
