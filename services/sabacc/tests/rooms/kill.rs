//! A killed room continues: with the same cards, the same clock, and valid records.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use client::{Client, TableState, WatchMessage};
use primitives::{PlayerId, TableId};
use proto::table::v1::{HandPhase, TableView};
use rustix::process::Signal;
use system::entropy::{SeededEntropy, bytes};

use crate::harness::{Room, RoomHarness, poll_until};
use crate::people::{Guest, Party, cards, close, operator, until_demo_hand, until_hand};
use crate::records;

const KILLS: usize = 22;

/// Cards of a player after each update: the hand number, and the codes.
type CardHistory = Arc<Mutex<BTreeMap<u64, (u64, Vec<String>)>>>;

#[tokio::test(flavor = "multi_thread")]
async fn play_goes_on_after_a_kill_at_any_moment_and_every_record_holds() {
    let harness = RoomHarness::new();
    let address = format!("127.0.0.1:{}", testkit::free_port().unwrap());
    let arguments = ["--listen", &address, "--thinking", "12"];
    let mut room = harness.up(&arguments).await;
    let table = until_demo_hand(&harness, &room.url, 1).await;
    let player = any_player(&harness, &room, table).await;
    let story = CardHistory::default();
    let guest = Guest::of(&harness, &room.url, player);
    let following = tokio::spawn(follow(guest.client.clone(), table, player, Arc::clone(&story)));
    let chance = SeededEntropy::new(7);
    let mut views: Vec<TableView> = Vec::new();
    let mut interrupted = 0;
    for _ in 0..KILLS {
        let pause = u64::from(u16::from_be_bytes(bytes(&chance))) % 900;
        tokio::time::sleep(Duration::from_millis(pause)).await;
        let before = guest.client.get_table(table).await.unwrap();
        room.running.kill();
        room = harness.up(&arguments).await;
        let after = guest.client.get_table(table).await.unwrap();
        assert!(after.sequence >= before.sequence, "an update that was told is gone");
        interrupted += usize::from(same_hand(&before, &after));
        views.extend([before, after]);
    }
    assert!(interrupted >= KILLS / 3, "only {interrupted} kills were in a hand");
    following_agrees(&story, &views).await;
    assert!(!following.is_finished(), "{:?}", following.await);
    following.abort();

    until_hand(&harness, &room.url, table, 8).await;
    // The hand in play ends, everybody is paid out, and the room goes on without its demo.
    close(&harness, &room.url, table).await;
    room.running.stop(Signal::TERM).await;
    let mut quiet = harness.up(&["--no-bots"]).await;
    let hands = records::finished(&quiet.database).await;
    assert!(hands.len() > 5, "{} hands", hands.len());
    records::audit(&harness, &hands).await;
    quiet.running.stop(Signal::INT).await;
}

/// Returns a player of a table.
async fn any_player(harness: &RoomHarness, room: &Room, table: TableId) -> PlayerId {
    let operator = operator(harness, &room.url);
    loop {
        let view = operator.get_table(table).await.unwrap();
        if let Some(seat) = view.seats.first() {
            return seat.player_id.parse::<PlayerId>().unwrap();
        }
    }
}

fn same_hand(before: &TableView, after: &TableView) -> bool {
    let id = |view: &TableView| view.hand.as_ref().map(|hand| hand.hand_id.clone());
    let over = before.hand.as_ref().is_none_or(|hand| hand.phase() == HandPhase::Over);
    !over && id(before) == id(after)
}

/// Follows the table as a player through every kill, and records the cards after each update.
async fn follow(client: Client, table: TableId, player: PlayerId, story: CardHistory) {
    let mut state = TableState::new(Some(player));
    let mut watch = client.watch(table);
    // Rooms live for a second or two here: longer pauses could miss one after the other.
    watch.set_awaited(true);
    // A gap or a repetition in the updates is an error.
    while let Some(seen) = watch.next().await.expect("updates without a gap") {
        state.apply(&seen);
        let sequence = match &seen {
            WatchMessage::Snapshot(view) => view.sequence,
            WatchMessage::Update(update) => update.sequence,
            WatchMessage::CaughtUp => continue,
        };
        let cards = state.my_cards().iter().map(|card| card.code.clone()).collect();
        story.lock().unwrap().insert(sequence, (state.view().hand_no, cards));
    }
}

/// Checks that views fetched before and after kills agree with the updates.
async fn following_agrees(story: &CardHistory, views: &[TableView]) {
    let last = views.last().unwrap().sequence;
    poll_until(|| {
        story.lock().unwrap().last_key_value().filter(|(at, _)| **at >= last).map(|_| ())
    })
    .await
    .expect("the follower catches up");
    let story = story.lock().unwrap();
    let mut compared = 0;
    for view in views.iter().filter(|view| !cards(view).is_empty()) {
        if let Some((hand, held)) = story.get(&view.sequence).filter(|(_, held)| !held.is_empty()) {
            assert_eq!((*hand, held), (view.hand_no, &cards(view)), "at {}", view.sequence);
            compared += 1;
        }
    }
    assert!(compared >= KILLS / 2, "only {compared} of {} views were compared", views.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hand_that_was_cut_off_has_the_same_cards_and_the_same_clock() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let mut party = Party::new(&harness, &room.url, 3).await;
    // In the second round there are cards, bets and used turns to lose.
    let (guest, _) = party.play_until(|view| view.hand.as_ref().unwrap().round > 1).await;
    for _ in 0..2 {
        let before = [party.view_of(0).await, party.view_of(1).await, party.view_of(2).await];
        room.running.kill();
        room = harness.up(&["--no-bots"]).await;
        party.reconnect(&room.url);
        for (guest, before) in before.into_iter().enumerate() {
            assert!(cards(&before).iter().all(|code| code != "??"), "he sees his own cards");
            let after = party.view_of(guest).await;
            assert_same_but_for_the_clock(before, after);
        }
    }
    let (again, view) = party.turn().await;
    assert_eq!(again, guest, "the same player has to decide");
    party.decide(guest, &view).await;
    let hand = view.hand_no;
    party.play_until(|view| view.hand_no > hand).await;
    records::audit(&harness, &records::finished(&room.database).await).await;
    room.running.stop(Signal::INT).await;
}

/// The clock stood still while nobody could decide: the deadline is later, and no longer away than
/// before.
fn assert_same_but_for_the_clock(mut before: TableView, mut after: TableView) {
    let clock = |view: &mut TableView| {
        let turn = view.hand.as_mut().unwrap().turn.as_mut().unwrap();
        (turn.deadline.take().unwrap(), turn.bank_ms)
    };
    let ((was, bank), (is, bank_after)) = (clock(&mut before), clock(&mut after));
    assert_eq!(bank, bank_after, "the time bank");
    assert!(is.seconds >= was.seconds, "{is} is before {was}: time was lost");
    // The whole time for a decision is eleven minutes; a restart takes two at the most.
    assert!(is.seconds - was.seconds <= 120, "{is} is too long after {was}: time was won");
    assert_eq!(before, after);
}
