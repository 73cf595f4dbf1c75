//! Correct dealer and table of one hand. Each message that a client sees is separate, so that a
//! test can alter it.

use ed25519_dalek::SigningKey;
use fairness::{
    ClientCommitment, Commitment, CommitmentStatement, Context, Entropy, Handle, Keys,
    OperationRequest, Receipt, RowStatus, Seed, Shoe, ShuffleInput, Transcript, TranscriptRow,
};
use primitives::{PlayerId, TableId};
use proto::common::v1 as common;
use proto::dealer::v1 as dealer;
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use rules::{RuleSet, Variant};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use crate::fake::ME;

pub(crate) const TABLE: TableId = TableId([1; 16]);
pub(crate) const HAND: u64 = 5;
pub(crate) const SEAT: u8 = 2;
const OTHER: u8 = 5;
const ORIGIN: &str = "test/dealer";

pub(crate) struct HandFixture {
    pub(crate) dealer: SigningKey,
    pub(crate) table: SigningKey,
    pub(crate) seed: u8,
    pub(crate) rules: RuleSet,
    pub(crate) hand_no: u64,
}

impl HandFixture {
    pub(crate) fn new(variant: &str) -> HandFixture {
        let variant = rules::variant(variant).expect("a game of ours");
        HandFixture {
            dealer: SigningKey::from_bytes(&[3; 32]),
            table: SigningKey::from_bytes(&[4; 32]),
            seed: 7,
            rules: RuleSet::defaults(variant),
            hand_no: HAND,
        }
    }

    pub(crate) fn variant(&self) -> &'static Variant {
        self.rules.variant()
    }

    pub(crate) fn trusted_keys(&self) -> client::TrustedKeys {
        let mut trust = client::TrustedKeys::default();
        trust.add(ORIGIN, self.dealer.verifying_key().to_bytes());
        trust.add("test/table", self.table.verifying_key().to_bytes());
        trust
    }

    fn rules_hash(&self) -> [u8; 32] {
        Sha256::digest(self.rules.canonical()).into()
    }

    pub(crate) fn context(&self) -> Context {
        Context::new(ORIGIN, TABLE, self.hand_no, &self.rules_hash())
    }

    pub(crate) fn seed(&self) -> Seed {
        Seed::new(Zeroizing::new([self.seed; 64]))
    }

    pub(crate) fn commitment(&self) -> Commitment {
        Commitment::new(&self.context(), &self.seed())
    }

    pub(crate) fn dealer_commitment(&self) -> dealer::Commitment {
        let commitment = self.commitment();
        let key_id = Sha256::digest(self.dealer.verifying_key().to_bytes())[..8].to_vec();
        let signed = CommitmentStatement {
            table: TABLE,
            hand_no: self.hand_no,
            ruleset_hash: &self.rules_hash(),
            commitment: &commitment,
            key_id: &key_id,
        };
        dealer::Commitment {
            commitment: commitment.0.to_vec(),
            signature: signed.sign(&self.dealer).to_vec(),
            origin: ORIGIN.to_owned(),
            key_id,
        }
    }

    /// Returns the table before the hand, with the client seated.
    pub(crate) fn view(&self) -> pb::TableView {
        let seat = |seat: u8, player_id: [u8; 16]| pb::SeatView {
            seat: seat.into(),
            player_id: player_id.to_vec(),
            stack: 500,
            state: pb::SeatState::Playing.into(),
            ..pb::SeatView::default()
        };
        pb::TableView {
            table_id: TABLE.bytes().to_vec(),
            variant: self.variant().id.to_owned(),
            rule_set: self.rules.canonical(),
            seats: vec![seat(SEAT, ME), seat(OTHER, [9; 16])],
            ..pb::TableView::default()
        }
    }

    pub(crate) fn next_hand(&self) -> pb::NextHand {
        let commitment = Some(self.dealer_commitment());
        pb::NextHand { hand_no: self.hand_no, commitment, seats: vec![] }
    }

    pub(crate) fn entropy(&self, closed: bool, seats: &[u8]) -> pb::Entropy {
        pb::Entropy {
            hand_no: self.hand_no,
            hand_id: fairness::hand_id(TABLE, self.hand_no).0.to_vec(),
            commitment: Some(self.dealer_commitment()),
            roster: vec![SEAT.into(), OTHER.into()],
            seats: seats.iter().copied().map(u32::from).collect(),
            closed,
            deadline: None,
        }
    }

    pub(crate) fn receipt(&self, commitment: &[u8]) -> pb::EntropyReceipt {
        let key_id = Sha256::digest(self.table.verifying_key().to_bytes())[..8].to_vec();
        let signed = Receipt {
            table: TABLE,
            hand_no: self.hand_no,
            seat: SEAT,
            player: PlayerId(ME),
            commitment: &ClientCommitment(commitment.try_into().expect("32 bytes")),
            position: 99,
            key_id: &key_id,
        };
        pb::EntropyReceipt {
            table_id: TABLE.bytes().to_vec(),
            hand_no: self.hand_no,
            seat: SEAT.into(),
            player_id: ME.to_vec(),
            commitment: commitment.to_vec(),
            position: 99,
            signature: signed.sign(&self.table).to_vec(),
            key_id,
        }
    }

    /// Returns the client's row and that of the other seat, which contributes no entropy.
    pub(crate) fn rows(&self, entropy: Option<Entropy>) -> Vec<TranscriptRow> {
        let (context, dealer, player) = (self.context(), self.commitment(), PlayerId(ME));
        let absent = |seat, player| TranscriptRow {
            seat,
            player,
            status: RowStatus::Absent,
            commitment: ClientCommitment([0; 32]),
            entropy: Entropy([0; 32]),
        };
        let mine = entropy.map_or(absent(SEAT, player), |entropy| {
            let commitment = ClientCommitment::new(&context, &dealer, SEAT, player, &entropy);
            TranscriptRow { seat: SEAT, player, status: RowStatus::Revealed, commitment, entropy }
        });
        vec![mine, absent(OTHER, PlayerId([9; 16]))]
    }

    pub(crate) fn transcript(&self, rows: &[TranscriptRow]) -> Transcript {
        let transcript = Transcript::try_new(&self.context(), &self.commitment(), None, rows);
        transcript.expect("what a test gives belongs together")
    }

    pub(crate) fn started(&self, rows: &[TranscriptRow]) -> pb::HandStarted {
        let seat = |row: &TranscriptRow| pb::HandSeat {
            seat: row.seat.into(),
            player_id: row.player.bytes().to_vec(),
            ..pb::HandSeat::default()
        };
        pb::HandStarted {
            your_standing: None,
            hand_no: self.hand_no,
            hand_id: fairness::hand_id(TABLE, self.hand_no).0.to_vec(),
            seats: rows.iter().map(seat).collect(),
            commitment: self.commitment().0.to_vec(),
            standing: None,
            rows: rows.iter().map(row_to_pb).collect(),
            transcript: self.transcript(rows).0.to_vec(),
        }
    }

    /// Shuffles every pile, as operations 0, 1 and so on.
    pub(crate) fn shoe(&self, rows: &[TranscriptRow]) -> (Shoe, Vec<common::DeckRoot>) {
        let mut shoe = Shoe::new(Keys::derive(&self.transcript(rows), &self.seed()));
        let mut roots = Vec::new();
        for (pile, spec) in (0_u8..).zip(self.variant().piles) {
            let input =
                ShuffleInput::Fresh { first: spec.first, count: (spec.end - spec.first).into() };
            let op = pile.into();
            let answer = shoe.perform(op, &OperationRequest::Shuffle { pile, input });
            let Ok(fairness::PublicOutcome::Shuffled { root, count }) = answer else {
                panic!("a fresh pile: {answer:?}")
            };
            roots.push(common::DeckRoot { op, cards: count.into(), root: root.to_vec() });
        }
        (shoe, roots)
    }

    pub(crate) fn shuffled(&self, root: common::DeckRoot) -> What {
        What::Action(pb::HandAction {
            hand_no: self.hand_no,
            root: Some(root),
            ..pb::HandAction::default()
        })
    }

    pub(crate) fn proof(&self, shoe: &Shoe, op: u32, position: u16) -> (String, common::CardProof) {
        let opened = shoe.prove_current(Handle { op, position }).expect("a card lies there");
        let deck = self.variant().deck;
        let code = deck.code(deck.card(opened.card).expect("a card of the deck")).to_owned();
        let proof = common::CardProof {
            op,
            position: position.into(),
            card_id: opened.card.into(),
            salt: opened.salt.to_vec(),
            path: opened.path.concat(),
        };
        (code, proof)
    }

    /// Deals the client the two cards on top of the first pile, and the other seat the next two.
    pub(crate) fn dealt(&self, shoe: &Shoe) -> pb::HandAction {
        let mine = [self.proof(shoe, 0, 0), self.proof(shoe, 0, 1)];
        let held = |(code, proof): &(String, common::CardProof)| pb::HeldCard {
            code: code.clone(),
            locked: false,
            proof: Some(proof.clone()),
        };
        let hidden = pb::HeldCard { code: "??".to_owned(), locked: false, proof: None };
        let hand =
            |seat: u8, cards| pb::HandSeat { seat: seat.into(), cards, ..pb::HandSeat::default() };
        pb::HandAction {
            hand_no: self.hand_no,
            cards: mine.iter().map(|(code, _)| code.clone()).chain(["??".to_owned()]).collect(),
            proofs: mine.iter().map(|(_, proof)| proof.clone()).collect(),
            hands: vec![
                hand(SEAT, mine.iter().map(held).collect()),
                hand(OTHER, vec![hidden.clone(), hidden]),
            ],
            ..pb::HandAction::default()
        }
    }

    pub(crate) fn published(&self) -> pb::SeedPublished {
        pb::SeedPublished {
            hand_no: self.hand_no,
            hand_id: fairness::hand_id(TABLE, self.hand_no).0.to_vec(),
            seed: self.seed().expose().to_vec(),
            refused: false,
        }
    }
}

pub(crate) fn row_to_pb(row: &TranscriptRow) -> dealer::EntropyRow {
    let TranscriptRow { seat, player, status, commitment, entropy } = row;
    let (status, commitment, entropy) = match status {
        RowStatus::Revealed => {
            (dealer::EntropyStatus::Revealed, commitment.0.to_vec(), entropy.0.to_vec())
        }
        RowStatus::Withheld => (dealer::EntropyStatus::Withheld, commitment.0.to_vec(), vec![]),
        RowStatus::Absent => (dealer::EntropyStatus::Absent, vec![], vec![]),
    };
    let (seat, player_id) = (u32::from(*seat), player.bytes().to_vec());
    dealer::EntropyRow { seat, player_id, status: status.into(), commitment, entropy }
}
