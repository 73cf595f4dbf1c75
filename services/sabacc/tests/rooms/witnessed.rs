//! A room of four programs with a witness: bundles that are fetched while hands are played carry its
//! signature, and say so when it is missing.

use std::path::PathBuf;
use std::time::Duration;

use chassis::auth::Role;
use primitives::TableId;
use proto::audit::v1 as pb;
use proto::audit::v1::audit_service_client::AuditServiceClient;
use proto::common::v1::ErrorReason;
use rustix::process::Signal;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tonic::Status;

use crate::harness::{
    EXEMPT_LOOPBACK, LONG_TIMEOUT, PLAYER_CALLS, RoomHarness, RunningProgram, is_long, poll_until,
    program,
};
use crate::people::{channel, operator, until_hand, with_token};
use crate::separate::{BotTable, SeparateServices, stop_and_audit};

const TABLES: u64 = 4;
/// Hands of a table whose bundles are fetched, and those of the long form (`LONG_TESTS`): a hundred
/// of all tables.
const HANDS_OF_A_TABLE: u64 = 5;
const MANY_HANDS_OF_A_TABLE: u64 = 25;
/// Longest wait for a witness's signature.
const COSIGNATURE_WAIT: Duration = Duration::from_secs(5);
/// Deadline of a call that waits for it.
const DEADLINE: Duration = Duration::from_secs(10);

/// Running `sabacc witness`.
pub(crate) struct WitnessProgram {
    pub(crate) running: RunningProgram,
    port: u16,
    /// Its public key.
    pub(crate) key: String,
}

impl WitnessProgram {
    /// Starts a witness of the room's logs, which its services are to be given before they start.
    pub(crate) async fn start(harness: &RoomHarness) -> WitnessProgram {
        WitnessProgram::start_at(harness, testkit::free_port().unwrap()).await
    }

    async fn start_at(harness: &RoomHarness, port: u16) -> WitnessProgram {
        let mut command = program("sabacc");
        command.env_remove(PLAYER_CALLS).env_remove(EXEMPT_LOOPBACK);
        command.arg("witness").arg("--key").arg(harness.path().join("witness.pem"));
        command.args(["--listen", &format!("127.0.0.1:{port}"), "--name", "elsewhere.example/w1"]);
        command.arg("--logs").arg(harness.data().join("keys.txt"));
        let running = harness.spawn(command);
        let listening = poll_until(|| {
            let said = running.output();
            let key = said.lines().find(|line| line.starts_with("elsewhere.example/w1+"))?;
            said.contains("listening at").then(|| key.to_owned())
        });
        let Some(key) = listening.await else { panic!("no witness:\n{}", running.output()) };
        std::fs::write(harness.path().join("witness-keys.txt"), format!("{key}\n")).unwrap();
        WitnessProgram { running, port, key }
    }

    /// Configuration of a room's services: the witness's address and key.
    pub(crate) fn setting(&self) -> String {
        format!("http://127.0.0.1:{} {}", self.port, self.key)
    }
}

/// Starts four programs whose logs this witness sees.
pub(crate) fn start_all(apart: &SeparateServices) -> Vec<RunningProgram> {
    [0, 1, 2, 3].map(|service| apart.start(service)).into()
}

/// Fetches a bundle once, as an auditor.
pub(crate) async fn fetch_once(
    apart: &SeparateServices,
    table: TableId,
    hand_no: u64,
) -> Result<pb::GetHandBundleResponse, Status> {
    let token = apart.harness.token(Role::Auditor, "test");
    let request = pb::GetHandBundleRequest { table_id: table.to_string(), hand_no };
    let mut audits = AuditServiceClient::new(channel(&apart.url(3)));
    audits.get_hand_bundle(with_token(&token, request)).await.map(tonic::Response::into_inner)
}

/// Fetches a bundle once its hand has ended.
pub(crate) async fn fetch(
    apart: &SeparateServices,
    table: TableId,
    hand_no: u64,
) -> pb::GetHandBundleResponse {
    let fetched = async {
        loop {
            match fetch_once(apart, table, hand_no).await {
                Ok(answer) => return answer,
                Err(status) => {
                    let reason = wire::status::reason_of(&status);
                    let passes = reason == Some(ErrorReason::HandInPlay)
                        || wire::status::is_retryable(&status);
                    assert!(passes, "{status:?}");
                }
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, fetched).await.expect("the hand ends")
}

/// Fetches a bundle, again until all logs in it are signed by the witness.
async fn fetch_cosigned(apart: &SeparateServices, table: TableId, hand_no: u64) -> Vec<u8> {
    let fetched = async {
        loop {
            let answer = fetch(apart, table, hand_no).await;
            if answer.uncosigned.is_empty() {
                return answer.bundle;
            }
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, fetched).await.expect("the witness signs")
}

/// Runs `sabacc verify` with the room's keys. Returns the exit code, and what it said.
pub(crate) async fn verify(
    apart: &SeparateServices,
    files: &[PathBuf],
    options: &[&str],
) -> (i32, String) {
    let harness = &apart.harness;
    let mut command = program("sabacc");
    command.arg("verify").arg("--keys").arg(harness.data().join("keys.txt")).args(options);
    command.args(files).current_dir(harness.path());
    let (status, said) = harness.run(command).await;
    (status.code().unwrap(), said)
}

/// Options that demand the signature of the witness.
pub(crate) const ONE_WITNESS: [&str; 4] =
    ["--witness-keys", "witness-keys.txt", "--witnesses", "1"];

pub(crate) fn save(apart: &SeparateServices, name: &str, bundle: &[u8]) -> PathBuf {
    let path = apart.harness.path().join(name);
    std::fs::write(&path, bundle).unwrap();
    path
}

/// Saves the first bundles of every table, fetched hand after hand.
async fn fetch_while_playing(
    apart: &SeparateServices,
    tables: &[TableId],
    hands: u64,
) -> Vec<PathBuf> {
    let mut fetching = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        fetching.push(async move {
            let mut files = Vec::new();
            for hand_no in 1..=hands {
                // Its seed is open by then.
                until_hand(&apart.harness, &apart.url(3), *table, hand_no + 2).await;
                let bundle = fetch_cosigned(apart, *table, hand_no).await;
                files.push(save(apart, &format!("{number}-{hand_no}.sabacc"), &bundle));
            }
            files
        });
    }
    futures_util::future::join_all(fetching).await.concat()
}

/// fairness/SPEC.md §15.3.
#[tokio::test(flavor = "multi_thread")]
async fn bundles_of_hands_in_play_carry_the_signature_of_the_witness() {
    let mut apart = SeparateServices::new().await;
    let mut witness = WitnessProgram::start(&apart.harness).await;
    apart.witness = Some(witness.setting());
    let running = start_all(&apart);
    let playing =
        futures_util::future::join_all((0..TABLES).map(|_| BotTable::start(&apart))).await;
    let tables: Vec<TableId> = playing.iter().map(|playing| playing.table).collect();
    let hands = if is_long() { MANY_HANDS_OF_A_TABLE } else { HANDS_OF_A_TABLE };
    let files = fetch_while_playing(&apart, &tables, hands).await;
    assert_eq!(u64::try_from(files.len()), Ok(TABLES * hands));
    let options = [&ONE_WITNESS[..], &["--json"]].concat();
    let (code, said) = verify(&apart, &files, &options).await;
    assert_eq!(code, 0, "{said}");
    for line in said.lines() {
        let report: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(report["verdict"], "proved", "{line}");
        let whose_word = report["sentences"][1].as_str().unwrap();
        assert!(whose_word.contains("elsewhere.example/w1 at "), "{whose_word}");
    }
    assert_eq!(said.lines().count(), files.len());

    witness.running.kill();
    says_that_the_signature_is_missing(&apart, tables[0]).await;
    // The witness is started again, and asked again.
    let hand_no = next_hand(&apart, tables[1]).await;
    let mut again = WitnessProgram::start_at(&apart.harness, witness.port).await;
    assert_eq!(again.key, witness.key);
    let bundle = fetch_cosigned(&apart, tables[1], hand_no).await;
    let file = save(&apart, "again.sabacc", &bundle);
    let (code, said) = verify(&apart, &[file], &ONE_WITNESS).await;
    assert_eq!(code, 0, "{said}");

    for table in playing {
        table.end(&apart).await;
    }
    again.running.stop(Signal::TERM).await;
    stop_and_audit(apart, running).await;
}

/// Waits until another hand of a table has begun; returns its number.
async fn next_hand(apart: &SeparateServices, table: TableId) -> u64 {
    let now = operator(&apart.harness, &apart.url(3)).get_table(table).await.unwrap().hand_no;
    until_hand(&apart.harness, &apart.url(3), table, now + 1).await;
    now + 1
}

/// A bundle without a signature comes after the wait for it, and says what is missing; its hand is
/// not finished for whoever demands the witness, and proved for whoever does not.
async fn says_that_the_signature_is_missing(apart: &SeparateServices, table: TableId) {
    // A push to the witness that was under way is over by then.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let hand_no = next_hand(apart, table).await;
    until_hand(&apart.harness, &apart.url(3), table, hand_no + 2).await;
    let start = Instant::now();
    let path = format!("/hands/{table}/{hand_no}.sabacc");
    let fetched = async { (fetch(apart, table, hand_no).await, start.elapsed()) };
    let ((answer, took), read) = tokio::join!(fetched, get(apart.ports[3], &path));
    assert!(took >= COSIGNATURE_WAIT && took < DEADLINE, "{took:?}");
    assert_eq!(answer.uncosigned, ["table", "dealer", "wallet"]);
    let file = save(apart, "uncosigned.sabacc", &answer.bundle);
    let (code, said) = verify(apart, std::slice::from_ref(&file), &ONE_WITNESS).await;
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("signatures of witnesses that were asked for"), "{said}");
    assert!(said.contains("not finished"), "{said}");
    let (code, said) = verify(apart, &[file], &[]).await;
    assert_eq!(code, 0, "{said}");
    // Whoever reads files learns it from a header.
    assert!(read.starts_with("http/1.1 200"), "{read}");
    assert!(read.contains("x-sabacc-uncosigned: table, dealer, wallet"), "{read}");
}

/// Gets a file over HTTP/1.1; returns the head of the answer in lower case.
async fn get(port: u16, path: &str) -> String {
    let mut connection = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).await.unwrap();
    let head = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    String::from_utf8_lossy(&answer[..head]).to_lowercase()
}
