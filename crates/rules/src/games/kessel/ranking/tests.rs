use super::*;
use crate::deck::K44;

/// rules/SPEC.md §16.
#[test]
fn the_484_dealt_hands() {
    let (mut pure, mut sylop, mut pairs, mut apart, mut impostor) = (0, 0, 0, 0, 0);
    for sand in K44.cards().filter(|&card| pile_of(card) == 0) {
        for blood in K44.cards().filter(|&card| pile_of(card) == 1) {
            match [face(sand), face(blood)] {
                [Face::Impostor, _] | [_, Face::Impostor] => impostor += 1,
                [Face::Sylop, Face::Sylop] => pure += 1,
                [Face::Sylop, _] | [_, Face::Sylop] => sylop += 1,
                [Face::Number(a), Face::Number(b)] if a == b => pairs += 1,
                [Face::Number(_), Face::Number(_)] => apart += 1,
            }
        }
    }
    assert_eq!([pure, sylop, pairs, apart, impostor], [1, 36, 54, 270, 123]);
}

#[test]
fn faces_are_those_of_the_codes() {
    for card in K44.cards() {
        let code = K44.code(card);
        let family = ["s", "b"][usize::from(pile_of(card))];
        let face = match face(card) {
            Face::Number(number) => number.to_string(),
            Face::Impostor => "I".to_owned(),
            Face::Sylop => "Y".to_owned(),
        };
        assert_eq!(code, format!("{family}{face}"));
    }
}

/// Fixes by letter: C is Cook the Books, M is Markdown, a digit is the Prime. Major Fraud has no
/// effect on this table.
fn fixes(text: &str) -> FixTokens {
    FixTokens {
        prime: text.chars().find_map(|c| c.to_digit(10)).and_then(|d| u8::try_from(d).ok()),
        markdown: text.contains('M'),
        cook_the_books: text.contains('C'),
        major_fraud: false,
    }
}

fn worth(hand: &str, fixes: FixTokens) -> Worth {
    let value = |c: char| match c.to_digit(10) {
        Some(digit) => Value::Number(u8::try_from(digit).unwrap()),
        None => Value::Sylop,
    };
    let values: Vec<Value> = hand.chars().map(value).collect();
    Worth::of([values[0], values[1]], fixes)
}

/// With these fixes the hands rank in this order, best first, and cost so many chips.
fn check(given: &str, hands: &[(&str, &str, u8)]) {
    let fixes = fixes(given);
    for &(hand, rank, due) in hands {
        assert_eq!(worth(hand, fixes).rank(fixes).to_string(), rank, "{given}: {hand}");
        assert_eq!(worth(hand, fixes).chips_due(), due, "{given}: {hand}");
    }
    for pair in hands.windows(2) {
        let strength = |hand: &str| worth(hand, fixes).strength(fixes);
        assert!(strength(pair[0].0) > strength(pair[1].0), "{given}: {pair:?}");
    }
}

/// rules/SPEC.md §12.4, R-56.
#[test]
fn the_ladder() {
    check(
        "",
        &[
            ("YY", "pure", 1),
            ("1Y", "pair 1", 1),
            ("22", "pair 2", 1),
            ("Y6", "pair 6", 1),
            ("12", "diff 1 sum 3", 1),
            ("65", "diff 1 sum 11", 1),
            ("31", "diff 2 sum 4", 2),
            ("16", "diff 5 sum 7", 5),
        ],
    );
}

/// rules/SPEC.md §12.4.
#[test]
fn a_prime_pair_is_right_below_pure() {
    check(
        "5",
        &[("YY", "pure", 1), ("5Y", "prime 5", 1), ("11", "pair 1", 1), ("66", "pair 6", 1)],
    );
}

/// rules/SPEC.md §12.4.
#[test]
fn cook_inverts_pairs_and_puts_pure_last_of_them() {
    check(
        "C",
        &[
            ("6Y", "pair 6", 1),
            ("22", "pair 2", 1),
            ("11", "pair 1", 1),
            ("YY", "pure", 1),
            ("12", "diff 1 sum 3", 1),
            ("45", "diff 1 sum 9", 1),
            ("16", "diff 5 sum 7", 5),
        ],
    );
}

/// rules/SPEC.md R-59.
#[test]
fn cook_with_prime_inverts_then_puts_the_prime_on_top() {
    check(
        "C1",
        &[("11", "prime 1", 1), ("66", "pair 6", 1), ("Y2", "pair 2", 1), ("YY", "pure", 1)],
    );
}

/// rules/SPEC.md R-57.
#[test]
fn markdown_makes_a_sylop_a_zero() {
    check(
        "M",
        &[
            ("11", "pair 1", 1),
            ("66", "pair 6", 1),
            ("YY", "pair 0", 1),
            ("Y1", "diff 1 sum 1", 1),
            ("12", "diff 1 sum 3", 1),
            ("2Y", "diff 2 sum 2", 2),
            ("13", "diff 2 sum 4", 2),
            ("Y6", "diff 6 sum 6", 6),
        ],
    );
}

/// rules/SPEC.md R-57.
#[test]
fn markdown_two_sylops_are_the_lowest_pair_under_cook_too() {
    check(
        "CM",
        &[("66", "pair 6", 1), ("11", "pair 1", 1), ("YY", "pair 0", 1), ("1Y", "diff 1 sum 1", 1)],
    );
    check(
        "CM3",
        &[("33", "prime 3", 1), ("66", "pair 6", 1), ("11", "pair 1", 1), ("YY", "pair 0", 1)],
    );
    check("M3", &[("33", "prime 3", 1), ("11", "pair 1", 1), ("YY", "pair 0", 1)]);
}

/// rules/SPEC.md §12.4.
#[test]
fn sylop_and_natural_pairs_are_equal() {
    let none = FixTokens::default();
    assert!(worth("4Y", none).strength(none) == worth("44", none).strength(none));
    assert!(worth("13", none).strength(none) == worth("31", none).strength(none));
}
