//! The house says nothing where something is due, or the contrary of what it has signed.

use client::{PartyAtFault, ViolationKind};
use proto::common::v1::AbortCause;

use super::*;

const OWN: Entropy = Entropy([0x55; 32]);

/// Step that the house leaves out.
#[derive(Debug, Clone, Copy)]
enum LeftOut {
    Number,
    Promise,
    Closing,
    Transcript,
    Proof,
}

/// Plays the hand with a guest up to the step that is left out.
async fn play_up_to(room: &RoomFixture, guest: &Guest, left_out: LeftOut) {
    let fixture = &room.fixture;
    match left_out {
        LeftOut::Number => {
            let later = HandFixture { hand_no: HAND + 1, ..HandFixture::new("dice") };
            return guest.send(What::NextHand(later.next_hand()));
        }
        LeftOut::Promise => {
            let bare = pb::NextHand { commitment: None, ..fixture.next_hand() };
            return guest.send(What::NextHand(bare));
        }
        LeftOut::Closing => {
            let bare = pb::Entropy { closing: None, ..room.closed(&OWN) };
            return guest.send(What::Entropy(bare));
        }
        LeftOut::Transcript | LeftOut::Proof => {}
    }
    guest.send(What::Entropy(room.closed(&OWN)));
    room.until(|received| received.reveals.len() == 1).await;
    let started = room.started(&OWN);
    if let LeftOut::Transcript = left_out {
        let bare = pb::HandStarted { rows: Vec::new(), transcript: Vec::new(), ..started };
        return guest.send(What::HandStarted(bare));
    }
    guest.send(What::HandStarted(started));
    let (shoe, roots) = fixture.shoe(&room.transcript_rows(&OWN));
    roots.into_iter().for_each(|root| guest.send(fixture.shuffled(root)));
    let bare = pb::HandAction { proofs: Vec::new(), ..fixture.dealt(&shoe) };
    guest.send(What::Action(bare));
}

/// fairness/SPEC.md §12.5.
#[tokio::test]
async fn each_step_that_is_left_out_is_distrusted() {
    let demanded = [
        (LeftOut::Number, ViolationKind::NumberSkipped { expected: HAND }),
        (LeftOut::Promise, ViolationKind::Missing("a commitment")),
        (LeftOut::Closing, ViolationKind::Missing("the dealer's closing")),
        (LeftOut::Transcript, ViolationKind::Missing("the transcript")),
        (LeftOut::Proof, ViolationKind::Unproved),
    ];
    for (left_out, kind) in demanded {
        let room = RoomFixture::new();
        let guest = room.seat_one().await;
        play_up_to(&room, &guest, left_out).await;
        let Caught { found, evidence } = guest.distrusts().await;
        assert_eq!((found.party, found.kind), (PartyAtFault::Table, kind), "{left_out:?}");
        assert!(!statements(&evidence).is_empty(), "{left_out:?}");
    }
}

/// The house throws a hand away that it dislikes, and says that all players agreed to it.
#[tokio::test]
async fn a_hand_that_the_house_throws_away_is_distrusted() {
    let room = RoomFixture::new();
    let guest = room.seat_one().await;
    guest.send(What::Entropy(room.closed(&OWN)));
    room.until(|received| received.reveals.len() == 1).await;
    guest.send(What::HandStarted(room.started(&OWN)));
    let cause = AbortCause::Agreed.into();
    guest.send(What::Voided(pb::HandVoided { hand_no: HAND, cause, ..Default::default() }));
    let Caught { found, evidence } = guest.distrusts().await;
    assert_eq!((found.party, found.kind), (PartyAtFault::Table, ViolationKind::SilenceUnannounced));
    assert!(!statements(&evidence).is_empty());
}

/// The table says that it has received nothing from a guest, whose reveal it has given a receipt for.
#[tokio::test]
async fn blame_behind_a_receipt_is_refuted_by_it() {
    let room = RoomFixture::new();
    let guest = room.seat_one().await;
    guest.send(What::Entropy(room.closed(&OWN)));
    room.until(|received| received.reveals.len() == 1).await;
    let revealed = room.received().reveals[&SEAT];
    let cause = AbortCause::Withheld.into();
    let seats = vec![SEAT.into()];
    guest.send(What::Voided(pb::HandVoided { hand_no: HAND, seats, cause, ..Default::default() }));
    let Caught { found, evidence } = guest.distrusts().await;
    let blamed = (PartyAtFault::Table, ViolationKind::BlamedDespiteReceipt);
    assert_eq!((found.party, found.kind), blamed);
    let is_receipt = |statement: &Statement| match statement {
        Statement::RevealReceipt { seat, entropy, .. } => (*seat, *entropy) == (SEAT, revealed),
        Statement::Commitment { .. }
        | Statement::CommitReceipt { .. }
        | Statement::Closing { .. }
        | Statement::Decision { .. }
        | Statement::DecisionReceipt { .. } => false,
    };
    assert!(statements(&evidence).iter().any(is_receipt));
}
