use super::*;
use crate::closing::ClosingRow;
use crate::commit::Seed;
use crate::context::rules_hash;
use crate::transcript::Transcript;
use crate::{RowStatus, TranscriptRow};
use zeroize::Zeroizing;

const KEY_ID: KeyId = KeyId([7; 8]);
const ORIGIN: &str = "sabacc.example/room1";
const CONTEXT: Context = Context([1; 32]);
const OTHER_CONTEXT: Context = Context([0; 32]);
const DEALER: Commitment = Commitment([2; 32]);
const OTHER_DEALER: Commitment = Commitment([0; 32]);

/// The hand of the published vectors.
struct Published {
    table: TableId,
    rules_hash: [u8; 32],
    context: Context,
    dealer: Commitment,
    rows: Vec<TranscriptRow>,
}

fn published() -> Published {
    let table = TableId(std::array::from_fn(|index| u8::try_from(index).unwrap()));
    let rules_hash: [u8; 32] = Sha256::digest(b"rules").into();
    let context = Context::new(ORIGIN, table, 7, &rules_hash);
    let seed = Seed::new(Zeroizing::new(std::array::from_fn(|index| u8::try_from(index).unwrap())));
    let dealer = Commitment::new(&context, &seed);
    let row = |seat: u8, player: u8, entropy: u8, status| {
        let (player, entropy) = (PlayerId([player; 16]), Entropy([entropy; 32]));
        let commitment = ClientCommitment::new(&context, &dealer, seat, player, &entropy);
        TranscriptRow { seat, player, status, commitment, entropy }
    };
    let rows = vec![
        row(1, 0xa1, 0x11, RowStatus::Revealed),
        row(3, 0xa2, 0x22, RowStatus::Revealed),
        row(4, 0xa3, 0x33, RowStatus::Withheld),
    ];
    Published { table, rules_hash, context, dealer, rows }
}

impl Published {
    fn closing(&self) -> Closing {
        let rows: Vec<_> = self.rows.iter().map(closing_row).collect();
        Closing::try_new(&self.context, &self.dealer, &rows).unwrap()
    }
}

fn closing_row(row: &TranscriptRow) -> ClosingRow {
    ClosingRow { seat: row.seat, player: row.player, commitment: Some(row.commitment) }
}

fn digest(text: &impl SignedText) -> String {
    Sha256::digest(text.message(&KEY_ID)).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// fairness/SPEC.md §8.1, §8.2, §8.4 to §8.7: the published vectors.
#[test]
fn the_signed_bytes_are_the_published_ones() {
    let hand = published();
    let Published { table, rules_hash, context, dealer, rows } = &hand;
    let first = &rows[0];
    let player_key: [u8; 32] = std::array::from_fn(|index| u8::try_from(index).unwrap());
    let promise = CommitmentStatement {
        origin: ORIGIN,
        table: *table,
        hand_no: 7,
        rules_hash,
        commitment: dealer,
    };
    assert_eq!(
        digest(&promise),
        "0929b2833989b665b34957fa219356e6f42b86cd0cf8f98b2f94f5c30e5fed41"
    );
    let receipt = CommitReceipt {
        context,
        dealer,
        seat: 1,
        player: first.player,
        commitment: &first.commitment,
        player_key: Some(&player_key),
        position: 5,
    };
    assert_eq!(
        digest(&receipt),
        "a19a3b2007dbc9208926fbfb1085c6323ca271eb9424249b9be5b9c3bd45586c"
    );
    let closing = hand.closing();
    assert_eq!(
        digest(&ClosingStatement { context, dealer, closing: &closing }),
        "740b421b6f788b717fd1236858cf3a745498d4b9b08a6f79cca821208573aa20"
    );
    let revealed = RevealReceipt {
        context,
        dealer,
        seat: 1,
        player: first.player,
        entropy: &first.entropy,
        position: 6,
    };
    assert_eq!(
        digest(&revealed),
        "eb3eb00ba830805d8c224c0b6c04a22e1de30f97564cd456698b40e45ac3fa10"
    );
    let transcript = Transcript::try_new(context, dealer, None, rows).unwrap();
    let chain = Chain::new(&transcript).with(false, "p1 bet 20");
    let decision = DecisionStatement { context, chain: &chain, said: "p1 bet 20" };
    assert_eq!(
        digest(&decision),
        "fcca444da27388a097ba9cb04a94385b4c906c5f889ba40e8a761847df6dc3d9"
    );
    assert_eq!(
        digest(&DecisionReceipt { context, chain: &chain, position: 9 }),
        "55391d9e21ac90a1e90e0573f71aa60ca4742f210da552f0238b75b275cbe693"
    );
}

/// fairness/SPEC.md §5.1, §5.8, §9.1: the published vectors.
#[test]
fn closing_chain_and_rules_hash_are_the_published_ones() {
    let hand = published();
    assert_eq!(
        hex(&hand.closing().0),
        "110d669db6a927afc762325011f2f5e3510654b22e8705d5181203beedbcdae3"
    );
    let mut rows: Vec<_> = hand.rows.iter().map(closing_row).collect();
    rows[2].commitment = None;
    assert_eq!(
        hex(&Closing::try_new(&hand.context, &hand.dealer, &rows).unwrap().0),
        "ff9f3aedcafc5b8ea3880983a29a9141cebe4d0c08819feb491f0756045d7a23"
    );
    assert_eq!(
        hex(&rules_hash("rules", "settings")),
        "a797b917abf11a2503d4d5f63396bf5777b0944505a76d914128606d4756fb38"
    );
    let transcript = Transcript::try_new(&hand.context, &hand.dealer, None, &hand.rows).unwrap();
    let first = Chain::new(&transcript).with(false, "p1 bet 20");
    assert_eq!(hex(&first.0), "8e8b112aa4528d6f97b8c40d37c7146ea5a7d876af9eca2b836ad4d9287de267");
    assert_eq!(
        hex(&first.with(true, "p2 fold").0),
        "b79629080170a4c1551c455aeb47b0554a700c2ffbce370b7ca27b6260672569"
    );
}

fn key() -> SigningKey {
    SigningKey::from_bytes(&[9; 32])
}

/// Checks that a signature over `base` holds for it, and for none of `others`.
fn assert_binds<T: SignedText + std::fmt::Debug>(base: &T, others: &[T]) {
    let (public, signature) = (key().verifying_key().to_bytes(), base.sign(&key()));
    assert_eq!(base.verify(&public, &signature), Ok(()));
    for other in others {
        assert_eq!(other.verify(&public, &signature), Err(BadSignature), "{other:?}");
    }
    let other_key = SigningKey::from_bytes(&[8; 32]).verifying_key().to_bytes();
    assert_eq!(base.verify(&other_key, &signature), Err(BadSignature));
}

/// fairness/SPEC.md §8.1.
#[test]
fn every_field_of_a_promise_is_signed() {
    let base = CommitmentStatement {
        origin: "room/dealer",
        table: TableId([1; 16]),
        hand_no: 2,
        rules_hash: &[3; 32],
        commitment: &DEALER,
    };
    assert_binds(
        &base,
        &[
            CommitmentStatement { origin: "room/other", ..base },
            CommitmentStatement { table: TableId([0; 16]), ..base },
            CommitmentStatement { hand_no: 3, ..base },
            CommitmentStatement { rules_hash: &[0; 32], ..base },
            CommitmentStatement { commitment: &OTHER_DEALER, ..base },
        ],
    );
}

/// fairness/SPEC.md §8.2.
#[test]
fn every_field_of_a_receipt_is_signed() {
    let base = CommitReceipt {
        context: &CONTEXT,
        dealer: &DEALER,
        seat: 3,
        player: PlayerId([4; 16]),
        commitment: &ClientCommitment([5; 32]),
        player_key: Some(&[6; 32]),
        position: 7,
    };
    assert_binds(
        &base,
        &[
            CommitReceipt { context: &OTHER_CONTEXT, ..base },
            CommitReceipt { dealer: &OTHER_DEALER, ..base },
            CommitReceipt { seat: 4, ..base },
            CommitReceipt { player: PlayerId([0; 16]), ..base },
            CommitReceipt { commitment: &ClientCommitment([0; 32]), ..base },
            CommitReceipt { player_key: None, ..base },
            CommitReceipt { player_key: Some(&[0; 32]), ..base },
            CommitReceipt { position: 8, ..base },
        ],
    );
}

/// fairness/SPEC.md §8.4, §8.5.
#[test]
fn every_field_of_a_closing_and_of_a_reveal_is_signed() {
    let base = ClosingStatement { context: &CONTEXT, dealer: &DEALER, closing: &Closing([3; 32]) };
    assert_binds(
        &base,
        &[
            ClosingStatement { context: &OTHER_CONTEXT, ..base },
            ClosingStatement { dealer: &OTHER_DEALER, ..base },
            ClosingStatement { closing: &Closing([0; 32]), ..base },
        ],
    );
    let base = RevealReceipt {
        context: &CONTEXT,
        dealer: &DEALER,
        seat: 3,
        player: PlayerId([4; 16]),
        entropy: &Entropy([5; 32]),
        position: 6,
    };
    assert_binds(
        &base,
        &[
            RevealReceipt { context: &OTHER_CONTEXT, ..base },
            RevealReceipt { dealer: &OTHER_DEALER, ..base },
            RevealReceipt { seat: 4, ..base },
            RevealReceipt { player: PlayerId([0; 16]), ..base },
            RevealReceipt { entropy: &Entropy([0; 32]), ..base },
            RevealReceipt { position: 7, ..base },
        ],
    );
}

/// fairness/SPEC.md §8.6, §8.7.
#[test]
fn every_field_of_a_decision_is_signed() {
    let base = DecisionStatement { context: &CONTEXT, chain: &Chain([2; 32]), said: "p1 fold" };
    assert_binds(
        &base,
        &[
            DecisionStatement { context: &OTHER_CONTEXT, ..base },
            DecisionStatement { chain: &Chain([0; 32]), ..base },
            DecisionStatement { said: "p1 check", ..base },
        ],
    );
    let base = DecisionReceipt { context: &CONTEXT, chain: &Chain([2; 32]), position: 3 };
    assert_binds(
        &base,
        &[
            DecisionReceipt { context: &OTHER_CONTEXT, ..base },
            DecisionReceipt { chain: &Chain([0; 32]), ..base },
            DecisionReceipt { position: 4, ..base },
        ],
    );
}

/// With the point of order one as key, the same point as R and zero as S, the plain equation
/// holds for every message. Strict verification refuses it.
/// fairness/SPEC.md §8.3.
#[test]
fn a_key_of_small_order_signs_nothing() {
    let statement =
        ClosingStatement { context: &CONTEXT, dealer: &DEALER, closing: &Closing([3; 32]) };
    let mut neutral = [0; 32];
    neutral[0] = 1;
    let mut signature = [0; 64];
    signature[0] = 1;
    assert_eq!(statement.verify(&neutral, &signature), Err(BadSignature));
    use ed25519_dalek::Verifier;
    let plain = VerifyingKey::from_bytes(&neutral).unwrap();
    let message = statement.message(&KeyId::of(&neutral));
    let loose = plain.verify(&message, &Signature::from_bytes(&signature));
    assert!(loose.is_ok(), "the point of the test: plain verification lets it through");
}
