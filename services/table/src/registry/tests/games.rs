//! Games that are disabled in the whole room, over restarts.

use eventlog::{Entry, Version};
use primitives::StreamId;
use proto::table::v1::ActivityKind;
use wire::TableRecord;

use super::*;
use crate::room::games::GameChange;

fn change(disable: bool, reason: &str) -> GameChange {
    GameChange { variant: "dice".to_owned(), reason: reason.to_owned(), disable }
}

fn author(request: RequestId, digest: u8) -> Author {
    Author { request, digest: [digest; 32], actor: "operator:test".into(), trace: [0; 16] }
}

/// Waits until a table shows whether it is disabled.
async fn shows(registry: &Arc<TableRegistry>, table: TableId, reason: Option<&str>) {
    let seen = async {
        loop {
            let disabled = view(registry, table, false).await.disabled;
            if disabled.as_ref().map(|it| it.reason.as_str()) == reason {
                assert!(disabled.is_none_or(|it| it.with_game));
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), seen)
        .await
        .expect("the table does not hear of it");
}

/// Kinds of the records of a stream.
async fn records(registry: &TableRegistry, stream: StreamId) -> Vec<String> {
    let log = &registry.dependencies.log;
    let events = log.read_stream(stream, Version(1), 100).await.unwrap();
    events.iter().map(|event| TableRecord::try_from(event).unwrap().name().to_owned()).collect()
}

#[tokio::test]
async fn a_disabled_game_opens_no_table_and_each_of_its_tables_records_it() {
    let room = Fixture::new();
    let mut registry = room.open().await;
    let table = room.create(&registry, "one").await.unwrap();
    let answer = pb::DisableGameResponse {};
    let by = author(room.request(), 1);
    registry.change_game(change(true, "a fault"), &answer, by.clone()).await.unwrap();
    shows(&registry, table, Some("a fault")).await;
    // A repeat changes nothing, nor does another command for what is so already.
    registry.change_game(change(true, "a fault"), &answer, by.clone()).await.unwrap();
    let again = author(room.request(), 3);
    registry.change_game(change(true, "another word"), &answer, again).await.unwrap();
    let other = Author { digest: [2; 32], ..by };
    let reused = registry.change_game(change(false, "x"), &answer, other).await.unwrap_err();
    assert_eq!(reused.reason(), ErrorReason::RequestIdReused);
    for restarted in [false, true] {
        if restarted {
            registry.close().await;
            registry = room.open().await;
        }
        shows(&registry, table, Some("a fault")).await;
        let refused = room.create(&registry, "two").await.unwrap_err();
        assert_eq!(refused.reason(), ErrorReason::GameDisabled);
        assert_eq!(refused.metadata().find(|(key, _)| *key == "why"), Some(("why", "a fault")));
        let games = registry.games();
        let disabled: Vec<_> = games.iter().filter(|game| game.disabled.is_some()).collect();
        assert_eq!((disabled.len(), disabled[0].variant.as_str()), (1, "dice"));
        assert_eq!(records(&registry, StreamId::ROOM).await, ["GameDisabled"]);
        let own = records(&registry, table.into()).await;
        assert_eq!(own.iter().filter(|name| *name == "TableDisabled").count(), 1, "{own:?}");
    }
    let enabled = pb::EnableGameResponse {};
    let by = author(room.request(), 4);
    registry.change_game(change(false, "repaired"), &enabled, by).await.unwrap();
    shows(&registry, table, None).await;
    room.create(&registry, "two").await.unwrap();
    let own = records(&registry, table.into()).await;
    assert!(own.ends_with(&["TableEnabled".to_owned()]), "{own:?}");
    let activity = registry.activity();
    assert_eq!(activity.open_tables, 2);
    let count = |window: &pb::ActivityWindow, kind: ActivityKind| {
        window.counts.iter().find(|count| count.kind() == kind).unwrap().count
    };
    let windows = activity.table.unwrap().windows;
    // What this owner has written: GameEnabled, TableEnabled and a table at the least.
    assert!(windows.iter().all(|window| count(window, ActivityKind::Records) >= 3), "{windows:?}");
    assert!(windows.iter().all(|window| count(window, ActivityKind::HandsStarted) == 0));
}

/// The process stops between the two records: the next owner writes the second.
#[tokio::test]
async fn a_table_that_has_not_recorded_it_does_so_after_a_restart() {
    let room = Fixture::new();
    let registry = room.open().await;
    let table = room.create(&registry, "one").await.unwrap();
    registry.close().await;
    let dependencies = dependencies(&room.store).await;
    let events = vec![change(true, "a fault").event().on_stream(StreamId::ROOM)];
    let entry = Entry { events, request: None, actor: "operator:test".into(), trace: [0; 16] };
    dependencies.log.append(entry).await.unwrap();
    let registry = room.open_in(dependencies).await;
    shows(&registry, table, Some("a fault")).await;
}

#[tokio::test]
async fn an_event_of_the_room_in_another_stream_stops_the_recovery() {
    let room = Fixture::new();
    let dependencies = dependencies(&room.store).await;
    let events = vec![change(true, "a fault").event().on_stream(StreamId([3; 16]))];
    let entry = Entry { events, request: None, actor: "operator:test".into(), trace: [0; 16] };
    dependencies.log.append(entry).await.unwrap();
    assert!(recovery::fold(&dependencies.log, None).await.is_err());
}
