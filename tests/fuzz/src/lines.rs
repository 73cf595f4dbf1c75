//! Bytes as history lines.

use primitives::{Credits, SeatNo};
use rules::{ALL, Hand, RuleSet, Setup, evolve, notation, play};

use crate::bytes::Bytes;

const WORDS: &[&str] = &[
    "d",
    "p1",
    "p2",
    "p3",
    "p9",
    "",
    "#",
    "# clock",
    "??",
    "deal",
    "flip",
    "roll",
    "pulse",
    "announce",
    "wild",
    "clone",
    "tokens",
    "starter",
    "draw",
    "trade",
    "stand",
    "lock",
    "unlock",
    "check",
    "bet",
    "match",
    "raise",
    "fold",
    "call-hand",
    "leave",
    "align",
    "light",
    "dark",
    "keep",
    "drop",
    "choose",
    "token",
    "prime",
    "sand",
    "blood-discard",
    "discard",
    "impostor",
    "gain",
    "swap",
    "junk",
    "select",
    "add",
    "0",
    "1",
    "6",
    "07",
    "-1",
    "9007199254740992",
    "18446744073709551616",
    "S15",
    "IdiotA",
    "s1",
    "bI",
    "sY",
    "5S",
    "c+10",
    "Y",
    "markdown",
    "target-audit",
    "+5",
    "circle",
    "\u{0}",
    "é",
];

/// Reads the bytes as lines of a hand, and plays those that are legal. Returns whether one is.
///
/// # Panics
/// Reading or playing panics.
#[must_use]
pub fn lines(bytes: &[u8]) -> bool {
    let mut bytes = Bytes::new(bytes);
    let variant = bytes.one_of(ALL);
    let rules = RuleSet::defaults(variant);
    let setup = Setup {
        rules,
        seats: (1..=3).filter_map(|seat| SeatNo::try_new(seat).ok()).collect(),
        stacks: vec![rules.min_stack(Credits::ZERO).times(9).unwrap_or(Credits::MAX); 3],
        sabacc_pot: Credits::ZERO,
        carried_pot: Credits::ZERO,
    };
    let mut hand = Hand::try_new(&setup).expect("the stacks cover what is due");
    let mut is_any_read = false;
    while !bytes.is_empty() {
        play::apply_due_shuffles(&mut hand);
        // Random bytes would seldom give a result of chance.
        if bytes.below(3) == 0
            && let Some(outcome) = play::random_outcome(&hand, &mut |n| bytes.below(n))
        {
            let event = rules::resolve_chance(&hand, outcome).expect("what may come out is taken");
            evolve(&mut hand, &event);
            continue;
        }
        let count = 1 + bytes.below(6);
        let words: Vec<&str> = (0..count).map(|_| bytes.one_of(WORDS)).collect();
        let actor = hand.to_act().map_or("d".to_owned(), |player| player.to_string());
        let line = if bytes.below(2) == 0 {
            words.join(" ")
        } else {
            format!("{actor} {}", words.join(" "))
        };
        match notation::read(&hand, &line) {
            Ok(event) => {
                is_any_read = true;
                evolve(&mut hand, &event);
            }
            Err(why) => assert!(!why.to_string().is_empty()),
        }
    }
    is_any_read
}
