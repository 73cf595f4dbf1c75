use super::*;
use crate::deck::S76;

fn cards(codes: &str) -> Vec<Card> {
    codes.split(' ').map(|code| S76.parse(code).nth(0).expect(code)).collect()
}

/// Number of two-card hands that match.
fn pairs(like: impl Fn(Worth, i16) -> bool) -> usize {
    let all: Vec<Card> = S76.cards().collect();
    let hands = (0..all.len()).flat_map(|a| (a + 1..all.len()).map(move |b| (a, b)));
    hands.filter(|&(a, b)| like(Worth::of(&[all[a], all[b]]), total(&[all[a], all[b]]))).count()
}

/// rules/SPEC.md §3.3, R-3.
#[test]
fn two_copies_of_every_face() {
    let all: Vec<Card> = S76.cards().collect();
    assert_eq!(total(&all), 320);
    assert_eq!(all.iter().filter(|&&card| value(card) <= 0).count(), 16);
    for (code, worth) in
        [("S1", 1), ("T15", 15), ("StarB", -17), ("QueenA", -2), ("IdiotB", 0), ("BalanceA", -11)]
    {
        assert_eq!(total(&cards(code)), worth, "{code}");
    }
}

/// rules/SPEC.md §16.
#[test]
fn all_two_card_hands_counted() {
    assert_eq!(pairs(|_, _| true), 2_850);
    assert_eq!(pairs(|worth, _| worth == Worth::Pure(23)), 64);
    assert_eq!(pairs(|worth, _| worth == Worth::Pure(-23)), 4);
    assert_eq!(pairs(|worth, _| matches!(worth, Worth::Bombed(_))), 313);
    assert_eq!(pairs(|_, total| total < 0), 695);
}

/// rules/SPEC.md §16.
#[test]
fn all_idiots_arrays_counted() {
    let all: Vec<Card> = S76.cards().collect();
    let (mut hands, mut arrays) = (0, 0);
    for a in 0..all.len() {
        for b in a + 1..all.len() {
            for c in b + 1..all.len() {
                hands += 1;
                arrays += usize::from(is_idiots_array(&[all[a], all[b], all[c]]));
            }
        }
    }
    assert_eq!((hands, arrays), (70_300, 32));
}

/// rules/SPEC.md R-24.
#[test]
fn idiots_array_is_exactly_three_cards() {
    assert_eq!(Worth::of(&cards("IdiotA S2 T3")), Worth::IdiotsArray);
    assert_eq!(Worth::of(&cards("IdiotA IdiotB S2 T3")), Worth::Total(5));
    assert_eq!(Worth::of(&cards("IdiotA S2 T2")), Worth::Total(4));
}

/// rules/SPEC.md §9.5.
#[test]
fn totals_bomb_above_23_below_minus_23_and_at_0() {
    for (codes, worth) in [
        ("S11 S12", Worth::Pure(23)),
        ("StarA QueenA QueenB S15 StarB", Worth::Pure(-23)),
        ("S12 F12", Worth::Bombed(24)),
        ("StarA EnduranceA", Worth::Bombed(-25)),
        ("S2 QueenA", Worth::Bombed(0)),
        ("S11 F11", Worth::Total(22)),
    ] {
        assert_eq!(Worth::of(&cards(codes)), worth, "{codes}");
    }
}

/// rules/SPEC.md R-25.
#[test]
fn ranking_is_signed_or_absolute() {
    let strength = |total, ranking| Worth::of_total(total).strength(ranking);
    assert!(strength(1, Ranking::Signed) > strength(-22, Ranking::Signed));
    assert!(strength(1, Ranking::Absolute) < strength(-22, Ranking::Absolute));
    assert_eq!(strength(22, Ranking::Absolute), strength(-22, Ranking::Absolute));
    for ranking in [Ranking::Signed, Ranking::Absolute] {
        assert_eq!(strength(23, ranking), strength(-23, ranking));
        assert!(Worth::IdiotsArray.strength(ranking) > strength(23, ranking));
        assert!(strength(23, ranking) > strength(22, ranking));
        assert_eq!(strength(0, ranking), None);
    }
}

/// Best of all subsets, tried one after the other.
fn best_by_trying(own: &[Card], optional: &[Card], ranking: Ranking) -> Option<i16> {
    (0..1_u32 << optional.len())
        .filter_map(|subset| {
            let picked = (0..optional.len()).filter(|at| subset & 1 << at != 0);
            let mut hand = own.to_vec();
            hand.extend(picked.map(|at| optional[at]));
            Worth::of(&hand).strength(ranking)
        })
        .max()
}

/// rules/SPEC.md R-38.
#[test]
fn the_best_subset_of_the_field_is_found() {
    for (own, field) in [
        ("S10 S11", "F2 T1"),
        ("S10", "F2 T3"),
        ("IdiotA", "F2 T3 S9"),
        ("IdiotA IdiotB", "F2 T3 S9"),
        ("S15 F15", "StarA EvilA"),
        ("S2 QueenA", "StarA EvilB EnduranceA"),
        ("S12 F12 C12", "T1 T2"),
        ("QueenA", "T2"),
        ("F2 T3", "IdiotB IdiotA S11 C7"),
        ("StarA StarB", "S11 QueenA S1"),
        ("F2 T3", "S11 C7"),
        ("IdiotA", "F2 C7"),
    ] {
        for ranking in [Ranking::Signed, Ranking::Absolute] {
            let (own, field) = (cards(own), cards(field));
            let best = Worth::best_with(&own, field.iter().copied().collect(), ranking);
            assert_eq!(best.strength(ranking), best_by_trying(&own, &field, ranking), "{own:?}");
        }
    }
    assert_eq!(
        Worth::best_with(&cards("S12 F12 C12"), cards("T1").into_iter().collect(), Ranking::Signed),
        Worth::Bombed(36),
        "where everything bombs the hand's own total counts"
    );
}
