//! Test server: fresh databases, nothing shared by accident, nothing left behind.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use sqlx::{Connection as _, PgConnection};

async fn connect(url: &str) -> PgConnection {
    PgConnection::connect(url).await.expect("the server of the test answers")
}

#[tokio::test]
async fn databases_of_one_name_are_fresh_each_time() {
    let postgres = testkit::postgres().await.unwrap();
    for _ in 0..2 {
        let url = postgres.database("Of One-Name").await.unwrap();
        let mut connection = connect(&url).await;
        // Fails if the table exists already.
        sqlx::query("CREATE TABLE only_here (n int)").execute(&mut connection).await.unwrap();
    }
}

#[tokio::test]
async fn a_second_test_gets_the_same_server_from_another_runtime() {
    let postgres = testkit::postgres().await.unwrap();
    let again = testkit::postgres().await.unwrap();
    assert!(std::ptr::eq(postgres, again));
    let mut connection = connect(&postgres.admin_url()).await;
    let one: i32 = sqlx::query_scalar("SELECT 1").fetch_one(&mut connection).await.unwrap();
    assert_eq!(one, 1);
}

/// Body of the process that [`nothing_is_left_of_a_killed_test_process`] starts and kills. Not a
/// test itself.
#[tokio::test]
#[ignore = "a part of another test"]
async fn say_where_and_wait() {
    let postgres = testkit::postgres().await.unwrap();
    let mut connection = connect(&postgres.admin_url()).await;
    let dir: String =
        sqlx::query_scalar("SHOW data_directory").fetch_one(&mut connection).await.unwrap();
    println!("\nserving {dir}");
    tokio::time::sleep(Duration::from_secs(120)).await;
}

#[test]
fn nothing_is_left_of_a_killed_test_process() {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["say_where_and_wait", "--exact", "--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let dir = lines.filter_map(|line| line.strip_prefix("serving ").map(str::to_owned)).next();
    let dir = dir.expect("the process says where its server is");
    assert!(Path::new(&dir).is_dir());
    child.kill().unwrap();
    child.wait().unwrap();
    let data = Path::new(&dir).parent().unwrap();
    let gone = (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        !data.exists()
    });
    assert!(gone, "{} is still there", data.display());
}
