//! A player's own hands, seats and tables: what they see is what they saw, nobody sees more, and it
//! is the same after a kill.

use chassis::auth::Role;
use client::{Client, Error, LobbyMessage, WatchMessage};
use primitives::{HandId, TableId};
use proto::audit::v1 as audit_pb;
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use proto::wallet::v1::TransferKind;
use rustix::process::Signal;
use tokio::task::JoinHandle;

use crate::harness::{LONG_TIMEOUT, RoomHarness};
use crate::people::{Guest, Party, slow_table};
use crate::records;

fn reason<T: std::fmt::Debug>(answer: Result<T, Error>) -> ErrorReason {
    answer.unwrap_err().reason().unwrap()
}

/// Lines of the first hand as a viewer is sent them while it is played.
fn lines_of_first_hand(client: &Client, table: TableId) -> JoinHandle<Vec<String>> {
    let mut watch = client.watch(table);
    tokio::spawn(async move {
        let mut lines = Vec::new();
        while let Some(seen) = watch.next().await.unwrap() {
            let WatchMessage::Update(update) = seen else { continue };
            match update.what {
                Some(What::Action(action)) if action.hand_no == 1 => lines.push(action.line),
                Some(What::HandEnded(ended)) if ended.hand_no == 1 => break,
                _ => {}
            }
        }
        lines.retain(|line| !line.is_empty());
        lines
    })
}

async fn own_hands(guest: &Guest) -> Vec<audit_pb::PlayerHand> {
    let request = audit_pb::ListPlayerHandsRequest::default();
    let mut hands = guest.client.list_player_hands(request).await.unwrap().hands;
    hands.retain(|hand| hand.outcome() == audit_pb::HandOutcome::Played);
    hands
}

fn numbered(table: TableId, hand_no: u64) -> audit_pb::GetHandRequest {
    let table_id = table.to_string();
    audit_pb::GetHandRequest { table_id, hand_no, ..Default::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_finds_their_hands_and_nobody_finds_more() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    // Nothing is committed to by anybody, so the first hand is dealt a moment after the second sits.
    let config = pb::TableConfig { pause_ms: 2000, ..slow_table("Den") };
    let mut party = Party::at(&harness, &room.url, 2, config).await;
    let anybody = Client::connect(&room.url, harness.token(Role::Auditor, "reader")).unwrap();
    let guests = party.guests.clone();
    let watched = [&guests[0].client, &guests[1].client, &anybody]
        .map(|client| lines_of_first_hand(client, party.table));
    party.play_until(|view| view.hand_no > 1).await;
    let mut seen = Vec::new();
    for lines in watched {
        seen.push(tokio::time::timeout(LONG_TIMEOUT, lines).await.unwrap().unwrap());
    }
    while records::finished(&room.database).await.is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_ne!(seen[0], seen[1], "each sees their own cards");

    histories(&party, &anybody, &seen).await;
    lists(&party, &anybody).await;
    hostile(&party, &anybody).await;
    commands(&harness, &party).await;

    let before = [own_hands(&guests[0]).await, own_hands(&guests[1]).await];
    room.running.kill();
    let mut room = harness.up(&["--no-bots"]).await;
    party.reconnect(&room.url);
    for (guest, before) in party.guests.iter().zip(&before) {
        assert_eq!(&own_hands(guest).await, before);
    }
    room.running.stop(Signal::TERM).await;
}

/// A hand's history has for each viewer the lines that they were sent while it was played.
async fn histories(party: &Party, anybody: &Client, seen: &[Vec<String>]) {
    let request = numbered(party.table, 1);
    let public = anybody.get_hand(request.clone()).await.unwrap();
    assert_eq!(public.viewer_seat, 0);
    assert_eq!(public.history.as_ref().unwrap().actions, seen[2]);
    for (guest, (seat, seen)) in party.guests.iter().zip((1..).zip(seen)) {
        let own = guest.client.get_hand(request.clone()).await.unwrap();
        let history = own.history.clone().unwrap();
        assert_eq!((own.viewer_seat, &history.actions), (seat, seen));
        assert!(history.settlement.is_some() && own.bundle.is_empty());
        let text = history::read(own.text.as_bytes()).unwrap().remove(0).unwrap();
        assert_eq!(wire::history::write(&text), history);
        let open = audit_pb::GetHandRequest { public_view: true, ..request.clone() };
        assert_eq!(guest.client.get_hand(open).await.unwrap(), public);
        let hand_id = own.hand_id.clone();
        let by_id = audit_pb::GetHandRequest { hand_id, with_bundle: true, ..Default::default() };
        let by_id = guest.client.get_hand(by_id).await.unwrap();
        let bundle = audit::bundle::Bundle::parse(&by_id.bundle).unwrap();
        assert_eq!(bundle.hand_id.to_string(), own.hand_id);
        assert_eq!(audit_pb::GetHandResponse { bundle: Vec::new(), ..by_id }, own);
    }
}

/// The lists of hands and seats, and the statement's hands with the same nets.
async fn lists(party: &Party, anybody: &Client) {
    let mut nets = 0;
    for (guest, seat) in party.guests.iter().zip(1..) {
        let hands = own_hands(guest).await;
        let entries = guest.client.list_entries(None, 1000, "").await.unwrap().entries;
        let settled: Vec<_> =
            entries.iter().filter(|entry| entry.kind() == TransferKind::Settlement).collect();
        assert!(!hands.is_empty() && hands.len() == settled.len());
        for (hand, entry) in hands.iter().rev().zip(settled) {
            assert_eq!((&hand.hand_id, &hand.table_id), (&entry.hand_id, &entry.table_id));
            assert_eq!(hand.net_credits, entry.at_table_credits);
            assert_eq!((&*hand.table_name, &*hand.variant, hand.seat), ("Den", "dice", seat));
            let at = |time: Option<prost_types::Timestamp>| time.and_then(wire::time::instant);
            assert!(at(hand.start_time) < at(hand.end_time));
        }
        nets += hands.iter().find(|hand| hand.hand_no == 1).unwrap().net_credits;
        let named = audit_pb::ListPlayerHandsRequest {
            player_id: guest.id.to_string(),
            ..Default::default()
        };
        let own = guest.client.list_player_hands(named.clone()).await.unwrap();
        assert_eq!(anybody.list_player_hands(named).await.unwrap().hands, own.hands, "staff");
        let [seat_of] = &guest.client.list_seats(None).await.unwrap()[..] else { panic!("one") };
        assert_eq!((&*seat_of.table_name, seat_of.seat, seat_of.hand_no), ("Den", seat, 2));
        assert_eq!(seat_of.state(), pb::SeatState::Playing);

        let mine = pb::LobbyFilter { mine: true, ..Default::default() };
        let mut lobby = guest.client.watch_lobby(mine, Vec::new());
        assert_eq!(lobby.next().await.unwrap(), LobbyMessage::Started);
        let LobbyMessage::Table(table) = lobby.next().await.unwrap() else { panic!("the table") };
        assert_eq!((&*table.name, table.seated), ("Den", 2));
        assert_eq!(lobby.next().await.unwrap(), LobbyMessage::CaughtUp);
    }
    assert!(nets <= 0, "what both won beside what is in the pots: {nets}");
}

async fn hostile(party: &Party, anybody: &Client) {
    let (me, other) = (&party.guests[0].client, party.guests[1].id.to_string());
    let hands = audit_pb::ListPlayerHandsRequest { player_id: other.clone(), ..Default::default() };
    assert_eq!(reason(me.list_player_hands(hands).await), ErrorReason::RoleNotAllowed);
    let seats = me.list_seats(Some(party.guests[1].id)).await;
    assert_eq!(reason(seats), ErrorReason::RoleNotAllowed);
    let nobody = audit_pb::ListPlayerHandsRequest::default();
    assert_eq!(reason(anybody.list_player_hands(nobody).await), ErrorReason::BadField);

    let by_id = |id: String| audit_pb::GetHandRequest { hand_id: id, ..Default::default() };
    let guessed = HandId([0x5a; 16]).to_string();
    // A stream that is no hand's.
    for id in [guessed, party.table.to_string(), other] {
        assert_eq!(reason(me.get_hand(by_id(id)).await), ErrorReason::HandUnknown);
    }
    let in_play = me.get_hand(numbered(party.table, 2)).await;
    assert_eq!(reason(in_play), ErrorReason::HandInPlay);
    let both = audit_pb::GetHandRequest {
        hand_id: HandId([0x5a; 16]).to_string(),
        ..numbered(party.table, 1)
    };
    assert_eq!(reason(me.get_hand(both).await), ErrorReason::BadField);
    assert_eq!(reason(me.get_hand(by_id(String::new())).await), ErrorReason::BadField);
}

/// Commands that show a player the same.
async fn commands(harness: &RoomHarness, party: &Party) {
    let token = &party.guests[0].token;
    let run = async |arguments: &[&str]| -> Vec<serde_json::Value> {
        let mut command = harness.sabacc(&["--json"]);
        command.args(arguments).env("SABACC_TOKEN", token);
        let (status, said) = harness.run(command).await;
        assert!(status.success(), "{arguments:?}: {said}");
        said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let table = party.table.to_string();
    let hands = run(&["me", "hands", "--table", &table, "--game", "dice"]).await;
    let (total, hands) = hands.split_last().unwrap();
    assert_eq!(total["hands"], hands.len());
    let oldest = hands.last().unwrap();
    assert_eq!((&oldest["hand_no"], &oldest["outcome"]), (&1.into(), &"played".into()));
    let none = run(&["me", "hands", "--until", "2000-01-01T00:00:00Z"]).await;
    assert_eq!((none.len(), &none[0]["hands"]), (1, &0.into()));
    let seats = run(&["me", "seats"]).await;
    assert_eq!((seats.len(), &seats[0]["name"]), (1, &"Den".into()));
    let mine = run(&["table", "list", "--mine", "--game", "dice", "--free-seats", "1"]).await;
    assert_eq!((mine.len(), &mine[0]["table"]), (1, &table.into()));
    assert!(run(&["table", "list", "--mine", "--game", "spike"]).await.is_empty());
}
