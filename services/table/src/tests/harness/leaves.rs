//! Leaves of players in a hand: asked for and signed by themselves, in the order of the records.

use proto::common::v1::{Move as PbMove, MoveKind as PbKind};

use super::decisions::{
    act, at_decision, chain, deal, decide, dice, due, hex, moves, name, refused, revealed, sealed,
    sign, sign_after, stand_up,
};
use super::{ErrorReason, Harness, TABLE, event};
use crate::batch::Batch;
use crate::effects::Effect;
use crate::reasons::LeaveReason;
use crate::table::Table;

fn leaves(table: &Harness) -> Vec<event::MoveDecided> {
    let is_leave = |decided: &event::MoveDecided| {
        decided.r#move.as_ref().is_some_and(|mv| mv.kind() == PbKind::Leave)
    };
    moves(table).into_iter().filter(is_leave).collect()
}

/// fairness/SPEC.md §9.5.
#[test]
fn a_leave_is_signed_and_comes_before_the_next_decision() {
    let mut table = at_decision(dice());
    let before = chain(&table);
    let line = format!("{} leave", name(&table, 1));
    assert_eq!(refused(&mut table, 1, stand_up(Vec::new())).0, ErrorReason::SignatureNeeded);
    let stolen = sign(&table, 2, &line);
    let no = refused(&mut table, 1, stand_up(stolen));
    assert_eq!(no, (ErrorReason::SignatureInvalid, Some(hex(&before))));
    let signature = sign(&table, 1, &line);
    let due = due(&table);
    let late = act(&due, sign(&table, due.number, &due.line));
    table.command(1, stand_up(signature.clone())).unwrap();
    // The rules take the leave before whatever else is decided.
    assert_eq!(refused(&mut table, due.number, late.clone()).0, ErrorReason::Unavailable);
    let seat = primitives::SeatNo::try_new(1).unwrap();
    assert_eq!(table.pending_effects().first(), Some(&Effect::Leave { seat }));
    assert!(table.run_effect(|effect| effect == Effect::Leave { seat }));
    assert_eq!(leaves(&table)[0].signature, signature);
    assert_eq!(chain(&table), before.with(false, &line));
    // What was signed before the leave is signed anew.
    assert!(table.command(due.number, late).is_err());
    decide(&mut table);
}

/// fairness/SPEC.md §9.5.
#[test]
fn leaves_that_are_pending_count_in_what_is_signed_after_them() {
    let mut table = sealed(dice());
    let start = chain(&table);
    let lines = [4, 1].map(|number| format!("{} leave", name(&table, number)));
    table.command(4, stand_up(Vec::new())).unwrap();
    let with_first = start.with(false, &lines[0]);
    assert_eq!(chain(&table), start, "it is not on record yet");
    let stale = sign_after(&table, 1, &start, &lines[1], &lines[1]);
    let no = refused(&mut table, 1, stand_up(stale));
    assert_eq!(no, (ErrorReason::SignatureInvalid, Some(hex(&with_first))));
    let signature = sign_after(&table, 1, &with_first, &lines[1], &lines[1]);
    table.command(1, stand_up(signature.clone())).unwrap();
    // Once is enough.
    let asked = table.log.len();
    table.command(1, stand_up(Vec::new())).unwrap();
    assert_eq!(table.log.len(), asked);
    table.run_while(|table| leaves(table).len() < 2);
    let decided = moves(&table);
    assert_eq!(decided.iter().map(|decided| decided.seat).collect::<Vec<_>>(), [4, 1]);
    assert!(decided[0].signature.is_empty());
    assert_eq!(decided[1].signature, signature);
    assert_eq!(chain(&table), with_first.with(false, &lines[1]));
}

/// fairness/SPEC.md §9.6.
#[test]
fn a_void_lets_the_leaves_lapse_that_were_signed_before_it() {
    let mut table = sealed(dice());
    table.command(4, stand_up(Vec::new())).unwrap();
    let after = chain(&table).with(false, &format!("{} leave", name(&table, 4)));
    let line = format!("{} leave", name(&table, 1));
    let signature = sign_after(&table, 1, &after, &line, &line);
    table.command(1, stand_up(signature)).unwrap();
    let seats = |table: &Table| -> Vec<u8> {
        table.pending_leaves().iter().map(|leave| leave.seat.get()).collect()
    };
    let mut folded = table.state.table.clone();
    assert_eq!(seats(&folded), [4, 1]);
    let mv = Some(PbMove { kind: PbKind::Void.into(), ..PbMove::default() });
    let void = event::MoveDecided { seat: 2, r#move: mv, ..event::MoveDecided::default() };
    let hand = table.state.play.as_ref().unwrap().hand_id;
    folded.evolve(hand.into(), &void.into(), table.now).unwrap();
    assert_eq!(seats(&folded), [4], "who has no key has signed nothing");
}

/// fairness/SPEC.md §9.5.
#[test]
fn the_house_takes_nobody_out_of_a_hand() {
    let mut table = at_decision(dice());
    let seat = primitives::SeatNo::try_new(1).unwrap();
    for reason in [LeaveReason::Idle, LeaveReason::Standing] {
        let mut table = at_decision(dice());
        table.append(Batch::single(TABLE, reason.event(seat)));
        assert!(table.state.table.seats[&seat].leaving);
        assert!(!table.pending_effects().contains(&Effect::Leave { seat }));
    }
    // The player themselves may still leave, by their own signature alone.
    table.append(Batch::single(TABLE, LeaveReason::Standing.event(seat)));
    let line = format!("{} leave", name(&table, 1));
    let signature = sign(&table, 1, &line);
    table.command(1, stand_up(signature)).unwrap();
    assert!(table.run_effect(|effect| effect == Effect::Leave { seat }));
}

/// fairness/SPEC.md §9.5.
#[test]
fn whoever_leaves_before_the_seal_is_played_by_the_clock_unless_they_sign() {
    for signs in [false, true] {
        let mut table = revealed(dice());
        table.command(1, stand_up(Vec::new())).unwrap();
        assert!(table.run_effect(|effect| effect == Effect::Seal { hand_no: 1 }));
        deal(&mut table);
        let seat = primitives::SeatNo::try_new(1).unwrap();
        assert!(!table.pending_effects().contains(&Effect::Leave { seat }));
        let asked = table.log.len();
        table.command(1, stand_up(Vec::new())).unwrap();
        assert_eq!(table.log.len(), asked, "they are leaving already");
        if signs {
            let line = format!("{} leave", name(&table, 1));
            let signature = sign(&table, 1, &line);
            table.command(1, stand_up(signature)).unwrap();
        }
        assert_eq!(table.run_effect(|effect| effect == Effect::Leave { seat }), signs);
        table.run_while(|table| table.state.table.hand.is_some());
        table.run_until_idle();
        assert!(!table.state.table.seats.contains_key(&seat), "they are paid out");
        assert_eq!(leaves(&table).len(), usize::from(signs));
    }
}
