//! The chance of one hand, taken as a dealer takes it.

use std::fmt;

use primitives::{PlayerId, TableId};
use zeroize::Zeroizing;

use fairness::{
    ClientCommitment, Commitment, Context, Entropy, Handle, Keys, OperationRequest, PublicOutcome,
    RowStatus, Seed, Shoe, ShuffleInput, Transcript, TranscriptRow,
};

/// Number of cards of the largest deck in use.
pub const CARDS: usize = 76;
/// Size of the range of a pick: no divisor of a power of two, and more than half of 2^32, so that a
/// remainder of too narrow a word could not hide.
pub(crate) const PICK_RANGE: u32 = 3_000_000_000;
/// Size of the range of a sample.
pub(crate) const SAMPLE_RANGE: u32 = 9;

/// Sides of the dice in use.
pub const DICE: [u8; 3] = [6, 10, 12];
/// Rates of the pulses in use, in parts per million: by default one shift in the shortest hand of two
/// to eight players.
pub const PULSES: [u32; 7] = [66_666, 50_000, 40_000, 33_333, 28_571, 25_000, 22_222];

/// Cards of a pile as it is first shuffled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pile {
    /// Index of its first card in the deck list.
    pub first: u8,
    pub cards: u8,
}

/// The piles in use: the decks of 76, of 62 and of 42 cards, and that of 44 in its two halves.
pub const PILES: [Pile; 5] = [
    Pile { first: 0, cards: 76 },
    Pile { first: 0, cards: 62 },
    Pile { first: 0, cards: 22 },
    Pile { first: 22, cards: 22 },
    Pile { first: 0, cards: 42 },
];

impl fmt::Display for Pile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pile { first: 0, cards: 22 } => f.write_str("44 cards, the first half"),
            Pile { first: 22, cards: 22 } => f.write_str("44 cards, the second half"),
            Pile { first: 0, cards } => write!(f, "{cards} cards"),
            Pile { first, cards } => write!(f, "{cards} cards from {first}"),
        }
    }
}

/// Outcomes of one hand's operations, with a pile of `N` cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandOutcomes<const N: usize = CARDS> {
    /// First shuffle, of a whole pile: the card at each position from the top, each of 0 to N - 1
    /// once.
    pub first_shuffle: [u8; N],
    /// Second shuffle, of that pile: the position in it that the card at each position came from.
    pub second_shuffle: [u8; N],
    /// Two rolls of two dice, 1 to 6.
    pub rolls: [[u8; 2]; 2],
    /// Rolls of two dice each of [`DICE`] but the first.
    pub other_rolls: [[u8; 2]; DICE.len() - 1],
    /// One at each rate of [`PULSES`].
    pub pulses: [bool; PULSES.len()],
    /// 0 to 2,999,999,999.
    pub pick: u32,
    /// Three different numbers of 0 to 8, in the order drawn.
    pub sample: [u32; 3],
}

/// Draws hand `hand` of a made-up table that plays with this pile, and whose seeds count from `seed`.
///
/// # Panics
/// If the pile does not have `N` cards.
#[must_use]
pub fn draw_hand_of<const N: usize>(pile: Pile, seed: u64, hand: u64) -> HandOutcomes<N> {
    assert_eq!(usize::from(pile.cards), N, "the pile's cards");
    let mut draw = Draw { shoe: Shoe::new(keys(pile, seed, hand)), next: 0 };
    let input = ShuffleInput::Fresh { first: pile.first, count: u16::from(pile.cards) };
    let deck = draw.shuffled(input).map(|card| card - pile.first);
    let rolls = [(); 2].map(|()| draw.rolled(6));
    let other_rolls = std::array::from_fn(|at| draw.rolled(DICE[at + 1]));
    let pulses = PULSES
        .map(|ppm| draw.perform(&OperationRequest::Pulse { ppm }) == PublicOutcome::Pulsed(true));
    let PublicOutcome::Picked(pick) = draw.perform(&OperationRequest::Pick { n: PICK_RANGE })
    else {
        unreachable!("a pick picks")
    };
    let PublicOutcome::Sampled(sample) =
        draw.perform(&OperationRequest::Sample { n: SAMPLE_RANGE, k: 3 })
    else {
        unreachable!("a sample samples")
    };
    let sample = sample.try_into().expect("three were asked for");
    let handles = (0..u16::from(pile.cards)).map(|position| Handle { op: 0, position }).collect();
    let second = draw.shuffled(ShuffleInput::Cards(handles));
    let mut place = [0; N];
    for (at, card) in (0_u8..).zip(deck) {
        place[usize::from(card)] = at;
    }
    HandOutcomes {
        first_shuffle: deck,
        second_shuffle: second.map(|card| place[usize::from(card - pile.first)]),
        rolls,
        other_rolls,
        pulses,
        pick,
        sample,
    }
}

/// Draws a hand with the largest deck.
#[must_use]
pub fn draw_hand(seed: u64, hand: u64) -> HandOutcomes {
    draw_hand_of(PILES[0], seed, hand)
}

fn keys(pile: Pile, seed: u64, hand: u64) -> Keys {
    let table = TableId([pile.first.wrapping_add(pile.cards); 16]);
    let context = Context::new("battery", table, hand, &[0; 32]);
    let mut bytes = Zeroizing::new([0; 64]);
    bytes[..8].copy_from_slice(&seed.to_be_bytes());
    bytes[56..].copy_from_slice(&hand.to_be_bytes());
    let secret = Seed::new(bytes);
    let dealer = Commitment::new(&context, &secret);
    let rows = [0_u8, 1].map(|seat| {
        let (player, entropy) = (PlayerId([seat; 16]), Entropy([seat; 32]));
        let commitment = ClientCommitment::new(&context, &dealer, seat, player, &entropy);
        TranscriptRow { seat, player, status: RowStatus::Revealed, commitment, entropy }
    });
    let transcript = Transcript::try_new(&context, &dealer, None, &rows)
        .expect("seats ascend, and each reveals what it committed to");
    Keys::derive(&transcript, &secret)
}

/// Operations of a hand, one after the other.
struct Draw {
    shoe: Shoe,
    next: u32,
}

impl Draw {
    fn perform(&mut self, request: &OperationRequest) -> PublicOutcome {
        let index = self.next;
        self.next += 1;
        self.shoe.perform(index, request).expect("the operations are numbered and in bounds")
    }

    fn rolled(&mut self, sides: u8) -> [u8; 2] {
        let roll = OperationRequest::Roll { sides: vec![sides; 2] };
        let PublicOutcome::Rolled(sides) = self.perform(&roll) else {
            unreachable!("a roll rolls")
        };
        sides.try_into().expect("two dice were rolled")
    }

    fn shuffled<const N: usize>(&mut self, input: ShuffleInput) -> [u8; N] {
        let op = self.next;
        self.perform(&OperationRequest::Shuffle { pile: 0, input });
        let mut cards = [0; N];
        for (position, card) in (0_u16..).zip(&mut cards) {
            *card = self.shoe.card_at(Handle { op, position }).expect("a card lies at each place");
        }
        cards
    }
}
