//! Witnesses and logs, over real ports.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chassis::drain::Drain;
use chassis::http_client::HttpClient;
use chassis::limits::Limits;
use chassis::serve::{self, Health, Server};
use http::{StatusCode, Uri};
use merkle::note::{KeyName, Note, VerifierKey, WitnessKey};
use merkle::{Checkpoint, Signer, TreeHead};
use notary::EntryReaders;
use notary::api::handler;
use notary::witness::{Witness, WitnessEndpoint, WitnessError, WitnessService, push_checkpoints};
use proto::audit::v1 as pb;
use proto::audit::v1::log_service_server::LogService as _;
use proto::audit::v1::record_selection::By;
use system::clock::SystemClock;
use tonic::Request;

use crate::harness::Harness;

struct WitnessServer {
    witness: Arc<Witness>,
    url: Uri,
    drain: Drain,
}

fn witness_key() -> WitnessKey {
    WitnessKey::new(KeyName::try_new("witness.example/w1").unwrap(), &[7; 32])
}

impl WitnessServer {
    async fn open(folder: &Path, logs: Vec<VerifierKey>) -> WitnessServer {
        WitnessServer::open_at("127.0.0.1:0", folder, logs).await
    }

    async fn open_at(address: &str, folder: &Path, logs: Vec<VerifierKey>) -> WitnessServer {
        let witness = Arc::new(Witness::open(witness_key(), logs, folder).unwrap());
        let bound = serve::bind(address.parse().unwrap()).await.unwrap();
        let url = format!("http://{}", bound.address()).parse().unwrap();
        let service = WitnessService::new(witness.clone(), Arc::new(SystemClock::new()));
        let drain = Drain::new(Duration::from_millis(100));
        let mut server = Server::new(Limits::public(), Health::new(), drain.clone());
        server.http1 = true;
        tokio::spawn(server.run(bound, service));
        WitnessServer { witness, url, drain }
    }

    fn endpoint(&self) -> WitnessEndpoint {
        WitnessEndpoint { url: self.url.clone(), key: self.witness.key().clone() }
    }

    /// Asks for a cosignature as a log would.
    async fn post(&self, old: u64, proof: &str, note: &str) -> (StatusCode, String, String) {
        let body = format!("old {old}\n{proof}\n{note}");
        let answer = HttpClient::new().post(&self.url, "add-checkpoint", body).await.unwrap();
        let text = String::from_utf8(answer.body.to_vec()).unwrap();
        (answer.status, answer.content_type, text)
    }
}

/// Waits for a checkpoint with the witness's cosignature.
async fn wait_until_cosigned(harness: &Harness, witness: &VerifierKey, size: u64) -> Note {
    let mut shown = harness.notary.watch();
    let keys = [witness.clone()];
    let there = shown.wait_for(|shown| {
        let shown = shown.as_ref().filter(|shown| shown.head().size >= size);
        shown.is_some_and(|shown| shown.note.verify(&keys).is_ok())
    });
    let there = tokio::time::timeout(Duration::from_secs(60), there).await;
    there.expect("nothing is cosigned").unwrap().as_ref().unwrap().note.clone()
}

#[tokio::test]
async fn a_log_that_grows_is_cosigned_again_and_again() {
    let folder = tempfile::tempdir().unwrap();
    let harness = Harness::new().await;
    let outside = WitnessServer::open(folder.path(), vec![harness.notary.key().clone()]).await;
    push_checkpoints(&harness.notary, outside.endpoint(), Arc::new(HttpClient::new()));
    for size in [300, 301] {
        harness.write(size - harness.log.size()).await;
        let note = wait_until_cosigned(&harness, outside.witness.key(), size).await;
        let keys = [outside.witness.key().clone()];
        let opened = Checkpoint::open_note(&note, harness.notary.key(), &keys).unwrap();
        assert_eq!(opened.cosignatures.len(), 1);
        assert_eq!(outside.witness.last("test/table"), Some(opened.checkpoint.head()));
    }
}

/// ARCHITECTURE.md §2.12.
#[tokio::test]
async fn a_witness_that_is_away_costs_its_cosignature_and_is_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let harness = Harness::new().await;
    let key = harness.notary.key().clone();
    let outside = WitnessServer::open(folder.path(), vec![key.clone()]).await;
    push_checkpoints(&harness.notary, outside.endpoint(), Arc::new(HttpClient::new()));
    wait_until_cosigned(&harness, outside.witness.key(), 0).await;
    outside.drain.begin();
    tokio::time::sleep(Duration::from_millis(300)).await;
    harness.write(10).await;
    assert_eq!(
        harness.wait_until_signed(10).await.note.signatures().len(),
        1,
        "signed all the same"
    );
    // The witness is started again with its files.
    let address = outside.url.authority().unwrap().as_str().to_owned();
    let outside = WitnessServer::open_at(&address, folder.path(), vec![key]).await;
    assert_eq!(outside.witness.last("test/table").unwrap().size, 0);
    wait_until_cosigned(&harness, outside.witness.key(), 10).await;
}

/// Callers who ask for cosignatures hold up others who ask. ARCHITECTURE.md §2.12.
#[tokio::test(start_paused = true)]
async fn only_the_first_caller_waits_for_a_witness_that_is_away() {
    let harness = Harness::signed_whole(20).await;
    let nobody = "http://127.0.0.1:1".parse().unwrap();
    let endpoint = WitnessEndpoint { url: nobody, key: witness_key().public().clone() };
    push_checkpoints(&harness.notary, endpoint, Arc::new(HttpClient::new()));
    let api = handler(harness.notary.clone(), "table", EntryReaders::Everybody);
    let ask = async || {
        let begun = tokio::time::Instant::now();
        let first = By::Positions(pb::PositionSelection { first: 0, count: 1 });
        let selections = vec![pb::RecordSelection { by: Some(first) }];
        let asked = pb::ReadRecordsRequest { log: "table".into(), selections, cosigned: true };
        let answer = api.read_records(Request::new(asked)).await.unwrap().into_inner();
        assert!(answer.uncosigned);
        begun.elapsed()
    };
    assert!(ask().await >= Duration::from_secs(5));
    assert!(ask().await < Duration::from_secs(1), "nobody waits while it is late");
}

#[tokio::test]
async fn it_answers_as_the_specification_says() {
    let folder = tempfile::tempdir().unwrap();
    let harness = Harness::signed_whole(20).await;
    let key = harness.notary.key().clone();
    let outside = WitnessServer::open(folder.path(), vec![key]).await;
    let note = harness.notary.published().unwrap().note.to_string();
    let (status, _, line) = outside.post(0, "", &note).await;
    assert_eq!(status, StatusCode::OK, "{line}");
    assert!(line.starts_with("— witness.example/w1 ") && line.ends_with('\n'), "{line}");
    // Another request for the tree that it cosigned: a new time, an equal tree.
    assert_eq!(outside.post(20, "", &note).await.0, StatusCode::OK);
    let (status, kind, size) = outside.post(0, "", &note).await;
    assert_eq!((status, kind.as_str()), (StatusCode::CONFLICT, "text/x.tlog.size"));
    assert_eq!(size, "20\n");
    assert_eq!(outside.post(21, "", &note).await.0, StatusCode::BAD_REQUEST);
    assert_eq!(outside.post(1, "no hash\n", &note).await.0, StatusCode::BAD_REQUEST);
    let forged = note.replacen("\n20\n", "\n21\n", 1);
    assert_eq!(outside.post(20, "", &forged).await.0, StatusCode::FORBIDDEN);
    let stranger = note.replacen("test/table", "test/other", 1);
    assert_eq!(outside.post(0, "", &stranger).await.0, StatusCode::NOT_FOUND);
    let unknown = HttpClient::new().get(&outside.url, "add-checkpoint").await.unwrap();
    assert_eq!(unknown.status, StatusCode::METHOD_NOT_ALLOWED);
    let unknown = HttpClient::new().get(&outside.url, "checkpoint").await.unwrap();
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    // A log whose key signs two histories is refused, and the witness signs one of them.
    let fork = |size| {
        let key = crate::harness::identity(1).key.to_bytes();
        let key = merkle::note::LogKey::new(KeyName::try_new("test/table").unwrap(), &key);
        let head = TreeHead { size, root: [3; 32] };
        Signer::new(key).sign(None, head, &[]).unwrap().to_string()
    };
    assert_eq!(outside.post(20, "", &fork(20)).await.0, StatusCode::CONFLICT);
    assert_eq!(outside.post(20, "", &fork(21)).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(outside.witness.last("test/table").unwrap().size, 20);
}

#[tokio::test]
async fn a_witness_remembers_or_does_not_begin() {
    let folder = tempfile::tempdir().unwrap();
    let harness = Harness::signed_whole(20).await;
    let key = harness.notary.key().clone();
    let outside = WitnessServer::open(folder.path(), vec![key.clone()]).await;
    let note = harness.notary.published().unwrap().note.to_string();
    assert_eq!(outside.post(0, "", &note).await.0, StatusCode::OK);
    let open = || Witness::open(witness_key(), vec![key.clone()], folder.path());
    assert_eq!(open().unwrap().last("test/table").unwrap().size, 20);
    let file = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    std::fs::write(&file, note.replacen("\n20\n", "\n2\n", 1)).unwrap();
    assert!(matches!(open(), Err(WitnessError::Corrupt { .. })));
    let twice = vec![key.clone(), key.clone()];
    std::fs::remove_file(file).unwrap();
    let twice = Witness::open(witness_key(), twice, folder.path());
    assert!(matches!(twice, Err(WitnessError::DuplicateLog(_))));
    let itself = vec![witness_key().public().clone()];
    let itself = Witness::open(witness_key(), itself, folder.path());
    assert!(matches!(itself, Err(WitnessError::NotALog(_))));
}

#[tokio::test]
async fn where_it_cannot_write_it_does_not_cosign() {
    let folder = tempfile::tempdir().unwrap();
    let harness = Harness::signed_whole(20).await;
    let gone = folder.path().join("gone");
    let outside = WitnessServer::open(&gone, vec![harness.notary.key().clone()]).await;
    let note = harness.notary.published().unwrap().note.to_string();
    assert_eq!(outside.post(0, "", &note).await.0, StatusCode::INTERNAL_SERVER_ERROR);
    std::fs::create_dir(&gone).unwrap();
    assert_eq!(outside.post(0, "", &note).await.0, StatusCode::OK);
}
