//! Any bytes give an answer, never a panic.

use history::simulate::Plan;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::HAND;
use crate::simulated::RULES;

/// Reads, and replays all hands that can be read; every message must be one line.
fn survives(bytes: &[u8]) {
    match history::read(bytes) {
        Err(error) => assert!(!error.to_string().contains('\n')),
        Ok(hands) => {
            for hand in hands {
                match hand.and_then(|hand| history::replay(&hand)) {
                    Err(broken) => assert!(!broken.to_string().contains('\n')),
                    Ok(replay) => {
                        let report = history::report(&replay);
                        assert!(!report.to_json().contains('\n'));
                        assert!(!report.to_text(&[]).is_empty());
                        assert_eq!(report.next.is_none(), replay.complete);
                    }
                }
            }
        }
    }
}

/// A file of two random hands.
fn file(rules: usize, seed: u64) -> String {
    let (variant, ruleset) = RULES[rules % RULES.len()];
    let plan = Plan::try_new(variant, ruleset, 3, seed).unwrap();
    history::write(&[plan.hand(0).unwrap(), plan.hand(1).unwrap()])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn random_bytes(bytes in vec(any::<u8>(), 0..400)) {
        survives(&bytes);
    }

    #[test]
    fn random_text_after_a_good_start(text in "\\PC{0,300}") {
        survives(format!("shh = 1\n{text}").as_bytes());
        survives(HAND.replacen("p1 stand", &text, 1).as_bytes());
    }

    #[test]
    fn files_with_bytes_changed(
        rules: usize,
        seed: u64,
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = file(rules, seed).into_bytes();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        survives(&bytes);
    }

    #[test]
    fn files_with_lines_moved(
        rules: usize,
        seed: u64,
        swaps in vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..3_u8), 1..6),
    ) {
        let (variant, ruleset) = RULES[rules % RULES.len()];
        let mut hand = Plan::try_new(variant, ruleset, 3, seed).unwrap().hand(0).unwrap();
        for (a, b, how) in swaps {
            let (a, b) = (a.index(hand.actions.len()), b.index(hand.actions.len()));
            match how {
                0 => hand.actions.swap(a, b),
                1 => hand.actions[a] = hand.actions[b].clone(),
                _ => hand.actions.insert(a, hand.actions[b].clone()),
            }
        }
        survives(history::write(&[hand]).as_bytes());
    }

    #[test]
    fn files_cut_anywhere(rules: usize, seed: u64, at: prop::sample::Index) {
        let text = file(rules, seed);
        survives(&text.as_bytes()[..at.index(text.len())]);
    }
}
