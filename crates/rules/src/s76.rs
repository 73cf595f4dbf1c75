//! Totals in the 76-card pack: values of hands in the games that play to 23.
//!
//! Specification: rules/SPEC.md §9.5.

mod showdown;

pub(crate) use showdown::{AllBomb, Showdown};

use crate::cards::{Card, CardSet};
use crate::evaluator::{Evaluate, Evaluator, Strength};
use crate::games::GameState;
use crate::rank::Rank;
use crate::ruleset::{Ranking, RuleSet};

/// First id of the faces: Star A, Star B, Evil A …
const FIRST_FACE_ID: u8 = 60;
/// Set of all face cards: both copies of each, A before B.
pub(crate) const FACE_CARDS: CardSet = CardSet::range(FIRST_FACE_ID, 76);
const FACE_VALUES: [i16; 8] = [-17, -15, -14, -13, -11, -8, -2, 0];

const VALUES: [i16; 76] = {
    let mut values = [0; 76];
    let mut suited = 0;
    while suited < 4 {
        let mut value = 1;
        while value <= 15 {
            values[suited * 15 + value - 1] = SUITED_VALUES[value];
            value += 1;
        }
        suited += 1;
    }
    let mut face = 0;
    while face < 16 {
        values[FIRST_FACE_ID as usize + face] = FACE_VALUES[face / 2];
        face += 1;
    }
    values
};
const SUITED_VALUES: [i16; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Value of a hand of the 76-card pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Worth {
    IdiotsArray,
    /// A total of 23 or -23.
    Pure(i16),
    Total(i16),
    /// A total over 23, under -23 or of 0.
    Bombed(i16),
}

impl From<Worth> for Rank {
    fn from(worth: Worth) -> Rank {
        match worth {
            Worth::IdiotsArray => Rank::IdiotsArray,
            Worth::Pure(total) => Rank::Pure(total),
            Worth::Total(total) => Rank::Total(total),
            Worth::Bombed(total) => Rank::Bombed(total),
        }
    }
}

impl Worth {
    pub(crate) fn of(cards: &[Card]) -> Worth {
        if is_idiots_array(cards) { Worth::IdiotsArray } else { Worth::of_total(total(cards)) }
    }

    pub(crate) const fn of_total(total: i16) -> Worth {
        match total {
            23 | -23 => Worth::Pure(total),
            -22..=-1 | 1..=22 => Worth::Total(total),
            _ => Worth::Bombed(total),
        }
    }

    /// Sort key; higher is better. None for a bombed-out hand.
    pub(crate) const fn strength(self, ranking: Ranking) -> Option<i16> {
        match (self, ranking) {
            (Worth::IdiotsArray, _) => Some(1000),
            (Worth::Pure(_), _) => Some(500),
            (Worth::Total(total), Ranking::Signed) => Some(total),
            (Worth::Total(total), Ranking::Absolute) => Some(total.abs()),
            (Worth::Bombed(_), _) => None,
        }
    }

    /// Whether the hand wins the Sabacc Pot too.
    pub(crate) const fn is_special(self) -> bool {
        matches!(self, Worth::IdiotsArray | Worth::Pure(_))
    }

    /// Best value of `own` cards, all of which count, with any of `optional`. If every choice
    /// bombs, it is that of the own total alone.
    pub(crate) fn best_with(own: &[Card], optional: CardSet, ranking: Ranking) -> Worth {
        if optional.is_empty() {
            return Worth::of(own);
        }
        if completes_idiots_array(own, optional) {
            return Worth::IdiotsArray;
        }
        let own_total = total(own);
        let mut best = Worth::of_total(own_total);
        for sum in reachable_sums(optional) {
            let worth = Worth::of_total(own_total + sum);
            let key = |worth: Worth| (worth.strength(ranking), worth.total());
            if worth.strength(ranking).is_some() && key(worth) > key(best) {
                best = worth;
            }
        }
        best
    }

    const fn total(self) -> i16 {
        match self {
            Worth::IdiotsArray => 0,
            Worth::Pure(total) | Worth::Total(total) | Worth::Bombed(total) => total,
        }
    }
}

pub(crate) fn value(card: Card) -> i16 {
    VALUES[card.index()]
}

pub(crate) fn total(cards: &[Card]) -> i16 {
    cards.iter().map(|&card| value(card)).sum()
}

fn is_idiot(card: Card) -> bool {
    card.id() >= 74
}

/// Whether the cards are exactly three: an Idiot, a 2 and a 3.
pub(crate) fn is_idiots_array(cards: &[Card]) -> bool {
    cards.len() == 3 && roles(cards.iter().copied()) == 0b111
}

/// One bit for each of Idiot, 2 and 3 that is among the cards.
fn roles(cards: impl Iterator<Item = Card>) -> u8 {
    cards.fold(0, |roles, card| roles | role(card))
}

fn role(card: Card) -> u8 {
    match value(card) {
        _ if is_idiot(card) => 0b001,
        2 => 0b010,
        3 => 0b100,
        _ => 0,
    }
}

/// Whether `own` and some of `optional` together are an Idiot's Array.
fn completes_idiots_array(own: &[Card], optional: CardSet) -> bool {
    let ours = roles(own.iter().copied());
    let no_other = usize::try_from(ours.count_ones()) == Ok(own.len());
    no_other && own.len() <= 3 && ours | roles(optional.iter()) == 0b111
}

/// Every sum of some of these cards; 0 stands for none of them.
fn reachable_sums(cards: CardSet) -> impl Iterator<Item = i16> {
    // All negative faces together sum to -160, all suited cards to 480.
    const LOWEST: i16 = -160;
    const SIZE: usize = 641;
    let at = |sum: i16| usize::try_from(sum - LOWEST).ok().filter(|&at| at < SIZE);
    let mut sums = [false; SIZE];
    sums[160] = true;
    for card in cards.iter() {
        let before = sums;
        for sum in (LOWEST..=480).filter(|&sum| at(sum).is_some_and(|at| before[at])) {
            if let Some(at) = at(sum + value(card)) {
                sums[at] = true;
            }
        }
    }
    (LOWEST..=480).filter(move |&sum| at(sum).is_some_and(|at| sums[at]))
}

impl Evaluate for Ranking {
    fn strength(&self, cards: &[Card]) -> Option<Strength> {
        Worth::of(cards).strength(*self).map(Strength::of)
    }

    fn rank(&self, cards: &[Card]) -> Option<Rank> {
        Some(Worth::of(cards).into())
    }
}

/// Makes the evaluator of hands that compare by the rule set's ranking.
pub(crate) fn evaluator(rules: &RuleSet, _: &GameState) -> Option<Evaluator> {
    Some(Evaluator::new(rules.ranking))
}

#[cfg(test)]
mod tests;
