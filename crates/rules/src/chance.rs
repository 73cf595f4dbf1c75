//! Chance: the shuffles, deals, rolls and draws that a hand waits for, and their outcomes.
//!
//! A hand never draws anything itself. It says which uses of chance are due, in order, and takes
//! any outcome that is possible: the caller owns the randomness and the proof that it was fair.

use std::fmt;

use smallvec::SmallVec;

use crate::cards::{Card, Cards};
use crate::deck::Deck;
use crate::player::Player;
use crate::refusal::Refusal;

/// One use of chance that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chance {
    /// A shuffle of a draw pile. Its input is the rest of the pile, top to bottom, then `add`.
    Shuffle { pile: u8, add: Cards },
    /// Cards from the top of draw piles.
    Deal(Deal),
    /// A roll of dice: one entry of `sides` for each die.
    Roll { sides: SmallVec<[u8; 2]>, purpose: RollPurpose },
    /// One draw that is true with a probability in parts per million.
    Pulse { ppm: u32 },
    /// One number of `n`, from 0.
    Pick { n: u32, purpose: PickPurpose },
    /// `k` different numbers of `n`, from 0, in order.
    Sample { n: u32, k: u32, purpose: SamplePurpose },
}

/// Deal of cards to one player, or to the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deal {
    pub to: Destination,
    /// Taken in this order: Kessel deals from two piles at once, the other games from one.
    pub parts: SmallVec<[DealPart; 2]>,
    /// Whether the cards lie face up for everybody.
    pub shown: bool,
    pub reason: DealReason,
}

/// The cards of a deal that come from one pile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DealPart {
    pub pile: u8,
    pub count: CardCount,
    /// Discards that are shuffled in during the deal. Boxed because it is rare.
    pub restock: Option<Box<Restock>>,
}

/// Number of cards that a deal takes from a pile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardCount {
    Exactly(u8),
    /// Up to and including the first card of this set.
    UntilOneOf(crate::cards::CardSet),
}

/// Discards that are shuffled into the draw pile in the middle of a deal, when the pile is empty
/// after `after` cards of the part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restock {
    pub after: usize,
    pub cards: Cards,
}

/// Receiver of a deal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    Player(Player),
    Table,
}

/// Reason of a deal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DealReason {
    OpeningHand,
    Draw,
    Trade,
    /// New cards in place of those that a shift or a redraw took.
    Shift,
    /// A Sudden Demise card, a tie card or a blind card: it lies beside the hand.
    TieBreak,
    /// The extra card of a Force showdown.
    Extra,
    /// The card that starts a discard pile.
    Flip,
    /// A new hand for a target of Kessel's exhaustion token.
    Exhaustion,
    /// A card of the deal that decides a Force side.
    Alignment,
}

/// Purpose of a roll.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RollPurpose {
    Shift,
    /// The two dice of a Prime Sabacc token.
    Prime(Player),
    /// The two dice of an Impostor.
    Impostor(Player, Card),
    /// Coruscant's gold and silver dice. Faces count from 1 in the order of the rules' list.
    Target,
}

/// Purpose of a pick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PickPurpose {
    /// Kessel's first starter: an index among the live players, p1 first.
    Starter,
}

/// Purpose of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SamplePurpose {
    /// Three kinds of token: indices in the list of token names.
    Tokens(Player),
    /// The wild face, then the clone face: indices among the different codes of the deck.
    Announce,
}

/// Outcome of one use of chance.
#[derive(Clone, PartialEq, Eq)]
pub enum Outcome {
    Shuffled,
    /// The cards in the order dealt.
    Cards(Cards),
    /// Faces from 1, one for each die.
    Rolled(SmallVec<[u8; 2]>),
    Pulsed(bool),
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
            Outcome::Pulsed(_) => "pulse",
            Outcome::Picked(_) => "pick",
            Outcome::Sampled(_) => "sample",
        }
    }
}

/// Shows the kind alone: a hidden card stays out of logs.
impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())
    }
}

impl CardCount {
    /// Whether another card follows `so_far`.
    #[must_use]
    pub fn needs_more(&self, so_far: &[Card]) -> bool {
        match self {
            CardCount::Exactly(count) => so_far.len() < usize::from(*count),
            CardCount::UntilOneOf(stop) => so_far.last().is_none_or(|&card| !stop.contains(card)),
        }
    }
}

impl Chance {
    /// Start of the history line: `deal p1`, `roll`. Empty for a shuffle, which has no line.
    #[must_use]
    pub fn line_prefix(&self, deck: &Deck) -> String {
        match self {
            Chance::Shuffle { .. } => String::new(),
            Chance::Deal(Deal { to: Destination::Player(player), .. }) => format!("deal {player}"),
            Chance::Deal(Deal { to: Destination::Table, .. }) => "flip".to_owned(),
            Chance::Roll { purpose: RollPurpose::Impostor(player, card), .. } => {
                format!("roll {player} {}", deck.code(*card))
            }
            Chance::Roll { .. } => "roll".to_owned(),
            Chance::Pulse { .. } => "pulse".to_owned(),
            Chance::Pick { purpose: PickPurpose::Starter, .. } => "starter".to_owned(),
            Chance::Sample { purpose: SamplePurpose::Tokens(player), .. } => {
                format!("tokens {player}")
            }
            Chance::Sample { purpose: SamplePurpose::Announce, .. } => "announce".to_owned(),
        }
    }
}

/// A use of chance together with its outcome, which is of its kind.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Resolved<'a> {
    Shuffled { pile: u8, add: &'a [Card] },
    Dealt { deal: &'a Deal, cards: &'a [Card] },
    Rolled { purpose: RollPurpose, faces: &'a [u8] },
    Pulsed(bool),
    Picked { purpose: PickPurpose, pick: u32 },
    Sampled { purpose: SamplePurpose, sample: &'a [u32] },
}

impl Chance {
    /// Joins the use of chance with its outcome. None if the outcome is of another kind.
    pub(crate) fn resolved<'a>(&'a self, outcome: &'a Outcome) -> Option<Resolved<'a>> {
        Some(match self {
            Chance::Shuffle { pile, add } => {
                let Outcome::Shuffled = outcome else { return None };
                Resolved::Shuffled { pile: *pile, add }
            }
            Chance::Deal(deal) => {
                let Outcome::Cards(cards) = outcome else { return None };
                Resolved::Dealt { deal, cards }
            }
            Chance::Roll { purpose, .. } => {
                let Outcome::Rolled(faces) = outcome else { return None };
                Resolved::Rolled { purpose: *purpose, faces }
            }
            Chance::Pulse { .. } => {
                let Outcome::Pulsed(pulse) = outcome else { return None };
                Resolved::Pulsed(*pulse)
            }
            Chance::Pick { purpose, .. } => {
                let Outcome::Picked(pick) = outcome else { return None };
                Resolved::Picked { purpose: *purpose, pick: *pick }
            }
            Chance::Sample { purpose, .. } => {
                let Outcome::Sampled(sample) = outcome else { return None };
                Resolved::Sampled { purpose: *purpose, sample }
            }
        })
    }

    /// Kind of the use of chance, in one word.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Chance::Shuffle { .. } => "shuffle",
            Chance::Deal(Deal { to: Destination::Player(_), .. }) => "deal",
            Chance::Deal(Deal { to: Destination::Table, .. }) => "flip",
            Chance::Roll { .. } => "roll",
            Chance::Pulse { .. } => "pulse",
            Chance::Pick { .. } => "pick",
            Chance::Sample { .. } => "sample",
        }
    }

    /// Checks that `outcome` is possible. Deals are checked against the piles instead.
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
            (Chance::Pulse { ppm: 0 }, Outcome::Pulsed(true))
            | (Chance::Pulse { ppm: 1_000_000 }, Outcome::Pulsed(false)) => Err(Refusal::Pulse),
            (Chance::Pulse { .. }, Outcome::Pulsed(_)) => Ok(()),
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
            (due, outcome) => Err(Refusal::WrongChance { due: due.kind(), got: outcome.kind() }),
        }
    }
}
