//! Correct dealer and table of one hand. Each message that a client sees is separate, so that a
//! test can alter it.

use ed25519_dalek::SigningKey;
use fairness::{
    Chain, ClientCommitment, Closing, ClosingRow, ClosingStatement, CommitReceipt, Commitment,
    CommitmentStatement, Context, DecisionReceipt, Entropy, Handle, KeyId, Keys, OperationRequest,
    RevealReceipt, RowStatus, Seed, Shoe, ShuffleInput, SignedText, Transcript, TranscriptRow,
};
use primitives::{PlayerId, TableId};
use proto::common::v1::{self as common, EntropyStatus};
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use rules::{RuleSet, TableSettings, Variant};
use zeroize::Zeroizing;

use crate::fake::ME;

pub(crate) const TABLE: TableId = TableId([1; 16]);
pub(crate) const HAND: u64 = 5;
pub(crate) const SEAT: u8 = 2;
pub(crate) const OTHER: u8 = 5;
pub(crate) const OTHER_PLAYER: PlayerId = PlayerId([9; 16]);
const ORIGIN: &str = "test/dealer";

pub(crate) struct HandFixture {
    pub(crate) dealer: SigningKey,
    pub(crate) table: SigningKey,
    pub(crate) seed: u8,
    pub(crate) rules: RuleSet,
    pub(crate) settings: TableSettings,
    pub(crate) hand_no: u64,
}

fn key_id(key: &SigningKey) -> Vec<u8> {
    KeyId::of(key.verifying_key().as_bytes()).0.to_vec()
}

impl HandFixture {
    pub(crate) fn new(variant: &str) -> HandFixture {
        let variant = rules::variant(variant).expect("a game of ours");
        HandFixture {
            dealer: SigningKey::from_bytes(&[3; 32]),
            table: SigningKey::from_bytes(&[4; 32]),
            seed: 7,
            rules: RuleSet::defaults(variant),
            settings: TableSettings::default(),
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
        fairness::rules_hash(&self.rules.canonical(), &self.settings.canonical())
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

    pub(crate) fn dealer_commitment(&self) -> common::Commitment {
        let commitment = self.commitment();
        let signed = CommitmentStatement {
            origin: ORIGIN,
            table: TABLE,
            hand_no: self.hand_no,
            rules_hash: &self.rules_hash(),
            commitment: &commitment,
        };
        common::Commitment {
            commitment: commitment.0.to_vec(),
            signature: signed.sign(&self.dealer).to_vec(),
            origin: ORIGIN.to_owned(),
            key_id: key_id(&self.dealer),
        }
    }

    /// Returns the table before the hand, with the client seated.
    pub(crate) fn view(&self) -> pb::TableView {
        let seat = |seat: u8, player_id: [u8; 16]| pb::SeatView {
            seat: seat.into(),
            player_id: wire::public::id_text(&player_id),
            stack_credits: 500,
            state: pb::SeatState::Playing.into(),
            ..pb::SeatView::default()
        };
        pb::TableView {
            table_id: TABLE.to_string(),
            variant: self.variant().id.to_owned(),
            rule_set: self.rules.canonical(),
            settings: self.settings.canonical(),
            hand_no: self.hand_no - 1,
            seats: vec![seat(SEAT, ME), seat(OTHER, *OTHER_PLAYER.bytes())],
            ..pb::TableView::default()
        }
    }

    pub(crate) fn next_hand(&self) -> pb::NextHand {
        let commitment = Some(self.dealer_commitment());
        pb::NextHand {
            hand_no: self.hand_no,
            commitment,
            seats: vec![],
            rule_set: self.rules.canonical(),
            settings: self.settings.canonical(),
        }
    }

    pub(crate) fn entropy(&self, closed: bool, seats: &[u8]) -> pb::Entropy {
        pb::Entropy {
            hand_no: self.hand_no,
            hand_id: fairness::hand_id(TABLE, self.hand_no).to_string(),
            commitment: Some(self.dealer_commitment()),
            roster: vec![SEAT.into(), OTHER.into()],
            seats: seats.iter().copied().map(u32::from).collect(),
            closed,
            rule_set: self.rules.canonical(),
            settings: self.settings.canonical(),
            ..pb::Entropy::default()
        }
    }

    /// Returns the closed commitments: this client's, and that of the other seat.
    pub(crate) fn closed(&self, own: Option<&[u8]>, other: Option<Entropy>) -> pb::Entropy {
        self.closed_with(&self.closing_rows(own, other))
    }

    /// Returns the closed commitments with these rows, signed.
    pub(crate) fn closed_with(&self, rows: &[ClosingRow]) -> pb::Entropy {
        let committed = rows.iter().filter(|row| row.commitment.is_some());
        let seats: Vec<u8> = committed.map(|row| row.seat).collect();
        pb::Entropy { closing: Some(self.closing(rows)), ..self.entropy(true, &seats) }
    }

    pub(crate) fn closing_rows(
        &self,
        own: Option<&[u8]>,
        other: Option<Entropy>,
    ) -> Vec<ClosingRow> {
        let own = own.map(|own| ClientCommitment(own.try_into().expect("32 bytes")));
        let other = other.map(|entropy| self.commitment_of(OTHER, OTHER_PLAYER, &entropy));
        vec![
            ClosingRow { seat: SEAT, player: PlayerId(ME), commitment: own },
            ClosingRow { seat: OTHER, player: OTHER_PLAYER, commitment: other },
        ]
    }

    pub(crate) fn commitment_of(
        &self,
        seat: u8,
        player: PlayerId,
        entropy: &Entropy,
    ) -> ClientCommitment {
        ClientCommitment::new(&self.context(), &self.commitment(), seat, player, entropy)
    }

    pub(crate) fn closing(&self, rows: &[ClosingRow]) -> common::Closing {
        let (context, dealer) = (self.context(), self.commitment());
        let closing = Closing::try_new(&context, &dealer, rows).expect("rows of a roster");
        let signed = ClosingStatement { context: &context, dealer: &dealer, closing: &closing };
        let row = |row: &ClosingRow| common::ClosingRow {
            seat: row.seat.into(),
            player_id: row.player.to_string(),
            commitment: row.commitment.map_or_else(Vec::new, |commitment| commitment.0.to_vec()),
        };
        common::Closing {
            closing: closing.0.to_vec(),
            rows: rows.iter().map(row).collect(),
            key_id: key_id(&self.dealer),
            signature: signed.sign(&self.dealer).to_vec(),
        }
    }

    pub(crate) fn receipt(&self, commitment: &[u8], key: &[u8]) -> pb::EntropyReceipt {
        let commitment = Some(ClientCommitment(commitment.try_into().expect("32 bytes")));
        self.receipt_of(&ClosingRow { seat: SEAT, player: PlayerId(ME), commitment }, key)
    }

    /// Returns the receipt for the commitment of any seat.
    pub(crate) fn receipt_of(&self, row: &ClosingRow, key: &[u8]) -> pb::EntropyReceipt {
        let (context, dealer) = (self.context(), self.commitment());
        let player_key: [u8; 32] = key.try_into().expect("32 bytes");
        let commitment = row.commitment.expect("a seat that has committed");
        let position = 90 + u64::from(row.seat);
        let signed = CommitReceipt {
            context: &context,
            dealer: &dealer,
            seat: row.seat,
            player: row.player,
            commitment: &commitment,
            player_key: Some(&player_key),
            position,
        };
        pb::EntropyReceipt {
            table_id: TABLE.to_string(),
            hand_no: self.hand_no,
            seat: row.seat.into(),
            player_id: row.player.to_string(),
            commitment: commitment.0.to_vec(),
            position,
            signature: signed.sign(&self.table).to_vec(),
            key_id: key_id(&self.table),
            player_key: key.to_vec(),
            context: context.0.to_vec(),
            dealer_commitment: dealer.0.to_vec(),
        }
    }

    pub(crate) fn reveal_receipt(&self, entropy: Entropy) -> pb::RevealReceipt {
        self.reveal_receipt_of(SEAT, PlayerId(ME), entropy)
    }

    /// Returns the receipt for the revealed entropy of any seat.
    pub(crate) fn reveal_receipt_of(
        &self,
        seat: u8,
        player: PlayerId,
        entropy: Entropy,
    ) -> pb::RevealReceipt {
        let (context, dealer) = (self.context(), self.commitment());
        let (context, dealer, entropy) = (&context, &dealer, &entropy);
        let position = 100 + u64::from(seat);
        let signed = RevealReceipt { context, dealer, seat, player, entropy, position };
        pb::RevealReceipt {
            context: context.0.to_vec(),
            dealer_commitment: dealer.0.to_vec(),
            seat: seat.into(),
            player_id: player.to_string(),
            entropy: entropy.0.to_vec(),
            position,
            key_id: key_id(&self.table),
            signature: signed.sign(&self.table).to_vec(),
        }
    }

    pub(crate) fn decision_receipt(&self, chain: &Chain) -> pb::DecisionReceipt {
        let context = self.context();
        let signed = DecisionReceipt { context: &context, chain, position: 120 };
        pb::DecisionReceipt {
            chain: chain.0.to_vec(),
            position: 120,
            key_id: key_id(&self.table),
            signature: signed.sign(&self.table).to_vec(),
        }
    }

    /// Returns the client's row and that of the other seat, which contributes no entropy.
    pub(crate) fn rows(&self, entropy: Option<Entropy>) -> Vec<TranscriptRow> {
        self.rows_of(entropy, None)
    }

    /// Returns the client's row and that of the other seat.
    pub(crate) fn rows_of(
        &self,
        own: Option<Entropy>,
        other: Option<Entropy>,
    ) -> Vec<TranscriptRow> {
        let row = |seat, player, entropy: Option<Entropy>| {
            let commitment = entropy.map(|entropy| self.commitment_of(seat, player, &entropy));
            let status = if entropy.is_some() { RowStatus::Revealed } else { RowStatus::Absent };
            let commitment = commitment.unwrap_or(ClientCommitment([0; 32]));
            let entropy = entropy.unwrap_or(Entropy([0; 32]));
            TranscriptRow { seat, player, status, commitment, entropy }
        };
        vec![row(SEAT, PlayerId(ME), own), row(OTHER, OTHER_PLAYER, other)]
    }

    pub(crate) fn transcript(&self, rows: &[TranscriptRow]) -> Transcript {
        let transcript = Transcript::try_new(&self.context(), &self.commitment(), None, rows);
        transcript.expect("what a test gives belongs together")
    }

    pub(crate) fn started(&self, rows: &[TranscriptRow]) -> pb::HandStarted {
        let seat = |row: &TranscriptRow| pb::HandSeat {
            seat: row.seat.into(),
            player_id: row.player.to_string(),
            ..pb::HandSeat::default()
        };
        pb::HandStarted {
            your_standing: None,
            hand_no: self.hand_no,
            hand_id: fairness::hand_id(TABLE, self.hand_no).to_string(),
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
            hand_id: fairness::hand_id(TABLE, self.hand_no).to_string(),
            seed: self.seed().expose().to_vec(),
            refused: false,
        }
    }
}

pub(crate) fn row_to_pb(row: &TranscriptRow) -> common::EntropyRow {
    let TranscriptRow { seat, player, status, commitment, entropy } = row;
    let (status, commitment, entropy) = match status {
        RowStatus::Revealed => (EntropyStatus::Revealed, commitment.0.to_vec(), entropy.0.to_vec()),
        RowStatus::Withheld => (EntropyStatus::Withheld, commitment.0.to_vec(), vec![]),
        RowStatus::Absent => (EntropyStatus::Absent, vec![], vec![]),
    };
    let (seat, player_id) = (u32::from(*seat), player.to_string());
    common::EntropyRow { seat, player_id, status: status.into(), commitment, entropy }
}
