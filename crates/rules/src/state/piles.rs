//! Draw piles and discards.
//!
//! A pile knows which cards it holds, not their order: the shoe knows that. A deal that the pile
//! cannot cover takes the discards in. Which ones, and after how many cards, is fixed when the deal
//! becomes due, so that the caller can shuffle them in time.
//!
//! Specification: rules/SPEC.md §3.4.

use smallvec::SmallVec;

use crate::cards::{Card, CardSet, Cards};
use crate::chance::{
    CardCount, Chance, Deal, DealPart, DealReason, Destination, Resolved, Restock,
};
use crate::refusal::Refusal;
use crate::state::Core;
use crate::variant::PileSpec;

/// A draw pile with its discards.
#[derive(Debug, Clone)]
pub(crate) struct Pile {
    spec: &'static PileSpec,
    /// Cards in the draw pile now.
    draw_pile: CardSet,
    /// Number of cards in the draw pile once everything that is due has been dealt.
    planned_len: usize,
    /// Top card last.
    discards: Cards,
}

impl Pile {
    pub(crate) fn new(spec: &'static PileSpec) -> Pile {
        Pile { spec, draw_pile: CardSet::EMPTY, planned_len: 0, discards: Cards::new() }
    }

    pub(crate) const fn draw_pile(&self) -> CardSet {
        self.draw_pile
    }

    /// Number of cards that can still be dealt, discards included.
    pub(crate) fn available(&self) -> usize {
        let stays = usize::from(self.spec.open_discards);
        self.planned_len + self.discards.len().saturating_sub(stays)
    }

    /// The face-up card of an open discard pile.
    pub(crate) fn top_discard(&self) -> Option<Card> {
        self.discards.last().copied().filter(|_| self.spec.open_discards)
    }

    pub(crate) fn take_top_discard(&mut self) -> Option<Card> {
        if self.spec.open_discards { self.discards.pop() } else { None }
    }

    /// Takes all discards, top card last.
    pub(crate) fn take_discards(&mut self) -> Cards {
        std::mem::take(&mut self.discards)
    }

    /// Plans a deal of `count` cards, or of as many as there are.
    fn plan(&mut self, pile: u8, count: usize) -> DealPart {
        let count = count.min(self.available());
        let mut restock = None;
        if count > self.planned_len {
            let stay = usize::from(self.spec.open_discards).min(self.discards.len());
            let top = self.discards.split_off_last(stay);
            let cards = std::mem::replace(&mut self.discards, top);
            let after = self.planned_len;
            self.planned_len += cards.len();
            restock = Some(Box::new(Restock { after, cards }));
        }
        self.planned_len -= count;
        let count = CardCount::Exactly(u8::try_from(count).unwrap_or(u8::MAX));
        DealPart { pile, count, restock }
    }
}

/// Splits off the last `count` items.
trait SplitLast {
    fn split_off_last(&mut self, count: usize) -> Self;
}

impl SplitLast for Cards {
    fn split_off_last(&mut self, count: usize) -> Cards {
        let at = self.len() - count;
        let last = Cards::from_slice(&self[at..]);
        self.truncate(at);
        last
    }
}

impl Core {
    fn pile_mut(&mut self, pile: u8) -> &mut Pile {
        &mut self.piles[usize::from(pile)]
    }

    /// Gathers every card of the pile, wherever it is, and shuffles them: at the start of a hand,
    /// or of a round with a fresh shuffle. Hands must be empty of its cards.
    pub(crate) fn fresh_shuffle(&mut self, pile: u8) {
        let spec = self.pile_mut(pile).spec;
        *self.pile_mut(pile) = Pile::new(spec);
        let mut add = Cards::with_capacity(usize::from(spec.end - spec.first));
        add.extend(spec.cards());
        self.shuffle_in(pile, add);
    }

    /// Puts cards, which lie nowhere else, into the draw pile and shuffles it.
    pub(crate) fn shuffle_in(&mut self, pile: u8, add: Cards) {
        self.pile_mut(pile).planned_len += add.len();
        self.request(Chance::Shuffle { pile, add });
    }

    /// Makes a deal of `count` cards from one pile due, or of as many as there are. Returns whether
    /// there are any.
    pub(crate) fn deal(
        &mut self,
        to: Destination,
        pile: u8,
        count: usize,
        why: DealReason,
    ) -> bool {
        let shown = matches!(why, DealReason::TieBreak | DealReason::Flip | DealReason::Extra)
            || to == Destination::Table;
        let part = self.pile_mut(pile).plan(pile, count);
        if part.count == CardCount::Exactly(0) {
            return false;
        }
        self.request(Chance::Deal(Deal {
            to,
            parts: SmallVec::from_iter([part]),
            shown,
            reason: why,
        }));
        true
    }

    /// Makes one deal of one card from each pile due, as one line: Kessel's hands and flips.
    pub(crate) fn deal_from_each(&mut self, to: Destination, why: DealReason) {
        let shown = to == Destination::Table;
        let mut parts: SmallVec<[DealPart; 2]> = SmallVec::new();
        for pile in 0..u8::try_from(self.piles.len()).unwrap_or(0) {
            let part = self.pile_mut(pile).plan(pile, 1);
            if part.count != CardCount::Exactly(0) {
                parts.push(part);
            }
        }
        if !parts.is_empty() {
            self.request(Chance::Deal(Deal { to, parts, shown, reason: why }));
        }
    }

    /// Makes a face-up deal due that goes on until the first card of `stop`.
    pub(crate) fn deal_until(&mut self, to: Destination, pile: u8, stop: CardSet, why: DealReason) {
        let part = DealPart { pile, count: CardCount::UntilOneOf(stop), restock: None };
        let parts = SmallVec::from_iter([part]);
        self.request(Chance::Deal(Deal { to, parts, shown: true, reason: why }));
    }

    /// Puts a card on top of the discards.
    pub(crate) fn discard(&mut self, pile: u8, card: Card) {
        self.pile_mut(pile).discards.push(card);
    }

    /// Puts a whole hand face down to the discards: under them if the pile is open.
    pub(crate) fn discard_hand(&mut self, pile: u8, cards: &[Card]) {
        let pile = self.pile_mut(pile);
        if pile.spec.open_discards {
            pile.discards.insert_from_slice(0, cards);
        } else {
            pile.discards.extend_from_slice(cards);
        }
    }

    /// Applies a use of chance to the piles.
    pub(crate) fn apply_outcome(&mut self, resolved: Resolved<'_>) {
        match resolved {
            Resolved::Shuffled { pile, add } => self.apply_shuffle(pile, add),
            Resolved::Dealt { deal, cards } => self.apply_deal(deal, cards),
            Resolved::Rolled { .. }
            | Resolved::Pulsed(_)
            | Resolved::Picked { .. }
            | Resolved::Sampled { .. } => {}
        }
    }

    /// Applies a shuffle: the added cards are in the draw pile.
    fn apply_shuffle(&mut self, pile: u8, add: &[Card]) {
        let pile = self.pile_mut(pile);
        pile.draw_pile = pile.draw_pile.union(add.iter().copied().collect());
    }

    /// Applies a checked deal: the cards leave the draw piles.
    fn apply_deal(&mut self, deal: &Deal, mut cards: &[Card]) {
        for part in &deal.parts {
            let pile = self.pile_mut(part.pile);
            let count = match part.count {
                CardCount::Exactly(count) => usize::from(count),
                CardCount::UntilOneOf(_) => {
                    pile.planned_len = pile.planned_len.saturating_sub(cards.len());
                    cards.len()
                }
            };
            let (ours, rest) = cards.split_at(count.min(cards.len()));
            if let Some(restock) = &part.restock {
                pile.draw_pile = pile.draw_pile.union(restock.cards.iter().copied().collect());
            }
            pile.draw_pile = pile.draw_pile.minus(ours.iter().copied().collect());
            cards = rest;
        }
    }

    /// Checks cards against a deal that is due: enough of them, all different, all in the piles.
    pub(crate) fn check_deal(&self, deal: &Deal, cards: &[Card]) -> Result<(), Refusal> {
        let mut at = 0;
        for part in &deal.parts {
            let start = at;
            let mut there = self.piles[usize::from(part.pile)].draw_pile;
            while part.count.needs_more(&cards[start..at]) {
                if let Some(restock) = part.restock.as_ref().filter(|r| start + r.after == at) {
                    there = there.union(restock.cards.iter().copied().collect());
                }
                let Some(&card) = cards.get(at) else { return Err(wrong_count(deal, cards)) };
                if !there.contains(card) {
                    return Err(Refusal::CardNotThere { position: at + 1 });
                }
                there = there.without(card);
                at += 1;
            }
        }
        if at == cards.len() { Ok(()) } else { Err(wrong_count(deal, cards)) }
    }
}

fn wrong_count(deal: &Deal, cards: &[Card]) -> Refusal {
    let mut want = 0;
    for part in &deal.parts {
        match part.count {
            CardCount::Exactly(count) => want += usize::from(count),
            CardCount::UntilOneOf(_) => return Refusal::WrongEnd,
        }
    }
    Refusal::CardCount { want, got: cards.len() }
}
