//! Hands that came to nothing because the dealer was silent: the table must have told of it, and this
//! client must have agreed where all players are said to have.

use proto::common::v1::{LegalMove, Move, MoveKind};
use proto::event::v1::AbortCause;

use super::*;
use crate::hand_fixture::OTHER;

const UNTIL: primitives::UnixMicros = primitives::UnixMicros(1_700_000_000_000_000);

fn void() -> Move {
    Move { kind: MoveKind::Void.into(), ..Move::default() }
}

/// The hand stands still, while the other seat is to decide.
fn stands() -> What {
    let until = Some(wire::standing::timestamp(UNTIL));
    let void = LegalMove { kind: void().kind, text: "void".to_owned(), ..LegalMove::default() };
    let turn = pb::Turn { seat: OTHER.into(), turn: 3, legal: vec![void], ..Default::default() };
    What::Suspension(pb::SuspensionChanged {
        hand_no: HAND,
        suspension: Some(pb::Suspension { until, ..pb::Suspension::default() }),
        turn: Some(turn),
        ..pb::SuspensionChanged::default()
    })
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
fn check_untold(seen: Result<(), Box<FairnessViolation>>, kind: ViolationKind) {
    check_violation(seen, (PartyAtFault::Table, kind), true);
}

/// The house cancels a hand that it dislikes, and says that the dealer was silent.
/// fairness/SPEC.md §3.11.
#[test]
fn a_hand_is_over_for_a_silence_only_if_it_was_told() {
    for cause in [AbortCause::Agreed, AbortCause::Suspended, AbortCause::Unspecified] {
        check_untold(dealt().apply(over(cause)), ViolationKind::SilenceUntold);
        // The dealer was back before.
        let mut player = dealt();
        player.apply(stands()).unwrap();
        let goes_on = pb::SuspensionChanged { hand_no: HAND, ..Default::default() };
        player.apply(What::Suspension(goes_on)).unwrap();
        check_untold(player.apply(over(cause)), ViolationKind::SilenceUntold);
    }
}

/// The house burns a number whose cards it has seen.
/// fairness/SPEC.md §10.9.
#[test]
fn a_hand_that_was_dealt_is_not_burnt() {
    let seats = vec![OTHER.into()];
    let cause = AbortCause::Withheld.into();
    let burnt = pb::HandVoided { hand_no: HAND, seats, cause, ..Default::default() };
    check_untold(dealt().apply(What::Voided(burnt)), ViolationKind::BurntAfterDeal);
}

/// fairness/SPEC.md §3.11, §9.6.
#[test]
fn nobody_agrees_in_this_clients_name() {
    let mut player = dealt();
    player.apply(stands()).unwrap();
    check_untold(player.apply(over(AbortCause::Agreed)), ViolationKind::EndedWithoutConsent);
    let mut player = dealt();
    player.apply(stands()).unwrap();
    let signature = player.chance.sign_decision(HAND, &void()).unwrap();
    assert_eq!(signature.len(), 64, "it may agree also while another seat is to decide");
    player.apply(over(AbortCause::Agreed)).unwrap();
    // Who is out of the hand is not asked.
    let mut player = dealt();
    let out = |seat: u8| pb::SeatStanding {
        seat: seat.into(),
        status: "out".to_owned(),
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
        let at = Some(wire::standing::timestamp(primitives::UnixMicros(at)));
        let what = Some(over(AbortCause::Suspended));
        let update = pb::TableUpdate { sequence: 0, at, what };
        player.chance.apply(&WatchMessage::Update(Box::new(update)))
    };
    check_untold(ends(UNTIL.0 - 1), ViolationKind::EndedEarly);
    ends(UNTIL.0).unwrap();
}
