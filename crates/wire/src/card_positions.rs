//! Positions of all cards of a hand, by shuffle and position: the form in which a table may record
//! them.
//!
//! The rules name cards; the dealer and the logs name positions. [`CardPositions`] translates
//! between them. It is built from the same events as the hand, so that a replay of the hand's
//! stream rebuilds it.

use std::collections::BTreeMap;

use fairness::Handle;
use proto::dealer::v1 as pb;
use rules::{Card, CardCount, Chance, Deal};

use crate::replay::DealLayout;

/// Position of each known card, and the number of cards dealt from each draw pile.
#[derive(Debug, Clone, Default)]
pub struct CardPositions {
    piles: BTreeMap<u8, Pile>,
    by_card: BTreeMap<Card, Handle>,
    by_position: BTreeMap<Handle, Card>,
    next_op: u32,
}

/// Draw pile as its last shuffle left it, with `next` cards dealt from it.
#[derive(Debug, Clone, Copy)]
struct Pile {
    op: u32,
    next: u16,
    len: u16,
}

/// Contradiction between the stored events and the rules about positions of cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    #[error("a card is named that has no known place")]
    Unknown,
    #[error("more cards leave a pile than it has")]
    PileEmpty,
    #[error("operation {got} is on record where {want} comes next")]
    Index { want: u32, got: u32 },
    #[error("a shuffle takes other cards than the rules call for")]
    OtherCards,
    #[error("a deal is no operation of chance")]
    NoOperation,
    #[error("a deal of unknown size has no layout before its cards are known")]
    NoLayout,
    #[error("a deal takes other places than the top of its pile")]
    OtherPositions,
}

impl CardPositions {
    /// Index of the next operation.
    #[must_use]
    pub fn next_op(&self) -> u32 {
        self.next_op
    }

    /// Number of cards left in a draw pile.
    #[must_use]
    pub fn remaining(&self, pile: u8) -> usize {
        self.piles.get(&pile).map_or(0, |pile| usize::from(pile.len.saturating_sub(pile.next)))
    }

    /// Position of a known card.
    pub fn position_of(&self, card: Card) -> Result<Handle, PositionError> {
        self.by_card.get(&card).copied().ok_or(PositionError::Unknown)
    }

    /// Known card at a position.
    pub fn card_at(&self, place: Handle) -> Result<Card, PositionError> {
        self.by_position.get(&place).copied().ok_or(PositionError::Unknown)
    }

    /// Makes the next operation, of any use of chance except a shuffle. Advances the index.
    pub fn operation(&mut self, kind: pb::operation::Kind) -> pb::Operation {
        let index = self.next_op;
        self.next_op += 1;
        pb::Operation { index, kind: Some(kind) }
    }

    /// Makes the shuffle of a pile: of what remains of it, top to bottom, followed by `add`.
    pub fn shuffle(&mut self, pile: u8, add: &[Card]) -> Result<pb::Operation, PositionError> {
        let fresh = add.iter().all(|card| !self.by_card.contains_key(card));
        let mut shuffle = pb::Shuffle { pile: u32::from(pile), ..Default::default() };
        let len;
        if fresh && !add.is_empty() && self.remaining(pile) == 0 {
            shuffle.first_fresh = u32::from(add[0].id());
            shuffle.fresh = u32::try_from(add.len()).map_err(|_| PositionError::OtherCards)?;
            len = add.len();
        } else {
            let mut cards = self.remaining_positions(pile);
            for &card in add {
                let place = self.by_card.remove(&card).ok_or(PositionError::Unknown)?;
                self.by_position.remove(&place);
                cards.push(place);
            }
            len = cards.len();
            shuffle.cards = cards.into_iter().map(handle_to_pb).collect();
        }
        let operation = self.operation(pb::operation::Kind::Shuffle(shuffle));
        let len = u16::try_from(len).map_err(|_| PositionError::OtherCards)?;
        self.piles.insert(pile, Pile { op: operation.index, next: 0, len });
        Ok(operation)
    }

    /// Makes the operation that asks the dealer for a use of chance. Advances the index. A deal is
    /// no operation.
    pub fn operation_for(&mut self, due: &Chance) -> Result<pb::Operation, PositionError> {
        use pb::operation::Kind;
        let kind = match due {
            Chance::Shuffle { pile, add } => return self.shuffle(*pile, add),
            Chance::Deal(_) => return Err(PositionError::NoOperation),
            Chance::Roll { sides, purpose: _ } => Kind::Roll(pb::Roll {
                sides: sides.iter().map(|&sides| u32::from(sides)).collect(),
            }),
            Chance::Pulse { ppm } => Kind::Pulse(pb::Pulse { ppm: *ppm }),
            Chance::Pick { n, purpose: _ } => Kind::Pick(pb::Pick { n: *n }),
            Chance::Sample { n, k, purpose: _ } => Kind::Sample(pb::Sample { n: *n, k: *k }),
        };
        Ok(self.operation(kind))
    }

    /// Takes the positions of a deal of known size, with the restocking shuffles that it needs.
    pub fn take_layout(&mut self, deal: &Deal) -> Result<DealLayout, PositionError> {
        let mut layout = DealLayout::default();
        for part in &deal.parts {
            let CardCount::Exactly(count) = part.count else { return Err(PositionError::NoLayout) };
            for taken in 0..usize::from(count) {
                if let Some(restock) = part.restock.as_deref()
                    && restock.after == taken
                {
                    layout.restocks.push_back(self.shuffle(part.pile, &restock.cards)?);
                }
                layout.positions.push(self.take_top(part.pile)?);
            }
        }
        Ok(layout)
    }

    /// Takes the positions of a deal without restocks. `count` is the number of cards, which is
    /// only needed for a deal of unknown size.
    pub fn take_positions(
        &mut self,
        deal: &Deal,
        count: usize,
    ) -> Result<Vec<Handle>, PositionError> {
        if let [part] = deal.parts.as_slice()
            && let CardCount::UntilOneOf(_) = part.count
        {
            return (0..count).map(|_| self.take_top(part.pile)).collect();
        }
        let DealLayout { restocks, positions: places } = self.take_layout(deal)?;
        if restocks.is_empty() { Ok(places) } else { Err(PositionError::OtherPositions) }
    }

    /// Takes the top position of a pile.
    pub(crate) fn take_top(&mut self, pile: u8) -> Result<Handle, PositionError> {
        let pile = self.piles.get_mut(&pile).ok_or(PositionError::PileEmpty)?;
        if pile.next >= pile.len {
            return Err(PositionError::PileEmpty);
        }
        let place = Handle { op: pile.op, position: pile.next };
        pile.next += 1;
        Ok(place)
    }

    /// Records the card at a position, now that it is known.
    pub fn record(&mut self, place: Handle, card: Card) {
        self.by_card.insert(card, place);
        self.by_position.insert(place, card);
    }

    /// Positions left in a draw pile, from the top.
    #[must_use]
    pub fn remaining_positions(&self, pile: u8) -> Vec<Handle> {
        self.piles.get(&pile).map_or_else(Vec::new, |pile| {
            (pile.next..pile.len).map(|position| Handle { op: pile.op, position }).collect()
        })
    }
}

/// Converts a position for the dealer's API.
#[must_use]
pub fn handle_to_pb(place: Handle) -> pb::Handle {
    pb::Handle { op: place.op, position: u32::from(place.position) }
}

/// Parses a position from the dealer's API. It must fit into 16 bits.
pub fn handle_from_pb(place: &pb::Handle) -> Result<Handle, PositionError> {
    let pb::Handle { op, position } = *place;
    let position = u16::try_from(position).map_err(|_| PositionError::OtherPositions)?;
    Ok(Handle { op, position })
}
