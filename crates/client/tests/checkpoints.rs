//! Logs that grow, and logs that contradict themselves, before a client that stores checkpoints.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::sync::{Arc, Mutex};

use client::Client;
use client::checkpoints::{
    CheckError, CheckpointMonitor, CheckpointStore, Contradiction, ContradictionKind,
    DirectoryStore, MemoryStore,
};
use merkle::note::{KeyName, LogKey, VerifierKey};
use merkle::{Leaves, Signer, TreeHead, leaf_hash, prove_consistency, root_at};
use proto::audit::v1 as pb;
use proto::audit::v1::log_service_server::{LogService, LogServiceServer};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;
use tonic::{Request, Response, Status};

/// Leaf hashes of a log of numbers.
fn leaves(size: u64, salt: u64) -> Leaves {
    (0..size).map(|n| leaf_hash(&(n ^ salt).to_be_bytes())).collect()
}

fn key(secret: u8) -> LogKey {
    LogKey::new(KeyName::try_new("test/table").unwrap(), &[secret; 32])
}

fn public() -> Vec<VerifierKey> {
    vec![key(1).public().clone()]
}

/// Answers of the fake log.
struct LogState {
    leaves: Leaves,
    size: u64,
    key: u8,
    proves: bool,
}

#[derive(Clone)]
struct FakeLog(Arc<Mutex<LogState>>);

impl FakeLog {
    async fn start(size: u64) -> (FakeLog, Client) {
        let says = LogState { leaves: leaves(size, 0), size, key: 1, proves: true };
        let fake = FakeLog(Arc::new(Mutex::new(says)));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let service = LogServiceServer::new(fake.clone());
        let served = Server::builder().add_service(service);
        tokio::spawn(served.serve_with_incoming(TcpListenerStream::new(listener)));
        (fake, Client::connect(&address, "a token").unwrap())
    }

    fn grow(&self, size: u64) {
        let mut says = self.0.lock().unwrap();
        (says.leaves, says.size) = (leaves(size, 0), size);
    }

    fn change(&self, change: impl FnOnce(&mut LogState)) {
        change(&mut self.0.lock().unwrap());
    }
}

#[tonic::async_trait]
impl LogService for FakeLog {
    async fn get_checkpoint(
        &self,
        request: Request<pb::GetCheckpointRequest>,
    ) -> Result<Response<pb::GetCheckpointResponse>, Status> {
        assert_eq!(request.into_inner().log, "table");
        let says = self.0.lock().unwrap();
        let head = TreeHead { size: says.size, root: root_at(&says.leaves, says.size).unwrap() };
        let checkpoint = Signer::new(key(says.key)).sign(None, head, &[]).unwrap().to_string();
        Ok(Response::new(pb::GetCheckpointResponse { checkpoint, ..Default::default() }))
    }

    async fn prove_consistency(
        &self,
        request: Request<pb::ProveConsistencyRequest>,
    ) -> Result<Response<pb::ProveConsistencyResponse>, Status> {
        let pb::ProveConsistencyRequest { log: _, old_size, new_size } = request.into_inner();
        let says = self.0.lock().unwrap();
        if !says.proves {
            return Err(Status::not_found("no such tree"));
        }
        let proof = prove_consistency(&says.leaves, old_size, new_size).unwrap();
        let proof = proof.into_iter().map(Vec::from).collect();
        let checkpoint = String::new();
        Ok(Response::new(pb::ProveConsistencyResponse { new_size, proof, checkpoint }))
    }

    async fn get_tile(
        &self,
        _: Request<pb::GetTileRequest>,
    ) -> Result<Response<pb::GetTileResponse>, Status> {
        Err(Status::unimplemented("not asked for here"))
    }

    async fn get_entries(
        &self,
        _: Request<pb::GetEntriesRequest>,
    ) -> Result<Response<pb::GetEntriesResponse>, Status> {
        Err(Status::unimplemented("not asked for here"))
    }

    async fn prove_inclusion(
        &self,
        _: Request<pb::ProveInclusionRequest>,
    ) -> Result<Response<pb::ProveInclusionResponse>, Status> {
        Err(Status::unimplemented("not asked for here"))
    }

    async fn read_records(
        &self,
        _: Request<pb::ReadRecordsRequest>,
    ) -> Result<Response<pb::ReadRecordsResponse>, Status> {
        Err(Status::unimplemented("not asked for here"))
    }
}

#[tokio::test]
async fn a_log_that_grows_is_believed() {
    let (fake, client) = FakeLog::start(0).await;
    let seen = CheckpointMonitor::new(public(), MemoryStore::default());
    for size in [0, 5, 5, 300] {
        fake.grow(size);
        let looked = seen.check(&client).await.unwrap();
        assert_eq!((looked[0].origin.as_str(), looked[0].head.size), ("test/table", size));
    }
}

/// Returns the contradiction that the client finds if the log changes between two checks.
async fn find_contradiction(lie: impl FnOnce(&mut LogState)) -> Contradiction {
    let (fake, client) = FakeLog::start(300).await;
    let seen = CheckpointMonitor::new(public(), MemoryStore::default());
    let first = seen.check(&client).await.unwrap();
    fake.change(lie);
    let second = seen.check(&client).await;
    let Err(CheckError::Contradiction(found)) = second else { panic!("believed: {second:?}") };
    // Both notes are evidence for anybody with the key, and the stored note is still the old one.
    for note in [&found.remembered, &found.shown] {
        merkle::Checkpoint::open(note.as_bytes(), &public()[0], &[]).unwrap();
    }
    fake.grow(301);
    fake.change(|says| says.proves = true);
    let third = seen.check(&client).await.unwrap();
    assert_eq!((first[0].head.size, third[0].head.size), (300, 301));
    *found
}

#[tokio::test]
async fn a_fork_is_found_with_both_notes() {
    let fork = find_contradiction(|says| says.leaves = leaves(300, 1)).await;
    assert_eq!(fork.kind, ContradictionKind::Fork);
    let longer = find_contradiction(|says| (says.leaves, says.size) = (leaves(400, 1), 400)).await;
    assert_eq!(longer.kind, ContradictionKind::Unproved);
    let silent = find_contradiction(|says| {
        (says.leaves, says.size, says.proves) = (leaves(400, 0), 400, false);
    });
    assert_eq!(silent.await.kind, ContradictionKind::Unproved);
    let rewound = find_contradiction(|says| says.size = 200).await;
    assert_eq!(rewound.kind, ContradictionKind::Rewound);
    assert!(rewound.shown.contains("\n200\n") && rewound.remembered.contains("\n300\n"));
}

#[tokio::test]
async fn another_key_is_not_the_log() {
    let (fake, client) = FakeLog::start(300).await;
    fake.change(|says| says.key = 2);
    let seen = CheckpointMonitor::new(public(), MemoryStore::default());
    let looked = seen.check(&client).await;
    assert!(matches!(looked, Err(CheckError::Unsigned { .. })), "{looked:?}");
}

#[tokio::test]
async fn a_folder_remembers_for_the_next_program() {
    let folder = tempfile::tempdir().unwrap();
    let (fake, client) = FakeLog::start(300).await;
    let seen = CheckpointMonitor::new(public(), DirectoryStore::open(folder.path()).unwrap());
    seen.check(&client).await.unwrap();
    fake.change(|says| says.leaves = leaves(300, 1));
    let again = CheckpointMonitor::new(public(), DirectoryStore::open(folder.path()).unwrap());
    let looked = again.check(&client).await;
    assert!(matches!(looked, Err(CheckError::Contradiction(_))), "{looked:?}");
    let memory = DirectoryStore::open(folder.path()).unwrap();
    memory.save("test/table", "damaged").unwrap();
    let looked = again.check(&client).await;
    assert!(matches!(looked, Err(CheckError::Corrupt { .. })), "{looked:?}");
}

/// A player's hand goes on while a log is silent.
#[tokio::test]
async fn a_silent_log_holds_nobody_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut open = Vec::new();
        while let Ok(connection) = listener.accept().await {
            open.push(connection);
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let monitor = CheckpointMonitor::new(public(), DirectoryStore::open(folder.path()).unwrap());
    let monitor = Arc::new(client::checkpoints::SharedMonitor::new(monitor));
    let client = Client::connect(&address, "a token").unwrap().with_checkpoints(monitor);
    let patience = std::time::Duration::from_secs(4);
    for _ in 0..2 {
        let checked = tokio::time::timeout(patience, client.check_logs()).await;
        checked.expect("it gives up in about a second").unwrap();
    }
}
