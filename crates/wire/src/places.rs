//! Where every card of a hand lies, by shuffle and position: what a table may write down.
//!
//! The rules speak of cards, the dealer and the logs of places. This is the dictionary between them,
//! built from the same events as the hand, so that whoever replays a hand's stream can rebuild it.

use std::collections::BTreeMap;

use fairness::Handle;
use proto::dealer::v1 as pb;
use rules::{Card, Chance, Count, Deal};

use crate::replay::Layout;

/// Which place each known card has, and how far each draw pile is used up.
#[derive(Debug, Clone, Default)]
pub struct Places {
    piles: BTreeMap<u8, Pile>,
    of_card: BTreeMap<Card, Handle>,
    at: BTreeMap<Handle, Card>,
    next_op: u32,
}

/// A draw pile as its last shuffle left it, `next` cards of it dealt.
#[derive(Debug, Clone, Copy)]
struct Pile {
    op: u32,
    next: u16,
    len: u16,
}

/// The stored events and the rules disagree about where cards are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Misplaced {
    #[error("a card is named that has no known place")]
    NoPlace,
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
    OtherPlaces,
}

impl Places {
    /// The index of the next operation.
    #[must_use]
    pub fn next_op(&self) -> u32 {
        self.next_op
    }

    /// The number of cards left in a draw pile.
    #[must_use]
    pub fn left(&self, pile: u8) -> usize {
        self.piles.get(&pile).map_or(0, |pile| usize::from(pile.len.saturating_sub(pile.next)))
    }

    /// Where a known card lies.
    pub fn of(&self, card: Card) -> Result<Handle, Misplaced> {
        self.of_card.get(&card).copied().ok_or(Misplaced::NoPlace)
    }

    /// Which known card lies there.
    pub fn card_at(&self, place: Handle) -> Result<Card, Misplaced> {
        self.at.get(&place).copied().ok_or(Misplaced::NoPlace)
    }

    /// The next operation as any use of chance but a shuffle; counts it.
    pub fn operation(&mut self, kind: pb::operation::Kind) -> pb::Operation {
        let index = self.next_op;
        self.next_op += 1;
        pb::Operation { index, kind: Some(kind) }
    }

    /// Shuffles what remains of a pile, top to bottom, and then `add`, into that pile.
    pub fn shuffle(&mut self, pile: u8, add: &[Card]) -> Result<pb::Operation, Misplaced> {
        let fresh = add.iter().all(|card| !self.of_card.contains_key(card));
        let mut shuffle = pb::Shuffle { pile: u32::from(pile), ..Default::default() };
        let len;
        if fresh && !add.is_empty() && self.left(pile) == 0 {
            shuffle.first_fresh = u32::from(add[0].id());
            shuffle.fresh = u32::try_from(add.len()).map_err(|_| Misplaced::OtherCards)?;
            len = add.len();
        } else {
            let mut cards = self.rest(pile);
            for &card in add {
                let place = self.of_card.remove(&card).ok_or(Misplaced::NoPlace)?;
                self.at.remove(&place);
                cards.push(place);
            }
            len = cards.len();
            shuffle.cards = cards.into_iter().map(handle_to_pb).collect();
        }
        let operation = self.operation(pb::operation::Kind::Shuffle(shuffle));
        let len = u16::try_from(len).map_err(|_| Misplaced::OtherCards)?;
        self.piles.insert(pile, Pile { op: operation.index, next: 0, len });
        Ok(operation)
    }

    /// A use of chance as the dealer is asked for it; counts it. A deal is no operation.
    pub fn ask(&mut self, due: &Chance) -> Result<pb::Operation, Misplaced> {
        use pb::operation::Kind;
        let kind = match due {
            Chance::Shuffle { pile, add } => return self.shuffle(*pile, add),
            Chance::Deal(_) => return Err(Misplaced::NoOperation),
            Chance::Roll { sides, purpose: _ } => Kind::Roll(pb::Roll {
                sides: sides.iter().map(|&sides| u32::from(sides)).collect(),
            }),
            Chance::Pulse { ppm } => Kind::Pulse(pb::Pulse { ppm: *ppm }),
            Chance::Pick { n, purpose: _ } => Kind::Pick(pb::Pick { n: *n }),
            Chance::Sample { n, k, purpose: _ } => Kind::Sample(pb::Sample { n: *n, k: *k }),
        };
        Ok(self.operation(kind))
    }

    /// Where the cards of a deal of a known size come from; they and the restocks on the way are
    /// taken.
    pub fn lay_out(&mut self, deal: &Deal) -> Result<Layout, Misplaced> {
        let mut layout = Layout::default();
        for part in &deal.parts {
            let Count::Exactly(count) = part.count else { return Err(Misplaced::NoLayout) };
            for taken in 0..usize::from(count) {
                if let Some(restock) = part.restock.as_deref()
                    && restock.after == taken
                {
                    layout.restocks.push_back(self.shuffle(part.pile, &restock.cards)?);
                }
                layout.places.push(self.take(part.pile)?);
            }
        }
        Ok(layout)
    }

    /// Where the cards of a deal without restocks come from; they are taken. `count` is their
    /// number, which only a deal of unknown size needs.
    pub fn take_for(&mut self, deal: &Deal, count: usize) -> Result<Vec<Handle>, Misplaced> {
        if let [part] = deal.parts.as_slice()
            && let Count::UntilOneOf(_) = part.count
        {
            return (0..count).map(|_| self.take(part.pile)).collect();
        }
        let Layout { restocks, places } = self.lay_out(deal)?;
        if restocks.is_empty() { Ok(places) } else { Err(Misplaced::OtherPlaces) }
    }

    /// Takes the top card's place off a pile.
    pub fn take(&mut self, pile: u8) -> Result<Handle, Misplaced> {
        let pile = self.piles.get_mut(&pile).ok_or(Misplaced::PileEmpty)?;
        if pile.next >= pile.len {
            return Err(Misplaced::PileEmpty);
        }
        let place = Handle { op: pile.op, position: pile.next };
        pile.next += 1;
        Ok(place)
    }

    /// The card at a place has become known here.
    pub fn learn(&mut self, place: Handle, card: Card) {
        self.of_card.insert(card, place);
        self.at.insert(place, card);
    }

    /// The places left in a draw pile, from the top.
    #[must_use]
    pub fn rest(&self, pile: u8) -> Vec<Handle> {
        self.piles.get(&pile).map_or_else(Vec::new, |pile| {
            (pile.next..pile.len).map(|position| Handle { op: pile.op, position }).collect()
        })
    }
}

/// A place as the dealer's API writes it.
#[must_use]
pub fn handle_to_pb(place: Handle) -> pb::Handle {
    pb::Handle { op: place.op, position: u32::from(place.position) }
}

/// A place from the dealer's API. Positions are below 256 by far.
pub fn handle_from_pb(place: &pb::Handle) -> Result<Handle, Misplaced> {
    let pb::Handle { op, position } = *place;
    let position = u16::try_from(position).map_err(|_| Misplaced::OtherPlaces)?;
    Ok(Handle { op, position })
}
