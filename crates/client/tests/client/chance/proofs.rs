//! Summary of what was checked of a hand: it says nothing that was not checked.

use client::chance::ClosingCheck;

use super::*;

/// The account of a hand grows with what was checked of it, and says nothing that was not.
#[test]
fn the_proofs_of_a_hand_are_what_was_checked_of_it() {
    let mut player = player();
    assert_eq!(player.chance.proofs(HAND), None);
    let (shoe, roots) = player.shuffle();
    let proofs = player.chance.proofs(HAND).expect("it is followed");
    assert!(proofs.commitment.is_signed && proofs.commitment.is_earlier);
    assert_eq!(proofs.closing, ClosingCheck::Signed);
    assert!(proofs.is_dealt_in && proofs.has_own && proofs.contributions <= proofs.seats);
    assert_eq!((proofs.shuffles, proofs.cards.len(), proofs.seed), (roots.len(), 0, None));

    let dealt = player.fixture.dealt(&shoe);
    let card = dealt.proofs[0].clone();
    assert!(!proofs.is_proved(&card), "it was not shown");
    let hands = dealt.hands.clone();
    player.apply(What::Action(dealt)).unwrap();
    let proofs = player.chance.proofs(HAND).expect("it is followed");
    assert_eq!(proofs.cards.len(), 2);
    assert!(proofs.is_proved(&card));
    assert!(!proofs.is_proved(&common::CardProof { card_id: card.card_id + 1, ..card.clone() }));
    assert!(!proofs.is_proved(&common::CardProof { position: 70, ..card }));

    player.apply(What::HandEnded(pb::HandEnded { hands, ..ended() })).unwrap();
    assert_eq!(player.chance.proofs(HAND).expect("it is kept").seed, None, "it is shut");
    player.apply(What::Seed(player.fixture.published())).unwrap();
    let proofs = player.chance.proofs(HAND).expect("it is kept");
    let seed = proofs.seed.expect("it is opened");
    assert_eq!((seed.cards, seed.orders), (2, 1));
}

#[test]
fn no_card_of_a_hand_in_which_something_was_wrong_counts_as_proved() {
    let mut player = player();
    let (shoe, _) = player.shuffle();
    let dealt = player.fixture.dealt(&shoe);
    let (card, mut other) = (dealt.proofs[0].clone(), dealt.clone());
    player.apply(What::Action(dealt)).unwrap();
    other.proofs[1].salt[0] ^= 1;
    player.apply(What::Action(other)).expect_err("the salt is another");
    let proofs = player.chance.proofs(HAND).expect("it is followed");
    assert!(proofs.is_faulty && !proofs.is_proved(&card));
}

/// A client that comes in mid-hand has seen neither the closing nor that the promise was there before.
#[test]
fn who_joins_in_mid_hand_is_told_less() {
    let mut player = player();
    let rows = player.rows();
    let (shoe, roots) = player.fixture.shoe(&rows);
    let dealt = player.fixture.dealt(&shoe);
    let started = player.fixture.started(&rows);
    let hand = pb::HandView {
        hand_no: HAND,
        dealer: player.fixture.next_hand().commitment,
        rule_set: player.fixture.view().rule_set,
        settings: player.fixture.view().settings,
        rows: started.rows,
        transcript: started.transcript.clone(),
        chain: fairness::Chain::new(&player.fixture.transcript(&rows)).0.to_vec(),
        seats: started
            .seats
            .iter()
            .map(|seat| {
                let held = dealt.hands.iter().find(|hand| hand.seat == seat.seat);
                let cards = held.map(|hand| hand.cards.clone()).unwrap_or_default();
                pb::HandSeat { cards, ..seat.clone() }
            })
            .collect(),
        roots,
        ..pb::HandView::default()
    };
    let view = pb::TableView { hand_no: HAND, hand: Some(hand), ..player.fixture.view() };
    let mut onlooker =
        Chance::new(TABLE, None, Secret::from_bytes(SECRET), player.fixture.trusted_keys());
    onlooker.apply(&WatchMessage::Snapshot(Box::new(view))).unwrap();
    let proofs = onlooker.proofs(HAND).expect("it is followed");
    assert!(proofs.commitment.is_signed && !proofs.commitment.is_earlier);
    assert_eq!(proofs.closing, ClosingCheck::NotSeen);
    assert!(!proofs.is_dealt_in && !proofs.has_own);
    assert_eq!(proofs.cards.len(), 2);
}
