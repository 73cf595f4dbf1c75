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

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::deck::{self, Levels};
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
pub enum Ask {
    Shuffle { pile: u8, input: ShuffleInput },
    Roll { sides: Vec<u8> },
    Pulse { ppm: u32 },
    Pick { n: u32 },
    Sample { n: u32, k: u32 },
}

/// Public result of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
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
pub struct Opening {
    pub handle: Handle,
    pub card: u8,
    pub salt: [u8; 32],
    /// The RFC 6962 path from the card's record to its shuffle's root, nearest first.
    pub path: Vec<[u8; 32]>,
    /// Number of cards under that root.
    pub count: u16,
}

impl Opening {
    /// Root that the proof leads to. The card is proved if this is its shuffle's root. None if the
    /// path does not have the length for its position.
    #[must_use]
    pub fn root(&self) -> Option<[u8; 32]> {
        let Opening { handle: Handle { op, position }, card, salt, path, count } = self;
        deck::root_from(&deck::record(*op, *position, *card, salt), (*position, *count), path)
    }
}

/// Reason why a request to the shoe is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ShoeError {
    #[error("operation {index} comes too early: the next one is {next}")]
    Gap { index: u32, next: u32 },
    #[error("operation {index} was done already, and with other words")]
    Different { index: u32 },
    #[error("pile {pile} has no cards yet: its first shuffle names fresh ones")]
    NoCards { pile: u8 },
    #[error("pile {pile} has its cards: shuffle them by their handles")]
    NotFresh { pile: u8 },
    #[error("cards {first} to {first} + {count} - 1 are not all new cards numbered up to 255")]
    FreshRange { first: u8, count: u16 },
    #[error("no shuffle of this hand left a card at {}:{}", .0.op, .0.position)]
    Unknown(Handle),
    #[error("the card at {}:{} was shuffled again since: use its current handle", .0.op, .0.position)]
    Stale(Handle),
    #[error("the card at {}:{} is named twice", .0.op, .0.position)]
    Twice(Handle),
    #[error(transparent)]
    Operation(#[from] OperationError),
}

/// A pile as one shuffle left it.
struct Deck {
    /// Cards from the top.
    cards: Vec<u8>,
    /// The tree over the cards' records.
    tree: Levels,
}

/// The chance of one hand. The module states its rules.
pub struct Shoe {
    keys: Keys,
    done: Vec<(Ask, Answer)>,
    /// Piles by the index of the shuffle.
    decks: BTreeMap<u32, Deck>,
    piles: BTreeSet<u8>,
    /// Current handle of every card that was made.
    current: BTreeMap<u8, Handle>,
}

impl Shoe {
    #[must_use]
    pub fn new(keys: Keys) -> Shoe {
        Shoe {
            keys,
            done: Vec::new(),
            decks: BTreeMap::new(),
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
        u32::try_from(self.done.len()).expect("no hand has 2^32 operations")
    }

    /// Performs operation `index`, or repeats the answer if it was done before.
    pub fn perform(&mut self, index: u32, ask: &Ask) -> Result<Answer, ShoeError> {
        let next = self.next_index();
        if index > next {
            return Err(ShoeError::Gap { index, next });
        }
        if let Some((asked, answer)) = self.done.get(place(index)) {
            let same = asked == ask;
            return if same { Ok(answer.clone()) } else { Err(ShoeError::Different { index }) };
        }
        let operation = self.operation(ask)?;
        let outcome = perform(&self.keys, index, &operation)?;
        let answer = match outcome {
            Outcome::Shuffled(cards) => self.lay(index, ask, cards),
            Outcome::Rolled(sides) => Answer::Rolled(sides),
            Outcome::Pulsed(yes) => Answer::Pulsed(yes),
            Outcome::Picked(one) => Answer::Picked(one),
            Outcome::Sampled(some) => Answer::Sampled(some),
        };
        self.done.push((ask.clone(), answer.clone()));
        Ok(answer)
    }

    /// The card at a current handle.
    pub fn open(&self, handle: Handle) -> Result<u8, ShoeError> {
        let card = self.reopen(handle)?;
        let current = self.current.get(&card) == Some(&handle);
        if current { Ok(card) } else { Err(ShoeError::Stale(handle)) }
    }

    /// The card that lay at a handle, stale or not. Only for repeating an answer that was given
    /// while the handle was current.
    pub fn reopen(&self, handle: Handle) -> Result<u8, ShoeError> {
        let deck = self.decks.get(&handle.op).ok_or(ShoeError::Unknown(handle))?;
        let card = deck.cards.get(usize::from(handle.position));
        card.copied().ok_or(ShoeError::Unknown(handle))
    }

    /// The card at a current handle, with its proof.
    pub fn open_proved(&self, handle: Handle) -> Result<Opening, ShoeError> {
        self.open(handle)?;
        self.prove(handle)
    }

    /// The card that lay at a handle, stale or not, with its proof. Only for an audience that saw
    /// it.
    pub fn prove(&self, handle: Handle) -> Result<Opening, ShoeError> {
        let Handle { op, position } = handle;
        let card = self.reopen(handle)?;
        let deck = self.decks.get(&op).ok_or(ShoeError::Unknown(handle))?;
        let salt = deck::salt(&self.keys, op, position);
        let path = deck.tree.path(position);
        Ok(Opening { handle, card, salt, path, count: count(&deck.cards) })
    }

    /// The operation of `ask`, with cards in place of handles.
    fn operation(&self, ask: &Ask) -> Result<Operation, ShoeError> {
        Ok(match ask {
            Ask::Shuffle { pile, input } => {
                Operation::Shuffle { pile: *pile, cards: self.input(*pile, input)? }
            }
            Ask::Roll { sides } => Operation::Roll { sides: sides.clone() },
            Ask::Pulse { ppm } => Operation::Pulse { ppm: *ppm },
            Ask::Pick { n } => Operation::Pick { n: *n },
            Ask::Sample { n, k } => Operation::Sample { n: *n, k: *k },
        })
    }

    fn input(&self, pile: u8, input: &ShuffleInput) -> Result<Vec<u8>, ShoeError> {
        let has_cards = self.piles.contains(&pile);
        match input {
            ShuffleInput::Fresh { .. } if has_cards => Err(ShoeError::NotFresh { pile }),
            ShuffleInput::Fresh { first, count } => self.fresh(*first, *count),
            ShuffleInput::Cards(_) if !has_cards => Err(ShoeError::NoCards { pile }),
            ShuffleInput::Cards(handles) => self.taken(handles),
        }
    }

    fn fresh(&self, first: u8, count: u16) -> Result<Vec<u8>, ShoeError> {
        if usize::from(count) > MAX_CARDS {
            return Err(OperationError::Cards(usize::from(count)).into());
        }
        let new = |card: u16| u8::try_from(card).ok().filter(|c| !self.current.contains_key(c));
        let range = u16::from(first)..u16::from(first) + count;
        range.map(new).collect::<Option<_>>().ok_or(ShoeError::FreshRange { first, count })
    }

    fn taken(&self, handles: &[Handle]) -> Result<Vec<u8>, ShoeError> {
        let mut seen = BTreeSet::new();
        let mut take = |handle: &Handle| {
            let card = self.open(*handle)?;
            if seen.insert(card) { Ok(card) } else { Err(ShoeError::Twice(*handle)) }
        };
        handles.iter().map(&mut take).collect()
    }

    /// Records a shuffled pile: its positions become the cards' current handles.
    fn lay(&mut self, op: u32, ask: &Ask, cards: Vec<u8>) -> Answer {
        if let Ask::Shuffle { pile, input: _ } = ask {
            self.piles.insert(*pile);
        }
        for (position, card) in (0_u16..).zip(&cards) {
            self.current.insert(*card, Handle { op, position });
        }
        let records = deck::records(&self.keys, op, &cards);
        let leaves = records.iter().map(|record| merkle::leaf_hash(record)).collect();
        let tree = Levels::new(leaves);
        let answer = Answer::Shuffled { root: tree.root(), count: count(&cards) };
        self.decks.insert(op, Deck { cards, tree });
        answer
    }
}

fn place(index: u32) -> usize {
    usize::try_from(index).expect("machines of 32 bits and more")
}

fn count(cards: &[u8]) -> u16 {
    u16::try_from(cards.len()).expect("a shuffle has at most 255 cards")
}

/// Hides the cards.
impl fmt::Debug for Shoe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shoe {{ done: {} operations }}", self.done.len())
    }
}

impl fmt::Debug for Opening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Opening {{ handle: {:?}, .. }}", self.handle)
    }
}

#[cfg(test)]
mod tests;
