//! Failures around a room: reported clearly, and survived where possible.

use std::net::TcpListener;
use std::time::Duration;

use chassis::auth::Role;
use eventlog::RequestKey;
use postgres_launcher::Environment;
use proto::common::v1::ErrorReason;
use proto::wallet::v1::OpenAccountRequest;
use proto::wallet::v1::wallet_service_client::WalletServiceClient;
use rustix::process::Signal;
use system::ids::IdMaker;
use tonic::{Code, Status};

use crate::harness::{LONG_TIMEOUT, Room, RoomHarness, poll_until};
use crate::people::{Party, channel, close, operator, until_demo_hand, until_hand, with_token};
use crate::records;

/// Starts a room that cannot start; returns its output.
async fn refused(harness: &RoomHarness, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = harness.sabacc(&["up", "--no-bots"]);
    command.args(arguments).envs(variables.iter().copied());
    let (status, said) = harness.run(command).await;
    assert_eq!(status.code(), Some(1), "{said}");
    said
}

#[tokio::test]
async fn a_port_that_is_taken_is_named_before_anything_is_started() {
    let harness = RoomHarness::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let said = refused(&harness, &["--listen", &address], &[]).await;
    assert!(said.contains(&address) && said.contains("in use"), "{said}");
    assert!(!harness.data().join("postgres").exists(), "no database was made for it");
}

#[tokio::test]
async fn without_a_database_to_be_had_the_ways_on_are_listed() {
    let harness = RoomHarness::new();
    let listen = ["--listen", "127.0.0.1:0"];
    let nowhere = harness.path().join("nowhere").display().to_string();
    let said = refused(&harness, &listen, &[("PATH", ""), ("SABACC_PG_BIN", &nowhere)]).await;
    assert!(said.contains(&nowhere) && said.contains("Set SABACC_PG_BIN"), "{said}");
    let wrong = "postgres://somebody:hunter2@127.0.0.1:1/room";
    let said = refused(&harness, &listen, &[("DATABASE_URL", wrong)]).await;
    assert!(said.contains("DATABASE_URL") && said.contains("127.0.0.1:1/room"), "{said}");
    assert!(!said.contains("hunter2"), "{said}");
}

#[tokio::test]
async fn a_folder_in_use_is_refused_and_a_stop_leaves_nothing_behind() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--thinking", "50"]).await;
    let said = refused(&harness, &["--listen", "127.0.0.1:0"], &[]).await;
    let owner = format!("in use by process {}", room.running.pid());
    assert!(said.contains(&owner) && said.contains("--data"), "{said}");
    // It stops while bots play.
    until_demo_hand(&harness, &room.url, 1).await;
    let note = harness.data().join("postgres/postmaster.pid");
    assert!(note.exists());
    room.running.stop(Signal::INT).await;
    assert!(!note.exists(), "the database is down when the room is");
    assert!(!harness.data().join("room.json").exists(), "nobody is sent to a room that is gone");
    assert!(room.running.output().contains("stopped"), "{}", room.running.output());
}

/// Sends a new player's command once, without retries.
async fn open_account(harness: &RoomHarness, room: &Room) -> Result<(), Status> {
    let player = IdMaker::system().player_id();
    let token = harness.token(Role::Player, &player.to_string());
    let request_id = IdMaker::system().request_id().to_string();
    let request = OpenAccountRequest { request_id, player_id: String::new() };
    let mut wallet = WalletServiceClient::new(channel(&room.url));
    wallet.open_account(with_token(&token, request)).await.map(drop)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_goes_and_comes_back_costs_nothing_that_was_acknowledged() {
    let harness = RoomHarness::new();
    let options = postgres_launcher::Options {
        database_url: None,
        fsync: false,
        ..postgres_launcher::Options::new(harness.path().join("elsewhere"), Environment::read())
    };
    let database = postgres_launcher::obtain(&options).await.unwrap();
    let url = database.admin_url();
    let unsafe_ = ("SABACC_ALLOW_UNSAFE_DATABASE", "true");
    let variables = [("DATABASE_URL", url.as_str()), ("RUST_LOG", "warn"), unsafe_];
    let mut room = harness.up_with(&["--thinking", "10"], &variables).await;
    let demo = until_demo_hand(&harness, &room.url, 1).await;
    let mut party = Party::new(&harness, &room.url, 2).await;
    until_hand(&harness, &room.url, demo, 2).await;
    for _ in 0..10 {
        let (guest, view) = party.turn().await;
        party.decide(guest, &view).await;
    }

    // The database stops in mid-play.
    let (guest, view) = party.turn().await;
    let request = IdMaker::system().request_id();
    let act = party.act_request(guest, &view, request);
    database.stop().await.unwrap();
    let refused = party.act(guest, act.clone()).await.expect_err("nothing can be written");
    assert_transient(&refused);
    assert_transient(&open_account(&harness, &room).await.expect_err("nothing can be written"));
    let logged = poll_until(|| room.running.log().contains("unavailable").then_some(())).await;
    assert!(logged.is_some(), "the log says what is wrong:\n{}", room.running.log());
    assert_eq!(party.view_of(guest).await.sequence, view.sequence, "nothing has happened");

    // The database returns: the repeated request is accepted once.
    let database = postgres_launcher::obtain(&options).await.unwrap();
    let now = operator(&harness, &room.url).get_table(demo).await.unwrap().hand_no;
    let first = accepted(&party, guest, &act).await;
    assert_eq!(accepted(&party, guest, &act).await, first, "the same answer again");
    party.acknowledged.insert(request);
    // The wallet may still be reading its accounts.
    let opened = async {
        while let Err(passing) = open_account(&harness, &room).await {
            assert_transient(&passing);
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, opened).await.expect("an account is opened");
    until_hand(&harness, &room.url, demo, now + 2).await;
    for _ in 0..4 {
        let (guest, view) = party.turn().await;
        party.decide(guest, &view).await;
    }

    let log = records::log(&url, "table").await;
    for request in &party.acknowledged {
        let keys: Vec<RequestKey> = (party.guests.iter())
            .map(|guest| RequestKey::new(&format!("player:{}", guest.id), *request))
            .collect();
        assert_eq!(log.requests(&keys).await.unwrap().len(), 1, "{request} is lost");
    }
    let operator = operator(&harness, &room.url);
    operator.close_table(party.table).await.unwrap();
    finish(&mut party).await;
    // Without a demo the room goes on.
    close(&harness, &room.url, demo).await;
    let printed = poll_until(|| room.running.output().contains("without bots").then_some(())).await;
    assert!(printed.is_some(), "{}", room.running.output());
    room.running.stop(Signal::TERM).await;
    let mut quiet = harness.up_with(&["--no-bots"], &variables).await;
    records::audit(&harness, &records::finished(&quiet.database).await).await;
    quiet.running.stop(Signal::TERM).await;
    database.stop().await.unwrap();
}

/// Checks that a refusal is transient and names the time to wait.
fn assert_transient(status: &Status) {
    use tonic_types::StatusExt as _;
    let code = status.code();
    assert!(matches!(code, Code::Unavailable | Code::DeadlineExceeded), "{status:?}");
    let reason = wire::status::reason_of(status);
    assert!(matches!(reason, Some(ErrorReason::Unavailable | ErrorReason::Deadline)), "{status:?}");
    if code == Code::Unavailable {
        assert!(status.get_details_retry_info().is_some(), "{status:?}");
    }
}

/// Repeats a decision until it is accepted; returns its sequence number.
async fn accepted(party: &Party, guest: usize, act: &proto::table::v1::ActRequest) -> u64 {
    let taken = async {
        loop {
            match party.act(guest, act.clone()).await {
                Ok(answer) => return answer.into_inner().sequence,
                Err(passing) => assert_transient(&passing),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, taken).await.expect("it is taken")
}

/// Plays a hand to its end, after which a closing table closes.
pub(crate) async fn finish(party: &mut Party) {
    let hand = party.view_of(0).await.hand_no;
    let playing = async {
        loop {
            let view = party.view_of(0).await;
            let last = view.hand.filter(|it| {
                it.phase() != proto::table::v1::HandPhase::Over && view.hand_no == hand
            });
            let Some(last) = last.filter(|_| !view.seats.is_empty()) else { return };
            if last.turn.is_some() {
                let (guest, view) = party.turn().await;
                party.decide(guest, &view).await;
            } else {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, playing).await.expect("the hand ends");
}
