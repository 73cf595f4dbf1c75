//! Transfers of settled hands: whoever was dealt in has a leg, and each repeat is the same.

use std::collections::BTreeMap;
use std::time::Duration;

use proto::event::v1 as event;
use proto::wallet::v1::{Leg, SettleRequest};

use super::{Harness, player};
use crate::effect_calls;
use crate::effects::Effect;
use crate::hand_in_play::HandStage;
use crate::peers::PeerCall;
use crate::settle;

const POST: Effect = Effect::Post { hand_no: 1 };
/// The wallet takes no more legs in a transfer.
const MOST_LEGS: usize = 64;

/// The first hand is settled, and the wallet was not asked yet.
fn settled(seats: &[u8], change: impl FnOnce(&mut event::TableCreated)) -> Harness {
    let mut table = Harness::new("dice", |created| {
        created.seats = 8;
        change(created);
    });
    for seat in seats {
        table.sit(*seat);
    }
    table.run_until_idle();
    table.wait(Duration::from_secs(2));
    let is_due = |table: &Harness| table.pending_effects().contains(&POST);
    table.run_while(|table| !is_due(table));
    let stage = table.state.play.as_ref().map(|play| play.stage);
    assert!(is_due(&table) && stage == Some(HandStage::Settled), "{stage:?}");
    table
}

/// Nothing is paid at the start, and everybody checks.
fn free(created: &mut event::TableCreated) {
    for ante in ["hand_ante", "sabacc_ante"] {
        let line = |line: &str| match line.split_once(" = ") {
            Some((name, _)) if name == ante => format!("{ante} = 0\n"),
            Some(_) | None => format!("{line}\n"),
        };
        created.rule_set = created.rule_set.lines().map(line).collect();
    }
}

fn asked(table: &Harness) -> SettleRequest {
    let (table, play) = (&table.state.table, table.state.play.as_ref());
    match effect_calls::prepare(table, play, POST).unwrap().call {
        PeerCall::Settle(request) => request,
        job => panic!("{job:?}"),
    }
}

fn seat(table: &Harness, number: u8) -> String {
    format!("seat/{}/{}", table.state.table.id, player(number))
}

#[test]
fn a_hand_that_moved_nothing_has_a_leg_of_zero_for_each_who_was_dealt_in() {
    let table = settled(&[], free);
    let request = asked(&table);
    let expected = [1, 2, 4].map(|number| (seat(&table, number), 0));
    let found: BTreeMap<String, i64> =
        request.legs.iter().map(|leg| (leg.account.clone(), leg.amount)).collect();
    assert_eq!((found, request.legs.len()), (BTreeMap::from(expected), 3));
}

/// Of the others in the hand the net is what it was; pots and rake have no leg of zero.
#[test]
fn a_player_who_got_back_what_they_put_in_has_a_leg_of_zero() {
    let mut table = settled(&[], |_| {});
    let play = table.state.play.as_mut().unwrap();
    let (before, pot) = (play.opened.roster[1].stack, play.opened.sabacc_pot);
    let end = play.settled.as_mut().unwrap();
    // What the second of the roster won or lost is the pot's.
    let all = end.finishing_sabacc_pot + end.finishing_stacks[1];
    (end.finishing_stacks[1], end.finishing_sabacc_pot) = (before, all - before);
    (end.finishing_carried_pot, end.rake) = (0, 0);
    let moved = |after: u64, before: u64| after.cast_signed() - before.cast_signed();
    let play = table.state.play.as_ref().unwrap();
    let end = play.settled.as_ref().unwrap();
    let mut expected: Vec<Leg> = Vec::new();
    for (place, after) in play.opened.roster.iter().zip(&end.finishing_stacks) {
        let account = seat(&table, place.player_id[0]);
        expected.push(Leg { account, amount: moved(*after, place.stack) });
    }
    assert_eq!(expected[1].amount, 0);
    let pot = moved(end.finishing_sabacc_pot, pot);
    if pot != 0 {
        let account = format!("pot/{}/sabacc", table.state.table.id);
        expected.push(Leg { account, amount: pot });
    }
    let legs = settle::settlement_request(&table.state.table, play).unwrap().legs;
    assert_eq!(legs, expected);
}

#[test]
fn a_settlement_that_is_asked_for_again_is_the_same_transfer() {
    for change in [free, |_: &mut event::TableCreated| {}] {
        let mut table = settled(&[], change);
        let first = asked(&table);
        table.wallet_silent = true;
        for _ in 0..3 {
            assert!(!table.run_effect(|effect| effect == POST));
            table.wait(Duration::from_secs(5));
            table.crash();
            assert_eq!(asked(&table), first);
        }
        table.wallet_silent = false;
        assert!(table.run_effect(|effect| effect == POST));
        let last = table.wallet_calls.last();
        assert!(matches!(last, Some(PeerCall::Settle(request)) if *request == first), "{last:?}");
    }
}

#[test]
fn a_full_table_stays_below_the_most_legs_of_a_transfer() {
    let all = usize::from(primitives::SeatNo::MAX);
    assert!(all + ["sabacc", "carried", "rake"].len() <= MOST_LEGS);
    for change in [free as fn(&mut event::TableCreated), |_| {}] {
        let table = settled(&[3, 5, 6, 7, 8], change);
        let legs = asked(&table).legs;
        assert!((all..=all + 3).contains(&legs.len()), "{legs:?}");
        assert_eq!(legs.iter().map(|leg| leg.amount).sum::<i64>(), 0);
    }
}
