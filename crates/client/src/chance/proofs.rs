//! Summary of what was checked of a hand's chance, for people.

use std::collections::BTreeMap;

use fairness::{ClientCommitment, RowStatus};
use proto::common::v1::CardProof;

use super::Chance;
use super::contribution::Place;
use super::hand::{Hand, SeedChecks};

/// Hands whose seeds were opened, of which a summary is kept.
const MAX_OPENED: usize = 4;
/// Hands in which something was wrong that are kept in mind.
const MAX_FAULTY: usize = 64;

/// Summary of what a client has checked of one hand. Nothing is in it that was not checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandProofs {
    pub hand_no: u64,
    /// Something of this hand was a violation.
    pub is_faulty: bool,
    pub commitment: CommitmentCheck,
    pub closing: ClosingCheck,
    /// Seats of the hand.
    pub seats: usize,
    /// Seats whose entropy opens what they had committed to.
    pub contributions: usize,
    /// The client is dealt in.
    pub is_dealt_in: bool,
    /// The client's own entropy is among them.
    pub has_own: bool,
    /// Shuffles that the dealer has committed to.
    pub shuffles: usize,
    /// Items that the opened seed gave again; none while it is shut.
    pub seed: Option<SeedChecks>,
    /// Ids of the cards that were shown with a proof that they lie in a committed shuffle, by the
    /// shuffle's operation and their position in it.
    pub cards: BTreeMap<(u32, u16), u8>,
}

/// Check of the dealer's commitment to a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommitmentCheck {
    /// A trusted key of the dealer's has signed it.
    pub is_signed: bool,
    /// It came before the hand was dealt; not so where the client joined in mid-hand.
    pub is_earlier: bool,
}

/// Check of the dealer's closing, which names the seats' commitments before anybody reveals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClosingCheck {
    /// The client joined after it.
    NotSeen,
    /// The hand is made of what it names; no key of the dealer's is known to check its signature.
    Unsigned,
    /// The hand is made of what it names, and a trusted key has signed it.
    Signed,
}

impl HandProofs {
    /// Whether a shown card was proved.
    #[must_use]
    pub fn is_proved(&self, proof: &CardProof) -> bool {
        let Ok(position) = u16::try_from(proof.position) else { return false };
        let proved = self.cards.get(&(proof.op, position));
        !self.is_faulty && proved.is_some_and(|card| u32::from(*card) == proof.card_id)
    }
}

/// Way in which a client came to follow a hand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beginning {
    pub(super) commitment: CommitmentCheck,
    pub(super) closing: ClosingCheck,
    pub(super) has_own: bool,
}

impl Beginning {
    /// Beginning of a hand that nothing is known of yet.
    pub(super) const fn unseen() -> Beginning {
        Beginning {
            commitment: CommitmentCheck { is_signed: false, is_earlier: false },
            closing: ClosingCheck::NotSeen,
            has_own: false,
        }
    }
}

impl Chance {
    /// Returns what was checked of a hand; none for one that is not followed, or if nothing is
    /// checked.
    #[must_use]
    pub fn proofs(&self, hand_no: u64) -> Option<HandProofs> {
        if self.unchecked {
            return None;
        }
        let followed = self.hands.get(&hand_no).map(|hand| summary(hand_no, hand, None));
        let found = followed.or_else(|| self.opened.get(&hand_no).cloned())?;
        Some(HandProofs { is_faulty: self.faulty.contains(&hand_no), ..found })
    }

    /// Notes how a hand began for this client.
    pub(super) fn beginning(
        &self,
        hand_no: u64,
        hand: &Hand,
        own: Option<&Place>,
        is_earlier: bool,
    ) -> Beginning {
        let is_signed = self.commitments.get(&hand_no).is_some_and(|promise| promise.is_signed);
        let closing = match self.closings.get(&hand_no) {
            None => ClosingCheck::NotSeen,
            Some(closing) if closing.is_signed() => ClosingCheck::Signed,
            Some(_) => ClosingCheck::Unsigned,
        };
        let is_own = |place: &Place| {
            let own: ClientCommitment = place.commitment(&self.secret);
            let row = hand.row(place.seat, place.player);
            row.is_some_and(|row| row.status == RowStatus::Revealed && row.commitment.matches(&own))
        };
        let commitment = CommitmentCheck { is_signed, is_earlier };
        Beginning { commitment, closing, has_own: own.is_some_and(is_own) }
    }

    /// Keeps the summary of a hand whose opened seed has passed.
    pub(super) fn keep_opened(&mut self, hand_no: u64, seed: SeedChecks) {
        let Some(hand) = self.hands.get(&hand_no) else { return };
        self.opened.insert(hand_no, summary(hand_no, hand, Some(seed)));
        if self.opened.len() > MAX_OPENED {
            self.opened.pop_first();
        }
    }

    /// Notes that something of a hand was wrong.
    pub(super) fn note_fault(&mut self, hand_no: u64) {
        self.faulty.insert(hand_no);
        if self.faulty.len() > MAX_FAULTY {
            self.faulty.pop_first();
        }
    }
}

fn summary(hand_no: u64, hand: &Hand, seed: Option<SeedChecks>) -> HandProofs {
    let Beginning { commitment, closing, has_own } = hand.beginning;
    HandProofs {
        hand_no,
        is_faulty: false,
        commitment,
        closing,
        seats: hand.rows().len(),
        contributions: hand.rows().iter().filter(|row| row.status == RowStatus::Revealed).count(),
        is_dealt_in: hand.is_dealt_in,
        has_own,
        shuffles: hand.shuffles(),
        seed,
        cards: hand.proved_cards().collect(),
    }
}
