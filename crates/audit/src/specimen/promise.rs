//! The dealer's commitment before a hand.

use fairness::{Commitment, Context, Seed, SeedCommitted};
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use sha2::{Digest, Sha256};

use super::{ORIGINS, Room, id};

/// Secret of the dealer until the end of the hand, with its commitment.
pub(super) struct Secret {
    pub(super) seed: [u8; 64],
    pub(super) commitment: dealer::Commitment,
    pub(super) context: Context,
}

impl Room {
    pub(super) fn commit(&mut self) -> Secret {
        let mut seed = [0; 64];
        for (half, bytes) in seed.chunks_mut(16).enumerate() {
            bytes.copy_from_slice(&id("seed", self.hand_no << 8 | half as u64));
        }
        let (context, commitment) = self.promise(self.hand_no, seed);
        let committed = self.promised(self.hand_no, commitment.clone());
        self.dealer_says(fairness::hand_id(self.table, self.hand_no), committed);
        let noted = Some(commitment.clone());
        self.table_says(pb::HandCommitted { hand_no: self.hand_no, commitment: noted });
        self.wait_ms(1000);
        Secret { seed, commitment, context }
    }

    /// Returns the commitment for a hand number, signed with the dealer's key, and its context.
    #[must_use]
    pub fn promise(&self, hand_no: u64, seed: [u8; 64]) -> (Context, dealer::Commitment) {
        let rule_set_hash: [u8; 32] = Sha256::digest(&self.rule_set).into();
        let context = Context::new(ORIGINS[1], self.table, hand_no, &rule_set_hash);
        let commitment = Commitment::new(&context, &Seed::new(seed.into()));
        let key_id = Sha256::digest(self.key.verifying_key().to_bytes())[..8].to_vec();
        let signed = SeedCommitted {
            table: self.table,
            hand_no,
            ruleset_hash: &rule_set_hash,
            commitment: &commitment,
            key_id: &key_id,
        };
        let signature = signed.sign(&self.key).to_vec();
        let (commitment, origin) = (commitment.0.to_vec(), ORIGINS[1].to_owned());
        (context, dealer::Commitment { commitment, key_id, signature, origin })
    }

    /// Returns the dealer's record of a commitment.
    #[must_use]
    pub fn promised(&self, hand_no: u64, commitment: dealer::Commitment) -> pb::SeedCommitted {
        let rule_set_hash: [u8; 32] = Sha256::digest(&self.rule_set).into();
        pb::SeedCommitted {
            table_id: self.table.0.to_vec().into(),
            hand_no,
            rule_set_hash: rule_set_hash.to_vec().into(),
            commitment: Some(commitment),
        }
    }
}
