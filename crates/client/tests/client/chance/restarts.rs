//! A client that is started anew holds the table to the receipts in its evidence.

use proto::common::v1::AbortCause;
use std::sync::Arc;

use client::evidence::{EvidenceStore, MemoryEvidence};

use super::*;

/// Starts a client with this evidence.
fn start(store: &Arc<dyn EvidenceStore>) -> Player {
    let fixture = HandFixture::new("dice");
    let secret = Secret::from_bytes(SECRET);
    let chance = Chance::new(TABLE, Some(PlayerId(ME)), secret, fixture.trusted_keys());
    let mut player = Player { chance: chance.with_evidence(Arc::clone(store)), fixture };
    player.chance.apply(&WatchMessage::Snapshot(Box::new(player.fixture.view()))).unwrap();
    player
}

fn store() -> Arc<dyn EvidenceStore> {
    Arc::new(MemoryEvidence::default())
}

const DROPPED: (PartyAtFault, ViolationKind) =
    (PartyAtFault::Table, ViolationKind::CommitmentDropped);

#[test]
fn a_closing_has_what_a_receipt_was_given_for_before() {
    let store = store();
    start(&store).commit_with_receipt();
    let mut player = start(&store);
    player.apply(What::NextHand(player.fixture.next_hand())).unwrap();
    let dropped = player.apply(What::Entropy(player.fixture.closed(None, None)));
    check_violation(dropped, DROPPED, false);
}

/// The hand was dealt while the client was away.
#[test]
fn a_hand_has_what_a_receipt_was_given_for_before() {
    let store = store();
    let entropy = start(&store).commit_and_reveal();
    let fixture = HandFixture::new("dice");
    let see = |rows: &[TranscriptRow]| {
        let mut player = start(&store);
        let hand = pb::HandView {
            hand_no: HAND,
            seats: fixture.started(rows).seats,
            dealer: Some(fixture.dealer_commitment()),
            rows: rows.iter().map(row_to_pb).collect(),
            transcript: fixture.transcript(rows).0.to_vec(),
            chain: fixture.transcript(rows).0.to_vec(),
            rule_set: fixture.rules.canonical(),
            settings: fixture.settings.canonical(),
            ..pb::HandView::default()
        };
        let view = pb::TableView { hand: Some(hand), ..fixture.view() };
        player.chance.apply(&WatchMessage::Snapshot(Box::new(view)))
    };
    check_violation(see(&fixture.rows(Some(Entropy([1; 32])))), DROPPED, false);
    check_violation(see(&fixture.rows(None)), DROPPED, false);
    see(&fixture.rows(Some(entropy))).unwrap();
}

#[test]
fn blame_is_refuted_by_a_receipt_from_before() {
    let store = store();
    let entropy = start(&store).commit_and_reveal();
    let own = HandFixture::new("dice").commitment_of(SEAT, PlayerId(ME), &entropy);
    let mut player = start(&store);
    player.apply(What::Entropy(player.fixture.closed(Some(&own.0), None))).unwrap();
    let (seats, cause) = (vec![SEAT.into()], AbortCause::Withheld.into());
    let burnt = pb::HandVoided { hand_no: HAND, seats, cause, ..Default::default() };
    let blamed = (PartyAtFault::Table, ViolationKind::BlamedDespiteReceipt);
    check_violation(player.apply(What::Voided(burnt)), blamed, false);
}
