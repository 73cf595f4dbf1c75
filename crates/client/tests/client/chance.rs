//! A client's entropy contribution, and its checks: every altered message is detected.

use client::chance::Due;
use client::{Chance, Culprit, Distrust, Secret, Seen, Violation};
use fairness::{Entropy, Row, Shoe};
use primitives::PlayerId;
use proto::common::v1 as common;
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;

use crate::fake::ME;
use crate::house::{HAND, House, SEAT, TABLE, row_to_pb};

const SECRET: [u8; 32] = [0x5a; 32];

fn update(what: What) -> Seen {
    Seen::Update(Box::new(pb::TableUpdate { sequence: 0, at: None, what: Some(what) }))
}

/// Client at a table.
struct Player {
    chance: Chance,
    house: House,
}

impl Player {
    fn new(house: House) -> Player {
        let secret = Secret::kept(SECRET);
        let chance = Chance::new(TABLE, Some(PlayerId(ME)), secret, house.trust());
        let mut player = Player { chance, house };
        let view = player.house.view();
        player.chance.see(&Seen::Snapshot(Box::new(view))).unwrap();
        player
    }

    fn see(&mut self, what: What) -> Result<(), Box<Distrust>> {
        self.chance.see(&update(what))
    }

    /// Returns its commitment, without a receipt.
    fn commits(&mut self) -> Vec<u8> {
        self.see(What::NextHand(self.house.next_hand())).unwrap();
        let Some(Due::Commit { hand_no: HAND, commitment }) = self.chance.due() else {
            panic!("it commits")
        };
        commitment.0.to_vec()
    }

    /// Commits and reveals; returns its entropy.
    fn takes_part(&mut self) -> Entropy {
        let commitment = self.commits();
        let receipt = self.house.receipt(&commitment);
        self.chance.receipt(HAND, &receipt).unwrap();
        self.see(What::Entropy(self.house.entropy(true, &[SEAT]))).unwrap();
        let Some(Due::Reveal { hand_no: HAND, entropy }) = self.chance.due() else {
            panic!("it reveals")
        };
        self.chance.revealed(HAND);
        entropy
    }

    /// Deals a correct hand, up to the shuffles.
    fn shuffled(&mut self) -> (Shoe, Vec<common::DeckRoot>) {
        let rows = self.rows();
        self.see(What::HandStarted(self.house.started(&rows))).unwrap();
        let (shoe, roots) = self.house.shoe(&rows);
        for root in &roots {
            self.see(self.house.shuffled(root.clone())).unwrap();
        }
        (shoe, roots)
    }

    fn rows(&mut self) -> Vec<Row> {
        let entropy = self.takes_part();
        self.house.rows(Some(entropy))
    }
}

fn player() -> Player {
    Player::new(House::new("dice"))
}

/// Checks the kind of a violation and the party at fault, and that it holds the receipt, if there
/// was one.
#[track_caller]
fn found(
    seen: Result<(), Box<Distrust>>,
    (culprit, what): (Culprit, Violation),
    has_receipt: bool,
) {
    let found = seen.expect_err("it is found");
    assert_eq!((found.culprit, found.hand_no, &found.what), (culprit, HAND, &what));
    assert_eq!(found.receipt.is_some(), has_receipt, "{found}");
}

#[test]
fn every_game_goes_by_unsuspected() {
    for variant in rules::ALL {
        let mut player = Player::new(House::new(variant.id));
        let (shoe, roots) = player.shuffled();
        assert_eq!(roots.len(), variant.piles.len());
        player.see(What::Action(player.house.dealt(&shoe))).unwrap();
        let hands = player.house.dealt(&shoe).hands;
        let ended = pb::HandEnded { hand_no: HAND, hands, ..pb::HandEnded::default() };
        player.see(What::HandEnded(ended)).unwrap();
        assert!(player.chance.receipt_of(HAND).is_some());
        player.see(What::Seed(player.house.published())).unwrap();
    }
}

#[test]
fn what_is_due_is_sent_once_and_only_from_a_seat() {
    let mut player = player();
    player.commits();
    assert!(!player.chance.is_awaited(), "the hand before is played");
    assert_eq!(player.chance.due(), None);
    player.see(What::NextHand(player.house.next_hand())).unwrap();
    assert_eq!(player.chance.due(), None, "told twice, sent once");
    player.see(What::Entropy(player.house.entropy(false, &[SEAT]))).unwrap();
    assert_eq!(player.chance.due(), None);
    assert!(player.chance.is_awaited());
    player.see(What::Entropy(player.house.entropy(true, &[]))).unwrap();
    assert_eq!(player.chance.due(), None, "it was too late, and reveals nothing");
    let rows = player.house.rows(None);
    player.see(What::HandStarted(player.house.started(&rows))).unwrap();
    assert!(!player.chance.is_awaited());

    let mut onlooker = Chance::new(TABLE, None, Secret::kept(SECRET), player.house.trust());
    onlooker.see(&Seen::Snapshot(Box::new(player.house.view()))).unwrap();
    onlooker.see(&update(What::NextHand(player.house.next_hand()))).unwrap();
    assert_eq!(onlooker.due(), None);
}

#[test]
fn a_seat_that_sits_out_or_is_left_takes_no_part() {
    let seat = |state: pb::SeatState, vacated| {
        let player_id = ME.to_vec();
        let (number, state) = (SEAT.into(), state.into());
        let seat = pb::SeatView { seat: number, player_id, stack: 1, state, ..Default::default() };
        What::Seat(pb::SeatChanged { seat: Some(seat), vacated, your_standing: None })
    };
    let mut player = player();
    player.see(seat(pb::SeatState::SittingOut, false)).unwrap();
    player.see(What::NextHand(player.house.next_hand())).unwrap();
    assert_eq!(player.chance.due(), None);
    player.see(seat(pb::SeatState::Playing, true)).unwrap();
    assert_eq!(player.chance.due(), None);
    player.see(seat(pb::SeatState::Playing, false)).unwrap();
    assert!(matches!(player.chance.due(), Some(Due::Commit { .. })));
}

#[test]
fn who_starts_anew_with_the_same_secret_reveals_what_he_had_committed_to() {
    let mut before = player();
    let entropy = before.takes_part();
    let mut after = player();
    let mut view = after.house.view();
    view.entropy = Some(after.house.entropy(true, &[SEAT]));
    after.chance.see(&Seen::Snapshot(Box::new(view))).unwrap();
    assert_eq!(after.chance.due(), Some(Due::Reveal { hand_no: HAND, entropy }));
}

#[test]
fn what_was_refused_for_the_moment_is_due_again_and_what_is_final_is_not() {
    let refusal = |reason| client::Refusal {
        reason: Some(reason),
        message: String::new(),
        field: None,
        trace_id: None,
        metadata: Default::default(),
        retry_after: None,
    };
    let mut player = player();
    player.see(What::NextHand(player.house.next_hand())).unwrap();
    let mut sent = 0;
    while let Some(due) = player.chance.due() {
        sent += 1;
        assert!(sent < 100, "for ever");
        player.chance.refused(&due, &refusal(common::ErrorReason::Unavailable));
    }
    assert!(sent > 10, "{sent}");
    let mut player = self::player();
    player.see(What::NextHand(player.house.next_hand())).unwrap();
    let due = player.chance.due().unwrap();
    player.chance.refused(&due, &refusal(common::ErrorReason::ChanceRefused));
    assert_eq!(player.chance.due(), None);
}

#[test]
fn a_promise_is_signed_by_the_dealer_and_made_once() {
    let mut next = player().house.next_hand();
    next.commitment.as_mut().unwrap().signature[0] ^= 1;
    let unsigned = (Culprit::Table, Violation::PromiseSignature);
    found(player().see(What::NextHand(next)), unsigned.clone(), false);
    let stranger =
        House { dealer: ed25519_dalek::SigningKey::from_bytes(&[9; 32]), ..player().house };
    found(player().see(What::NextHand(stranger.next_hand())), unsigned.clone(), false);
    let mut other = player().house.next_hand();
    other.commitment.as_mut().unwrap().origin = "test/table".to_owned();
    found(player().see(What::NextHand(other)), unsigned.clone(), false);

    // Under other rules than the table shows, it is a commitment to another hand.
    let mut player = player();
    let mut view = player.house.view();
    view.rule_set.push('\n');
    player.chance.see(&Seen::Snapshot(Box::new(view))).unwrap();
    found(player.see(What::NextHand(player.house.next_hand())), unsigned, false);
}

#[test]
fn a_second_promise_for_a_hand_convicts_the_dealer() {
    let mut player = player();
    let commitment = player.commits();
    let receipt = player.house.receipt(&commitment);
    player.chance.receipt(HAND, &receipt).unwrap();
    let second = House { seed: 8, ..House::new("dice") };
    let what = Violation::SecondPromise { second: Box::new(second.promise()) };
    let seen = player.see(What::Entropy(second.entropy(false, &[])));
    assert_eq!(seen.as_ref().unwrap_err().promise, Some(player.house.promise()));
    found(seen, (Culprit::Dealer, what), true);
    // An unsigned one is known only to come from the table.
    let started = second.started(&second.rows(None));
    let seen = player.see(What::HandStarted(started)).unwrap_err();
    assert_eq!(seen.culprit, Culprit::Table);
    assert!(matches!(seen.what, Violation::SecondPromise { .. }));
}

#[test]
fn a_receipt_is_for_what_was_sent_and_signed() {
    type Bend = fn(&mut pb::EntropyReceipt);
    let bends: [(Bend, Violation); 7] = [
        (|receipt| receipt.table_id[0] ^= 1, Violation::ReceiptContent("another table")),
        (|receipt| receipt.hand_no += 1, Violation::ReceiptContent("another hand")),
        (|receipt| receipt.seat += 1, Violation::ReceiptContent("another seat")),
        (|receipt| receipt.player_id[0] ^= 1, Violation::ReceiptContent("another player")),
        (|receipt| receipt.commitment[0] ^= 1, Violation::ReceiptContent("another commitment")),
        (|receipt| receipt.position += 1, Violation::ReceiptSignature),
        (|receipt| receipt.signature[5] ^= 1, Violation::ReceiptSignature),
    ];
    for (bend, what) in bends {
        let mut player = player();
        let commitment = player.commits();
        let mut receipt = player.house.receipt(&commitment);
        bend(&mut receipt);
        found(player.chance.receipt(HAND, &receipt), (Culprit::Table, what), true);
    }
}

#[test]
fn a_hand_without_the_part_that_there_is_a_receipt_for_is_found() {
    let dropped = (Culprit::Table, Violation::CommitmentDropped);
    // Absent, and missing entirely.
    for rows in [player().house.rows(None), player().house.rows(None)[1..].to_vec()] {
        let mut player = player();
        player.takes_part();
        let mut started = player.house.started(&rows);
        started.seats = player.house.started(&player.house.rows(None)).seats;
        found(player.see(What::HandStarted(started)), dropped.clone(), true);
    }
    // Other entropy in its place.
    let mut player = player();
    player.takes_part();
    let rows = player.house.rows(Some(Entropy([1; 32])));
    found(player.see(What::HandStarted(player.house.started(&rows))), dropped.clone(), true);
    // Without any message about chance.
    let mut player = self::player();
    player.takes_part();
    let mut started = player.house.started(&player.house.rows(None));
    (started.rows, started.transcript) = (vec![], vec![]);
    found(player.see(What::HandStarted(started)), dropped.clone(), true);
    // The receipt comes late.
    let mut player = self::player();
    let commitment = player.commits();
    player.see(What::HandStarted(player.house.started(&player.house.rows(None)))).unwrap();
    let receipt = player.house.receipt(&commitment);
    found(player.chance.receipt(HAND, &receipt), dropped, true);
}

#[test]
fn without_a_receipt_or_a_place_in_the_hand_nothing_is_claimed() {
    let mut player = player();
    player.commits();
    player.see(What::HandStarted(player.house.started(&player.house.rows(None)))).unwrap();
    // It sat out, and the hand is the others'.
    let mut player = self::player();
    player.takes_part();
    let rows = player.house.rows(None)[1..].to_vec();
    player.see(What::HandStarted(player.house.started(&rows))).unwrap();
}

/// Two players who leave at once and return may have swapped seats: both commitments are then
/// useless.
#[test]
fn a_part_is_left_behind_with_its_seat() {
    let mut player = player();
    player.takes_part();
    let mut rows = player.house.rows(None);
    let (mine, other) = (rows[0].player, rows[1].player);
    assert_eq!(mine, PlayerId(ME));
    (rows[0].player, rows[1].player) = (other, mine);
    player.see(What::HandStarted(player.house.started(&rows))).unwrap();
    // On the same seat it is still valid.
    let mut player = self::player();
    player.takes_part();
    let started = player.house.started(&player.house.rows(None));
    let dropped = (Culprit::Table, Violation::CommitmentDropped);
    found(player.see(What::HandStarted(started)), dropped, true);
}

#[test]
fn a_transcript_binds_the_rows() {
    let mut player = player();
    let rows = player.rows();
    let mut started = player.house.started(&rows);
    started.transcript[0] ^= 1;
    let other = (Culprit::Table, Violation::Transcript);
    found(player.see(What::HandStarted(started)), other, true);
    let mut started = player.house.started(&rows);
    started.rows[0].entropy[0] ^= 1;
    let what = Violation::Rows("an entropy that does not open its commitment");
    found(player.see(What::HandStarted(started)), (Culprit::Table, what), true);
    let mut started = player.house.started(&rows);
    let withheld = Row { status: fairness::Status::Withheld, ..rows[0] };
    started.rows[0] = row_to_pb(&withheld);
    let what = Violation::Rows("a hand is dealt that a seat withheld from");
    found(player.see(What::HandStarted(started)), (Culprit::Table, what), true);
}

#[test]
fn every_card_is_proved_against_what_was_committed_to() {
    type Bend = fn(&mut pb::HandAction);
    let at = |position| Violation::Proof { op: 0, position };
    let bends: [(Bend, Violation); 9] = [
        (|dealt| dealt.proofs[0].salt[0] ^= 1, at(0)),
        (|dealt| dealt.proofs[1].path[40] ^= 1, at(1)),
        (|dealt| dealt.proofs[1].path.truncate(64), at(1)),
        (|dealt| dealt.proofs[0].position = 9, at(9)),
        (|dealt| dealt.proofs.swap(0, 1), Violation::OtherCard { op: 0, position: 1 }),
        (|dealt| dealt.cards[0] = "??".to_owned(), Violation::Unproved),
        (|dealt| dealt.proofs[0].op = 7, Violation::NoRoot { op: 7 }),
        (|dealt| dealt.hands[0].cards[1].proof = None, Violation::Unproved),
        (|dealt| dealt.hands[1].cards[0].code = "c+1".to_owned(), Violation::Unproved),
    ];
    for (bend, what) in bends {
        let mut player = player();
        let (shoe, _) = player.shuffled();
        let mut dealt = player.house.dealt(&shoe);
        bend(&mut dealt);
        found(player.see(What::Action(dealt)), (Culprit::Table, what), true);
    }
}

/// Another card than was dealt, with its own code and everything else unchanged.
#[test]
fn a_swapped_card_is_found_at_once() {
    let mut player = player();
    let (shoe, _) = player.shuffled();
    let mut dealt = player.house.dealt(&shoe);
    let (code, other) = player.house.proof(&shoe, 0, 40);
    dealt.cards[0] = code;
    dealt.proofs[0].card_id = other.card_id;
    let what = Violation::Proof { op: 0, position: 0 };
    found(player.see(What::Action(dealt)), (Culprit::Table, what), true);
}

#[test]
fn a_shuffle_is_committed_to_once() {
    let mut player = player();
    let (_, roots) = player.shuffled();
    player.see(player.house.shuffled(roots[0].clone())).unwrap();
    let mut second = roots[0].clone();
    second.root[0] ^= 1;
    let what = Violation::SecondRoot { op: 0 };
    found(player.see(player.house.shuffled(second)), (Culprit::Table, what), true);
}

#[test]
fn the_seed_opens_the_promise_and_gives_everything_again() {
    let mut player = player();
    player.shuffled();
    let mut other = player.house.published();
    other.seed[0] ^= 1;
    found(player.see(What::Seed(other)), (Culprit::Table, Violation::Seed), true);

    let mut player = self::player();
    player.shuffled();
    let mut other = player.house.published();
    (other.seed[0], other.refused) = (other.seed[0] ^ 1, true);
    found(player.see(What::Seed(other)), (Culprit::Dealer, Violation::Seed), true);

    let mut player = self::player();
    player.shuffled();
    let refused = pb::SeedPublished { refused: true, ..player.house.published() };
    found(player.see(What::Seed(refused)), (Culprit::Table, Violation::RefusedRightly), true);
}

/// The dealer deals from another seed than it had committed to, and proves every card against its
/// roots.
#[test]
fn a_hand_dealt_from_another_seed_is_found_when_the_seed_is_opened() {
    let deal = |shows: bool| {
        let mut player = player();
        let rows = player.rows();
        player.see(What::HandStarted(player.house.started(&rows))).unwrap();
        let mut shoe = Shoe::new(fairness::Keys::derive(
            &player.house.transcript(&rows),
            &House { seed: 8, ..House::new("dice") }.seed(),
        ));
        let input = fairness::ShuffleInput::Fresh { first: 0, count: 76 };
        let answer = shoe.perform(0, &fairness::Ask::Shuffle { pile: 0, input }).unwrap();
        let fairness::Answer::Shuffled { root, count } = answer else { panic!("a shuffle") };
        let root = common::DeckRoot { op: 0, cards: count.into(), root: root.to_vec() };
        player.see(player.house.shuffled(root)).unwrap();
        if shows {
            player.see(What::Action(player.house.dealt(&shoe))).unwrap();
        }
        player.see(What::Seed(player.house.published()))
    };
    found(deal(false), (Culprit::Dealer, Violation::Order { op: 0 }), true);
    found(deal(true), (Culprit::Dealer, Violation::Salt { op: 0, position: 0 }), true);
}

#[test]
fn a_hand_that_came_to_nothing_has_its_seed_checked_too() {
    let mut player = player();
    let commitment = player.commits();
    let receipt = player.house.receipt(&commitment);
    player.chance.receipt(HAND, &receipt).unwrap();
    player.see(What::Voided(pb::HandVoided { hand_no: HAND, ..Default::default() })).unwrap();
    let mut other = player.house.published();
    other.seed[3] ^= 1;
    found(player.see(What::Seed(other)), (Culprit::Table, Violation::Seed), true);
}

/// A client that joins in the middle of a hand, or returns to one, checks the snapshot.
#[test]
fn a_snapshot_is_checked_like_what_it_stands_for() {
    let house = House::new("dice");
    let rows = house.rows(Some(Entropy([1; 32])));
    let (shoe, roots) = house.shoe(&rows);
    let dealt = house.dealt(&shoe);
    let seats = house.started(&rows).seats;
    let with_ids = dealt
        .hands
        .iter()
        .zip(&seats)
        .map(|(hand, seat)| pb::HandSeat { player_id: seat.player_id.clone(), ..hand.clone() });
    let hand = pb::HandView {
        hand_no: HAND,
        seats: with_ids.collect(),
        dealer: Some(house.promise()),
        rows: rows.iter().map(row_to_pb).collect(),
        transcript: house.transcript(&rows).0.to_vec(),
        roots,
        ..pb::HandView::default()
    };
    let see = |hand: pb::HandView| {
        let mut player = player();
        let view = pb::TableView { hand: Some(hand), ..player.house.view() };
        player.chance.see(&Seen::Snapshot(Box::new(view)))?;
        player.see(What::Action(dealt.clone()))?;
        player.see(What::Seed(player.house.published()))
    };
    see(hand.clone()).unwrap();
    let mut swapped = hand.clone();
    swapped.seats[0].cards[0].proof.as_mut().unwrap().salt[0] ^= 1;
    let what = Violation::Proof { op: 0, position: 0 };
    found(see(swapped), (Culprit::Table, what), false);
    let mut unbound = hand;
    unbound.rows[1] = unbound.rows[0].clone();
    let what = Violation::Rows("an entropy that does not open its commitment");
    found(see(unbound), (Culprit::Table, what), false);
}

/// A client without keys still detects everything else.
#[test]
fn without_keys_only_signatures_go_unchecked() {
    let house = House::new("dice");
    let secret = Secret::kept(SECRET);
    let chance = Chance::new(TABLE, Some(PlayerId(ME)), secret, client::Trust::default());
    let mut player = Player { chance, house };
    player.chance.see(&Seen::Snapshot(Box::new(player.house.view()))).unwrap();
    let mut next = player.house.next_hand();
    next.commitment.as_mut().unwrap().signature.clear();
    player.see(What::NextHand(next)).unwrap();
    assert!(player.chance.due().is_some());
    let second = House { seed: 8, ..House::new("dice") };
    let seen = player.see(What::NextHand(second.next_hand())).unwrap_err();
    assert_eq!(seen.culprit, Culprit::Table);
    assert!(matches!(seen.what, Violation::SecondPromise { .. }));
}
