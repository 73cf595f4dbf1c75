//! The seats' part in chance: their commitments, their reveals, their silence.

use fairness::{ClientCommitment, Commitment, Entropy, Keys, Row, Seed, Status, Transcript};
use primitives::{HandId, PlayerId, UnixMicros};
use proto::dealer::v1::{EntropyRow, EntropyStatus};
use proto::event::v1 as pb;
use sha2::{Digest, Sha256};

use super::promise::Secret;
use super::{ENTROPY_MS, Part, Room};

/// Entropy of a seat for a hand, and its commitment.
struct Given {
    seat: u8,
    player: PlayerId,
    entropy: Entropy,
    commitment: ClientCommitment,
}

impl Room {
    fn part(&self, seat: u32) -> Part {
        let usual = if seat % 2 == 1 { Part::Reveals } else { Part::Absent };
        self.ways.parts.get(&seat).copied().unwrap_or(usual)
    }

    /// Whether the table counts the seat's commitment.
    fn counts(&self, seat: u32) -> bool {
        !matches!(self.part(seat), Part::Absent | Part::Dropped)
    }

    fn given(&self, secret: &Secret, place: &pb::RosterSeat) -> Given {
        let seat = u8::try_from(place.seat).expect("a seat");
        let player = PlayerId::try_from(&place.player_id[..]).expect("an id");
        let mut hash = Sha256::new().chain_update("entropy").chain_update(self.table.0);
        hash.update(self.hand_no.to_be_bytes());
        hash.update([seat]);
        let entropy = Entropy(hash.finalize().into());
        let promised = promised(secret);
        let commitment = ClientCommitment::new(&secret.context, &promised, seat, player, &entropy);
        Given { seat, player, entropy, commitment }
    }

    /// Writes the commitments of the seats whose part is one of `when`.
    pub(super) fn commit_entropy(
        &mut self,
        secret: &Secret,
        roster: &[pb::RosterSeat],
        when: &[Part],
    ) {
        if self.ways.without_entropy {
            return;
        }
        for place in roster {
            if !when.contains(&self.part(place.seat)) {
                continue;
            }
            let given = self.given(secret, place);
            self.table_says(pb::EntropyCommitted {
                hand_no: self.hand_no,
                seat: place.seat,
                player_id: place.player_id.clone(),
                commitment: given.commitment.0.to_vec().into(),
            });
        }
    }

    /// Returns the time until which the hand that opens now takes commitments, in Unix
    /// microseconds; 0 if it takes none.
    pub(super) fn entropy_deadline(&self, roster: &[pb::RosterSeat]) -> u64 {
        let early = |place: &pb::RosterSeat| {
            matches!(self.part(place.seat), Part::Reveals | Part::Withholds)
        };
        match (self.ways.without_entropy, roster.iter().all(early)) {
            (true, _) => 0,
            (false, true) => self.now,
            (false, false) => self.now + ENTROPY_MS * 1000,
        }
    }

    /// Closes the commitments and lets the seats reveal.
    pub(super) fn reveal_entropy(
        &mut self,
        hand: HandId,
        secret: &Secret,
        opened: &pb::HandOpened,
    ) {
        if self.ways.without_entropy {
            return;
        }
        let roster = &opened.roster;
        let mut committed: Vec<&pb::RosterSeat> =
            roster.iter().filter(|place| self.counts(place.seat)).collect();
        committed.sort_by_key(|place| place.seat);
        if committed.len() < roster.len() {
            self.now = self.now.max(opened.entropy_deadline_micros);
        }
        let wait = if committed.is_empty() { 0 } else { ENTROPY_MS * 1000 };
        let closed = pb::EntropyClosed {
            seats: committed.iter().map(|place| place.seat).collect(),
            deadline_micros: self.now + wait,
        };
        let deadline = closed.deadline_micros;
        self.hand_says(hand, closed);
        for place in committed {
            if self.part(place.seat) == Part::Withholds {
                self.now = self.now.max(deadline);
                continue;
            }
            let entropy = self.given(secret, place).entropy.0.to_vec().into();
            self.hand_says(hand, pb::EntropyRevealed { seat: place.seat, entropy });
        }
    }

    /// Returns the seats of the roster that do not reveal.
    pub(super) fn silent(&self, roster: &[pb::RosterSeat]) -> Vec<u32> {
        let seats = roster.iter().map(|place| place.seat);
        let mut seats: Vec<u32> =
            seats.filter(|seat| self.part(*seat) == Part::Withholds).collect();
        seats.sort_unstable();
        seats
    }

    /// Binds the contributions of the seats.
    pub(super) fn seal(
        &mut self,
        hand: HandId,
        secret: &Secret,
        roster: &[pb::RosterSeat],
    ) -> Keys {
        let (mut rows, mut written) = (Vec::new(), Vec::new());
        let mut roster: Vec<_> = roster.to_vec();
        roster.sort_by_key(|place| place.seat);
        for place in &roster {
            let brings = self.counts(place.seat) && !self.ways.without_entropy;
            let Given { seat, player, entropy, commitment } = self.given(secret, place);
            let (status, said) = if brings {
                (Status::Revealed, EntropyStatus::Revealed)
            } else {
                (Status::Absent, EntropyStatus::Absent)
            };
            rows.push(Row { seat, player, status, commitment, entropy });
            let only = |bytes: [u8; 32]| if brings { bytes.to_vec() } else { Vec::new() };
            written.push(EntropyRow {
                seat: place.seat,
                player_id: player.0.to_vec(),
                status: said.into(),
                commitment: only(commitment.0),
                entropy: only(entropy.0),
            });
        }
        let transcript = Transcript::try_new(&secret.context, &promised(secret), None, &rows);
        let transcript = transcript.expect("rows of ascending seats that open");
        let bytes = bytes::Bytes::copy_from_slice(&transcript.0);
        let beacon = bytes::Bytes::new();
        let rows = written.clone();
        self.dealer_says(hand, pb::SeedSealed { transcript: bytes.clone(), beacon, rows });
        self.hand_says(hand, pb::HandSealed { transcript: bytes, rows: written });
        Keys::derive(&transcript, &Seed::new(secret.seed.into()))
    }

    /// Aborts the hand and opens its seed.
    pub(super) fn abort(
        &mut self,
        (hand, secret): (HandId, &Secret),
        opened: &pb::HandOpened,
        end: (pb::AtFault, Vec<u32>),
    ) {
        self.give_back(hand, opened, end);
        let seed = bytes::Bytes::copy_from_slice(&secret.seed);
        self.dealer_says(hand, pb::SeedOpened { seed: seed.clone(), discarded: true });
        self.hand_says(hand, pb::HandRevealed { seed });
    }

    /// Writes the abort, and the end of the hand with the credits before it.
    pub(super) fn give_back(
        &mut self,
        hand: HandId,
        opened: &pb::HandOpened,
        (at_fault, misses): (pb::AtFault, Vec<u32>),
    ) {
        let (seats, evidence) = match at_fault {
            pb::AtFault::Seat => (self.silent(&opened.roster), "no entropy in time".to_owned()),
            pb::AtFault::Dealer => (Vec::new(), "no answer for 60 seconds".to_owned()),
            pb::AtFault::Operator | pb::AtFault::Unspecified => {
                (Vec::new(), "the lights went out".to_owned())
            }
        };
        self.hand_says(hand, pb::HandAborted { at_fault: at_fault.into(), seats, evidence });
        let finished = pb::HandFinished {
            hand_no: opened.hand_no,
            hand_id: hand.0.to_vec().into(),
            seats: opened.roster.clone(),
            sabacc_pot: opened.sabacc_pot,
            carried_pot: opened.carried_pot,
            sabacc_paid: vec![0; opened.roster.len()],
            sabacc_won: false,
            misses,
            aborted: true,
        };
        self.table_says(finished);
    }

    /// Returns the time `ms` milliseconds from now, for a record that a test adds.
    #[must_use]
    pub fn later(&self, ms: u64) -> UnixMicros {
        UnixMicros(self.now + ms * 1000)
    }
}

fn promised(secret: &Secret) -> Commitment {
    Commitment(secret.commitment.commitment[..].try_into().expect("32 bytes"))
}
