//! Chance: what a hand asks of the shoe, the dice and the pulse, and what they answer.
//!
//! A hand never draws anything itself. It says what is due, in order, and takes any answer that can
//! be: the caller owns the randomness and the proof that it was fair.

use std::fmt;

use smallvec::SmallVec;

use crate::cards::{Card, Cards};
use crate::deck::Deck;
use crate::player::Player;
use crate::refusal::Refusal;

/// One use of chance that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chance {
    /// Shuffle a draw pile. Its input as it lies is what remains of the pile, top to bottom, then `add`.
    Shuffle { pile: u8, add: Cards },
    /// Take cards from the top of draw piles.
    Deal(Deal),
    /// Roll dice; `sides` one entry a die.
    Roll { sides: SmallVec<[u8; 2]>, purpose: Roll },
    /// One draw with this probability in parts per million.
    Pulse { ppm: u32 },
    /// One of `n`, from 0.
    Pick { n: u32, purpose: Pick },
    /// `k` different ones of `n`, from 0, in order.
    Sample { n: u32, k: u32, purpose: Sample },
}

/// Cards for one player, or for the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deal {
    pub to: To,
    /// In this order: Kessel deals from two piles at once, the other games from one.
    pub parts: SmallVec<[Part; 2]>,
    /// Face up for everybody.
    pub shown: bool,
    pub why: Why,
}

/// The cards of a deal that come from one pile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub pile: u8,
    pub count: Count,
    /// Boxed: it is rare.
    pub restock: Option<Box<Restock>>,
}

/// How many cards a deal takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    Exactly(u8),
    /// Up to and including the first card of this set.
    UntilOneOf(crate::cards::CardSet),
}

/// After so many cards of the part the draw pile is empty: these discards are shuffled into it, and
/// the deal goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restock {
    pub after: usize,
    pub cards: Cards,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum To {
    Player(Player),
    Table,
}

/// What a deal is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    Opening,
    Draw,
    Trade,
    /// New cards for those a shift or a redraw took.
    Shift,
    /// The Sudden Demise, a tie-break or a blind card: it lies beside the hand.
    Tie,
    /// The extra card of a Force showdown.
    Extra,
    /// The card that starts a discard pile.
    Flip,
    /// A new hand for a target of Kessel's exhaustion.
    Exhaustion,
    /// A card of the deal that decides a Force side.
    Alignment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Roll {
    Shift,
    /// A Prime Sabacc token.
    Prime(Player),
    Impostor(Player, Card),
    /// Coruscant's gold and silver dice; the faces count from 1 in the order the rules list them.
    Target,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// Kessel's first starter: an index among those still in, p1 first.
    Starter,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// Three kinds of token, indices in their list of names.
    Tokens(Player),
    /// The wild face, then the clone face: indices among the different codes of the deck.
    Announce,
}

/// What chance gave.
#[derive(Clone, PartialEq, Eq)]
pub enum Outcome {
    Shuffled,
    /// In the order they were dealt.
    Cards(Cards),
    /// Faces from 1, one a die.
    Rolled(SmallVec<[u8; 2]>),
    Pulse(bool),
    Picked(u32),
    Sampled(SmallVec<[u32; 3]>),
}

impl Outcome {
    #[must_use]
    pub fn cards(cards: &[Card]) -> Outcome {
        Outcome::Cards(Cards::from_slice(cards))
    }

    #[must_use]
    pub fn rolled(faces: &[u8]) -> Outcome {
        Outcome::Rolled(SmallVec::from_slice(faces))
    }

    const fn kind(&self) -> &'static str {
        match self {
            Outcome::Shuffled => "shuffle",
            Outcome::Cards(_) => "cards",
            Outcome::Rolled(_) => "roll",
            Outcome::Pulse(_) => "pulse",
            Outcome::Picked(_) => "pick",
            Outcome::Sampled(_) => "sample",
        }
    }
}

/// The kind alone: a hidden card stays out of logs.
impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())
    }
}

impl Count {
    /// Whether another card follows these.
    #[must_use]
    pub fn more(&self, so_far: &[Card]) -> bool {
        match self {
            Count::Exactly(count) => so_far.len() < usize::from(*count),
            Count::UntilOneOf(stop) => so_far.last().is_none_or(|&card| !stop.contains(card)),
        }
    }
}

impl Chance {
    /// The start of its history line: `deal p1`, `roll`; empty for a shuffle, which has no line.
    #[must_use]
    pub fn prompt(&self, deck: &Deck) -> String {
        match self {
            Chance::Shuffle { .. } => String::new(),
            Chance::Deal(Deal { to: To::Player(player), .. }) => format!("deal {player}"),
            Chance::Deal(Deal { to: To::Table, .. }) => "flip".to_owned(),
            Chance::Roll { purpose: Roll::Impostor(player, card), .. } => {
                format!("roll {player} {}", deck.code(*card))
            }
            Chance::Roll { .. } => "roll".to_owned(),
            Chance::Pulse { .. } => "pulse".to_owned(),
            Chance::Pick { purpose: Pick::Starter, .. } => "starter".to_owned(),
            Chance::Sample { purpose: Sample::Tokens(player), .. } => format!("tokens {player}"),
            Chance::Sample { purpose: Sample::Announce, .. } => "announce".to_owned(),
        }
    }
}

impl Chance {
    /// What is due, in a word.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Chance::Shuffle { .. } => "shuffle",
            Chance::Deal(Deal { to: To::Player(_), .. }) => "deal",
            Chance::Deal(Deal { to: To::Table, .. }) => "flip",
            Chance::Roll { .. } => "roll",
            Chance::Pulse { .. } => "pulse",
            Chance::Pick { .. } => "pick",
            Chance::Sample { .. } => "sample",
        }
    }

    /// Whether this can come out so; deals are checked against the piles instead.
    pub(crate) fn check(&self, outcome: &Outcome) -> Result<(), Refusal> {
        match (self, outcome) {
            (Chance::Shuffle { .. }, Outcome::Shuffled) => Ok(()),
            (Chance::Roll { sides, .. }, Outcome::Rolled(faces)) => {
                let fits = faces.len() == sides.len()
                    && faces.iter().zip(sides).all(|(face, sides)| (1..=*sides).contains(face));
                let refusal = || Refusal::Dice {
                    dice: sides.len(),
                    sides: sides.first().copied().unwrap_or(0),
                };
                fits.then_some(()).ok_or_else(refusal)
            }
            (Chance::Pulse { ppm: 0 }, Outcome::Pulse(true))
            | (Chance::Pulse { ppm: 1_000_000 }, Outcome::Pulse(false)) => Err(Refusal::Pulse),
            (Chance::Pulse { .. }, Outcome::Pulse(_)) => Ok(()),
            (Chance::Pick { n, .. }, Outcome::Picked(pick)) => {
                (pick < n).then_some(()).ok_or(Refusal::Pick { n: *n })
            }
            (Chance::Sample { n, k, .. }, Outcome::Sampled(sample)) => {
                let different = sample
                    .iter()
                    .enumerate()
                    .all(|(at, item)| item < n && !sample[..at].contains(item));
                let fits = different && u32::try_from(sample.len()) == Ok(*k);
                fits.then_some(()).ok_or(Refusal::Sample { n: *n, k: *k })
            }
            (due, outcome) => Err(Refusal::WrongChance { due: due.name(), got: outcome.kind() }),
        }
    }
}
