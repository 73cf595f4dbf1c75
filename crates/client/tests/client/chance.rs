//! A client's entropy contribution, and its checks: every altered message is detected.

mod aborts;
mod closings;
mod decisions;
mod numbers;
mod player;
mod proofs;
mod restarts;
mod seats;

use client::chance::EntropyMessage;
use client::{
    Chance, FairnessViolation, Notice, PartyAtFault, Secret, ViolationKind, WatchMessage,
};
use fairness::{Entropy, Shoe, TranscriptRow};
use primitives::PlayerId;
use proto::common::v1 as common;
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;

use crate::fake::ME;
use crate::hand_fixture::{HAND, HandFixture, SEAT, TABLE, row_to_pb};
use player::{Player, SECRET, player, update};

/// Checks the kind of a violation and the party at fault, and that it holds the receipt, if there
/// was one.
#[track_caller]
fn check_violation(
    seen: Result<(), Box<FairnessViolation>>,
    expected: (PartyAtFault, ViolationKind),
    has_receipt: bool,
) {
    let found = seen.expect_err("it is found");
    let (culprit, what) = expected;
    assert_eq!((found.party, found.hand_no, &found.kind), (culprit, HAND, &what));
    assert_eq!(found.receipt.is_some(), has_receipt, "{found}");
}

fn ended() -> pb::HandEnded {
    pb::HandEnded { hand_no: HAND, ..pb::HandEnded::default() }
}

#[test]
fn every_game_goes_by_unsuspected() {
    for variant in rules::ALL {
        let mut player = Player::new(HandFixture::new(variant.id));
        let (shoe, roots) = player.shuffle();
        assert_eq!(roots.len(), variant.piles.len());
        player.apply(What::Action(player.fixture.dealt(&shoe))).unwrap();
        let hands = player.fixture.dealt(&shoe).hands;
        player.apply(What::HandEnded(pb::HandEnded { hands, ..ended() })).unwrap();
        assert!(player.chance.receipt_of(HAND).is_some());
        player.apply(What::Seed(player.fixture.published())).unwrap();
    }
}

#[test]
fn what_is_due_is_sent_once_and_only_from_a_seat() {
    let mut player = player();
    player.commit();
    assert!(!player.chance.is_awaited(), "the hand before is played");
    assert_eq!(player.next(), None);
    player.apply(What::NextHand(player.fixture.next_hand())).unwrap();
    assert_eq!(player.next(), None, "told twice, sent once");
    player.apply(What::Entropy(player.fixture.entropy(false, &[SEAT]))).unwrap();
    assert_eq!(player.next(), None);
    assert!(player.chance.is_awaited());
    player.apply(What::Entropy(player.fixture.closed(None, None))).unwrap();
    assert_eq!(player.next(), None, "it was too late, and reveals nothing");
    let rows = player.fixture.rows(None);
    player.apply(What::HandStarted(player.fixture.started(&rows))).unwrap();
    assert!(!player.chance.is_awaited());

    let mut onlooker =
        Chance::new(TABLE, None, Secret::from_bytes(SECRET), player.fixture.trusted_keys());
    onlooker.apply(&WatchMessage::Snapshot(Box::new(player.fixture.view()))).unwrap();
    onlooker.apply(&update(What::NextHand(player.fixture.next_hand()))).unwrap();
    assert_eq!(onlooker.next_message().unwrap(), None);
}

#[test]
fn a_seat_that_sits_out_or_is_left_takes_no_part() {
    let seat = |state: pb::SeatState, vacated| {
        let player_id = PlayerId(ME).to_string();
        let (number, state) = (SEAT.into(), state.into());
        let seat =
            pb::SeatView { seat: number, player_id, stack_credits: 1, state, ..Default::default() };
        What::Seat(pb::SeatChanged { seat: Some(seat), vacated, your_standing: None })
    };
    let mut player = player();
    player.apply(seat(pb::SeatState::SittingOut, false)).unwrap();
    player.apply(What::NextHand(player.fixture.next_hand())).unwrap();
    assert_eq!(player.next(), None);
    player.apply(seat(pb::SeatState::Playing, true)).unwrap();
    assert_eq!(player.next(), None);
    player.apply(seat(pb::SeatState::Playing, false)).unwrap();
    assert!(matches!(player.next(), Some(EntropyMessage::Commit { .. })));
}

/// fairness/SPEC.md §5.4.
#[test]
fn who_starts_anew_with_the_same_secret_reveals_what_he_had_committed_to() {
    let mut before = player();
    let entropy = before.commit_and_reveal();
    let own = before.fixture.commitment_of(SEAT, PlayerId(ME), &entropy);
    let mut after = player();
    let mut view = after.fixture.view();
    view.entropy = Some(after.fixture.closed(Some(&own.0), None));
    after.chance.apply(&WatchMessage::Snapshot(Box::new(view))).unwrap();
    let reveal = EntropyMessage::Reveal { hand_no: HAND, seat: SEAT, entropy };
    assert_eq!(after.next(), Some(reveal));
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
    player.apply(What::NextHand(player.fixture.next_hand())).unwrap();
    let mut sent = 0;
    while let Some(due) = player.next() {
        sent += 1;
        assert!(sent < 100, "for ever");
        player.chance.refused(&due, &refusal(common::ErrorReason::Unavailable));
    }
    assert!(sent > 10, "{sent}");
    let mut player = self::player();
    player.apply(What::NextHand(player.fixture.next_hand())).unwrap();
    let due = player.next().unwrap();
    player.chance.refused(&due, &refusal(common::ErrorReason::ChanceRefused));
    assert_eq!(player.next(), None);
}

#[test]
fn a_promise_is_signed_by_the_dealer_and_made_once() {
    let mut next = player().fixture.next_hand();
    next.commitment.as_mut().unwrap().signature[0] ^= 1;
    let unsigned = (PartyAtFault::Table, ViolationKind::CommitmentSignature);
    check_violation(player().apply(What::NextHand(next)), unsigned.clone(), false);
    let stranger =
        HandFixture { dealer: ed25519_dalek::SigningKey::from_bytes(&[9; 32]), ..player().fixture };
    check_violation(player().apply(What::NextHand(stranger.next_hand())), unsigned.clone(), false);
    let mut other = player().fixture.next_hand();
    other.commitment.as_mut().unwrap().origin = "test/table".to_owned();
    check_violation(player().apply(What::NextHand(other)), unsigned.clone(), false);

    let mut none = player().fixture.next_hand();
    none.commitment = None;
    let missing = (PartyAtFault::Table, ViolationKind::Missing("a commitment"));
    check_violation(player().apply(What::NextHand(none)), missing, false);
}

/// fairness/SPEC.md §2.2.
#[test]
fn a_second_promise_for_a_hand_convicts_the_dealer() {
    let mut player = player();
    player.commit_with_receipt();
    let second = HandFixture { seed: 8, ..HandFixture::new("dice") };
    let what = ViolationKind::SecondCommitment { second: Box::new(second.dealer_commitment()) };
    let seen = player.apply(What::Entropy(second.entropy(false, &[])));
    assert_eq!(seen.as_ref().unwrap_err().commitment, Some(player.fixture.dealer_commitment()));
    check_violation(seen, (PartyAtFault::Dealer, what), true);
    // An unsigned one is known only to come from the table.
    let started = second.started(&second.rows(None));
    let seen = player.apply(What::HandStarted(started)).unwrap_err();
    assert_eq!(seen.party, PartyAtFault::Table);
    assert!(matches!(seen.kind, ViolationKind::SecondCommitment { .. }));
}

/// fairness/SPEC.md §8.2.
#[test]
fn a_receipt_is_for_what_was_sent_and_signed() {
    type Bend = fn(&mut pb::EntropyReceipt);
    let bends: [(Bend, ViolationKind); 10] = [
        (|receipt| receipt.player_key[0] ^= 1, ViolationKind::ReceiptContent("another key")),
        (|receipt| receipt.context[0] ^= 1, ViolationKind::ReceiptContent("other rules")),
        (
            |receipt| receipt.dealer_commitment.clear(),
            ViolationKind::ReceiptContent("another seed"),
        ),
        (
            |receipt| receipt.table_id.replace_range(..1, "f"),
            ViolationKind::ReceiptContent("another table"),
        ),
        (|receipt| receipt.hand_no += 1, ViolationKind::ReceiptContent("another hand")),
        (|receipt| receipt.seat += 1, ViolationKind::ReceiptContent("another seat")),
        (
            |receipt| receipt.player_id.replace_range(..1, "f"),
            ViolationKind::ReceiptContent("another player"),
        ),
        (|receipt| receipt.commitment[0] ^= 1, ViolationKind::ReceiptContent("another commitment")),
        (|receipt| receipt.position += 1, ViolationKind::ReceiptSignature),
        (|receipt| receipt.signature[5] ^= 1, ViolationKind::ReceiptSignature),
    ];
    for (bend, what) in bends {
        let mut player = player();
        let (commitment, key) = player.commit();
        let mut receipt = player.fixture.receipt(&commitment, &key);
        bend(&mut receipt);
        check_violation(
            player.chance.accept_receipt(HAND, &receipt),
            (PartyAtFault::Table, what),
            true,
        );
    }
}

/// fairness/SPEC.md §12.5.
#[test]
fn a_hand_is_dealt_from_what_was_closed() {
    let not_as_closed = (PartyAtFault::Table, ViolationKind::NotAsClosed);
    // Absent; with other entropy in its place; missing.
    let fixture = player().fixture;
    let other = fixture.rows(Some(Entropy([1; 32])));
    for rows in [fixture.rows(None), other, fixture.rows(None)[1..].to_vec()] {
        let mut player = player();
        player.commit_and_reveal();
        let mut started = player.fixture.started(&rows);
        started.seats = player.fixture.started(&player.fixture.rows(None)).seats;
        check_violation(player.apply(What::HandStarted(started)), not_as_closed.clone(), true);
    }
    // Without any message about chance.
    let mut player = player();
    player.commit_and_reveal();
    let mut started = player.fixture.started(&player.fixture.rows(None));
    (started.rows, started.transcript) = (vec![], vec![]);
    let missing = (PartyAtFault::Table, ViolationKind::Missing("the transcript"));
    check_violation(player.apply(What::HandStarted(started)), missing, true);
}

/// A hand that starts without any closing was never closed.
#[test]
fn a_hand_does_not_start_before_it_is_closed() {
    let mut player = player();
    player.commit_with_receipt();
    let started = player.fixture.started(&player.fixture.rows(None));
    let missing = (PartyAtFault::Table, ViolationKind::Missing("the dealer's closing"));
    check_violation(player.apply(What::HandStarted(started)), missing, true);
}

#[test]
fn a_transcript_binds_the_rows() {
    let mut player = player();
    let rows = player.rows();
    let mut started = player.fixture.started(&rows);
    started.transcript[0] ^= 1;
    let other = (PartyAtFault::Table, ViolationKind::WrongTranscript);
    check_violation(player.apply(What::HandStarted(started)), other, true);
    let mut started = player.fixture.started(&rows);
    started.rows[0].entropy[0] ^= 1;
    let what = ViolationKind::WrongRows("an entropy that does not open its commitment");
    check_violation(player.apply(What::HandStarted(started)), (PartyAtFault::Table, what), true);
    let mut started = player.fixture.started(&rows);
    let withheld = TranscriptRow { status: fairness::RowStatus::Withheld, ..rows[0] };
    started.rows[0] = row_to_pb(&withheld);
    let what = ViolationKind::WrongRows("a hand is dealt that a seat withheld from");
    check_violation(player.apply(What::HandStarted(started)), (PartyAtFault::Table, what), true);
}

/// fairness/SPEC.md §3.8.
#[test]
fn every_card_is_proved_against_what_was_committed_to() {
    type Bend = fn(&mut pb::HandAction);
    let at = |position| ViolationKind::WrongProof { op: 0, position };
    let bends: [(Bend, ViolationKind); 9] = [
        (|dealt| dealt.proofs[0].salt[0] ^= 1, at(0)),
        (|dealt| dealt.proofs[1].path[40] ^= 1, at(1)),
        (|dealt| dealt.proofs[1].path.truncate(64), at(1)),
        (|dealt| dealt.proofs[0].position = 9, at(9)),
        (|dealt| dealt.proofs.swap(0, 1), ViolationKind::OtherCard { op: 0, position: 1 }),
        (|dealt| dealt.cards[0] = "??".to_owned(), ViolationKind::Unproved),
        (|dealt| dealt.proofs[0].op = 7, ViolationKind::NoRoot { op: 7 }),
        (|dealt| dealt.hands[0].cards[1].proof = None, ViolationKind::Unproved),
        (|dealt| dealt.hands[1].cards[0].code = "c+1".to_owned(), ViolationKind::Unproved),
    ];
    for (bend, what) in bends {
        let mut player = player();
        let (shoe, _) = player.shuffle();
        let mut dealt = player.fixture.dealt(&shoe);
        bend(&mut dealt);
        check_violation(player.apply(What::Action(dealt)), (PartyAtFault::Table, what), true);
    }
}

/// Another card than was dealt, with its own code and everything else unchanged.
#[test]
fn a_swapped_card_is_found_at_once() {
    let mut player = player();
    let (shoe, _) = player.shuffle();
    let mut dealt = player.fixture.dealt(&shoe);
    let (code, other) = player.fixture.proof(&shoe, 0, 40);
    dealt.cards[0] = code;
    dealt.proofs[0].card_id = other.card_id;
    let what = ViolationKind::WrongProof { op: 0, position: 0 };
    check_violation(player.apply(What::Action(dealt)), (PartyAtFault::Table, what), true);
}

/// fairness/SPEC.md §3.8.
#[test]
fn a_shuffle_is_committed_to_once() {
    let mut player = player();
    let (_, roots) = player.shuffle();
    player.apply(player.fixture.shuffled(roots[0].clone())).unwrap();
    let mut second = roots[0].clone();
    second.root[0] ^= 1;
    let what = ViolationKind::SecondRoot { op: 0 };
    check_violation(
        player.apply(player.fixture.shuffled(second)),
        (PartyAtFault::Table, what),
        true,
    );
}

#[test]
fn the_seed_opens_the_promise_and_gives_everything_again() {
    let mut player = player();
    player.shuffle();
    let mut other = player.fixture.published();
    other.seed[0] ^= 1;
    check_violation(
        player.apply(What::Seed(other)),
        (PartyAtFault::Table, ViolationKind::WrongSeed),
        true,
    );

    let mut player = self::player();
    player.shuffle();
    let mut other = player.fixture.published();
    (other.seed[0], other.refused) = (other.seed[0] ^ 1, true);
    check_violation(
        player.apply(What::Seed(other)),
        (PartyAtFault::Dealer, ViolationKind::WrongSeed),
        true,
    );

    let mut player = self::player();
    player.shuffle();
    let refused = pb::SeedPublished { refused: true, ..player.fixture.published() };
    check_violation(
        player.apply(What::Seed(refused)),
        (PartyAtFault::Table, ViolationKind::WronglyRefused),
        true,
    );
}

/// The dealer deals from another seed than it had committed to, and proves every card against its
/// roots.
#[test]
fn a_hand_dealt_from_another_seed_is_found_when_the_seed_is_opened() {
    let deal = |shows: bool| {
        let mut player = player();
        let rows = player.rows();
        player.apply(What::HandStarted(player.fixture.started(&rows))).unwrap();
        let mut shoe = Shoe::new(fairness::Keys::derive(
            &player.fixture.transcript(&rows),
            &HandFixture { seed: 8, ..HandFixture::new("dice") }.seed(),
        ));
        let input = fairness::ShuffleInput::Fresh { first: 0, count: 76 };
        let answer =
            shoe.perform(0, &fairness::OperationRequest::Shuffle { pile: 0, input }).unwrap();
        let fairness::PublicOutcome::Shuffled { root, count } = answer else { panic!("a shuffle") };
        let root = common::DeckRoot { op: 0, cards: count.into(), root: root.to_vec() };
        player.apply(player.fixture.shuffled(root)).unwrap();
        if shows {
            player.apply(What::Action(player.fixture.dealt(&shoe))).unwrap();
        }
        player.apply(What::HandEnded(ended())).unwrap();
        player.apply(What::Seed(player.fixture.published()))
    };
    check_violation(deal(false), (PartyAtFault::Dealer, ViolationKind::WrongOrder { op: 0 }), true);
    check_violation(
        deal(true),
        (PartyAtFault::Dealer, ViolationKind::WrongSalt { op: 0, position: 0 }),
        true,
    );
}

#[test]
fn a_hand_that_came_to_nothing_has_its_seed_checked_too() {
    let mut player = player();
    let own = player.commit_with_receipt();
    player.apply(What::Entropy(player.fixture.closed(Some(&own), None))).unwrap();
    let seats = vec![crate::hand_fixture::OTHER.into()];
    let cause = proto::common::v1::AbortCause::Withheld.into();
    let voided = pb::HandVoided { hand_no: HAND, seats, cause, ..Default::default() };
    player.apply(What::Voided(voided)).unwrap();
    let mut other = player.fixture.published();
    other.seed[3] ^= 1;
    check_violation(
        player.apply(What::Seed(other)),
        (PartyAtFault::Table, ViolationKind::WrongSeed),
        true,
    );
}

/// A client that joins in the middle of a hand, or returns to one, checks the snapshot.
#[test]
fn a_snapshot_is_checked_like_what_it_stands_for() {
    let fixture = HandFixture::new("dice");
    let rows = fixture.rows(Some(Entropy([1; 32])));
    let (shoe, roots) = fixture.shoe(&rows);
    let dealt = fixture.dealt(&shoe);
    let seats = fixture.started(&rows).seats;
    let with_ids = dealt
        .hands
        .iter()
        .zip(&seats)
        .map(|(hand, seat)| pb::HandSeat { player_id: seat.player_id.clone(), ..hand.clone() });
    let hand = pb::HandView {
        hand_no: HAND,
        seats: with_ids.collect(),
        dealer: Some(fixture.dealer_commitment()),
        rows: rows.iter().map(row_to_pb).collect(),
        transcript: fixture.transcript(&rows).0.to_vec(),
        chain: fixture.transcript(&rows).0.to_vec(),
        rule_set: fixture.rules.canonical(),
        settings: fixture.settings.canonical(),
        roots,
        ..pb::HandView::default()
    };
    let see = |hand: pb::HandView| {
        let mut player = player();
        let view = pb::TableView { hand: Some(hand), ..player.fixture.view() };
        player.chance.apply(&WatchMessage::Snapshot(Box::new(view)))?;
        player.apply(What::Action(dealt.clone()))?;
        player.apply(What::HandEnded(ended()))?;
        player.apply(What::Seed(player.fixture.published()))
    };
    see(hand.clone()).unwrap();
    let mut swapped = hand.clone();
    swapped.seats[0].cards[0].proof.as_mut().unwrap().salt[0] ^= 1;
    let what = ViolationKind::WrongProof { op: 0, position: 0 };
    check_violation(see(swapped), (PartyAtFault::Table, what), false);
    let mut unbound = hand;
    unbound.rows[1] = unbound.rows[0].clone();
    let what = ViolationKind::WrongRows("an entropy that does not open its commitment");
    check_violation(see(unbound), (PartyAtFault::Table, what), false);
}

/// A client without the dealer's key still detects everything else, and contributes nothing.
/// fairness/SPEC.md §12.5.
#[test]
fn without_keys_only_signatures_go_unchecked() {
    let fixture = HandFixture::new("dice");
    let secret = Secret::from_bytes(SECRET);
    let chance = Chance::new(TABLE, Some(PlayerId(ME)), secret, client::TrustedKeys::default());
    let mut player = Player { chance, fixture };
    player.chance.apply(&WatchMessage::Snapshot(Box::new(player.fixture.view()))).unwrap();
    let mut next = player.fixture.next_hand();
    next.commitment.as_mut().unwrap().signature.clear();
    player.apply(What::NextHand(next)).unwrap();
    assert_eq!((player.next(), player.next()), (None, None));
    assert_eq!(player.chance.take_notices(), [Notice::NoDealerKey], "told once");
    let second = HandFixture { seed: 8, ..HandFixture::new("dice") };
    let seen = player.apply(What::NextHand(second.next_hand())).unwrap_err();
    assert_eq!(seen.party, PartyAtFault::Table);
    assert!(matches!(seen.kind, ViolationKind::SecondCommitment { .. }));
}
