//! What comes before a hand's chance: the dealer's promise and the seats' entropy.

use fairness::{
    ClientCommitment, Commitment, Context, Entropy, Keys, Row, Seed, SeedCommitted, Shoe, Status,
    Transcript,
};
use primitives::{HandId, PlayerId};
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use sha2::{Digest, Sha256};

use super::{ORIGIN, Room, id};

/// What the dealer keeps to itself until the end.
pub(super) struct Secret {
    pub(super) seed: [u8; 64],
    pub(super) commitment: dealer::Commitment,
    context: Context,
}

impl Room {
    pub(super) fn commit(&mut self) -> Secret {
        let mut seed = [0; 64];
        for (half, bytes) in seed.chunks_mut(16).enumerate() {
            bytes.copy_from_slice(&id("seed", self.hand_no << 8 | half as u64));
        }
        let rule_set_hash: [u8; 32] = Sha256::digest(&self.rule_set).into();
        let context = Context::new(ORIGIN, self.table, self.hand_no, &rule_set_hash);
        let commitment = Commitment::new(&context, &Seed::new(seed.into()));
        let key_id = Sha256::digest(self.key.verifying_key().to_bytes())[..8].to_vec();
        let signed = SeedCommitted {
            table: self.table,
            hand_no: self.hand_no,
            ruleset_hash: &rule_set_hash,
            commitment: &commitment,
            key_id: &key_id,
        };
        let commitment = dealer::Commitment {
            commitment: commitment.0.to_vec(),
            signature: signed.sign(&self.key).to_vec(),
            key_id,
            origin: ORIGIN.to_owned(),
        };
        let committed = pb::SeedCommitted {
            table_id: self.table.0.to_vec().into(),
            hand_no: self.hand_no,
            rule_set_hash: rule_set_hash.to_vec().into(),
            commitment: Some(commitment.clone()),
        };
        self.dealer_says(fairness::hand_id(self.table, self.hand_no), committed);
        let noted = Some(commitment.clone());
        self.table_says(pb::HandCommitted { hand_no: self.hand_no, commitment: noted });
        self.wait_ms(1000);
        Secret { seed, commitment, context }
    }

    /// Every second seat brings entropy of its own.
    pub(super) fn seal(
        &mut self,
        hand: HandId,
        secret: &Secret,
        roster: &[pb::RosterSeat],
    ) -> Shoe {
        let promised = Commitment(secret.commitment.commitment[..].try_into().expect("32 bytes"));
        let mut rows = Vec::new();
        let mut written = Vec::new();
        for place in roster {
            let seat = u8::try_from(place.seat).expect("a seat");
            let player = PlayerId::try_from(&place.player_id[..]).expect("an id");
            let brings = seat % 2 == 1;
            let (status, said) = if brings {
                (Status::Revealed, dealer::EntropyStatus::Revealed)
            } else {
                (Status::Absent, dealer::EntropyStatus::Absent)
            };
            let entropy = Entropy([seat; 32]);
            let commitment =
                ClientCommitment::new(&secret.context, &promised, seat, player, &entropy);
            rows.push(Row { seat, player, status, commitment, entropy });
            let only = |bytes: [u8; 32]| if brings { bytes.to_vec() } else { Vec::new() };
            written.push(dealer::EntropyRow {
                seat: place.seat,
                player_id: player.0.to_vec(),
                status: said.into(),
                commitment: only(commitment.0),
                entropy: only(entropy.0),
            });
        }
        let transcript = Transcript::try_new(&secret.context, &promised, None, &rows);
        let transcript = transcript.expect("rows of ascending seats that open");
        let bytes = bytes::Bytes::copy_from_slice(&transcript.0);
        let beacon = bytes::Bytes::new();
        let rows = written.clone();
        self.dealer_says(hand, pb::SeedSealed { transcript: bytes.clone(), beacon, rows });
        self.hand_says(hand, pb::HandSealed { transcript: bytes, rows: written });
        Shoe::new(Keys::derive(&transcript, &Seed::new(secret.seed.into())))
    }
}
