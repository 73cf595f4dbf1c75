//! Rotation of the key of the dealer's seeds: hands in play are dealt to their end, and afterwards
//! nothing needs the old key.

use rustix::process::Signal;
use sqlx::{Connection as _, PgConnection};

use crate::harness::{Room, RoomHarness};
use crate::people::{until_demo_hand, until_hand};

/// Counts the seeds under each key.
async fn keys(room: &Room) -> Vec<(String, i64)> {
    let mut connection = PgConnection::connect(&room.database).await.unwrap();
    let counted = "SELECT encode(key_id, 'hex'), count(*) FROM dealer_vault.secret \
                   GROUP BY 1 ORDER BY 1";
    sqlx::query_as(counted).fetch_all(&mut connection).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_goes_on_under_another_key() {
    let harness = RoomHarness::new();
    let pace = ["--thinking", "0"];
    let mut room = harness.up(&pace).await;
    let table = until_demo_hand(&harness, &room.url, 2).await;
    let before = keys(&room).await;
    assert_eq!(before.len(), 1, "{before:?}");
    let (status, said) = harness.run(harness.sabacc(&["keys", "rotate"])).await;
    assert!(!status.success() && said.contains("in use by process"), "{status}: {said}");
    // A kill, so that hands stay in play.
    room.running.kill();

    let (status, said) = harness.run(harness.sabacc(&["keys", "rotate"])).await;
    assert!(status.success() && said.contains(&before[0].0), "{status}: {said}");
    let mut room = harness.up(&pace).await;
    let done = async {
        loop {
            let now = keys(&room).await;
            if now.len() == 1 && now[0].0 != before[0].0 {
                return now;
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    let now = tokio::time::timeout(crate::harness::LONG_TIMEOUT, done)
        .await
        .expect("all are sealed again");
    assert!(said.contains(&now[0].0), "{said}");
    crate::harness::poll_until(|| room.running.log().contains("no seed is left").then_some(()))
        .await
        .expect("the operator is told");
    until_hand(&harness, &room.url, table, 4).await;
    room.running.stop(Signal::INT).await;

    std::fs::remove_file(harness.data().join("keys/seed.key.previous")).unwrap();
    let mut room = harness.up(&pace).await;
    until_hand(&harness, &room.url, table, 6).await;
    room.running.stop(Signal::INT).await;
}
