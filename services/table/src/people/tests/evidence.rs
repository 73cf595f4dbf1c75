//! Evidence of disputes, and what everybody may know of a dispute.

use fairness::evidence::{Entry, write as evidence_file};
use primitives::UnixMicros;
use proto::event::v1::DisputeOpened;
use sha2::{Digest as _, Sha256};

use super::*;

const NOTE: &str = "the closing I was sent has another number of mine";
const BUNDLE: [u8; 32] = [0xb5; 32];

fn evidence() -> Vec<u8> {
    evidence_file(&[Entry::note(UnixMicros(1), NOTE)]).into_bytes()
}

fn with_evidence(hand_no: u64, evidence: Vec<u8>) -> audit::OpenDisputeRequest {
    audit::OpenDisputeRequest { evidence, ..objection(hand_no) }
}

/// The event that opened the only dispute of a log.
fn recorded(events: &[Event]) -> DisputeOpened {
    let is_opening = |event: &&Event| i32::from(event.kind) == i32::from(EventType::DisputeOpened);
    let mut opened = events.iter().filter(is_opening);
    let opened = opened.next().expect("a dispute is opened");
    DisputeOpened::decode(&opened.payload[..]).unwrap()
}

#[tokio::test]
async fn evidence_is_sealed_and_neither_it_nor_the_bundle_can_be_swapped() {
    let place = Fixture::new();
    place.hand(1).await;
    let people = place.people().await.unwrap();
    let request = with_evidence(1, evidence());
    let opened = people.open_dispute(ANN, &request, Some(BUNDLE), by(1, 1)).await.unwrap();
    let hash = Sha256::digest(evidence()).to_vec();
    assert_eq!((opened.number, &opened.evidence_sha256), (1, &hash));
    assert_eq!(opened.bundle_sha256, BUNDLE);
    // A repeat that comes with another bundle has the first answer.
    let again = people.open_dispute(ANN, &request, Some([1; 32]), by(1, 1)).await.unwrap();
    assert_eq!(again, opened);

    let id = wire::field::id::<DisputeId>("dispute_id", &opened.dispute_id).unwrap();
    for people in [Arc::clone(&people), place.people().await.unwrap()] {
        for reader in [Some(ANN), None] {
            let dispute = people.get_dispute(id, reader).await.unwrap();
            assert_eq!(dispute.evidence, evidence());
            assert_eq!((&dispute.evidence_sha256, dispute.number), (&hash, 1));
            assert_eq!(dispute.bundle_sha256, BUNDLE);
        }
    }
    let events = all(&place.log().await).await;
    let recorded = recorded(&events);
    assert_eq!(
        (&recorded.evidence_sha256[..], &recorded.bundle_sha256[..]),
        (&hash[..], &BUNDLE[..])
    );
    assert!(events.iter().all(|event| !holds(&event.payload, NOTE)));

    let people = place.people().await.unwrap();
    people.answer_dispute(&answer(id), by(5, 5)).await.unwrap();
    people.erase(ANN, "by letter", by(6, 6)).await.unwrap();
    let dispute = people.get_dispute(id, None).await.unwrap();
    assert_eq!((dispute.evidence.len(), dispute.text.as_str(), dispute.erased), (0, "", true));
}

#[tokio::test]
async fn what_is_no_evidence_of_ones_own_is_refused_and_changes_nothing() {
    let place = Fixture::new();
    place.hand(1).await;
    let people = place.people().await.unwrap();
    let before = people.log.size();
    let huge = vec![b'\n'; 256 * 1024 + 1];
    for given in [b"hello\n".to_vec(), b"sabacc-evidence 1\nnote 1 \x1b[2J\n".to_vec(), huge] {
        let request = with_evidence(1, given);
        let refused = people.open_dispute(ANN, &request, None, by(1, 1)).await.unwrap_err();
        assert_eq!(refused.reason(), ErrorReason::BadField);
        assert!(refused.message().contains("evidence"), "{}", refused.message());
    }
    assert_eq!(people.log.size(), before);
    assert_eq!(place.keys.get_many(&[ANN.0]).await.unwrap(), BTreeMap::new());
}

#[tokio::test]
async fn a_player_has_one_dispute_open_whatever_the_hand() {
    let place = Fixture::new();
    place.hand(1).await;
    place.hand(2).await;
    let people = place.people().await.unwrap();
    let opened = people.open_dispute(ANN, &objection(1), None, by(1, 1)).await.unwrap();
    let refused = people.open_dispute(ANN, &objection(2), None, by(2, 2)).await.unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::DisputesOpen);
    people.open_dispute(BOB, &objection(2), None, by(3, 3)).await.unwrap();
    let id = wire::field::id::<DisputeId>("dispute_id", &opened.dispute_id).unwrap();
    people.answer_dispute(&answer(id), by(4, 4)).await.unwrap();
    let third = people.open_dispute(ANN, &objection(2), None, by(5, 5)).await.unwrap();
    assert_eq!(third.number, 3);
}

#[tokio::test]
async fn the_public_list_has_numbers_and_outcomes_and_nobody_in_it() {
    let place = Fixture::new();
    place.hand(1).await;
    let people = place.people().await.unwrap();
    let request = with_evidence(1, evidence());
    let opened = people.open_dispute(ANN, &request, Some(BUNDLE), by(1, 1)).await.unwrap();
    people.open_dispute(BOB, &objection(1), None, by(2, 2)).await.unwrap();
    let id = wire::field::id::<DisputeId>("dispute_id", &opened.dispute_id).unwrap();
    people.answer_dispute(&answer(id), by(3, 3)).await.unwrap();
    let everything = Wanted { state: audit::DisputeState::Unspecified, own: false };
    let list = |caller, wanted| people.list_disputes(caller, wanted, 0, 10).disputes;

    let seen = list(Some(BOB), everything);
    let [theirs, own] = &seen[..] else { panic!("{seen:?}") };
    assert_eq!((theirs.number, theirs.hand_no, own.number), (1, 1, 2));
    assert_eq!(
        (theirs.state(), theirs.verdict()),
        (audit::DisputeState::Answered, DisputeVerdict::Rejected)
    );
    assert!(theirs.dispute_id.is_empty() && theirs.player_id.is_empty(), "{theirs:?}");
    assert!(theirs.evidence_sha256.is_empty() && theirs.bundle_sha256.is_empty(), "{theirs:?}");
    assert_eq!(own.player_id, BOB.to_string());
    assert!(people.get_dispute(id, Some(BOB)).await.is_err(), "what was written is not theirs");

    let own = Wanted { own: true, ..everything };
    assert_eq!(list(Some(BOB), own).iter().map(|it| it.number).collect::<Vec<_>>(), [2]);
    assert_eq!(list(None, own), []);
    let staff = list(None, everything);
    assert_eq!(
        (&staff[0].player_id[..], &staff[0].bundle_sha256[..]),
        (ANN.to_string().as_str(), &BUNDLE[..])
    );
    let wordless = |it: &audit::Dispute| it.text.is_empty() && it.evidence.is_empty();
    assert!(staff.iter().all(wordless) && seen.iter().all(wordless));
}
