//! Random deals of the unseen cards, and the tally of their results.

use rand::RngExt;
use rand::rngs::StdRng;
use rules::{Card, Cards, Strength};

use super::MAX_EVALUATIONS;
use super::situation::{Opponent, Situation};

/// Packs of unseen cards, from which hands are dealt.
pub(super) struct Packs {
    packs: Vec<Vec<Card>>,
    /// Number of cards dealt from each pack.
    dealt: Vec<usize>,
}

impl Packs {
    pub(super) fn new(situation: &Situation<'_>) -> Packs {
        let packs = situation.unseen.clone();
        Packs { dealt: vec![0; packs.len()], packs }
    }

    /// Returns all cards to the packs. Their order does not matter: each deal takes a random card.
    pub(super) fn reset(&mut self) {
        self.dealt.fill(0);
    }

    /// Deals a random card from the rest of a pack.
    pub(super) fn deal(&mut self, pile: usize, generator: &mut StdRng) -> Option<Card> {
        let (pack, dealt) = (self.packs.get_mut(pile)?, self.dealt.get_mut(pile)?);
        if *dealt >= pack.len() {
            return None;
        }
        let any = generator.random_range(*dealt..pack.len());
        pack.swap(*dealt, any);
        *dealt += 1;
        pack.get(*dealt - 1).copied()
    }

    /// Returns an opponent's hand: its open cards and random hidden ones, from each pack in turn.
    pub(super) fn hand(&mut self, other: &Opponent, generator: &mut StdRng) -> Cards {
        let mut cards = other.open.clone();
        for nth in 0..other.hidden {
            let pile = if self.packs.len() > 1 { nth % self.packs.len() } else { 0 };
            cards.extend(self.deal(pile, generator));
        }
        cards
    }
}

/// Best strength among the opponents in one deal, and the number of hands that have it.
pub(super) struct Rivals {
    best: Option<Strength>,
    count: i64,
}

impl Rivals {
    pub(super) fn of(strengths: impl Iterator<Item = Option<Strength>>) -> Rivals {
        let mut rivals = Rivals { best: None, count: 0 };
        for strength in strengths.flatten() {
            match rivals.best.cmp(&Some(strength)) {
                std::cmp::Ordering::Less => rivals = Rivals { best: Some(strength), count: 1 },
                std::cmp::Ordering::Equal => rivals.count += 1,
                std::cmp::Ordering::Greater => {}
            }
        }
        rivals
    }

    /// Returns the share of the pot that a hand wins, in thousandths.
    pub(super) fn share(&self, mine: Option<Strength>) -> i64 {
        match (mine, self.best) {
            (None, None | Some(_)) => 0,
            (Some(_), None) => WHOLE_POT,
            (Some(mine), Some(best)) => match mine.cmp(&best) {
                std::cmp::Ordering::Less => 0,
                std::cmp::Ordering::Equal => WHOLE_POT / (self.count + 1),
                std::cmp::Ordering::Greater => WHOLE_POT,
            },
        }
    }
}

/// The whole pot, in thousandths.
pub(super) const WHOLE_POT: i64 = 1000;

/// Results of one choice over many deals.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Tally {
    deals: i64,
    won: i64,
    bombed: i64,
    won_special: i64,
}

impl Tally {
    pub(super) fn record(&mut self, share: i64, bombed: bool) {
        self.deals += 1;
        self.won += share;
        self.bombed += i64::from(bombed);
    }

    /// Counts a share of the pot that is won with a special hand.
    pub(super) fn record_special(&mut self, share: i64) {
        self.won_special += share;
    }

    /// Returns the average share of the Sabacc Pot, in thousandths.
    pub(super) fn special_equity(self) -> i64 {
        self.won_special / self.deals.max(1)
    }

    /// Returns the average share of the pot, in thousandths.
    pub(super) fn equity(self) -> i64 {
        self.won / self.deals.max(1)
    }

    /// Returns how often the hand cannot win anything, in thousandths.
    pub(super) fn bomb_rate(self) -> i64 {
        WHOLE_POT * self.bombed / self.deals.max(1)
    }
}

/// Returns the number of deals to evaluate if each needs `hands` evaluations.
pub(super) fn deal_count(hands: usize) -> usize {
    (MAX_EVALUATIONS / hands.max(1)).clamp(20, 400)
}
