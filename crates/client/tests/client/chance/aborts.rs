//! Hands that came to nothing because the dealer was silent: the table must have announced it, and this
//! client must have agreed where all players are said to have.

use primitives::UnixMicros;
use proto::common::v1::{AbortCause, LegalMove, Move, MoveKind};

use super::*;
use crate::hand_fixture::OTHER;

const SINCE: UnixMicros = UnixMicros(1_700_000_000_000_000);
const SECOND: u64 = 1_000_000;
/// Two hours later, as the settings give it.
const UNTIL: UnixMicros = UnixMicros(SINCE.0 + 2 * 3600 * SECOND);

fn void() -> Move {
    Move { kind: MoveKind::Void.into(), ..Move::default() }
}

/// The hand stands still, while the other seat is to decide.
fn stands() -> What {
    stands_until(UNTIL)
}

fn stands_until(until: UnixMicros) -> What {
    let void = LegalMove { kind: void().kind, text: "void".to_owned(), ..LegalMove::default() };
    let turn = pb::Turn { seat: OTHER.into(), turn: 3, legal: vec![void], ..Default::default() };
    What::Suspension(pb::SuspensionChanged {
        hand_no: HAND,
        suspension: Some(suspension(until)),
        turn: Some(turn),
        ..pb::SuspensionChanged::default()
    })
}

fn suspension(until: UnixMicros) -> pb::Suspension {
    let time = |at| Some(wire::time::timestamp(at));
    pb::Suspension { start_time: time(SINCE), end_time: time(until), ..pb::Suspension::default() }
}

/// Applies an update of a time.
fn apply_at(player: &mut Player, at: UnixMicros, what: What) -> Result<(), Box<FairnessViolation>> {
    let (at, what) = (Some(wire::time::timestamp(at)), Some(what));
    let update = pb::TableUpdate { sequence: 0, record_time: at, what };
    player.chance.apply(&WatchMessage::Update(Box::new(update)))
}

fn over(cause: AbortCause) -> What {
    What::Voided(pb::HandVoided { hand_no: HAND, cause: cause.into(), ..Default::default() })
}

fn dealt() -> Player {
    let mut player = player();
    player.shuffle();
    player
}

#[track_caller]
fn check_table_fault(seen: Result<(), Box<FairnessViolation>>, kind: ViolationKind) {
    check_violation(seen, (PartyAtFault::Table, kind), true);
}

/// The house cancels a hand that it dislikes, and says that the dealer was silent.
/// fairness/SPEC.md §3.11.
#[test]
fn a_hand_is_over_for_a_silence_only_if_it_was_announced() {
    for cause in [AbortCause::Agreed, AbortCause::Suspended, AbortCause::Unspecified] {
        check_table_fault(dealt().apply(over(cause)), ViolationKind::SilenceUnannounced);
        // The dealer was back before.
        let mut player = dealt();
        player.apply(stands()).unwrap();
        let goes_on = pb::SuspensionChanged { hand_no: HAND, ..Default::default() };
        player.apply(What::Suspension(goes_on)).unwrap();
        check_table_fault(player.apply(over(cause)), ViolationKind::SilenceUnannounced);
    }
}

/// The house burns a number whose cards it has seen.
/// fairness/SPEC.md §10.9.
#[test]
fn a_hand_that_was_dealt_is_not_burnt() {
    let seats = vec![OTHER.into()];
    let cause = AbortCause::Withheld.into();
    let burnt = pb::HandVoided { hand_no: HAND, seats, cause, ..Default::default() };
    check_table_fault(dealt().apply(What::Voided(burnt)), ViolationKind::BurntAfterDeal);
}

/// fairness/SPEC.md §3.11, §9.6.
#[test]
fn nobody_agrees_in_this_clients_name() {
    let mut player = dealt();
    player.apply(stands()).unwrap();
    check_table_fault(player.apply(over(AbortCause::Agreed)), ViolationKind::EndedWithoutConsent);
    let mut player = dealt();
    player.apply(stands()).unwrap();
    let signature = player.chance.sign_decision(HAND, &void()).unwrap();
    assert_eq!(signature.len(), 64, "it may agree also while another seat is to decide");
    player.apply(over(AbortCause::Agreed)).unwrap();
    // Who is out of the hand is not asked.
    let mut player = dealt();
    let out = |seat: u8| pb::SeatStanding {
        seat: seat.into(),
        status: pb::SeatStatus::Out.into(),
        ..pb::SeatStanding::default()
    };
    let standing = Some(pb::Standing { seats: vec![out(SEAT)], ..pb::Standing::default() });
    let action = pb::HandAction { hand_no: HAND, standing, ..pb::HandAction::default() };
    player.apply(What::Action(action)).unwrap();
    player.apply(stands()).unwrap();
    player.apply(over(AbortCause::Agreed)).unwrap();
}

/// fairness/SPEC.md §3.11.
#[test]
fn a_dealt_hand_has_its_time_to_go_on() {
    let ends = |at: u64| {
        let mut player = dealt();
        player.apply(stands()).unwrap();
        apply_at(&mut player, UnixMicros(at), over(AbortCause::Suspended))
    };
    check_table_fault(ends(UNTIL.0 - 1), ViolationKind::EndedEarly);
    ends(UNTIL.0).unwrap();
}

/// The house shortens the time that its dealer has, and says so from the start.
/// fairness/SPEC.md §3.11.
#[test]
fn the_time_to_go_on_is_that_of_the_settings() {
    let seconds = |count: u64| UnixMicros(SINCE.0 + count * SECOND);
    let ends = |announced: u64, at: u64| {
        let mut player = dealt();
        // It is recorded ten seconds after the dealer was asked first.
        apply_at(&mut player, seconds(10), stands_until(seconds(announced))).unwrap();
        apply_at(&mut player, seconds(at), over(AbortCause::Suspended))
    };
    let two_hours = 2 * 3600;
    for announced in [0, 11, two_hours - 1] {
        check_table_fault(ends(announced, announced), ViolationKind::EndedEarly);
        check_table_fault(ends(announced, two_hours - 1), ViolationKind::EndedEarly);
    }
    ends(two_hours + 10, two_hours + 10).unwrap();
    // What is recorded with some delay passes, and a longer time stands.
    ends(two_hours + 5, two_hours + 5).unwrap();
    check_table_fault(ends(3 * two_hours, two_hours + 10), ViolationKind::EndedEarly);
}

/// A snapshot shows a suspension that is new to the client, or that it knows to be longer.
#[test]
fn a_snapshot_shortens_no_suspension() {
    let seconds = |count: u64| UnixMicros(SINCE.0 + count * SECOND);
    let snapshot = |player: &Player| {
        let hand = pb::HandView {
            hand_no: HAND,
            phase: pb::HandPhase::Betting.into(),
            suspension: Some(suspension(seconds(1))),
            ..pb::HandView::default()
        };
        let view = pb::TableView { hand: Some(hand), hand_no: HAND, ..player.fixture.view() };
        WatchMessage::Snapshot(Box::new(view))
    };
    let two_hours = 2 * 3600;
    for (known, until) in [(None, two_hours), (Some(5 * two_hours), 5 * two_hours)] {
        for (at, is_early) in [(1, true), (until - 1, true), (until, false)] {
            let mut player = dealt();
            if let Some(known) = known {
                apply_at(&mut player, seconds(10), stands_until(seconds(known))).unwrap();
            }
            player.chance.apply(&snapshot(&player)).unwrap();
            let ended = apply_at(&mut player, seconds(at), over(AbortCause::Suspended));
            if is_early {
                check_table_fault(ended, ViolationKind::EndedEarly);
            } else {
                ended.unwrap();
            }
        }
    }
}

#[test]
fn a_suspension_says_since_when() {
    let bare = Some(pb::Suspension { start_time: None, ..suspension(UNTIL) });
    let stands = pb::SuspensionChanged { hand_no: HAND, suspension: bare, ..Default::default() };
    let missing = ViolationKind::Missing("since when the dealer is silent");
    check_table_fault(dealt().apply(What::Suspension(stands)), missing);
}
