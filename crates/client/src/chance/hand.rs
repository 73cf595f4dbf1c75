//! Chance of one hand: its transcript, the roots of its shuffles, the proved cards, and the check
//! against the published seed.

use std::collections::BTreeMap;

use fairness::{
    ClientCommitment, Commitment, Context, Entropy, Handle, Keys, Opening, Operation, Outcome, Row,
    Seed, Status, Transcript, deck,
};
use primitives::PlayerId;
use proto::common::v1::{CardProof, DeckRoot};
use proto::dealer::v1::{EntropyRow, EntropyStatus};
use proto::table::v1::{EntropyReceipt, HandSeat};
use rules::Variant;

use super::distrust::{Culprit, Fault, Violation};

/// Code of a card that the viewer may not see.
const HIDDEN: &str = "??";

/// Hand whose entropy rows are fixed.
pub(super) struct Hand {
    context: Context,
    dealer: Commitment,
    transcript: Transcript,
    rows: Vec<Row>,
    /// Roots by the index of the shuffle's operation.
    roots: BTreeMap<u32, Root>,
    /// Proved cards with their salts.
    seen: BTreeMap<Handle, (u8, [u8; 32])>,
    variant: Option<&'static Variant>,
    /// Whether the client is dealt in, on the seat of its contribution if it has one.
    pub(super) dealt: bool,
    pub(super) receipt: Option<EntropyReceipt>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Root {
    cards: u16,
    root: [u8; 32],
}

impl Hand {
    /// Creates a hand, if its rows give its transcript.
    pub(super) fn try_new(
        (context, dealer): (Context, Commitment),
        rows: &[EntropyRow],
        transcript: &[u8],
        variant: Option<&'static Variant>,
    ) -> Result<Hand, Fault> {
        let rows = rows.iter().map(row).collect::<Result<Vec<_>, _>>()?;
        let told = Transcript(exactly("the transcript", transcript)?);
        let made = Transcript::try_new(&context, &dealer, None, &rows);
        if made.map_err(|_| Violation::Rows("an entropy that does not open its commitment"))?
            != told
        {
            return Err(Violation::Transcript.into());
        }
        let (roots, seen) = (BTreeMap::new(), BTreeMap::new());
        let (transcript, dealt, receipt) = (told, false, None);
        Ok(Hand { context, dealer, transcript, rows, roots, seen, variant, dealt, receipt })
    }

    /// Whether the hand has this transcript.
    pub(super) fn is_told_by(&self, transcript: &[u8]) -> bool {
        self.transcript.0 == transcript
    }

    /// Checks that the seat's row holds this client's commitment and the entropy that it revealed.
    pub(super) fn check_part(
        &self,
        (seat, player): (u8, PlayerId),
        commitment: &ClientCommitment,
        revealed: Option<&Entropy>,
    ) -> Result<(), Fault> {
        let mine = self.rows.iter().find(|row| row.seat == seat && row.player == player);
        let Some(row) = mine.filter(|row| row.commitment.matches(commitment)) else {
            return Err(Violation::CommitmentDropped.into());
        };
        match (row.status, revealed) {
            (Status::Revealed, Some(entropy)) if row.entropy != *entropy => {
                Err(Violation::EntropyChanged.into())
            }
            (Status::Revealed, _) => Ok(()),
            (Status::Withheld | Status::Absent, _) => Err(Violation::CommitmentDropped.into()),
        }
    }

    /// Adds the commitment to a shuffle.
    pub(super) fn root(&mut self, told: &DeckRoot) -> Result<(), Fault> {
        let DeckRoot { op, cards, root } = told;
        let cards = u16::try_from(*cards).map_err(|_| Violation::Malformed("a pile"))?;
        let new = Root { cards, root: exactly("a commitment to a shuffle", root)? };
        match self.roots.insert(*op, new) {
            Some(before) if before != new => {
                self.roots.insert(*op, before);
                Err(Violation::SecondRoot { op: *op }.into())
            }
            _ => Ok(()),
        }
    }

    /// Checks shown cards against the proofs of those that are not hidden.
    pub(super) fn cards(&mut self, codes: &[String], proofs: &[CardProof]) -> Result<(), Fault> {
        let shown: Vec<&String> = codes.iter().filter(|code| *code != HIDDEN).collect();
        if shown.len() != proofs.len() {
            return Err(Violation::Unproved.into());
        }
        shown.into_iter().zip(proofs).try_for_each(|(code, proof)| self.card(code, proof))
    }

    /// Checks the cards that players hold, as far as they are shown.
    pub(super) fn hands(&mut self, hands: &[HandSeat]) -> Result<(), Fault> {
        let held = hands.iter().flat_map(|hand| &hand.cards);
        for card in held.filter(|card| card.code != HIDDEN) {
            self.card(&card.code, card.proof.as_ref().ok_or(Violation::Unproved)?)?;
        }
        Ok(())
    }

    fn card(&mut self, code: &str, proof: &CardProof) -> Result<(), Fault> {
        let CardProof { op, position, card_id, salt, path } = proof;
        let wrong = Violation::Proof { op: *op, position: *position };
        let small = (u16::try_from(*position).ok()).zip(u8::try_from(*card_id).ok());
        let (place, card) = small.ok_or_else(|| wrong.clone())?;
        let handle = Handle { op: *op, position: place };
        let salt = exactly("a card's salt", salt)?;
        let deck = self.variant.map(|variant| variant.deck);
        if deck.is_some_and(|deck| deck.card(card).map(|card| deck.code(card)) != Some(code)) {
            return Err(Violation::OtherCard { op: *op, position: *position }.into());
        }
        if self.seen.get(&handle) == Some(&(card, salt)) {
            return Ok(());
        }
        let root = self.roots.get(op).ok_or(Violation::NoRoot { op: *op })?;
        let hashes = path.chunks_exact(32).filter_map(|hash| hash.first_chunk().copied()).collect();
        let opening = Opening { handle, card, salt, path: hashes, count: root.cards };
        if path.len() % 32 != 0 || opening.root() != Some(root.root) {
            return Err(wrong.into());
        }
        self.seen.insert(handle, (card, salt));
        Ok(())
    }

    /// Checks that the seed is the one committed to, and that it gives the salt of each proved card
    /// and the order of every first shuffle. Later shuffles contain hidden cards: checking them
    /// needs the hand's records.
    pub(super) fn opened(&self, seed: &Seed) -> Result<(), Fault> {
        if !self.dealer.opens(&self.context, seed) {
            return Err(Violation::Seed.into());
        }
        let keys = Keys::derive(&self.transcript, seed);
        for (Handle { op, position }, (_, salt)) in &self.seen {
            if deck::salt(&keys, *op, *position) != *salt {
                let wrong = Violation::Salt { op: *op, position: *position };
                return Err(wrong.by(Culprit::Dealer));
            }
        }
        // The first shuffles make the piles, in their order.
        let piles = self.variant.iter().flat_map(|variant| variant.piles);
        for (pile, ((op, told), spec)) in (0..).zip(self.roots.iter().zip(piles)) {
            let cards: Vec<u8> = spec.cards().map(rules::Card::id).collect();
            let operation = Operation::Shuffle { pile, cards };
            let Ok(Outcome::Shuffled(order)) = fairness::perform(&keys, *op, &operation) else {
                continue;
            };
            if deck::root(&keys, *op, &order) != told.root {
                return Err(Violation::Order { op: *op }.by(Culprit::Dealer));
            }
        }
        Ok(())
    }
}

/// Converts a slice of exactly `N` bytes.
pub(super) fn exactly<const N: usize>(
    what: &'static str,
    bytes: &[u8],
) -> Result<[u8; N], Violation> {
    bytes.try_into().map_err(|_| Violation::Malformed(what))
}

fn row(told: &EntropyRow) -> Result<Row, Violation> {
    let EntropyRow { seat, player_id, status: _, commitment, entropy } = told;
    let seat = u8::try_from(*seat).map_err(|_| Violation::Rows("a seat that cannot be"))?;
    let player = PlayerId(exactly("a player's id", player_id)?);
    let (zeros, status) = ([0; 32], told.status());
    let (status, commitment, entropy) = match status {
        EntropyStatus::Revealed => {
            let commitment = exactly("a seat's commitment", commitment)?;
            (Status::Revealed, commitment, exactly("a seat's entropy", entropy)?)
        }
        EntropyStatus::Absent => (Status::Absent, zeros, zeros),
        EntropyStatus::Withheld => {
            return Err(Violation::Rows("a hand is dealt that a seat withheld from"));
        }
        EntropyStatus::Unspecified => {
            return Err(Violation::Rows("a seat of which nothing is said"));
        }
    };
    let (commitment, entropy) = (ClientCommitment(commitment), Entropy(entropy));
    Ok(Row { seat, player, status, commitment, entropy })
}
