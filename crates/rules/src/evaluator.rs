//! Comparison of hands without a table around them: for bots, explanations and benchmarks.
//!
//! The value of a hand by itself depends only on the rule set and on the parts of the game's state
//! that change what cards count. Ties that a table breaks with further cards are
//! ties here. In Force sabacc a table sums up sides over a whole layer; here hands compare as those
//! of one side do.

use std::fmt;
use std::sync::Arc;

use crate::cards::Card;
use crate::games::GameState;
use crate::rank::Rank;
use crate::ruleset::RuleSet;

/// Evaluator of the hands of one game.
#[derive(Debug, Clone)]
pub struct Evaluator(Arc<dyn Evaluate>);

/// Strength of a hand. Compares only with others of the same [`Evaluator`]; greater is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Strength(pub(crate) [i16; 6]);

/// Value of hands by the rules of one game.
pub(crate) trait Evaluate: fmt::Debug + Send + Sync {
    fn strength(&self, cards: &[Card]) -> Option<Strength>;

    fn rank(&self, cards: &[Card]) -> Option<Rank>;

    fn chips_due(&self, cards: &[Card]) -> Option<u8> {
        let _ = cards;
        None
    }
}

impl Strength {
    pub(crate) const fn of(strength: i16) -> Strength {
        Strength([strength, 0, 0, 0, 0, 0])
    }
}

impl Evaluator {
    pub(crate) fn new(values: impl Evaluate + 'static) -> Evaluator {
        Evaluator(Arc::new(values))
    }

    /// Evaluator of a game under this rule set and in this state, which is the game's. None before
    /// the state says what cards count, and for games without an evaluator.
    #[must_use]
    pub fn for_state(rules: &RuleSet, state: &GameState) -> Option<Evaluator> {
        (rules.variant().evaluator)(rules, state)
    }

    /// Strength of a hand whose cards all come from the deck in play. None for a hand that cannot
    /// win: bombed out, over eleven, or no hand of the game, such as a Kessel hand with an Impostor
    /// without a value.
    #[must_use]
    pub fn strength(&self, cards: &[Card]) -> Option<Strength> {
        self.0.strength(cards)
    }

    /// Rank of a hand, as a hand history writes it; none if it is no hand of the game.
    #[must_use]
    pub fn rank(&self, cards: &[Card]) -> Option<Rank> {
        self.0.rank(cards)
    }

    /// Number of chips that losing with these cards costs in Kessel; none in other games.
    #[must_use]
    pub fn chips_due(&self, cards: &[Card]) -> Option<u8> {
        self.0.chips_due(cards)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c62::Suit;
    use crate::cards::Cards;
    use crate::deck::{Deck, P42};
    use crate::games::coruscant::{CoruscantState, worth::Target};
    use crate::games::eleven::{ElevenState, worth::Announced};
    use crate::games::force::ForceState;
    use crate::games::kessel::{KesselState, ranking::FixTokens};
    use crate::games::shifting::ShiftingState;
    use crate::games::spike::SpikeState;
    use crate::player::PlayerSet;
    use crate::variant::variant;
    use smallvec::SmallVec;

    fn hand(deck: &Deck, codes: &str) -> Cards {
        codes.split(' ').map(|code| deck.parse(code).nth(0).unwrap()).collect()
    }

    fn kessel(fix_tokens: FixTokens) -> GameState {
        GameState::Kessel(KesselState {
            starter: None,
            lap: 0,
            sand_discard: None,
            blood_discard: None,
            fix_tokens,
            prime_dice: None,
            standing: PlayerSet::EMPTY,
            immune: PlayerSet::EMPTY,
            embargoed: PlayerSet::EMPTY,
            players: Vec::new(),
        })
    }

    fn eleven(wild: &str, clone: &str) -> GameState {
        let face = |face| u8::try_from(P42.faces().position(|other| other == face).unwrap());
        let announced = Announced { wild: face(wild).unwrap(), clone: face(clone).unwrap() };
        GameState::Eleven(ElevenState { announced: Some(announced), stood: PlayerSet::EMPTY })
    }

    fn coruscant(target: Option<Target>) -> GameState {
        GameState::Coruscant(CoruscantState { target, selections: Vec::new() })
    }

    /// Checks hands, best first; the last one may have no strength.
    fn check(id: &str, state: &GameState, ladder: &[(&str, &str)]) {
        let variant = variant(id).unwrap();
        let scale = Evaluator::for_state(&RuleSet::defaults(variant), state).unwrap();
        let strengths: Vec<Option<Strength>> = ladder
            .iter()
            .map(|(codes, rank)| {
                let cards = hand(variant.deck, codes);
                assert_eq!(scale.rank(&cards).unwrap().to_string(), *rank, "{id} {codes}");
                scale.strength(&cards)
            })
            .collect();
        assert!(strengths.windows(2).all(|pair| pair[0] > pair[1]), "{id}: {strengths:?}");
    }

    #[test]
    fn hands_compare_as_at_the_table() {
        check(
            "dice",
            &GameState::Dice(ShiftingState { declared_totals: SmallVec::new() }),
            &[
                ("IdiotA S2 C3", "idiots-array"),
                ("S12 C11", "pure 23"),
                ("S1 QueenA S2", "total 1"),
                ("StarA S1", "total -16"),
                ("S12 C12", "bombed 24"),
            ],
        );
        check(
            "force",
            &GameState::Force(ForceState { sides: [None; 8] }),
            &[
                ("EnduranceA StarA S2", "natural -23"),
                ("S12 C11", "natural 23"),
                ("StarA QueenA", "light -19"),
                ("S12 C7", "light 19"),
                ("IdiotA", "bombed 0"),
            ],
        );
        check(
            "kessel",
            &kessel(FixTokens { prime: Some(4), ..FixTokens::default() }),
            &[
                ("sY bY", "pure"),
                ("s4 b4", "prime 4"),
                ("s1 b1", "pair 1"),
                ("s2 b3", "diff 1 sum 5"),
            ],
        );
        check(
            "kessel",
            &kessel(FixTokens { major_fraud: true, ..FixTokens::default() }),
            &[("sI bI", "pair 6"), ("s1 bI", "diff 5 sum 7")],
        );
        check(
            "eleven",
            &eleven("5S", "1H"),
            &[
                ("5S 5H", "11 in 2"),
                ("5D 4H 2S", "11 in 3"),
                ("4S 1H", "8 in 2"),
                ("4S 4H 4D", "over in 3"),
            ],
        );
        check(
            "spike",
            &GameState::Spike(SpikeState { top_discard: None }),
            &[
                ("Y Y", "pure"),
                ("Y c+3 t-3", "yee-haa"),
                ("c+3 t-3", "sabacc-pair"),
                ("c+3 t-2", "nulrhek"),
            ],
        );
        check(
            "coruscant",
            &coruscant(Some(Target { total: 5, suit: Suit::Circle })),
            &[
                ("c+5", "off 0 suit 1 total 5 high 5"),
                ("t+5", "off 0 suit 0 total 5 high 5"),
                ("t+4 c+2", "off 1 suit 1 total 6 high 4"),
            ],
        );
    }

    #[test]
    fn what_is_no_hand_is_worth_nothing() {
        let rules = RuleSet::defaults(variant("kessel").unwrap());
        let scale = Evaluator::for_state(&rules, &kessel(FixTokens::default())).unwrap();
        let deck = rules.variant().deck;
        for codes in ["s1", "s1 s2", "s1 b2 b3", "sI b2"] {
            let cards = hand(deck, codes);
            assert_eq!((scale.strength(&cards), scale.rank(&cards)), (None, None), "{codes}");
            assert_eq!(scale.chips_due(&cards), None);
        }
        assert_eq!(scale.chips_due(&hand(deck, "s1 b6")), Some(5));
    }

    #[test]
    fn hands_have_no_value_before_chance_says_what_counts() {
        for (id, state) in [
            ("eleven", GameState::Eleven(ElevenState { announced: None, stood: PlayerSet::EMPTY })),
            ("coruscant", coruscant(None)),
            ("kessel", coruscant(None)),
        ] {
            let rules = RuleSet::defaults(variant(id).unwrap());
            assert!(Evaluator::for_state(&rules, &state).is_none(), "{id}");
        }
    }
}
