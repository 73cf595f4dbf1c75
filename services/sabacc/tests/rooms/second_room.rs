//! Two rooms on one database: the second is refused with a message while the first lives, and a
//! killed room takes its own logs again at once.

use std::time::Duration;

use postgres_launcher::{Environment, Postgres};
use rustix::process::Signal;
use sqlx::{Connection as _, PgConnection};

use crate::harness::RoomHarness;
use crate::people::{operator, until_demo_hand, until_hand};
use crate::records;

/// A test's database need not be durable.
pub(crate) const IN_MEMORY: (&str, &str) = ("SABACC_ALLOW_UNSAFE_DATABASE", "true");

/// Starts a PostgreSQL outside of any room.
pub(crate) async fn database(harness: &RoomHarness) -> Postgres {
    let options = postgres_launcher::Options {
        database_url: None,
        fsync: false,
        ..postgres_launcher::Options::new(harness.path().join("elsewhere"), Environment::read())
    };
    postgres_launcher::obtain(&options).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_room_on_one_database_is_refused_and_the_first_plays_on() {
    let (first, second) = (RoomHarness::new(), RoomHarness::new());
    let database = database(&first).await;
    let url = database.admin_url();
    let variables = [("DATABASE_URL", url.as_str()), IN_MEMORY];
    let mut room = first.up_with(&["--thinking", "10"], &variables).await;
    let table = until_demo_hand(&first, &room.url, 1).await;

    let other_room = || {
        let mut command = second.sabacc(&["up", "--no-bots", "--listen", "127.0.0.1:0"]);
        command.envs(variables);
        command
    };
    let (status, said) = second.run(other_room()).await;
    assert_eq!(status.code(), Some(1), "{said}");
    let owner = format!("up {}", room.running.pid());
    for words in [owner.as_str(), "127.0.0.1:", "since", "Stop that one"] {
        assert!(said.contains(words), "{words} is missing in:\n{said}");
    }
    // The roles still have the first room's passwords: it can reconnect.
    let now = operator(&first, &room.url).get_table(table).await.unwrap().hand_no;
    until_hand(&first, &room.url, table, now + 2).await;
    assert!(!room.running.log().contains("another owner"), "{}", room.running.log());

    // Its lock is lost with its connection, and it takes it again.
    let mut admin = PgConnection::connect(&url).await.unwrap();
    let holder = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted";
    let holder: i32 = sqlx::query_scalar(holder).fetch_one(&mut admin).await.unwrap();
    let end = sqlx::query("SELECT pg_terminate_backend($1, 60000)").bind(holder);
    end.execute(&mut admin).await.unwrap();
    let held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted";
    let begun = tokio::time::Instant::now();
    loop {
        let held: i64 = sqlx::query_scalar(held).fetch_one(&mut admin).await.unwrap();
        if held == 1 {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", room.running.log());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }

    // After a kill it recognizes its own logs; another room has to wait for the lease, and then
    // believes no event of this one's.
    room.running.kill();
    let again = tokio::time::timeout(Duration::from_secs(60), first.up_with(&[], &variables));
    let mut room = again.await.expect("it starts");
    assert!(!room.running.output().contains("seconds"), "{}", room.running.output());
    room.running.kill();
    let (status, said) = second.run(other_room()).await;
    assert_eq!(status.code(), Some(1), "{said}");
    for words in
        ["seconds for the lease to end", "is not as it was written with this log's key", "stopped"]
    {
        assert!(said.contains(words), "{words} is missing in:\n{said}");
    }
    let mut room = first.up_with(&["--no-bots"], &variables).await;
    records::audit(&first, &records::finished(&room.database).await).await;
    room.running.stop(Signal::INT).await;
    database.stop().await.unwrap();
}
