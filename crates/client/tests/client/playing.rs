//! Playing over one stream, with broken connections.

use client::{Error, Play, PlayMessage, ViolationKind};
use primitives::{PlayerId, TableId};
use proto::common::v1::{AbortCause, ErrorReason, Move, MoveKind};
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use wire::api_refusal;

use crate::fake::{EntropyAnswer, EntropyRequest, FakeServer, ME, Table};
use crate::hand_fixture::{HAND, HandFixture, OTHER, TABLE};

fn standing() -> Move {
    Move { kind: MoveKind::Stand.into(), ..Move::default() }
}

/// Reads until a decision is answered; returns its request id and the messages before.
async fn answered(play: &mut Play) -> (String, Vec<String>) {
    let mut seen = Vec::new();
    loop {
        match play.next().await.unwrap().unwrap() {
            PlayMessage::Watch(other) => seen.push(format!("{other:?}")),
            PlayMessage::Entropy(part) => panic!("nobody takes part: {part:?}"),
            PlayMessage::Notice(notice) => panic!("nobody is warned: {notice}"),
            PlayMessage::Decision(acted) => {
                acted.outcome.unwrap();
                return (acted.request_id, seen);
            }
        }
    }
}

#[tokio::test]
async fn a_decision_is_answered_among_the_updates() {
    let fake = FakeServer::new(Table::default()).on_decision(|table, _| {
        table.push(What::Action(pb::HandAction::default()));
        Ok(None)
    });
    let mut play = fake.client(0).await.play(TableId([1; 16]));
    let asked = play.decide(1, 1, standing()).unwrap();
    let (answer, mut seen) = answered(&mut play).await;
    assert_eq!(answer, asked);
    if !seen.contains(&"Update(1)".to_owned()) {
        seen.push(format!("{:?}", play.next().await.unwrap().unwrap()));
    }
    assert_eq!(fake.table().decisions, [standing()]);
}

#[tokio::test]
async fn what_was_not_answered_is_sent_again_under_the_same_name() {
    let fake = FakeServer::new(Table::default());
    let away = api_refusal(ErrorReason::Unavailable, "a new owner");
    fake.table().refusals.extend([away.clone().into(), away.into()]);
    let mut play = fake.client(0).await.play(TableId([1; 16]));
    let asked = play.decide(1, 1, standing()).unwrap();
    let (answer, _) = answered(&mut play).await;
    assert_eq!(answer, asked);
    let table = fake.table();
    assert_eq!(table.requests, vec![("act", asked); 3], "twice cut off, then answered");
    assert_eq!(table.decisions.len(), 1);
    assert_eq!(table.tokens.len(), 3, "each time the table is followed from where it was");
}

#[tokio::test]
async fn decisions_without_an_answer_are_bounded() {
    let fake = FakeServer::new(Table::default());
    let mut play = fake.client(0).await.play(TableId([1; 16]));
    for turn in 0..16 {
        play.decide(1, turn, standing()).unwrap();
    }
    assert!(play.decide(1, 16, standing()).is_err());
    let _ = answered(&mut play).await;
    play.decide(1, 16, standing()).unwrap();
}

/// Creates a table that deals one hand once the client has revealed; `bend` may change its start.
fn dealing_server(mut bend: impl FnMut(&mut pb::HandStarted) + Send + 'static) -> FakeServer {
    let fixture = HandFixture::new("dice");
    let view = pb::TableView { next_hand: Some(fixture.next_hand()), ..fixture.view() };
    let table = Table { view, ..Table::default() };
    FakeServer::new(table).on_entropy(Box::new(move |table, part| match part {
        EntropyRequest::Commit(commit) => {
            assert_eq!(commit.hand_no, HAND);
            table.push(What::Entropy(fixture.closed(Some(&commit.commitment), None)));
            let receipt = fixture.receipt(&commit.commitment, &commit.key);
            Ok(EntropyAnswer::Committed(receipt))
        }
        EntropyRequest::Reveal(reveal) => {
            let entropy = fairness::Entropy(reveal.entropy.as_slice().try_into().unwrap());
            let mut started = fixture.started(&fixture.rows(Some(entropy)));
            bend(&mut started);
            table.push(What::HandStarted(started));
            Ok(EntropyAnswer::Revealed(Some(fixture.reveal_receipt(entropy))))
        }
    }))
}

/// Reads until the hand has started; returns the outcomes of the entropy messages.
async fn started(play: &mut Play) -> Result<Vec<bool>, Error> {
    let mut parts = Vec::new();
    let mut dealt = false;
    while !dealt || parts.len() < 2 {
        match play.next().await? {
            Some(PlayMessage::Entropy(part)) => {
                assert_eq!(part.hand_no, HAND);
                parts.push(part.outcome.unwrap().is_some());
            }
            Some(PlayMessage::Watch(seen)) => dealt |= format!("{seen:?}") == "Update(2)",
            Some(PlayMessage::Decision(_) | PlayMessage::Notice(_)) | None => {
                panic!("nobody decides, and nothing is wrong")
            }
        }
    }
    Ok(parts)
}

#[tokio::test]
async fn a_part_in_chance_is_taken_among_the_updates_and_through_breaks() {
    let fake = dealing_server(|_| {});
    let away = api_refusal(ErrorReason::Unavailable, "a new owner");
    fake.table().refusals.extend([away.clone().into(), away.into()]);
    let client = fake.client(0).await.with_trusted_keys(HandFixture::new("dice").trusted_keys());
    let mut play = client.play(TABLE).contributing_entropy(PlayerId(ME));
    assert_eq!(started(&mut play).await.unwrap(), [true, false], "a receipt, then a reveal");
    let table = fake.table();
    let ids = |method| {
        let mut ids: Vec<_> = table.requests.iter().filter(|(m, _)| *m == method).collect();
        let sent = ids.len();
        ids.dedup();
        (sent, ids.len())
    };
    assert_eq!(ids("commit_entropy"), (3, 1), "twice cut off, then answered");
    assert_eq!(ids("reveal_entropy"), (1, 1));
}

#[tokio::test]
async fn what_is_wrong_is_reported_after_the_message_it_was_found_in() {
    let fake = dealing_server(|started| started.transcript[0] ^= 1);
    let client = fake.client(0).await.with_trusted_keys(HandFixture::new("dice").trusted_keys());
    let mut play = client.play(TABLE).contributing_entropy(PlayerId(ME));
    let error = match started(&mut play).await {
        Err(error) => error,
        Ok(_) => play.next().await.unwrap_err(),
    };
    let Error::FairnessViolation(found) = error else { panic!("{error}") };
    assert_eq!(found.kind, ViolationKind::WrongTranscript);
    assert!(found.receipt.is_some() && found.commitment.is_some());
    // The stream continues for a caller who wants to see what follows.
    fake.table().push(What::Closed(pb::TableClosed {}));
    let next = play.next().await.unwrap();
    assert!(matches!(next, Some(PlayMessage::Watch(_) | PlayMessage::Entropy(_))), "{next:?}");
}

/// The table's chain stands elsewhere than the client thought: a leave that it knows of has lapsed.
#[tokio::test]
async fn a_leave_is_signed_over_the_chain_that_a_refusal_names() {
    let fake = dealing_server(|_| {});
    let fixture = HandFixture::new("dice");
    let client = fake.client(0).await.with_trusted_keys(fixture.trusted_keys());
    let mut play = client.play(TABLE).contributing_entropy(PlayerId(ME));
    started(&mut play).await.unwrap();
    let leaving = pb::SeatView {
        seat: OTHER.into(),
        player_id: PlayerId([9; 16]).to_string(),
        state: pb::SeatState::Leaving.into(),
        ..Default::default()
    };
    let leaving = pb::SeatChanged { seat: Some(leaving), vacated: false, your_standing: None };
    let transcript = {
        let mut table = fake.table();
        let dealt = table.log.iter().find_map(|update| {
            let Some(What::HandStarted(started)) = &update.what else { return None };
            Some(started.transcript.clone())
        });
        table.push(What::Seat(leaving));
        fairness::Transcript(dealt.unwrap().try_into().unwrap())
    };
    play.next().await.unwrap();
    let stands = hex::encode(fairness::Chain::new(&transcript).0);
    let elsewhere = api_refusal(ErrorReason::SignatureInvalid, "sign anew").with("chain", stands);
    fake.table().refusals.push_back(elsewhere.into());
    play.stand_up().await.unwrap();
    let table = fake.table();
    let leaves = table.requests.iter().filter(|(method, _)| *method == "stand_up");
    assert_eq!(leaves.count(), 2, "refused, and signed anew");
}

/// A program that knows whether its user looks on says so: nothing is committed behind their back.
#[tokio::test]
async fn who_looks_away_sits_out_and_commits_to_nothing() {
    let fixture = HandFixture::new("dice");
    let fake = FakeServer::new(Table { view: fixture.view(), ..Table::default() });
    let client = fake.client(0).await.with_trusted_keys(fixture.trusted_keys());
    let mut play = client.play(TABLE).contributing_entropy(PlayerId(ME));
    while !play.is_live() {
        play.next().await.unwrap();
    }
    play.set_in_front(false).await.unwrap();
    fake.table().push(What::NextHand(fixture.next_hand()));
    play.next().await.unwrap();
    let methods = || fake.table().requests.iter().map(|(method, _)| *method).collect::<Vec<_>>();
    assert_eq!(methods(), ["sit_out"]);
    play.set_in_front(true).await.unwrap();
    fake.table().push(What::NextHand(fixture.next_hand()));
    play.next().await.unwrap();
    let commits = async {
        while !methods().contains(&"commit_entropy") {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(5), commits).await.unwrap();
    assert_eq!(methods(), ["sit_out", "sit_out", "commit_entropy"]);
}

/// A client whose user wants to play blind needs no key, and folds nothing.
#[tokio::test]
async fn who_plays_blind_needs_no_key() {
    let fake = FakeServer::new(Table::default());
    let client = fake.client(0).await;
    assert!(matches!(client.check_keys(), Err(Error::NoDealerKey)));
    let error = client.check_keys().unwrap_err().to_string();
    assert!(!error.contains("  "), "{error}");
    client.playing_blind().check_keys().unwrap();
}

/// Waits for the error of a client that plays.
async fn failure(play: &mut Play) -> Error {
    let found = async {
        loop {
            if let Err(error) = play.next().await {
                return error;
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(10), found).await.expect("it is found")
}

/// The table answers with anything but the receipt that is due.
#[tokio::test]
async fn an_answer_of_another_kind_is_no_receipt() {
    for is_empty in [true, false] {
        let fixture = HandFixture::new("dice");
        let view = pb::TableView { next_hand: Some(fixture.next_hand()), ..fixture.view() };
        let trust = fixture.trusted_keys();
        let fake = FakeServer::new(Table { view, ..Table::default() });
        let mut committed = None;
        let fake = fake.on_entropy(Box::new(move |table, part| {
            Ok(match part {
                EntropyRequest::Commit(commit) => {
                    table.push(What::Entropy(fixture.closed(Some(&commit.commitment), None)));
                    let receipt = fixture.receipt(&commit.commitment, &commit.key);
                    committed = Some(receipt.clone());
                    EntropyAnswer::Committed(receipt)
                }
                EntropyRequest::Reveal(reveal) => {
                    let entropy = fairness::Entropy(reveal.entropy.as_slice().try_into().unwrap());
                    let rows = fixture.rows(Some(entropy));
                    table.push(What::HandStarted(fixture.started(&rows)));
                    let receipt = committed.clone().filter(|_| !is_empty);
                    receipt.map_or(EntropyAnswer::Empty, EntropyAnswer::Committed)
                }
            })
        }));
        let client = fake.client(0).await.with_trusted_keys(trust);
        let mut play = client.play(TABLE).contributing_entropy(PlayerId(ME));
        let Error::FairnessViolation(found) = failure(&mut play).await else { panic!("a fault") };
        assert_eq!(found.kind, ViolationKind::Missing("a receipt for revealed entropy"));
    }
}

#[tokio::test]
async fn a_commitment_is_answered_with_a_receipt() {
    for is_empty in [true, false] {
        let fixture = HandFixture::new("dice");
        let view = pb::TableView { next_hand: Some(fixture.next_hand()), ..fixture.view() };
        let fake = FakeServer::new(Table { view, ..Table::default() });
        let fake = fake.on_entropy(Box::new(move |_, _| {
            Ok(if is_empty { EntropyAnswer::Empty } else { EntropyAnswer::Revealed(None) })
        }));
        let client = fake.client(0).await.with_trusted_keys(fixture.trusted_keys());
        let mut play = client.play(TABLE).contributing_entropy(PlayerId(ME));
        let error = failure(&mut play).await;
        assert!(matches!(error, Error::Malformed("the receipt is missing")), "{error}");
    }
}

/// A message that shows a violation also closes a number: the entropy for it stays here.
#[tokio::test]
async fn nothing_is_sent_over_a_violation_that_is_still_to_be_reported() {
    let next = || HandFixture { hand_no: HAND + 1, ..HandFixture::new("dice") };
    let (fixture, start) = (HandFixture::new("dice"), 1_700_000_000_000_000);
    let at = |micros| Some(wire::time::timestamp(primitives::UnixMicros(micros)));
    let table = Table { view: fixture.view(), ..Table::default() };
    let fake = FakeServer::new(table).on_entropy(Box::new(move |_, part| match part {
        EntropyRequest::Commit(commit) => {
            let receipt = next().receipt(&commit.commitment, &commit.key);
            Ok(EntropyAnswer::Committed(receipt))
        }
        EntropyRequest::Reveal(_) => Ok(EntropyAnswer::Revealed(None)),
    }));
    let client = fake.client(0).await.with_trusted_keys(fixture.trusted_keys());
    let mut play = client.play(TABLE).contributing_entropy(PlayerId(ME));
    // The number before is burnt, and its seed stays shut.
    let closed = fixture.closed(None, Some(fairness::Entropy([1; 32])));
    let (seats, cause) = (vec![OTHER.into()], AbortCause::Withheld.into());
    let burnt = pb::HandVoided { hand_no: HAND, seats, cause, ..Default::default() };
    for what in [What::Entropy(closed), What::Voided(burnt), What::NextHand(next().next_hand())] {
        fake.table().push_at(at(start), what);
    }
    let commitment = loop {
        let message = play.next().await.unwrap();
        if let Some(PlayMessage::Entropy(part)) = message {
            break part.outcome.unwrap().unwrap().commitment;
        }
    };
    let closed = next().closed(Some(&commitment), None);
    fake.table().push_at(at(start + 3_600_000_001), What::Entropy(closed));
    let Error::FairnessViolation(found) = failure(&mut play).await else { panic!("a fault") };
    assert_eq!(found.kind, ViolationKind::SeedOverdue);
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    let table = fake.table();
    let mut methods = table.requests.iter().map(|(method, _)| *method);
    assert!(methods.all(|method| method != "reveal_entropy"));
}
