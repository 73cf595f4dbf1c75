//! Hands that a client is dealt into without its number, or without a word on their chance.

use super::*;

/// The rows are those of the closing, which has not this client; yet it is dealt in.
#[test]
fn whoever_is_dealt_in_has_a_row() {
    let mut player = player();
    player.apply(What::NextHand(player.fixture.next_hand())).unwrap();
    let others = player.fixture.rows_of(None, Some(Entropy([0x77; 32])))[1..].to_vec();
    let closing = player.fixture.closing_rows(None, Some(Entropy([0x77; 32])))[1..].to_vec();
    let mut closed = player.fixture.closed_with(&closing);
    closed.roster.remove(0);
    player.apply(What::Entropy(closed)).unwrap();
    let mut started = player.fixture.started(&others);
    started.seats = player.fixture.started(&player.fixture.rows(None)).seats;
    let other = ViolationKind::WrongRows("other seats than are dealt in");
    check_violation(player.apply(What::HandStarted(started)), (PartyAtFault::Table, other), false);
}

/// Cards of a hand that was never started, so that there is nothing to prove them by.
#[test]
fn nothing_is_dealt_in_a_hand_without_a_transcript() {
    let fixture = player().fixture;
    let (shoe, _) = fixture.shoe(&fixture.rows(None));
    let missing = (PartyAtFault::Table, ViolationKind::Missing("the transcript"));
    let seen = player().apply(What::Action(fixture.dealt(&shoe)));
    check_violation(seen, missing, false);
}

/// A table that has lost the cards of a hand shows nothing of it, and is not blamed for that.
#[test]
fn a_hand_whose_cards_are_lost_is_let_be() {
    let mut player = player();
    let hand = pb::HandView {
        hand_no: HAND,
        dealer: Some(player.fixture.dealer_commitment()),
        rule_set: player.fixture.rules.canonical(),
        settings: player.fixture.settings.canonical(),
        ..pb::HandView::default()
    };
    let view = pb::TableView { hand: Some(hand), ..player.fixture.view() };
    player.chance.apply(&WatchMessage::Snapshot(Box::new(view))).unwrap();
    let (shoe, _) = player.fixture.shoe(&player.fixture.rows(None));
    player.apply(What::Action(player.fixture.dealt(&shoe))).unwrap();
}
