//! A stranger without the room's programs checks a hand: with files that its public port gives to
//! everybody by plain HTTP, and verifiers that share no code with it.

use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::auditing::over;
use crate::harness::{RoomHarness, program};
use crate::people::{Guest, Party};

/// Answer of a plain request.
struct Answer {
    status: u16,
    /// In lower case.
    head: String,
    body: Vec<u8>,
}

/// Sends a request of HTTP/1.1, as `curl` does, and without a token.
async fn ask(url: &str, method: &str, path: &str) -> Answer {
    let host = url.trim_start_matches("http://").trim_end_matches('/');
    let mut link = tokio::net::TcpStream::connect(host).await.unwrap();
    let request = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    link.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    link.read_to_end(&mut answer).await.unwrap();
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8_lossy(&answer[..end]).to_lowercase();
    assert!(!head.contains("transfer-encoding"), "{head}");
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head, body: answer[end + 4..].to_vec() }
}

/// Gets a file and saves it.
async fn save(url: &str, path: &str, to: &Path) -> Answer {
    let answer = ask(url, "GET", path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.head);
    std::fs::write(to, &answer.body).unwrap();
    answer
}

/// A folder of this tree.
fn tree(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder)
}

/// Runs a verifier in another language on saved files; where its language is not installed, says so.
/// Where all verifiers must be here (`REQUIRE_ALL_VERIFIERS`), that is a failure.
#[expect(clippy::print_stdout, reason = "what is not checked is said")]
async fn verifies(harness: &RoomHarness, probe: &[&str], mut verifier: Command, words: &str) {
    let is_here = Command::new(probe[0]).args(&probe[1..]).output();
    if is_here.is_ok_and(|output| output.status.success()) {
        verifier.env_remove("SABACC_SWEEP");
        let (status, said) = harness.run(verifier).await;
        assert_eq!(status.code(), Some(0), "{}: {said}", probe[0]);
        assert!(said.contains("proved") && said.contains(words), "{said}");
        return;
    }
    #[expect(clippy::disallowed_methods, reason = "a test's own switch")]
    let all = std::env::var_os("REQUIRE_ALL_VERIFIERS").is_some();
    assert!(!all, "`{}` does not run here", probe.join(" "));
    println!("not checked: `{}` does not run here", probe.join(" "));
}

/// Checks saved files with our own program, in Python, and with the saved page's own script.
async fn everybody_verifies(harness: &RoomHarness, keys: &Path, page: &Path, bundle: &Path) {
    everybody_says(harness, [keys, page, bundle], "").await;
}

/// The same, where each says these words too. `files`: keys, page, bundle.
pub(crate) async fn everybody_says(harness: &RoomHarness, files: [&Path; 3], words: &str) {
    let [keys, page, bundle] = files;
    let mut ours = program("sabacc");
    ours.arg("verify").arg(bundle).arg("--keys").arg(keys).current_dir(harness.path());
    let (status, said) = harness.run(ours).await;
    assert_eq!(status.code(), Some(0), "{said}");
    for part in ["rules: variant = \"dice\", ", "settings: action_seconds = "] {
        assert!(said.contains(part), "no `{part}`:\n{said}");
    }
    assert!(said.contains(words), "{said}");
    let mut python = Command::new("python3");
    python.args(["-B", "-m", "verify"]).arg(bundle).arg("--keys").arg(keys);
    python.current_dir(tree("tests"));
    verifies(harness, &["python3", "-c", "import cryptography"], python, words).await;
    let script = tree("crates/audit/verify/test/saved.mjs");
    let mut node = Command::new("node");
    node.args([script.as_os_str(), page.as_os_str(), keys.as_os_str(), bundle.as_os_str()]);
    verifies(harness, &["node", "--version"], node, words).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_without_our_programs_checks_a_hand() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--thinking", "0"]).await;
    let guest = Guest::new(&harness, &room.url).await;
    let (table, hand_no) = over(&room, &guest).await;
    let saved = ["saved-keys.txt", "saved-verify.html", "saved-hand.sabacc"];
    let [keys, page, bundle] = saved.map(|name| harness.path().join(name));
    let got = save(&room.url, "/keys.txt", &keys).await;
    assert!(got.head.contains("content-type: text/plain; charset=utf-8"), "{}", got.head);
    let published = std::fs::read_to_string(harness.data().join("keys.txt")).unwrap();
    let given = String::from_utf8(got.body).unwrap();
    assert!(published.lines().filter(|line| !line.starts_with('#')).eq(given.lines()), "{given}");
    let got = save(&room.url, "/verify.html", &page).await;
    assert!(got.body == audit::VERIFIER_PAGE.as_bytes(), "the page is saved as it was built");
    for header in ["content-type: text/html", "content-security-policy: default-src 'none'"] {
        assert!(got.head.contains(header), "{header}: {}", got.head);
    }
    let path = format!("/hands/{table}/{hand_no}.sabacc");
    save(&room.url, &path, &bundle).await;
    assert!(ask(&room.url, "HEAD", &path).await.body.is_empty());
    for (method, path, status) in [
        ("GET", format!("/hands/{table}/999999.sabacc"), 404),
        ("GET", "/hands/x/1.sabacc".to_owned(), 404),
        ("POST", path, 405),
    ] {
        assert_eq!(ask(&room.url, method, &path).await.status, status, "{method} {path}");
    }
    room.running.stop(Signal::INT).await;
    everybody_verifies(&harness, &keys, &page, &bundle).await;
}

/// Of a hand in play nothing is given to anybody.
#[tokio::test(flavor = "multi_thread")]
async fn a_hand_in_play_is_no_public_file() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let mut party = Party::new(&harness, &room.url, 2).await;
    let (_, view) = party.turn().await;
    let path = format!("/hands/{}/{}.sabacc", party.table, view.hand_no);
    let refused = ask(&room.url, "GET", &path).await;
    let words = String::from_utf8_lossy(&refused.body).into_owned();
    assert!(refused.status == 409 && words.contains("in play"), "{}: {words}", refused.status);
    party.close(&harness).await;
    assert_eq!(ask(&room.url, "GET", &path).await.status, 200, "it is public once it has ended");
    room.running.stop(Signal::INT).await;
}
