//! The house announces two closings, or two promises.

use client::{PartyAtFault, ViolationKind};
use fairness::evidence::{Conflict, conflicts};

use super::*;

const FIRST: Entropy = Entropy([0x21; 32]);
const SECOND: Entropy = Entropy([0x22; 32]);

/// Each guest's hand is dealt as its own closing says, so neither finds anything alone. Their two
/// files convict the dealer.
#[tokio::test]
async fn two_guests_who_were_sent_two_closings_hold_the_proof_together() {
    let room = RoomFixture::new();
    let guests = room.seat_both().await;
    for (guest, own) in guests.iter().zip([FIRST, SECOND]) {
        guest.send(What::Entropy(room.closed(&own)));
    }
    room.until(|received| received.reveals.len() == 2).await;
    let mut kept = Vec::new();
    for (guest, own) in guests.into_iter().zip([FIRST, SECOND]) {
        guest.send(What::HandStarted(room.started(&own)));
        let evidence = guest.leaves_content().await;
        assert_eq!(conflicts(&evidence), [], "one alone proves nothing");
        kept.extend(evidence);
    }
    let contradictions = conflicts(&kept);
    let [Conflict::TwoClosings { first, second }] = contradictions[..] else {
        panic!("{contradictions:?}")
    };
    assert!(room.is_dealers(&kept[first]) && room.is_dealers(&kept[second]));
    assert_ne!(kept[first], kept[second]);
}

#[tokio::test]
async fn a_guest_who_was_sent_two_closings_holds_both() {
    let room = RoomFixture::new();
    let guest = room.seat_one().await;
    guest.send(What::Entropy(room.closed(&FIRST)));
    room.until(|received| received.reveals.len() == 1).await;
    guest.send(What::Entropy(room.closed(&SECOND)));
    let Caught { found, evidence } = guest.distrusts().await;
    assert_eq!((found.party, &found.kind), (PartyAtFault::Dealer, &ViolationKind::SecondClosing));
    check_two_closings(&room, &evidence);
}

/// A guest that is started anew reads what it has revealed under, and reveals nothing under another
/// closing.
#[tokio::test]
async fn a_guest_that_is_started_anew_holds_both_closings_too() {
    let room = RoomFixture::new();
    let Guest { seat, line: _, directory, playing } = {
        let guest = room.seat_one().await;
        guest.send(What::Entropy(room.closed(&FIRST)));
        room.until(|received| received.reveals.len() == 1).await;
        guest
    };
    playing.abort();
    room.received().reveals.clear();
    let entropy = Some(room.closed(&SECOND));
    let view = pb::TableView { entropy, ..room.view() };
    let guest = room.seat_in(directory, seat, view).await;
    let Caught { found, evidence } = guest.distrusts().await;
    assert_eq!((found.party, &found.kind), (PartyAtFault::Dealer, &ViolationKind::SecondClosing));
    check_two_closings(&room, &evidence);
    assert!(room.received().reveals.is_empty(), "nothing was revealed again");
}

#[track_caller]
fn check_two_closings(room: &RoomFixture, evidence: &[Entry]) {
    let contradictions = conflicts(evidence);
    let [Conflict::TwoClosings { first, second }] = contradictions[..] else {
        panic!("{contradictions:?}")
    };
    assert!(room.is_dealers(&evidence[first]) && room.is_dealers(&evidence[second]));
}

/// The dealer promises one number twice, to two seeds: it would take the one that suits it.
#[tokio::test]
async fn a_number_that_was_promised_twice_convicts_the_dealer() {
    let other = HandFixture { seed: 8, ..HandFixture::new("dice") };
    let updates: [What; 2] =
        [What::NextHand(other.next_hand()), What::Entropy(other.entropy(false, &[SEAT]))];
    for what in updates {
        let room = RoomFixture::new();
        let guest = room.seat_one().await;
        guest.send(what);
        let Caught { found, evidence } = guest.distrusts().await;
        assert_eq!(found.party, PartyAtFault::Dealer);
        assert!(matches!(found.kind, ViolationKind::SecondCommitment { .. }), "{found}");
        let contradictions = conflicts(&evidence);
        let [Conflict::TwoPromises { first, second }] = contradictions[..] else {
            panic!("{contradictions:?}")
        };
        assert!(room.is_dealers(&evidence[first]) && room.is_dealers(&evidence[second]));
    }
}
