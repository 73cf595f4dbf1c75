//! Client at a table whose messages the test makes.

use super::*;

pub(super) const SECRET: [u8; 32] = [0x5a; 32];

pub(super) fn update(what: What) -> WatchMessage {
    WatchMessage::Update(Box::new(pb::TableUpdate {
        sequence: 0,
        record_time: None,
        what: Some(what),
    }))
}

/// Client at a table.
pub(super) struct Player {
    pub(super) chance: Chance,
    pub(super) fixture: HandFixture,
}

impl Player {
    pub(super) fn new(fixture: HandFixture) -> Player {
        let secret = Secret::from_bytes(SECRET);
        let chance = Chance::new(TABLE, Some(PlayerId(ME)), secret, fixture.trusted_keys());
        let mut player = Player { chance, fixture };
        let view = player.fixture.view();
        player.chance.apply(&WatchMessage::Snapshot(Box::new(view))).unwrap();
        player
    }

    pub(super) fn apply(&mut self, what: What) -> Result<(), Box<FairnessViolation>> {
        self.chance.apply(&update(what))
    }

    /// Returns its commitment and its key, without a receipt.
    pub(super) fn commit(&mut self) -> (Vec<u8>, Vec<u8>) {
        self.apply(What::NextHand(self.fixture.next_hand())).unwrap();
        let Some(EntropyMessage::Commit { hand_no: HAND, commitment, key, .. }) = self.next()
        else {
            panic!("it commits")
        };
        (commitment.0.to_vec(), key.to_vec())
    }

    pub(super) fn next(&mut self) -> Option<EntropyMessage> {
        self.chance.next_message().unwrap()
    }

    /// Commits, and gets a receipt. Returns its commitment.
    pub(super) fn commit_with_receipt(&mut self) -> Vec<u8> {
        let (commitment, key) = self.commit();
        let receipt = self.fixture.receipt(&commitment, &key);
        self.chance.accept_receipt(HAND, &receipt).unwrap();
        commitment
    }

    /// Commits and reveals; returns its entropy.
    pub(super) fn commit_and_reveal(&mut self) -> Entropy {
        let commitment = self.commit_with_receipt();
        self.apply(What::Entropy(self.fixture.closed(Some(&commitment), None))).unwrap();
        let Some(EntropyMessage::Reveal { hand_no: HAND, entropy, .. }) = self.next() else {
            panic!("it reveals")
        };
        let receipt = self.fixture.reveal_receipt(entropy);
        self.chance.reveal_accepted(HAND, Some(&receipt)).unwrap();
        entropy
    }

    /// Deals a correct hand, up to the shuffles.
    pub(super) fn shuffle(&mut self) -> (Shoe, Vec<common::DeckRoot>) {
        let rows = self.rows();
        self.apply(What::HandStarted(self.fixture.started(&rows))).unwrap();
        let (shoe, roots) = self.fixture.shoe(&rows);
        for root in &roots {
            self.apply(self.fixture.shuffled(root.clone())).unwrap();
        }
        (shoe, roots)
    }

    pub(super) fn rows(&mut self) -> Vec<TranscriptRow> {
        let entropy = self.commit_and_reveal();
        self.fixture.rows(Some(entropy))
    }
}

pub(super) fn player() -> Player {
    Player::new(HandFixture::new("dice"))
}
