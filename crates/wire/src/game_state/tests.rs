use rules::{Hand, HandPhase, Rank, RuleSet, Rung, Setup, ShiftToken, Suit, Viewer, game_state};

use super::*;
use crate::ranks;

fn seats() -> Vec<SeatNo> {
    [2, 5, 7].map(|seat| SeatNo::try_new(seat).unwrap()).to_vec()
}

/// Calls `each` at every step of random hands of all games.
fn each_step(mut each: impl FnMut(&Hand)) {
    let mut state = 5_u64;
    let mut choose = |below: u64| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 33) % below
    };
    for variant in rules::ALL {
        for _ in 0..12 {
            let rules = RuleSet::defaults(variant);
            let stack = rules.min_stack(primitives::Credits::ZERO).times(30).unwrap();
            let setup = Setup {
                rules,
                seats: seats(),
                stacks: vec![stack; 3],
                sabacc_pot: primitives::Credits::ZERO,
                carried_pot: primitives::Credits::ZERO,
            };
            let mut hand = Hand::try_new(setup).unwrap();
            while rules::play::step(&mut hand, &mut choose, &mut |_, _| {}).unwrap() {
                each(&hand);
            }
        }
    }
}

/// Copies that look alike are one card to a reader, so messages are compared.
#[test]
fn every_state_is_read_as_it_was_written() {
    each_step(|hand| {
        let deck = hand.rules().variant().deck;
        for viewer in hand.players().map(Viewer::Player).chain([Viewer::Public, Viewer::Auditor]) {
            let message = write(&game_state(hand, viewer), deck, &seats());
            let read = GameStateReader { deck, seats: &seats() }.read(&message);
            let again = read.map(|state| write(&state, deck, &seats()));
            assert_eq!(again.as_ref(), Ok(&message), "{hand:?}");
        }
    });
}

#[test]
fn every_rank_is_read_as_it_was_written() {
    let mut kinds = std::collections::BTreeSet::new();
    let mut check = |rank: Rank| {
        let message = ranks::write(rank);
        assert_eq!(message.text, rank.to_string());
        assert_eq!(ranks::read(&message), Ok(rank));
        kinds.insert(message.kind);
    };
    each_step(|hand| {
        let ends = hand.settlement().into_iter().flat_map(|end| &end.hands);
        ends.filter_map(|held| held.rank).for_each(&mut check);
    });
    Rung::ALL.map(Rank::Spike).into_iter().for_each(&mut check);
    for rank in [
        Rank::Left,
        Rank::IdiotsArray,
        Rank::Pure(-23),
        Rank::Natural(23),
        Rank::KesselPure,
        Rank::Prime(3),
        Rank::Pair(0),
        Rank::Diff { diff: 2, sum: 6 },
    ] {
        check(rank);
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), (1..=29).collect::<Vec<_>>());
    assert!(ranks::read(&pb::HandRank::default()).is_err());
}

/// Enums whose numbers are made by counting.
#[test]
fn numbers_are_those_of_the_protocol() {
    for (number, token) in (1..).zip(ShiftToken::ALL) {
        assert_eq!(token as i32 + 1, number);
        let sent = pb::ShiftToken::try_from(number).unwrap();
        assert_eq!(format!("{sent:?}"), format!("{token:?}"));
    }
    for (number, suit) in (1..).zip(Suit::ALL) {
        assert_eq!(suit as i32 + 1, number);
        let sent = pb::CoruscantSuit::try_from(number).unwrap();
        assert_eq!(format!("{sent:?}"), format!("{suit:?}"));
    }
    for phase in HandPhase::ALL {
        assert_eq!(format!("{:?}", ranks::write_phase(phase)), format!("{phase:?}"));
    }
}
