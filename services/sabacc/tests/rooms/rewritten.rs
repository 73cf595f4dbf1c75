//! A record that a superuser rewrites is found: who wrote a record, and by which request, are in
//! the tree like the rest.

use rustix::process::Signal;
use sqlx::{Connection as _, PgConnection};

use crate::auditing::over;
use crate::harness::RoomHarness;
use crate::people::Guest;

const AUTHOR: &str = "author = (SELECT number FROM authors WHERE actor = 'operator:mallory')";

#[tokio::test(flavor = "multi_thread")]
async fn who_issued_credits_cannot_be_rewritten() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--thinking", "5"]).await;
    let guest = Guest::new(&harness, &room.url).await;
    over(&room, &guest).await;
    let audit = || harness.run(harness.sabacc(&["audit", "log", "wallet"]));
    let (status, said) = audit().await;
    assert!(status.success(), "{said}");
    let mut admin = PgConnection::connect(&room.database).await.unwrap();
    let untie = "SET search_path TO wallet; ALTER TABLE event_groups DISABLE TRIGGER append_only;
        INSERT INTO authors (actor) VALUES ('operator:mallory')";
    sqlx::raw_sql(untie).execute(&mut admin).await.unwrap();
    for column in [AUTHOR, "request_id = gen_random_uuid()"] {
        let first = "SELECT min(first) FROM events WHERE actor LIKE '%operator%'";
        let kept = "SELECT actor || ' ' || request_id FROM events WHERE position = ";
        let of_first = format!("{kept} ({first})");
        let before: String =
            sqlx::query_scalar(sqlx::AssertSqlSafe(of_first)).fetch_one(&mut admin).await.unwrap();
        let position: i64 = sqlx::query_scalar(first).fetch_one(&mut admin).await.unwrap();
        let change = format!("UPDATE event_groups SET {column} WHERE position = {position}");
        let done = sqlx::query(sqlx::AssertSqlSafe(change)).execute(&mut admin).await.unwrap();
        assert_eq!(done.rows_affected(), 1);
        let (status, said) = audit().await;
        assert_eq!(status.code(), Some(1), "{column}, before {before}:\n{said}");
        assert!(said.contains("NOT every check passed"), "{column}:\n{said}");
        let (actor, request) = before.split_once(' ').unwrap();
        let back = "UPDATE event_groups SET request_id = $2::uuid,
            author = (SELECT number FROM authors WHERE actor = $1) WHERE position = $3";
        let back = sqlx::query(back).bind(actor).bind(request).bind(position);
        assert_eq!(back.execute(&mut admin).await.unwrap().rows_affected(), 1);
    }
    let (status, said) = audit().await;
    assert!(status.success(), "{said}");
    drop(admin);
    // The scrub of old records may have found a change.
    room.running.send_signal(Signal::INT);
    room.running.wait().await;
}
