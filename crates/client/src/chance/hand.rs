//! Chance of one hand: its transcript, the roots of its shuffles, the proved cards, and the check
//! against the published seed.

use std::collections::BTreeMap;

use fairness::evidence::Opening;
use fairness::{
    ClientCommitment, ClosingRow, Commitment, Context, Entropy, Handle, Keys, Operation, Outcome,
    ProvedCard, RowStatus, Seed, Transcript, TranscriptRow, deck,
};
use primitives::PlayerId;
use proto::common::v1::{CardProof, DeckRoot, EntropyRow, EntropyStatus};
use proto::table::v1::{EntropyReceipt, HandSeat};
use rules::Variant;
use wire::moves::HIDDEN;

use super::closing::HandClosing;
use super::decisions::Decisions;
use super::proofs::Beginning;
use super::violation::{Fault, PartyAtFault, ViolationKind};

/// Hand whose entropy rows are fixed.
pub(super) struct Hand {
    context: Context,
    commitment: Commitment,
    transcript: Transcript,
    rows: Vec<TranscriptRow>,
    /// Roots by the index of the shuffle's operation.
    roots: BTreeMap<u32, Root>,
    /// Proved cards with their salts.
    proved: BTreeMap<Handle, (u8, [u8; 32])>,
    variant: Option<&'static Variant>,
    /// Whether the client is dealt in, on the seat of its contribution if it has one.
    pub(super) is_dealt_in: bool,
    pub(super) receipt: Option<EntropyReceipt>,
    pub(super) decisions: Decisions,
    pub(super) beginning: Beginning,
}

/// Items that were shown before and that an opened seed gave again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeedChecks {
    /// Salts of proved cards.
    pub cards: usize,
    /// Whole orders of first shuffles.
    pub orders: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Root {
    cards: u16,
    root: [u8; 32],
}

impl Hand {
    /// Creates a hand, if its rows give its transcript. `decisions` makes its chain from that.
    pub(super) fn try_new(
        binding: (Context, Commitment),
        rows: &[EntropyRow],
        transcript: &[u8],
        variant: Option<&'static Variant>,
        decisions: impl FnOnce(&Transcript, &[TranscriptRow]) -> Result<Decisions, Fault>,
    ) -> Result<Hand, Fault> {
        let (context, commitment) = binding;
        if rows.is_empty() || transcript.is_empty() {
            return Err(ViolationKind::Missing("the transcript").into());
        }
        let rows = rows.iter().map(parse_row).collect::<Result<Vec<_>, _>>()?;
        let received = Transcript(to_array("the transcript", transcript)?);
        let made = Transcript::try_new(&context, &commitment, None, &rows);
        if made
            .map_err(|_| ViolationKind::WrongRows("an entropy that does not open its commitment"))?
            != received
        {
            return Err(ViolationKind::WrongTranscript.into());
        }
        let decisions = decisions(&received, &rows)?;
        Ok(Hand {
            context,
            commitment,
            transcript: received,
            rows,
            roots: BTreeMap::new(),
            proved: BTreeMap::new(),
            variant,
            is_dealt_in: false,
            receipt: None,
            decisions,
            beginning: Beginning::unseen(),
        })
    }

    /// Input of the transcript.
    pub(super) fn opening(&self) -> Opening {
        let Hand { context, commitment: dealer, rows, .. } = self;
        Opening::Transcript { context: *context, dealer: *dealer, rows: rows.clone() }
    }

    /// Checks that the rows are those of the closing, all revealed that were committed to.
    pub(super) fn check_closed(&self, closing: &HandClosing) -> Result<(), Fault> {
        let row = |row: &TranscriptRow| {
            let commitment = match row.status {
                RowStatus::Revealed | RowStatus::Withheld => Some(row.commitment),
                RowStatus::Absent => None,
            };
            ClosingRow { seat: row.seat, player: row.player, commitment }
        };
        if self.rows.iter().map(row).eq(closing.rows.iter().copied()) {
            Ok(())
        } else {
            Err(ViolationKind::NotAsClosed.into())
        }
    }

    /// Checks that the rows are of exactly the seats that are dealt in.
    pub(super) fn check_seats(&self, seats: &[HandSeat]) -> Result<(), Fault> {
        let mut dealt: Vec<(u32, Option<PlayerId>)> = seats
            .iter()
            .map(|seat| (seat.seat, wire::field::player_id(&seat.player_id).ok()))
            .collect();
        dealt.sort_unstable();
        let rows = self.rows.iter().map(|row| (u32::from(row.seat), Some(row.player)));
        if rows.eq(dealt) {
            Ok(())
        } else {
            Err(ViolationKind::WrongRows("other seats than are dealt in").into())
        }
    }

    /// The row of a seat and player.
    pub(super) fn row(&self, seat: u8, player: PlayerId) -> Option<&TranscriptRow> {
        self.rows.iter().find(|row| row.seat == seat && row.player == player)
    }

    pub(super) fn rows(&self) -> &[TranscriptRow] {
        &self.rows
    }

    /// Number of shuffles that were committed to.
    pub(super) fn shuffles(&self) -> usize {
        self.roots.len()
    }

    /// Ids of the proved cards, by operation and position.
    pub(super) fn proved_cards(&self) -> impl Iterator<Item = ((u32, u16), u8)> {
        self.proved.iter().map(|(Handle { op, position }, (card, _))| ((*op, *position), *card))
    }

    /// Whether the hand has this transcript.
    pub(super) fn has_transcript(&self, transcript: &[u8]) -> bool {
        self.transcript.0 == transcript
    }

    /// Checks that the seat's row holds this client's commitment and the entropy that it revealed.
    pub(super) fn check_contribution(
        &self,
        seat: u8,
        player: PlayerId,
        commitment: &ClientCommitment,
        revealed: Option<&Entropy>,
    ) -> Result<(), Fault> {
        let Some(row) = self.row(seat, player).filter(|row| row.commitment.matches(commitment))
        else {
            return Err(ViolationKind::CommitmentDropped.into());
        };
        match (row.status, revealed) {
            (RowStatus::Revealed, Some(entropy)) if row.entropy != *entropy => {
                Err(ViolationKind::EntropyChanged.into())
            }
            (RowStatus::Revealed, _) => Ok(()),
            (RowStatus::Withheld | RowStatus::Absent, _) => {
                Err(ViolationKind::CommitmentDropped.into())
            }
        }
    }

    /// Adds the commitment to a shuffle.
    pub(super) fn add_root(&mut self, message: &DeckRoot) -> Result<(), Fault> {
        let DeckRoot { op, cards, root } = message;
        let cards = u16::try_from(*cards).map_err(|_| ViolationKind::Malformed("a pile"))?;
        let new = Root { cards, root: to_array("a commitment to a shuffle", root)? };
        match self.roots.insert(*op, new) {
            Some(before) if before != new => {
                self.roots.insert(*op, before);
                Err(ViolationKind::SecondRoot { op: *op }.into())
            }
            _ => Ok(()),
        }
    }

    /// Checks shown cards against the proofs of those that are not hidden.
    pub(super) fn check_cards(
        &mut self,
        codes: &[String],
        proofs: &[CardProof],
    ) -> Result<(), Fault> {
        let shown: Vec<&String> = codes.iter().filter(|code| *code != HIDDEN).collect();
        if shown.len() != proofs.len() {
            return Err(ViolationKind::Unproved.into());
        }
        shown.into_iter().zip(proofs).try_for_each(|(code, proof)| self.check_card(code, proof))
    }

    /// Checks the cards that players hold, as far as they are shown.
    pub(super) fn check_hands(&mut self, hands: &[HandSeat]) -> Result<(), Fault> {
        let held = hands.iter().flat_map(|hand| &hand.cards);
        for card in held.filter(|card| card.code != HIDDEN) {
            self.check_card(&card.code, card.proof.as_ref().ok_or(ViolationKind::Unproved)?)?;
        }
        Ok(())
    }

    fn check_card(&mut self, code: &str, proof: &CardProof) -> Result<(), Fault> {
        let CardProof { op, position, card_id, salt, path } = proof;
        let wrong = ViolationKind::WrongProof { op: *op, position: *position };
        let small = (u16::try_from(*position).ok()).zip(u8::try_from(*card_id).ok());
        let (place, card) = small.ok_or_else(|| wrong.clone())?;
        let handle = Handle { op: *op, position: place };
        let salt = to_array("a card's salt", salt)?;
        let deck = self.variant.map(|variant| variant.deck);
        if deck.is_some_and(|deck| deck.card(card).map(|card| deck.code(card)) != Some(code)) {
            return Err(ViolationKind::OtherCard { op: *op, position: *position }.into());
        }
        if self.proved.get(&handle) == Some(&(card, salt)) {
            return Ok(());
        }
        let root = self.roots.get(op).ok_or(ViolationKind::NoRoot { op: *op })?;
        let hashes = path.chunks_exact(32).filter_map(|hash| hash.first_chunk().copied()).collect();
        let opening = ProvedCard { handle, card, salt, path: hashes, count: root.cards };
        if path.len() % 32 != 0 || opening.root() != Some(root.root) {
            return Err(wrong.into());
        }
        self.proved.insert(handle, (card, salt));
        Ok(())
    }

    /// Checks that the seed is the one committed to, and that it gives the salt of each proved card
    /// and the order of every first shuffle. Later shuffles contain hidden cards: checking them
    /// needs the hand's records.
    pub(super) fn check_seed(&self, seed: &Seed) -> Result<SeedChecks, Fault> {
        if !self.commitment.opens(&self.context, seed) {
            return Err(ViolationKind::WrongSeed.into());
        }
        let keys = Keys::derive(&self.transcript, seed);
        for (Handle { op, position }, (_, salt)) in &self.proved {
            if deck::salt(&keys, *op, *position) != *salt {
                let wrong = ViolationKind::WrongSalt { op: *op, position: *position };
                return Err(wrong.attributed_to(PartyAtFault::Dealer));
            }
        }
        let mut orders = 0;
        // The first shuffles make the piles, in their order.
        let piles = self.variant.iter().flat_map(|variant| variant.piles);
        for (pile, ((op, committed), spec)) in (0..).zip(self.roots.iter().zip(piles)) {
            let cards: Vec<u8> = spec.cards().map(rules::Card::id).collect();
            let operation = Operation::Shuffle { pile, cards };
            let Ok(Outcome::Shuffled(order)) = fairness::perform(&keys, *op, &operation) else {
                continue;
            };
            if deck::root(&keys, *op, &order) != committed.root {
                return Err(
                    ViolationKind::WrongOrder { op: *op }.attributed_to(PartyAtFault::Dealer)
                );
            }
            orders += 1;
        }
        Ok(SeedChecks { cards: self.proved.len(), orders })
    }
}

/// Converts a slice of exactly `N` bytes.
pub(super) fn to_array<const N: usize>(
    what: &'static str,
    bytes: &[u8],
) -> Result<[u8; N], ViolationKind> {
    bytes.try_into().map_err(|_| ViolationKind::Malformed(what))
}

pub(super) fn parse_player(text: &str) -> Result<PlayerId, ViolationKind> {
    wire::field::player_id(text).map_err(|_| ViolationKind::Malformed("a player's id"))
}

fn parse_row(row: &EntropyRow) -> Result<TranscriptRow, ViolationKind> {
    let EntropyRow { seat, player_id, status: _, commitment, entropy } = row;
    let seat =
        u8::try_from(*seat).map_err(|_| ViolationKind::WrongRows("a seat that cannot be"))?;
    let player = parse_player(player_id)?;
    let (zeros, status) = ([0; 32], row.status());
    let (status, commitment, entropy) = match status {
        EntropyStatus::Revealed => {
            let commitment = to_array("a seat's commitment", commitment)?;
            (RowStatus::Revealed, commitment, to_array("a seat's entropy", entropy)?)
        }
        EntropyStatus::Absent => (RowStatus::Absent, zeros, zeros),
        EntropyStatus::Withheld => {
            return Err(ViolationKind::WrongRows("a hand is dealt that a seat withheld from"));
        }
        EntropyStatus::Unspecified => {
            return Err(ViolationKind::WrongRows("a seat of which nothing is said"));
        }
    };
    let (commitment, entropy) = (ClientCommitment(commitment), Entropy(entropy));
    Ok(TranscriptRow { seat, player, status, commitment, entropy })
}
