//! Hands that seats withhold entropy from leave all credits unchanged, and exclude those seats.

use std::time::Duration;

use audit::bundle::{Bundle, TrustedKeys};
use audit::hand::TextKey;
use fairness::evidence::{self, Entry, Opening};
use fairness::{ClientCommitment, CommitReceipt, Commitment, Context, Entropy, KeyId};
use primitives::{Credits, TableId};
use proto::common::v1::{self as common, AtFault, ErrorReason};
use proto::table::v1 as pb;
use rustix::process::Signal;
use wire::TableRecord;

use crate::harness::{LONG_TIMEOUT, Room, RoomHarness, program};
use crate::people::{Guest, operator, slow_table};
use crate::records;

/// Table with two guests at seats 1 and 2.
pub(crate) struct TwoSeats {
    pub(crate) table: TableId,
    pub(crate) guests: Vec<Guest>,
}

impl TwoSeats {
    pub(crate) async fn new(
        harness: &RoomHarness,
        room: &Room,
        change: impl FnOnce(&mut pb::TableConfig),
    ) -> TwoSeats {
        let mut config = slow_table("chance");
        change(&mut config);
        let table = operator(harness, &room.url).create_table(config).await.unwrap();
        let guests =
            vec![Guest::new(harness, &room.url).await, Guest::new(harness, &room.url).await];
        TwoSeats { table, guests }
    }

    pub(crate) async fn sit_down(&self) {
        for (guest, seat) in self.guests.iter().zip(1..) {
            let most = guest.client.get_table(self.table).await.unwrap().max_buy_in_credits;
            let buy_in = Credits::try_new(most).unwrap();
            guest.client.sit_down(self.table, seat, buy_in).await.unwrap();
        }
    }

    /// Waits for a view of the table that satisfies `wanted`.
    pub(crate) async fn wait_for(&self, wanted: impl Fn(&pb::TableView) -> bool) -> pb::TableView {
        let looked = async {
            loop {
                let view = self.guests[0].client.get_table(self.table).await.unwrap();
                if wanted(&view) {
                    return view;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(LONG_TIMEOUT, looked).await.expect("the table comes to that")
    }

    /// Entropy that a guest commits to.
    pub(crate) fn secret(&self, guest: usize) -> Entropy {
        Entropy([self.guests[guest].id.0[15]; 32])
    }

    /// Commits a guest to a secret of their own.
    async fn commit(
        &self,
        guest: usize,
        view: &pb::TableView,
        hand_no: u64,
        made: &common::Commitment,
    ) -> Result<pb::EntropyReceipt, client::Error> {
        let hash = fairness::rules_hash(&view.rule_set, &view.settings);
        let context = Context::new(&made.origin, self.table, hand_no, &hash);
        let committed = Commitment(made.commitment.as_slice().try_into().unwrap());
        let (seat, id) = (u8::try_from(guest + 1).unwrap(), self.guests[guest].id);
        let commitment = ClientCommitment::new(&context, &committed, seat, id, &self.secret(guest));
        self.guests[guest].client.commit_entropy(self.table, hand_no, commitment).await
    }

    /// Commits both to the next hand, or to the one that has opened meanwhile; returns the
    /// receipts.
    pub(crate) async fn both_commit(&self, hand_no: u64) -> Vec<pb::EntropyReceipt> {
        let mut receipts = Vec::new();
        for guest in 0..2 {
            let of = |view: &pb::TableView| {
                let next = view.next_hand.clone().filter(|next| next.hand_no == hand_no);
                let open = view.entropy.clone().filter(|open| open.hand_no == hand_no);
                next.and_then(|it| it.commitment).or(open.and_then(|it| it.commitment))
            };
            let view = self.wait_for(|view| of(view).is_some()).await;
            let made = of(&view).unwrap();
            let receipt = self.commit(guest, &view, hand_no, &made).await.unwrap();
            assert_eq!(receipt.seat, u32::try_from(guest + 1).unwrap());
            let again = self.commit(guest, &view, hand_no, &made).await.unwrap();
            assert_eq!(again, receipt, "the same bytes");
            let (client, other) = (&self.guests[guest].client, ClientCommitment([0x5a; 32]));
            let other = client.commit_entropy(self.table, hand_no, other).await.unwrap_err();
            assert_eq!(other.reason(), Some(ErrorReason::ChanceRefused), "once is for good");
            receipts.push(receipt);
        }
        receipts
    }

    /// The evidence of a guest's number: what its hash is of, and the receipt for it.
    fn kept(
        &self,
        guest: usize,
        receipt: &pb::EntropyReceipt,
        table_keys: &[TextKey],
    ) -> Vec<Entry> {
        let context = Context(receipt.context[..].try_into().unwrap());
        let dealer = Commitment(receipt.dealer_commitment[..].try_into().unwrap());
        let seat = u8::try_from(receipt.seat).unwrap();
        let (player, entropy) = (self.guests[guest].id, self.secret(guest));
        let commitment = ClientCommitment(receipt.commitment[..].try_into().unwrap());
        let (player_key, position) = (receipt.player_key[..].try_into().ok(), receipt.position);
        let text = CommitReceipt {
            context: &context,
            dealer: &dealer,
            seat,
            player,
            commitment: &commitment,
            player_key: player_key.as_ref(),
            position,
        };
        let signature = receipt.signature[..].try_into().unwrap();
        let its_key = |listed: &&TextKey| KeyId::of(&listed.key).0[..] == receipt.key_id[..];
        let key = &table_keys.iter().find(its_key).expect("the room names its keys").key;
        let own = Opening::ClientCommitment { context, dealer, seat, player, entropy };
        vec![own.entry(), Entry::signed(&text, &signature, key)]
    }

    /// Waits until commitments to a hand are closed.
    pub(crate) async fn closed(&self, hand_no: u64) {
        let closed = |open: &pb::Entropy| open.hand_no == hand_no && open.closed;
        self.wait_for(|view| view.entropy.as_ref().is_some_and(closed)).await;
    }
}

fn stacks(view: &pb::TableView) -> Vec<u64> {
    view.seats.iter().map(|seat| seat.stack_credits).collect()
}

fn sits_out(view: &pb::TableView, seat: usize) -> bool {
    view.seats[seat].state() == pb::SeatState::SittingOut
}

#[tokio::test(flavor = "multi_thread")]
async fn who_withholds_burns_the_hand_and_sits_out() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let slow = |config: &mut pb::TableConfig| (config.commit_ms, config.reveal_ms) = (8000, 8000);
    let two = TwoSeats::new(&harness, &room, slow).await;
    two.sit_down().await;
    let before = stacks(&two.guests[0].client.get_table(two.table).await.unwrap());
    let receipts = two.both_commit(1).await;
    two.closed(1).await;
    let wrong = two.guests[0].client.reveal_entropy(two.table, 1, Entropy([0; 32])).await;
    assert_eq!(wrong.unwrap_err().reason(), Some(ErrorReason::ChanceRefused));
    two.guests[0].client.reveal_entropy(two.table, 1, two.secret(0)).await.unwrap();
    let view = two.wait_for(|view| sits_out(view, 1)).await;
    assert!(!sits_out(&view, 0), "whoever has revealed plays on");
    assert_eq!(stacks(&view), before);
    let exclusion = view.seats[1].exclusion.as_ref().expect("everybody sees it");
    assert_eq!((exclusion.step, exclusion.burnt_hand_no, exclusion.until_hand_no), (1, 1, 3));
    let refused = two.guests[1].client.sit_out(two.table, false).await.unwrap_err();
    assert_eq!(refused.reason(), Some(ErrorReason::Withheld), "{refused}");
    let events = records::events(&room.database, "table").await;
    let aborted = events.iter().filter_map(|event| match TableRecord::try_from(event).unwrap() {
        TableRecord::HandAborted(aborted) => Some((aborted.at_fault(), aborted.seats)),
        _ => None,
    });
    assert_eq!(aborted.collect::<Vec<_>>(), [(AtFault::Seat, vec![2])]);
    let seeds = || async {
        let events = records::events(&room.database, "table").await;
        let revealed = |event: &&eventlog::Event| {
            matches!(TableRecord::try_from(*event), Ok(TableRecord::HandRevealed(_)))
        };
        events.iter().filter(revealed).count()
    };
    let opened = async {
        while seeds().await < 1 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, opened).await.expect("burnt seeds are opened");
    let burnt = records::finished(&room.database).await;
    assert_eq!(burnt.len(), 1);
    records::audit(&harness, &burnt).await;
    let bundle = two.guests[1].client.get_hand_bundle(two.table, 1).await.unwrap();
    room.running.stop(Signal::INT).await;
    held_against_the_log(&harness, &two, &bundle, &receipts).await;
}

/// Holds what the table has signed against the bundle of the hand that was burnt: nothing is wrong
/// with it, and nothing proves that what was never signed was taken.
async fn held_against_the_log(
    harness: &RoomHarness,
    two: &TwoSeats,
    bundle: &[u8],
    receipts: &[pb::EntropyReceipt],
) {
    std::fs::write(harness.path().join("hand.sabacc"), bundle).unwrap();
    let known = std::fs::read_to_string(harness.data().join("keys.txt")).unwrap();
    let keys = TrustedKeys::parse(&known).unwrap();
    let table_keys = Bundle::parse(bundle).unwrap().table_keys(&keys);
    for (guest, receipt) in receipts.iter().enumerate() {
        let kept = two.kept(guest, receipt, &table_keys);
        let mut elsewhere = receipt.clone();
        elsewhere.position += 1;
        let unsigned = two.kept(guest, &elsewhere, &table_keys);
        for (entries, is_signed) in [(kept, true), (unsigned, false)] {
            let Entry::Signed(signed) = &entries[1] else { unreachable!("the receipt is second") };
            assert_eq!(signed.statement().is_ok(), is_signed);
            std::fs::write(harness.path().join("evidence"), evidence::write(&entries)).unwrap();
            let mut verify = program("sabacc");
            verify.args(["verify", "hand.sabacc", "--keys", "room/keys.txt"]);
            verify.args(["--evidence", "evidence"]).current_dir(harness.path());
            let (status, said) = harness.run(verify).await;
            assert!(said.contains("Your own number, of seat"), "{said}");
            assert!(!said.contains("FAILED") && status.code() == Some(3), "{said}");
        }
    }
}
