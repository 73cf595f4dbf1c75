//! The chance of one hand, taken as a dealer takes it.

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

/// Outcomes of one hand's operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandOutcomes {
    /// First shuffle, of a whole deck: the card at each position from the top, each of 0 to 75
    /// once.
    pub first_shuffle: [u8; CARDS],
    /// Second shuffle, of that deck: the position in it that the card at each position came from.
    pub second_shuffle: [u8; CARDS],
    /// Two rolls of two dice, 1 to 6.
    pub rolls: [[u8; 2]; 2],
    /// True in one of four cases.
    pub pulse: bool,
    /// 0 to 2,999,999,999.
    pub pick: u32,
    /// Three different numbers of 0 to 8, in the order drawn.
    pub sample: [u32; 3],
}

/// Draws hand `hand` of a made-up table whose seeds count from `seed`.
#[must_use]
pub fn draw_hand(seed: u64, hand: u64) -> HandOutcomes {
    let mut shoe = Shoe::new(keys(seed, hand));
    let cards = u16::try_from(CARDS).expect("it is 76");
    let fresh = OperationRequest::Shuffle {
        pile: 0,
        input: ShuffleInput::Fresh { first: 0, count: cards },
    };
    let deck = shuffled(&mut shoe, 0, &fresh);
    let rolls = [1, 2].map(|index| rolled(&mut shoe, index));
    let pulse = perform(&mut shoe, 3, &OperationRequest::Pulse { ppm: 250_000 })
        == PublicOutcome::Pulsed(true);
    let PublicOutcome::Picked(pick) =
        perform(&mut shoe, 4, &OperationRequest::Pick { n: PICK_RANGE })
    else {
        unreachable!("a pick picks")
    };
    let PublicOutcome::Sampled(sample) =
        perform(&mut shoe, 5, &OperationRequest::Sample { n: SAMPLE_RANGE, k: 3 })
    else {
        unreachable!("a sample samples")
    };
    let sample = sample.try_into().expect("three were asked for");
    let handles = (0..cards).map(|position| Handle { op: 0, position }).collect();
    let all = OperationRequest::Shuffle { pile: 0, input: ShuffleInput::Cards(handles) };
    let second = shuffled(&mut shoe, 6, &all);
    let mut place = [0; CARDS];
    for (at, card) in (0_u8..).zip(deck) {
        place[usize::from(card)] = at;
    }
    HandOutcomes {
        first_shuffle: deck,
        second_shuffle: second.map(|card| place[usize::from(card)]),
        rolls,
        pulse,
        pick,
        sample,
    }
}

fn keys(seed: u64, hand: u64) -> Keys {
    let context = Context::new("battery", TableId([0; 16]), hand, &[0; 32]);
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

fn perform(shoe: &mut Shoe, index: u32, ask: &OperationRequest) -> PublicOutcome {
    shoe.perform(index, ask).expect("the operations are numbered and in bounds")
}

fn rolled(shoe: &mut Shoe, index: u32) -> [u8; 2] {
    let PublicOutcome::Rolled(sides) =
        perform(shoe, index, &OperationRequest::Roll { sides: vec![6, 6] })
    else {
        unreachable!("a roll rolls")
    };
    sides.try_into().expect("two dice were rolled")
}

fn shuffled(shoe: &mut Shoe, op: u32, ask: &OperationRequest) -> [u8; CARDS] {
    perform(shoe, op, ask);
    let mut cards = [0; CARDS];
    for (position, card) in (0_u16..).zip(&mut cards) {
        *card = shoe.card_at(Handle { op, position }).expect("a card lies at each place");
    }
    cards
}
