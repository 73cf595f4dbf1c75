//! The cards and the chance of one hand, as its dealer keeps them.
//!
//! Callers name piles and [`Handle`]s, never cards: a handle is a position in a pile as one shuffle
//! left it. The rules are:
//!
//! - Operations are numbered 0, 1, 2 … and each number is used once. A repeat with the same
//!   parameters gets the same answer; with others it is an error, so nothing is rolled twice.
//! - A pile's first shuffle makes its cards, a range of the deck list; no card is made twice. Later
//!   shuffles name the cards they take by handle.
//! - A card has one current handle, from the latest shuffle it was in. An older one is stale: it
//!   opens nothing and goes into no shuffle.
//! - Refused requests change nothing.
//!
//! Specification: fairness/SPEC.md §6.7, §7.4.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::deck::{self, MerkleLevels};
use crate::keys::Keys;
use crate::operation::{MAX_CARDS, Operation, OperationError, Outcome, perform};

/// A position in a pile as one shuffle left it. It does not reveal the card there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handle {
    /// The index of the shuffle.
    pub op: u32,
    /// Position from the top, which is 0.
    pub position: u16,
}

/// Cards that go into a shuffle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ShuffleInput {
    /// A pile's first cards: `first` to `first + count - 1` of the deck list, in its order.
    Fresh { first: u8, count: u16 },
    /// The cards at these handles, from the top.
    Cards(Vec<Handle>),
}

/// An operation as its caller requests it, with handles in place of cards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperationRequest {
    Shuffle { pile: u8, input: ShuffleInput },
    Roll { sides: Vec<u8> },
    Pulse { ppm: u32 },
    Pick { n: u32 },
    Sample { n: u32, k: u32 },
}

/// Public result of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublicOutcome {
    /// The pile has `count` cards, and `root` commits to them.
    Shuffled {
        root: [u8; 32],
        count: u16,
    },
    Rolled(Vec<u8>),
    Pulsed(bool),
    Picked(u32),
    Sampled(Vec<u32>),
}

/// A card with the proof of its position at its handle. Only the card's audience may have it.
#[derive(Clone, PartialEq, Eq)]
pub struct ProvedCard {
    pub handle: Handle,
    pub card: u8,
    pub salt: [u8; 32],
    /// The RFC 6962 path from the card's record to its shuffle's root, nearest first.
    pub path: Vec<[u8; 32]>,
    /// Number of cards under that root.
    pub count: u16,
}

impl ProvedCard {
    /// Root that the proof leads to. The card is proved if this is its shuffle's root. None if the
    /// path does not have the length for its position.
    #[must_use]
    pub fn root(&self) -> Option<[u8; 32]> {
        let ProvedCard { handle: Handle { op, position }, card, salt, path, count } = self;
        deck::root_from_path(&deck::record(*op, *position, *card, salt), *position, *count, path)
    }
}

/// Reason why a request to the shoe is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ShoeError {
    #[error("operation {index} comes too early: the next one is {next}")]
    IndexGap { index: u32, next: u32 },
    #[error("operation {index} was done already, and with other words")]
    IndexUsed { index: u32 },
    #[error("pile {pile} has no cards yet: its first shuffle names fresh ones")]
    PileEmpty { pile: u8 },
    #[error("pile {pile} has its cards: shuffle them by their handles")]
    PileNotFresh { pile: u8 },
    #[error("cards {first} to {first} + {count} - 1 are not all new cards numbered up to 255")]
    CardsNotNew { first: u8, count: u16 },
    #[error("no shuffle of this hand left a card at {}:{}", .0.op, .0.position)]
    CardUnknown(Handle),
    #[error("the card at {}:{} was shuffled again since: use its current handle", .0.op, .0.position)]
    CardStale(Handle),
    #[error("the card at {}:{} is named twice", .0.op, .0.position)]
    CardTwice(Handle),
    #[error(transparent)]
    Operation(#[from] OperationError),
}

/// A pile as one shuffle left it.
struct ShuffledPile {
    /// Cards from the top.
    cards: Vec<u8>,
    /// The tree over the cards' records.
    tree: MerkleLevels,
}

/// The chance of one hand. The module states its rules.
pub struct Shoe {
    keys: Keys,
    performed: Vec<(OperationRequest, PublicOutcome)>,
    /// Piles by the index of the shuffle.
    shuffles: BTreeMap<u32, ShuffledPile>,
    piles: BTreeSet<u8>,
    /// Current handle of every card that was made.
    current: BTreeMap<u8, Handle>,
}

impl Shoe {
    #[must_use]
    pub fn new(keys: Keys) -> Shoe {
        Shoe {
            keys,
            performed: Vec::new(),
            shuffles: BTreeMap::new(),
            piles: BTreeSet::new(),
            current: BTreeMap::new(),
        }
    }

    /// Index of the next operation.
    ///
    /// # Panics
    /// After 2^32 - 1 operations.
    #[must_use]
    pub fn next_index(&self) -> u32 {
        u32::try_from(self.performed.len()).expect("no hand has 2^32 operations")
    }

    /// Performs operation `index`, or repeats the answer if it was done before.
    pub fn perform(
        &mut self,
        index: u32,
        request: &OperationRequest,
    ) -> Result<PublicOutcome, ShoeError> {
        let next = self.next_index();
        if index > next {
            return Err(ShoeError::IndexGap { index, next });
        }
        if let Some((asked, answer)) = self.performed.get(to_usize(index)) {
            let same = asked == request;
            return if same { Ok(answer.clone()) } else { Err(ShoeError::IndexUsed { index }) };
        }
        let operation = self.operation(request)?;
        let outcome = perform(&self.keys, index, &operation)?;
        let answer = match outcome {
            Outcome::Shuffled(cards) => self.record_shuffle(index, request, cards),
            Outcome::Rolled(sides) => PublicOutcome::Rolled(sides),
            Outcome::Pulsed(yes) => PublicOutcome::Pulsed(yes),
            Outcome::Picked(one) => PublicOutcome::Picked(one),
            Outcome::Sampled(some) => PublicOutcome::Sampled(some),
        };
        self.performed.push((request.clone(), answer.clone()));
        Ok(answer)
    }

    /// The card at a current handle.
    pub fn card_at(&self, handle: Handle) -> Result<u8, ShoeError> {
        let card = self.card_at_any(handle)?;
        let current = self.current.get(&card) == Some(&handle);
        if current { Ok(card) } else { Err(ShoeError::CardStale(handle)) }
    }

    /// The card that lay at a handle, stale or not. Only for repeating an answer that was given
    /// while the handle was current.
    pub fn card_at_any(&self, handle: Handle) -> Result<u8, ShoeError> {
        let deck = self.shuffles.get(&handle.op).ok_or(ShoeError::CardUnknown(handle))?;
        let card = deck.cards.get(usize::from(handle.position));
        card.copied().ok_or(ShoeError::CardUnknown(handle))
    }

    /// The card at a current handle, with its proof.
    pub fn prove_current(&self, handle: Handle) -> Result<ProvedCard, ShoeError> {
        self.card_at(handle)?;
        self.prove(handle)
    }

    /// The card that lay at a handle, stale or not, with its proof. Only for an audience that saw
    /// it.
    pub fn prove(&self, handle: Handle) -> Result<ProvedCard, ShoeError> {
        let Handle { op, position } = handle;
        let card = self.card_at_any(handle)?;
        let deck = self.shuffles.get(&op).ok_or(ShoeError::CardUnknown(handle))?;
        let salt = deck::salt(&self.keys, op, position);
        let path = deck.tree.path(position);
        Ok(ProvedCard { handle, card, salt, path, count: count(&deck.cards) })
    }

    /// The operation of `request`, with cards in place of handles.
    fn operation(&self, request: &OperationRequest) -> Result<Operation, ShoeError> {
        Ok(match request {
            OperationRequest::Shuffle { pile, input } => {
                Operation::Shuffle { pile: *pile, cards: self.input_cards(*pile, input)? }
            }
            OperationRequest::Roll { sides } => Operation::Roll { sides: sides.clone() },
            OperationRequest::Pulse { ppm } => Operation::Pulse { ppm: *ppm },
            OperationRequest::Pick { n } => Operation::Pick { n: *n },
            OperationRequest::Sample { n, k } => Operation::Sample { n: *n, k: *k },
        })
    }

    fn input_cards(&self, pile: u8, input: &ShuffleInput) -> Result<Vec<u8>, ShoeError> {
        let has_cards = self.piles.contains(&pile);
        match input {
            ShuffleInput::Fresh { .. } if has_cards => Err(ShoeError::PileNotFresh { pile }),
            ShuffleInput::Fresh { first, count } => self.fresh_cards(*first, *count),
            ShuffleInput::Cards(_) if !has_cards => Err(ShoeError::PileEmpty { pile }),
            ShuffleInput::Cards(handles) => self.take_cards(handles),
        }
    }

    fn fresh_cards(&self, first: u8, count: u16) -> Result<Vec<u8>, ShoeError> {
        if usize::from(count) > MAX_CARDS {
            return Err(OperationError::Cards(usize::from(count)).into());
        }
        let new = |card: u16| u8::try_from(card).ok().filter(|c| !self.current.contains_key(c));
        let range = u16::from(first)..u16::from(first) + count;
        range.map(new).collect::<Option<_>>().ok_or(ShoeError::CardsNotNew { first, count })
    }

    fn take_cards(&self, handles: &[Handle]) -> Result<Vec<u8>, ShoeError> {
        let mut seen = BTreeSet::new();
        let mut take = |handle: &Handle| {
            let card = self.card_at(*handle)?;
            if seen.insert(card) { Ok(card) } else { Err(ShoeError::CardTwice(*handle)) }
        };
        handles.iter().map(&mut take).collect()
    }

    /// Records a shuffled pile: its positions become the cards' current handles.
    fn record_shuffle(
        &mut self,
        op: u32,
        request: &OperationRequest,
        cards: Vec<u8>,
    ) -> PublicOutcome {
        if let OperationRequest::Shuffle { pile, input: _ } = request {
            self.piles.insert(*pile);
        }
        for (position, card) in (0_u16..).zip(&cards) {
            self.current.insert(*card, Handle { op, position });
        }
        let records = deck::records(&self.keys, op, &cards);
        let leaves = records.iter().map(|record| merkle::leaf_hash(record)).collect();
        let tree = MerkleLevels::new(leaves);
        let answer = PublicOutcome::Shuffled { root: tree.root(), count: count(&cards) };
        self.shuffles.insert(op, ShuffledPile { cards, tree });
        answer
    }
}

fn to_usize(index: u32) -> usize {
    usize::try_from(index).expect("machines of 32 bits and more")
}

fn count(cards: &[u8]) -> u16 {
    u16::try_from(cards.len()).expect("a shuffle has at most 255 cards")
}

/// Hides the cards.
impl fmt::Debug for Shoe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shoe {{ done: {} operations }}", self.performed.len())
    }
}

impl fmt::Debug for ProvedCard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Opening {{ handle: {:?}, .. }}", self.handle)
    }
}

#[cfg(test)]
mod tests;
