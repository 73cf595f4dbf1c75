//! The demo tables of `up`, and marks of bots as everybody sees them.

use bots::Skill;
use primitives::{Credits, TableId};
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use rustix::process::Signal;

use crate::harness::{LONG_TIMEOUT, RoomHarness};
use crate::people::{Guest, operator, until_demo_hand, until_hand};

/// Waits until a view of the table is as wanted.
async fn until_view(
    guest: &Guest,
    table: TableId,
    is_wanted: impl Fn(&pb::TableView) -> bool,
) -> pb::TableView {
    let seen = async {
        loop {
            let view = guest.client.get_table(table).await.unwrap();
            if is_wanted(&view) {
                return view;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, seen).await.expect("the table is as wanted")
}

#[tokio::test(flavor = "multi_thread")]
async fn two_games_wait_with_three_bots_and_a_free_seat_each() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--demo-tables", "2", "--thinking", "10"]).await;
    until_demo_hand(&harness, &room.url, 1).await;
    let guest = Guest::new(&harness, &room.url).await;
    let tables = guest.client.list_tables().await.unwrap();
    let games: Vec<&str> = tables.iter().map(|table| &*table.variant).collect();
    assert_eq!(games, ["dice", "spike"]);
    for table in &tables {
        let id = table.table_id.parse::<TableId>().unwrap();
        let view = until_view(&guest, id, |view| view.seats.len() == Skill::ALL.len()).await;
        assert_eq!(view.seat_count, 4);
        for skill in Skill::ALL {
            let is_its = |seat: &&pb::SeatView| seat.name.ends_with(skill.name());
            let seat = view.seats.iter().find(is_its).unwrap();
            assert!(seat.bot && seat.house, "{seat:?}");
        }
        let buy_in = Credits::try_new(view.min_buy_in_credits).unwrap();
        guest.client.sit_down(id, 0, buy_in).await.unwrap();
        let view = until_view(&guest, id, |view| view.your_seat != 0).await;
        let own = view.seats.iter().find(|seat| seat.seat == view.your_seat).unwrap();
        assert!(!own.bot && !own.house);
        until_hand(&harness, &room.url, id, view.hand_no + 1).await;
    }
    let listed = guest.client.list_tables().await.unwrap();
    assert!(listed.iter().all(|table| (table.bots, table.seated) == (3, 4)), "{listed:?}");
    room.running.stop(Signal::INT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operator_marks_a_bot_at_its_seat_and_nobody_marks_themselves() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let guest = Guest::new(&harness, &room.url).await;
    let other = Guest::new(&harness, &room.url).await;
    let staff = operator(&harness, &room.url);
    let config =
        pb::TableConfig { name: "marks".into(), variant: "spike".into(), ..Default::default() };
    let table = staff.create_table(config).await.unwrap();
    let view = guest.client.get_table(table).await.unwrap();
    let buy_in = Credits::try_new(view.min_buy_in_credits).unwrap();
    guest.client.sit_down(table, 1, buy_in).await.unwrap();
    for (by, of) in [(&guest, &guest), (&guest, &other)] {
        let refused = by.client.mark_player(of.id, true).await.unwrap_err();
        assert_eq!(refused.reason(), Some(ErrorReason::RoleNotAllowed));
    }
    let before = guest.client.get_table(table).await.unwrap();
    staff.mark_player(guest.id, true).await.unwrap();
    // An update goes to those who watch, too.
    let is_updated = |view: &pb::TableView| view.seats[0].bot && view.sequence > before.sequence;
    until_view(&guest, table, is_updated).await;
    let refused = guest.client.mark_player(guest.id, false).await.unwrap_err();
    assert_eq!(refused.reason(), Some(ErrorReason::RoleNotAllowed));

    room.running.kill();
    let mut room = harness.up(&["--no-bots"]).await;
    let guest = guest.connect_at(&room.url);
    assert!(guest.client.get_table(table).await.unwrap().seats[0].bot);
    assert_eq!(guest.client.list_tables().await.unwrap()[0].bots, 1);
    operator(&harness, &room.url).mark_player(guest.id, false).await.unwrap();
    until_view(&guest, table, |view| !view.seats[0].bot).await;
    room.running.stop(Signal::INT).await;
}
