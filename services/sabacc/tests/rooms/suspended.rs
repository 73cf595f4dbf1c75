//! A dealer that is killed in mid-hand: after ten seconds everybody sees that the hand stands
//! still. It goes on from the same seed when the dealer is back, or ends when all live players agree.

use std::time::Duration;

use proto::common::v1::{AbortCause, AtFault, ErrorReason, MoveKind};
use proto::table::v1 as pb;
use wire::TableRecord;

use crate::harness::LONG_TIMEOUT;
use crate::people::{Guest, Party, operator, plain, slow_table, tables, with_token};
use crate::players::{Conduct, Players};
use crate::records;
use crate::separate::{SeparateServices, stop_and_audit};
use crate::witnessed::{fetch, save, start_all, verify};

/// Time for which the dealer may be silent, and in which a hand may be suspended, in seconds.
const DEALER_TIMEOUT: i64 = 10;
const HOURS: i64 = 2 * 3600;

/// A table of three players who bring numbers to chance.
async fn players(apart: &SeparateServices, name: &str) -> Players {
    let config = pb::TableConfig {
        contributors_min: None,
        commit_ms: 10_000,
        reveal_ms: 10_000,
        ..slow_table(name)
    };
    Players::follow(&Party::at(&apart.harness, &apart.url(3), 3, config).await)
}

fn suspension(view: &pb::TableView) -> Option<&pb::Suspension> {
    view.hand.as_ref()?.suspension.as_ref()
}

/// Lets the players of a hand play on until all of them see that it is suspended.
async fn until_suspended(players: &mut Players) {
    players.instruct_all(Conduct::Play);
    let view = players.until_all("the suspension", |view| suspension(view).is_some()).await;
    players.instruct_all(Conduct::Wait);
    let shown = suspension(&view).unwrap();
    let (since, until) = (shown.start_time.unwrap(), shown.end_time.unwrap());
    let stands = until.seconds - since.seconds - HOURS;
    assert!((DEALER_TIMEOUT..DEALER_TIMEOUT + 60).contains(&stands), "{since:?} to {until:?}");
    assert!(shown.agreed.is_empty(), "{shown:?}");
    let turn = view.hand.unwrap().turn.unwrap();
    assert_eq!(turn.deadline, None, "clocks stand");
    assert!(turn.legal.iter().all(|legal| legal.kind() == MoveKind::Void), "{turn:?}");
}

/// Nothing but agreeing is decided while a hand stands still.
async fn refuses_decisions(apart: &SeparateServices, players: &Players) {
    let guest: &Guest = &players.guests[0];
    let view = guest.client.get_table(players.table).await.unwrap();
    let turn = view.hand.and_then(|hand| hand.turn).map_or(0, |turn| turn.turn);
    let request = pb::ActRequest {
        request_id: system::ids::IdMaker::system().request_id().to_string(),
        table_id: players.table.to_string(),
        hand_no: view.hand_no,
        turn,
        decision: Some(plain(MoveKind::Check)),
        signature: Vec::new(),
    };
    let refused = tables(&apart.url(3)).act(with_token(&guest.token, request)).await.unwrap_err();
    let reason = wire::status::reason_of(&refused);
    assert_eq!(reason, Some(ErrorReason::HandSuspended), "{refused}");
}

/// Events of a hand in the table's log.
async fn events_of(apart: &SeparateServices, players: &Players, hand_no: u64) -> Vec<TableRecord> {
    let hand = fairness::hand_id(players.table, hand_no);
    let events = records::events(&apart.postgres.admin_url(), "table").await;
    let own = events.iter().filter(|event| event.stream.0 == hand.0);
    own.map(|event| TableRecord::try_from(event).unwrap()).collect()
}

/// Waits until the bundle of a hand has this exit code.
async fn until_verified(apart: &SeparateServices, players: &Players, hand_no: u64, wanted: i32) {
    let verified = async {
        loop {
            let bundle = fetch(apart, players.table, hand_no).await.bundle;
            let file = save(apart, "hand.sabacc", &bundle);
            let (code, said) = verify(apart, &[file], &[]).await;
            if code == wanted {
                return;
            }
            // A seed may not be open yet.
            assert_eq!(code, 4, "{said}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, verified).await.expect("the bundle is complete");
}

/// All but the last agree, then the last one too: the hand is over without a trace in the credits.
async fn end_by_agreement(apart: &SeparateServices, players: &mut Players, hand_no: u64) {
    let seats: Vec<u32> = (1..=3).collect();
    for guest in 0..2 {
        players.instruct(guest, Conduct::Agree);
        let agreed = &seats[..=guest];
        let shows = |view: &pb::TableView| {
            suspension(view).is_some_and(|suspension| suspension.agreed == agreed)
        };
        players.until_all("the agreement", shows).await;
    }
    players.instruct(2, Conduct::Agree);
    let is_over = |view: &pb::TableView| suspension(view).is_none();
    players.until_all("the end of the hand", is_over).await;
    players.instruct_all(Conduct::Play);
    let events = events_of(apart, players, hand_no).await;
    let Some(TableRecord::HandAborted(aborted)) = events.last() else { panic!("{events:?}") };
    assert_eq!((aborted.cause(), aborted.at_fault()), (AbortCause::Agreed, AtFault::Dealer));
    let opened = events.iter().find_map(|event| match event {
        TableRecord::HandOpened(opened) => Some(opened.roster.clone()),
        _ => None,
    });
    let stacks: Vec<u64> = opened.unwrap().iter().map(|place| place.stack).collect();
    let mut refunded = Vec::new();
    for guest in &players.guests {
        refunded.extend(guest.credits().await.1);
    }
    let sorted = |mut stacks: Vec<u64>| {
        stacks.sort_unstable();
        stacks
    };
    assert_eq!(sorted(refunded), sorted(stacks), "what was paid in is back");
}

/// Waits for a hand of all three, and lets them pause in it; returns its number.
async fn pause_in_a_hand(players: &mut Players) -> u64 {
    let all = |view: &pb::TableView| {
        view.hand
            .as_ref()
            .is_some_and(|hand| hand.seats.len() == 3 && hand.phase() != pb::HandPhase::Over)
    };
    players.until_all("a hand of three", all).await;
    let view = players.pause().await;
    assert_eq!(view.hand.unwrap().seats.len(), 3);
    view.hand_no
}

/// fairness/SPEC.md §3.11.
#[tokio::test(flavor = "multi_thread")]
async fn hands_of_a_killed_dealer_stand_still_and_go_on_or_end_as_their_players_agree() {
    let apart = SeparateServices::new().await;
    let mut running = start_all(&apart);
    operator(&apart.harness, &apart.url(3)).list_tables().await.unwrap();
    let mut patient = players(&apart, "patient").await;
    let mut agreeing = players(&apart, "agreeing").await;
    let first = pause_in_a_hand(&mut patient).await;
    let second = pause_in_a_hand(&mut agreeing).await;
    running[0].kill();
    tokio::join!(until_suspended(&mut patient), until_suspended(&mut agreeing));
    refuses_decisions(&apart, &patient).await;
    end_by_agreement(&apart, &mut agreeing, second).await;
    // One player's agreement ends nothing, and is forgotten when the dealer is back.
    patient.instruct(1, Conduct::Agree);
    let agreed = |view: &pb::TableView| suspension(view).is_some_and(|it| it.agreed == [2]);
    patient.until_all("the agreement of one", agreed).await;

    running[0] = apart.start(0);
    let goes_on = |view: &pb::TableView| suspension(view).is_none();
    patient.until_all("the hand to go on", goes_on).await;
    patient.instruct_all(Conduct::Play);
    patient.until_all("the next hand", |view| view.hand_no > first + 1).await;
    let events = events_of(&apart, &patient, first).await;
    let count = |wanted: fn(&TableRecord) -> bool| events.iter().filter(|it| wanted(it)).count();
    assert_eq!(count(|event| matches!(event, TableRecord::HandSuspended(_))), 1);
    assert_eq!(count(|event| matches!(event, TableRecord::HandContinued(_))), 1);
    assert_eq!(count(|event| matches!(event, TableRecord::HandSettled(_))), 1);
    until_verified(&apart, &patient, first, 0).await;
    // The other table plays on too, and shows what its number would have been.
    agreeing.until_all("further hands", |view| view.hand_no > second + 1).await;
    until_verified(&apart, &agreeing, second, 3).await;
    for players in [patient, agreeing] {
        let operator = operator(&apart.harness, &apart.url(3));
        operator.close_table(players.table).await.unwrap();
        players.closed().await;
    }
    stop_and_audit(apart, running).await;
}
