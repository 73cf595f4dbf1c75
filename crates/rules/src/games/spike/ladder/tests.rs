//! Checks the ladder against a slow reading of the rules, over every hand there is.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::*;
use crate::deck::C62;

/// Cards with these values: the first ones of the deck that have them.
fn cards(values: &[i16]) -> Vec<Card> {
    let mut held: Vec<Card> = Vec::new();
    for &wanted in values {
        let card = C62.cards().find(|&card| value(card) == wanted && !held.contains(&card));
        held.push(card.expect("there are three of each value, and two Sylops"));
    }
    held
}

fn worth(values: &[i16]) -> Worth {
    Worth::of(&cards(values))
}

/// Every hand of two to five cards, by values alone, ascending, with the number of card hands that
/// it stands for.
fn every_hand() -> Vec<(Vec<i16>, u64)> {
    fn extend(hand: &mut Vec<i16>, ways: u64, all: &mut Vec<(Vec<i16>, u64)>) {
        if hand.len() >= 2 {
            all.push((hand.clone(), ways));
        }
        if hand.len() == 5 {
            return;
        }
        for next in hand.last().copied().unwrap_or(-10)..=10 {
            let there = if next == 0 { 2 } else { 3 };
            let held = u64::try_from(hand.iter().filter(|&&value| value == next).count()).unwrap();
            if held < there {
                hand.push(next);
                // Choosing one more of the same: n over k times (n - k) / (k + 1).
                extend(hand, ways * (there - held) / (held + 1), all);
                hand.pop();
            }
        }
    }
    let mut all = Vec::new();
    extend(&mut Vec::new(), 1, &mut all);
    all
}

// The slow reading: one predicate a rung, in the order and the words of the ladder.

fn absolute(hand: &[i16], value: i16) -> usize {
    hand.iter().filter(|card| card.abs() == value).count()
}

fn signed(hand: &[i16], value: i16) -> usize {
    hand.iter().filter(|&&card| card == value).count()
}

/// The lowest value from 1 to 10 for which this holds.
fn lowest(holds: impl Fn(i16) -> bool) -> Option<i16> {
    (1..=10).find(|&value| holds(value))
}

fn has_values(hand: &[i16], wanted: &[i16]) -> bool {
    let mut wanted = wanted.to_vec();
    wanted.sort_unstable();
    let mut hand = hand.to_vec();
    hand.sort_unstable();
    hand == wanted
}

fn rhylet(hand: &[i16]) -> Option<i16> {
    lowest(|three| {
        [1, -1].into_iter().any(|sign| {
            (1..=10).any(|two| {
                let (plus, minus) = (sign * three, -sign * two);
                two != three && has_values(hand, &[plus, plus, plus, minus, minus])
            })
        })
    })
}

fn khyron(hand: &[i16]) -> Option<i16> {
    lowest(|start| hand.len() == 4 && (start..start + 4).all(|value| absolute(hand, value) == 1))
}

fn two_pairs(hand: &[i16]) -> Option<(i16, i16)> {
    let small = lowest(|value| absolute(hand, value) >= 2)?;
    let large = (small + 1..=10).find(|&value| absolute(hand, value) >= 2)?;
    Some((small, large))
}

fn slow_rung(hand: &[i16]) -> &'static str {
    let sylops = signed(hand, 0);
    let size = hand.len();
    let of = |count| lowest(|value| absolute(hand, value) == count).is_some();
    let one_two_three_four = |sign: i16| [1, 2, 3, 4, -10].map(|value| value * sign);
    let ladder = [
        ("pure", has_values(hand, &[0, 0])),
        ("full", has_values(hand, &[0, 10, 10, -10, -10])),
        ("fleet", sylops == 1 && size == 5 && of(4)),
        ("yee-haa", sylops == 1 && size == 3 && of(2)),
        ("rhylet", rhylet(hand).is_some()),
        ("squadron", size == 4 && of(4)),
        ("gee-whiz", [1, -1].into_iter().any(|sign| has_values(hand, &one_two_three_four(sign)))),
        ("straight-khyron", khyron(hand).is_some()),
        ("banthas-wild", of(3) || of(4) || of(5)),
        ("rule-of-two", two_pairs(hand).is_some()),
        ("sabacc-pair", of(2)),
        ("sabacc", true),
    ];
    if hand.iter().sum::<i16>() != 0 {
        return "nulrhek";
    }
    ladder.iter().find(|(_, fits)| *fits).map_or("sabacc", |(name, _)| name)
}

const LADDER: [&str; 13] = [
    "pure",
    "full",
    "fleet",
    "yee-haa",
    "rhylet",
    "squadron",
    "gee-whiz",
    "straight-khyron",
    "banthas-wild",
    "rule-of-two",
    "sabacc-pair",
    "sabacc",
    "nulrhek",
];

/// Compares plain hands; greater is better.
fn slow_plain(a: &[i16], b: &[i16]) -> Ordering {
    let positives = |hand: &[i16]| hand.iter().filter(|&&value| value > 0).sum::<i16>();
    let highest = |hand: &[i16]| hand.iter().copied().filter(|&value| value > 0).max();
    (a.len().cmp(&b.len()))
        .then_with(|| positives(a).cmp(&positives(b)))
        .then_with(|| highest(a).cmp(&highest(b)))
}

fn slow_compare(a: &[i16], b: &[i16]) -> Ordering {
    let place = |rung| LADDER.iter().position(|&name| name == rung).unwrap();
    let (a_rung, b_rung) = (slow_rung(a), slow_rung(b));
    let set = |hand: &[i16], count| lowest(|value| absolute(hand, value) >= count).unwrap();
    let lower_set = |count| set(b, count).cmp(&set(a, count));
    let sum = |hand: &[i16]| hand.iter().sum::<i16>();
    let within = || match a_rung {
        "fleet" | "squadron" => lower_set(4),
        "yee-haa" => lower_set(2),
        "rhylet" => rhylet(b).cmp(&rhylet(a)),
        "banthas-wild" => lower_set(3),
        "straight-khyron" => khyron(b).cmp(&khyron(a)),
        "rule-of-two" => {
            let ((a_small, a_large), (b_small, b_large)) =
                (two_pairs(a).unwrap(), two_pairs(b).unwrap());
            b_small.cmp(&a_small).then(b_large.cmp(&a_large))
        }
        "sabacc-pair" => lower_set(2).then_with(|| slow_plain(a, b)),
        "sabacc" => slow_plain(a, b),
        "nulrhek" => {
            let (a_sum, b_sum) = (sum(a), sum(b));
            let closer = b_sum.abs().cmp(&a_sum.abs());
            closer.then((a_sum > 0).cmp(&(b_sum > 0))).then_with(|| slow_plain(a, b))
        }
        _ => Ordering::Equal,
    };
    place(b_rung).cmp(&place(a_rung)).then_with(within)
}

/// rules/SPEC.md §14.4, R-73.
#[test]
fn every_hand_is_on_the_rung_that_a_slow_reading_puts_it_on() {
    let mut counted: BTreeMap<&str, u64> = BTreeMap::new();
    for (hand, ways) in every_hand() {
        let worth = worth(&hand);
        assert_eq!(worth.rung().name(), slow_rung(&hand), "{hand:?}");
        assert_eq!(worth.sums_to_0(), hand.iter().sum::<i16>() == 0, "{hand:?}");
        *counted.entry(worth.rung().name()).or_default() += ways;
    }
    // C(62, 2) + C(62, 3) + C(62, 4) + C(62, 5).
    assert_eq!(counted.values().sum::<u64>(), 1_891 + 37_820 + 557_845 + 6_471_002);
    // One pair of Sylops; two Sylops for three of the three +10 and of the three -10; nine values
    // for the Fleet; ten values of 2 x 3 x 3 for the Yee-Haa; six Rhylets of 1 x 3; ten Squadrons
    // of 3 x 3; two Gee Whiz of 3^5; seven runs of two signs of 3^4.
    let of = |name| counted[name];
    assert_eq!(of("pure"), 1);
    assert_eq!(of("full"), 2 * 3 * 3);
    assert_eq!(of("fleet"), 9 * 2 * 3 * 3);
    assert_eq!(of("yee-haa"), 10 * 2 * 3 * 3);
    assert_eq!(of("rhylet"), 6 * 3);
    assert_eq!(of("squadron"), 10 * 3 * 3);
    assert_eq!(of("gee-whiz"), 2 * 243);
    assert_eq!(of("straight-khyron"), 7 * 2 * 81);
}

/// rules/SPEC.md §14.4, R-73.
#[test]
fn hands_compare_as_a_slow_reading_compares_them() {
    let all: Vec<(Vec<i16>, Worth)> = every_hand()
        .into_iter()
        .map(|(hand, _)| {
            let worth = worth(&hand);
            (hand, worth)
        })
        .collect();
    let (zeros, others): (Vec<_>, Vec<_>) = all.iter().partition(|(_, worth)| worth.sums_to_0());
    let check = |(a, a_worth): &(Vec<i16>, Worth), (b, b_worth): &(Vec<i16>, Worth)| {
        assert_eq!(a_worth.cmp(b_worth), slow_compare(a, b), "{a:?} {b:?}");
    };
    // Neighbours are much alike, distant ones differ.
    for (at, hand) in zeros.iter().enumerate() {
        for step in 0..10 {
            check(hand, zeros[(at * 31 + step * 97) % zeros.len()]);
            check(hand, zeros[(at + step) % zeros.len()]);
        }
    }
    for (at, hand) in others.iter().enumerate() {
        check(hand, others[(at * 7 + 3) % others.len()]);
        check(hand, others[(at + 1) % others.len()]);
        check(zeros[at % zeros.len()], hand);
    }
}

/// Checks that the first hand beats the second.
fn beats(better: &[i16], worse: &[i16]) {
    assert!(worth(better) > worth(worse), "{better:?} {worse:?}");
}

fn ties(a: &[i16], b: &[i16]) {
    assert_eq!(worth(a).cmp(&worth(b)), Ordering::Equal, "{a:?} {b:?}");
}

#[test]
fn pure_beats_full() {
    beats(&[0, 0], &[0, 10, 10, -10, -10]);
}

#[test]
fn full_beats_fleet() {
    beats(&[0, 10, 10, -10, -10], &[0, 1, 1, -1, -1]);
}

#[test]
fn fleet_beats_yee_haa() {
    beats(&[0, 9, 9, -9, -9], &[0, 1, -1]);
    beats(&[0, 2, 2, -2, -2], &[0, 3, 3, -3, -3]);
}

#[test]
fn yee_haa_beats_rhylet() {
    beats(&[0, 10, -10], &[2, 2, 2, -3, -3]);
    beats(&[0, 2, -2], &[0, 3, -3]);
}

#[test]
fn rhylet_beats_squadron() {
    beats(&[-6, -6, -6, 9, 9], &[1, 1, -1, -1]);
    beats(&[2, 2, 2, -3, -3], &[4, 4, 4, -6, -6]);
    ties(&[2, 2, 2, -3, -3], &[-2, -2, -2, 3, 3]);
    assert_eq!(
        worth(&[4, 4, -4, -2, -2]).rung().name(),
        "banthas-wild",
        "the three are of one sign"
    );
}

#[test]
fn squadron_beats_gee_whiz() {
    beats(&[10, 10, -10, -10], &[1, 2, 3, 4, -10]);
    beats(&[2, 2, -2, -2], &[3, 3, -3, -3]);
    assert_eq!(worth(&[5, 5, 5, -5, -10]).rung().name(), "banthas-wild", "exactly four cards");
}

#[test]
fn gee_whiz_beats_straight_khyron() {
    beats(&[-1, -2, -3, -4, 10], &[1, -2, -3, 4]);
    ties(&[-1, -2, -3, -4, 10], &[1, 2, 3, 4, -10]);
}

#[test]
fn straight_khyron_beats_banthas_wild() {
    beats(&[7, -8, -9, 10], &[1, 1, 1, -3]);
    beats(&[1, -2, -3, 4], &[2, -3, -4, 5]);
    ties(&[1, -2, -3, 4], &[-1, 2, 3, -4]);
    assert_eq!(worth(&[0, 1, 2, -3]).rung().name(), "sabacc", "a Sylop is no part of a run");
    assert_eq!(worth(&[0, 1, -2, -3, 4]).rung().name(), "sabacc", "exactly four cards");
}

#[test]
fn banthas_wild_beats_rule_of_two() {
    beats(&[10, 10, -10, -9, -1], &[1, -1, 2, -2]);
    beats(&[2, 2, 2, -6], &[3, 3, 3, -9]);
    ties(&[2, 2, 2, -6], &[2, 2, 2, -5, -1]);
}

#[test]
fn rule_of_two_beats_sabacc_with_one_pair() {
    beats(&[9, -9, 10, -10], &[1, 1, -2]);
    beats(&[1, -1, 10, -10], &[2, -2, 3, -3]);
    beats(&[1, -1, 9, -9], &[1, -1, 10, -10]);
    ties(&[1, 1, 2, 2, -6], &[1, -1, 2, -2]);
    assert_eq!(worth(&[0, 0, 1, -1]).rung().name(), "sabacc-pair", "Sylops are no pair");
}

#[test]
fn sabacc_with_one_pair_beats_sabacc() {
    beats(&[10, -10], &[1, 2, 3, -6]);
    beats(&[1, 1, -2], &[2, -2]);
    // Compared as plain hands: more cards, the higher sum of positives, the higher single positive.
    beats(&[1, -1, 2, 3, -5], &[1, 1, -2]);
    beats(&[1, 1, 8, -10], &[1, 1, 7, -9]);
    beats(&[2, -2, 10, -9, -1], &[2, -2, 9, 1, -10]);
    ties(&[2, -2, 9, 1, -10], &[-2, 2, 9, 1, -10]);
}

#[test]
fn plain_sabacc_ties() {
    beats(&[1, 2, 3, -6], &[9, 1, -10]);
    beats(&[9, 1, -10], &[8, 1, -9]);
    beats(&[10, -9, -1], &[9, 1, -10]);
    beats(&[0, 3, -1, -2], &[10, -9, -1]);
    ties(&[10, -9, -1], &[10, -8, -2]);
}

#[test]
fn sabacc_beats_nulrhek() {
    beats(&[1, 2, -3], &[0, 1]);
    beats(&[1, 2, -3], &[0, 1, 0]);
}

#[test]
fn nulrhek_ties() {
    beats(&[3, -2], &[4, -2]);
    beats(&[3, -2], &[2, -3]);
    beats(&[4, -2, -1], &[3, -2]);
    beats(&[10, -9], &[3, -2]);
    beats(&[9, 1, -8], &[8, 2, -8]);
    ties(&[9, 1, -7, -2], &[9, 1, -6, -3]);
}
