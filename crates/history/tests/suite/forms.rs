//! Text and JSON: a written history is read back unchanged, and written again as the first text.

use history::{HandHistory, json, read, write, write_hand};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::simulated::each;

/// history/SPEC.md §1.2, §8.1.
#[test]
fn made_up_hands_go_through_every_form_unchanged() {
    let mut file = history::HEADER.to_owned();
    let mut all = Vec::new();
    each(4, |hand| {
        let text = write(std::slice::from_ref(hand));
        let again = read(text.as_bytes()).unwrap();
        assert_eq!(again, [Ok(hand.clone())]);
        assert!(text.lines().all(|line| !line.starts_with("  \"") || line.len() <= 110), "{text}");
        assert_eq!(json::read(&json::write(hand)).unwrap(), *hand);
        file.push_str(&write_hand(hand));
        all.push(hand.clone());
    });
    let again: Vec<HandHistory> = read(file.as_bytes()).unwrap().into_iter().flatten().collect();
    assert_eq!(again, all);
    assert_eq!(write(&again), file);
}

/// history/SPEC.md §9.1.
#[test]
fn the_json_form_takes_what_the_mapping_allows() {
    let text = r#"{"variant":"dice","seats":["1",2],"players":["a","b"],
        "starting_stacks":[100,"100"],"carriedPot":null,"settlement":{},"id":null,
        "finishingStacks":{"amounts":["1"]},"ruleset":[{"name":"holdem","flag":false}]}"#;
    let hand = json::read(text).unwrap();
    assert_eq!(hand.seats, [1, 2]);
    assert_eq!(hand.starting_stacks.len(), 2);
    assert_eq!(hand.settlement, Some(Vec::new()));
    assert_eq!(hand.id, None);
    assert_eq!(hand.ruleset, [("holdem".to_owned(), rules::FieldValue::Flag(false))]);
    for bad in [
        "",
        "[]",
        r#"{"settlement":[]}"#,
        r#"{"settlement":{"lines":"p1"}}"#,
        r#"{"unknown":1}"#,
        r#"{"seats":["01"]}"#,
        r#"{"seats":[-1]}"#,
        r#"{"sabaccPot":"9007199254740992"}"#,
        r#"{"ruleset":[{"name":"holdem"}]}"#,
        r#"{"ruleset":[{"name":"holdem","flag":true,"number":"1"}]}"#,
    ] {
        assert!(json::read(bad).is_err(), "{bad}");
    }
}

fn any_field() -> impl Strategy<Value = rules::FieldValue> {
    prop_oneof![
        (0..1_u64 << 53).prop_map(rules::FieldValue::Number),
        any::<String>().prop_map(rules::FieldValue::Text),
        any::<bool>().prop_map(rules::FieldValue::Flag),
        vec(any::<String>(), 0..3).prop_map(rules::FieldValue::List),
    ]
}

fn any_amount() -> impl Strategy<Value = primitives::Credits> {
    (0..1_u64 << 53).prop_map(|amount| primitives::Credits::try_new(amount).unwrap())
}

prop_compose! {
    /// Any history that can be written, sensible or not.
    fn any_history()(
        (variant, ruleset) in ("[a-z]{0,8}x", proptest::collection::btree_map("[^_]\\PC{0,5}", any_field(), 0..4)),
        texts in vec(option::of(any::<String>()), 6),
        seats in vec(0..1_u64 << 53, 0..4),
        players in vec(any::<String>(), 0..4),
        starting_stacks in vec(any_amount(), 0..4),
        pots in vec(any_amount(), 2),
        actions in vec("\\PC{0,60}|p1 stand|d deal p1 \\?\\?|p2 bet 7 # clock", 0..12),
        settlement in option::of(vec(any::<String>(), 0..3)),
        finishing_stacks in option::of(vec(any_amount(), 0..3)),
        finishing in vec(option::of(any_amount()), 2),
    ) -> HandHistory {
        let mut texts = texts.into_iter();
        let mut next = || texts.next().flatten();
        HandHistory {
            variant,
            ruleset: ruleset.into_iter().collect(),
            id: next(),
            table: next(),
            started_at: next(),
            engine: next(),
            commitment: next(),
            reveal: next(),
            seats,
            players,
            starting_stacks,
            sabacc_pot: pots[0],
            carried_pot: pots[1],
            actions,
            settlement,
            finishing_stacks,
            finishing_sabacc_pot: finishing[0],
            finishing_carried_pot: finishing[1],
        }
    }
}

proptest! {
    /// history/SPEC.md §1.2.
    #[test]
    fn whatever_a_history_says_it_says_it_in_every_form(hand in any_history()) {
        let text = write(std::slice::from_ref(&hand));
        prop_assert_eq!(read(text.as_bytes()).map_err(|error| error.to_string()), Ok(vec![Ok(hand.clone())]), "{}", text);
        let two = write(&[hand.clone(), hand.clone()]);
        prop_assert_eq!(read(two.as_bytes()).map_err(|error| error.to_string()), Ok(vec![Ok(hand.clone()), Ok(hand.clone())]));
        prop_assert_eq!(json::read(&json::write(&hand)).unwrap(), hand);
    }
}
