//! The five uses of chance.
//!
//! An operation's stream is keyed by the hand, the index, the kind and the parameters, so nothing
//! outside them (stake, history, clock) can reach its outcome, and no two operations share words.
//! Parameters are refused before a word is drawn; after that nothing can fail.
//!
//! Specification: fairness/SPEC.md §6.1, §6.2, §6.5, §6.6.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU64;

use crate::keys::Keys;
use crate::uniform::WordStream;

/// Most cards in one shuffle.
pub const MAX_CARDS: usize = 255;
/// Most dice in one roll.
pub const MAX_DICE: usize = 255;
/// Most numbers drawn by one sample.
pub const MAX_SAMPLE: u32 = 255;

/// One use of chance, with its parameters.
#[derive(Clone, PartialEq, Eq)]
pub enum Operation {
    /// Shuffles `cards`, given from the top. A card's number is its index in the variant's deck
    /// list.
    Shuffle { pile: u8, cards: Vec<u8> },
    /// Rolls one die for each entry, with that many sides.
    Roll { sides: Vec<u8> },
    /// True with a probability of `ppm` in a million.
    Pulse { ppm: u32 },
    /// One number of `n`, from 0.
    Pick { n: u32 },
    /// `k` different numbers of `n`, from 0, in order.
    Sample { n: u32, k: u32 },
}

/// Outcome of an operation.
#[derive(Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The cards from the top.
    Shuffled(Vec<u8>),
    /// The upper side of each die, from 1.
    Rolled(Vec<u8>),
    Pulsed(bool),
    /// Counted from 0.
    Picked(u32),
    /// Counted from 0, in the order drawn.
    Sampled(Vec<u32>),
}

/// Parameters of an operation that are out of bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OperationError {
    #[error("a shuffle takes 1 to {MAX_CARDS} cards, not {0}")]
    Cards(usize),
    #[error("a roll takes 1 to {MAX_DICE} dice, not {0}")]
    Dice(usize),
    #[error("a die has at least one side: die {0} (counted from 0) has none")]
    NoSides(usize),
    #[error("a pulse has 0 to 1000000 parts per million, not {0}")]
    Ppm(u32),
    #[error("a pick is one of at least one: give n from 1")]
    PickOfNone,
    #[error("a sample draws 1 to {MAX_SAMPLE}, and at most all: not {k} of {n}")]
    Sample { n: u32, k: u32 },
}

/// Performs operation `index` of the hand that the keys belong to. Equal arguments give equal
/// outcomes.
pub fn perform(keys: &Keys, index: u32, operation: &Operation) -> Result<Outcome, OperationError> {
    operation.check()?;
    let key = keys.operation(index, operation.kind(), &operation.params());
    let mut words = WordStream::new(&key);
    Ok(match operation {
        Operation::Shuffle { pile: _, cards } => Outcome::Shuffled(shuffle(&mut words, cards)),
        Operation::Roll { sides } => {
            Outcome::Rolled(sides.iter().map(|sides| roll(&mut words, *sides)).collect())
        }
        Operation::Pulse { ppm } => Outcome::Pulsed(below(&mut words, 1_000_000) < *ppm),
        Operation::Pick { n } => Outcome::Picked(below(&mut words, *n)),
        Operation::Sample { n, k } => Outcome::Sampled(sample(&mut words, *n, *k)),
    })
}

impl Operation {
    /// Checks that the parameters are in bounds.
    pub fn check(&self) -> Result<(), OperationError> {
        match self {
            Operation::Shuffle { pile: _, cards } => match cards.len() {
                1..=MAX_CARDS => Ok(()),
                count => Err(OperationError::Cards(count)),
            },
            Operation::Roll { sides } => match sides.len() {
                1..=MAX_DICE => match sides.iter().position(|sides| *sides == 0) {
                    Some(die) => Err(OperationError::NoSides(die)),
                    None => Ok(()),
                },
                count => Err(OperationError::Dice(count)),
            },
            Operation::Pulse { ppm: 0..=1_000_000 } => Ok(()),
            Operation::Pulse { ppm } => Err(OperationError::Ppm(*ppm)),
            Operation::Pick { n: 0 } => Err(OperationError::PickOfNone),
            Operation::Pick { n: 1.. } => Ok(()),
            Operation::Sample { n, k } if *k == 0 || k > n || *k > MAX_SAMPLE => {
                Err(OperationError::Sample { n: *n, k: *k })
            }
            Operation::Sample { .. } => Ok(()),
        }
    }

    /// Name of the kind in the protocol.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Operation::Shuffle { .. } => "shuffle",
            Operation::Roll { .. } => "roll",
            Operation::Pulse { .. } => "pulse",
            Operation::Pick { .. } => "pick",
            Operation::Sample { .. } => "sample",
        }
    }

    /// The parameters as bytes of the protocol.
    #[must_use]
    pub fn params(&self) -> Vec<u8> {
        match self {
            Operation::Shuffle { pile, cards } => [&[*pile], &cards[..]].concat(),
            Operation::Roll { sides } => sides.clone(),
            Operation::Pulse { ppm } => ppm.to_be_bytes().to_vec(),
            Operation::Pick { n } => n.to_be_bytes().to_vec(),
            Operation::Sample { n, k } => [n.to_be_bytes(), k.to_be_bytes()].concat(),
        }
    }
}

/// A number from 0 to `n` - 1.
fn below(words: &mut WordStream, n: u32) -> u32 {
    let n = NonZeroU64::new(u64::from(n)).expect("bounds are checked before a word is drawn");
    u32::try_from(words.below(n)).expect("it is below a u32")
}

/// Shuffles: from the top index down, each card changes places with one at or below it
/// (Durstenfeld).
fn shuffle(words: &mut WordStream, cards: &[u8]) -> Vec<u8> {
    let mut cards = cards.to_vec();
    for last in (1..cards.len()).rev() {
        let count = u32::try_from(last + 1).expect("at most 255 cards");
        let other = usize::try_from(below(words, count)).expect("a place in the pile");
        cards.swap(last, other);
    }
    cards
}

fn roll(words: &mut WordStream, sides: u8) -> u8 {
    let side = below(words, u32::from(sides)) + 1;
    u8::try_from(side).expect("at most the number of sides")
}

/// The first `k` entries of a shuffle of 0 to `n` - 1 from its bottom index up. Only positions that
/// were touched are stored.
fn sample(words: &mut WordStream, n: u32, k: u32) -> Vec<u32> {
    let mut moved = BTreeMap::new();
    let draw = |place| {
        let other = place + below(words, n - place);
        let here = moved.get(&place).copied().unwrap_or(place);
        moved.insert(other, here).unwrap_or(other)
    };
    (0..k).map(draw).collect()
}

/// Shows the number of cards in hidden piles, not the cards.
impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operation::Shuffle { pile, cards } => {
                write!(f, "Shuffle {{ pile: {pile}, cards: {} }}", cards.len())
            }
            Operation::Roll { sides } => write!(f, "Roll {{ sides: {sides:?} }}"),
            Operation::Pulse { ppm } => write!(f, "Pulse {{ ppm: {ppm} }}"),
            Operation::Pick { n } => write!(f, "Pick {{ n: {n} }}"),
            Operation::Sample { n, k } => write!(f, "Sample {{ n: {n}, k: {k} }}"),
        }
    }
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Shuffled(cards) => write!(f, "Shuffled({} cards)", cards.len()),
            Outcome::Rolled(sides) => write!(f, "Rolled({sides:?})"),
            Outcome::Pulsed(yes) => write!(f, "Pulsed({yes})"),
            Outcome::Picked(one) => write!(f, "Picked({one})"),
            Outcome::Sampled(some) => write!(f, "Sampled({some:?})"),
        }
    }
}
