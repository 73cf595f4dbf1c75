//! Runs a log with its notary and a witness, and writes what they publish while the log grows, in
//! the layout of `crates/merkle/vectors/log`, for a program that is not ours to read.
//!
//! Run `cargo run -p notary --example publish -- FOLDER`, and then the Go program in
//! `crates/merkle/vectors/check`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use base64ct::{Base64, Encoding as _};
use chassis::config::LogIdentity;
use chassis::drain::Drain;
use chassis::http_client::HttpClient;
use chassis::limits::Limits;
use chassis::serve::{self, Health, Server};
use ed25519_dalek::SigningKey;
use eventlog::{
    Authenticator, Entry, Log, NewEvent, Options, PgStore, PoolSizes, StreamId, UnixMicros,
};
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use merkle::note::{KeyName, Note, VerifierKey, WitnessKey};
use merkle::{LogProof, TILE_WIDTH, TileId, tiles_for_inclusion};
use notary::api::{Api, handler};
use notary::witness::{Witness, WitnessEndpoint, WitnessService, push_checkpoints};
use notary::{Dependencies, EntryReaders, Files, Notary};
use proto::audit::v1 as pb;
use proto::audit::v1::log_service_server::LogService as _;
use system::clock::SystemClock;
use tonic::body::Body;
use tower::Service as _;

const LOG: &str = "table/0";
const SIZES: [u64; 5] = [1, 255, 256, 300, 1_300];

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder: PathBuf = std::env::args_os().nth(1).context("which folder?")?.into();
    let admin = testkit::postgres().await?.database("publish").await?;
    eventlog::migrate(&admin, "table", None).await?;
    let store = PgStore::connect(&admin, "table", PoolSizes::default()).await?;
    let log = Log::open(store.clone(), options()).await?;
    let identity = LogIdentity {
        // The Go program changes a few bytes of each file. Go's base64 ignores a changed bit of
        // padding; an origin of this length keeps the changed bytes clear of padding.
        origin: "sabacc.example/room/table".into(),
        key: SigningKey::from_bytes(&[1; 32]),
        previous: Vec::new(),
    };
    let notary = Notary::new(Dependencies {
        store,
        log: LOG.into(),
        identity,
        checkpoint_file: None,
        archives: None,
    })?;
    notary.follow(&log);
    let memory = tempfile::tempdir()?;
    let witness = start_witness(&notary, memory.path()).await?;
    let keys = format!("{}\n{witness}\n", notary.key());
    let mut publisher = Publisher {
        folder,
        files: Files::new(notary.clone(), "table", EntryReaders::Auditors),
        api: handler(notary.clone(), "table", EntryReaders::Everybody),
    };
    publisher.write("keys", keys.as_bytes())?;
    let mut before = Vec::new();
    for size in SIZES {
        append(&log, size - log.size()).await?;
        notary.request_signature();
        let note = cosigned(&notary, &witness, size).await?;
        publisher.checkpoint(&note, size).await?;
        for old in &before {
            publisher.consistency(*old, size).await?;
        }
        before.push(size);
    }
    log.close().await;
    Ok(())
}

fn options() -> Options {
    Options {
        name: LOG.into(),
        owner: "publish".into(),
        address: "nowhere".into(),
        lease: Duration::from_secs(30),
        take_over: false,
        clock: Arc::new(|| UnixMicros(1_700_000_000_000_000)),
        authenticator: Authenticator::new(&[7; 32], "", Arc::new(|| [7; 8])),
        limits: eventlog::Limits { max_clock_skew: Duration::MAX, ..eventlog::Limits::default() },
    }
}

async fn append(log: &Log, count: u64) -> anyhow::Result<()> {
    let first = log.size();
    let all: Vec<u64> = (first..first + count).collect();
    for some in all.chunks(1_000) {
        let event = |n: &u64| NewEvent {
            stream: StreamId([(n % 7) as u8; 16]),
            kind: 7,
            schema: 1,
            sealed: n.is_multiple_of(3),
            payload: n.to_string().into_bytes().into(),
        };
        let events = some.iter().map(event).collect();
        let actor = "publish".into();
        log.append(Entry { events, request: None, actor, trace: [0; 16] }).await?;
    }
    Ok(())
}

/// Starts a witness on a port of its own, sends it the notary's checkpoints, and returns its key.
async fn start_witness(notary: &Notary, memory: &Path) -> anyhow::Result<VerifierKey> {
    let key = WitnessKey::new(KeyName::try_new("witness.example/w1")?, &[2; 32]);
    let public = key.public().clone();
    let witness = Arc::new(Witness::open(key, vec![notary.key().clone()], memory)?);
    let bound = serve::bind("127.0.0.1:0".parse()?).await?;
    let url = format!("http://{}", bound.address()).parse()?;
    let service = WitnessService::new(witness, Arc::new(SystemClock::new()));
    let drain = Drain::new(Duration::from_secs(1));
    let mut server = Server::new(Limits::public(), Health::new(), drain);
    server.http1 = true;
    tokio::spawn(server.run(bound, service));
    push_checkpoints(
        notary,
        WitnessEndpoint { url, key: public.clone() },
        Arc::new(HttpClient::new()),
    );
    Ok(public)
}

async fn cosigned(notary: &Notary, witness: &VerifierKey, size: u64) -> anyhow::Result<Note> {
    let mut shown = notary.watch();
    let keys = [witness.clone()];
    let there = shown.wait_for(|shown| {
        let shown = shown.as_ref().filter(|shown| shown.head().size == size);
        shown.is_some_and(|shown| shown.note.verify(&keys).is_ok())
    });
    let there = tokio::time::timeout(Duration::from_secs(60), there).await;
    let shown = there.context("the witness does not cosign")??;
    Ok(shown.as_ref().context("something is shown")?.note.clone())
}

struct Publisher {
    folder: PathBuf,
    files: Files,
    api: Api,
}

impl Publisher {
    /// Writes a checkpoint, and for one record of each tile its proof with all files that are
    /// needed to check it.
    async fn checkpoint(&mut self, note: &Note, size: u64) -> anyhow::Result<()> {
        self.write(&format!("checkpoint/{size}"), note.to_string().as_bytes())?;
        for index in (0..size).step_by(TILE_WIDTH.into()).map(|index| (index + 77).min(size - 1)) {
            for tile in tiles_for_inclusion(index, size)? {
                let content = self.file(&tile.to_string()).await?;
                self.write(&tile.to_string(), &content)?;
            }
            let entries = TileId::at(merkle::Row::Entries, index / u64::from(TILE_WIDTH), size);
            let entries = entries.context("the record is in a bundle")?;
            let content = self.entries(entries).await?;
            self.write(&entries.to_string(), &content)?;
            let asked = pb::ProveInclusionRequest { log: "table".into(), position: index, size };
            let answer = self.api.prove_inclusion(tonic::Request::new(asked)).await?.into_inner();
            let path = answer.proof.iter().map(|hash| Ok(hash.as_slice().try_into()?));
            let path = path.collect::<anyhow::Result<Vec<_>>>()?;
            let proof = LogProof::new(index, path, note.clone())?.to_string();
            self.write(&format!("inclusion/{index}-of-{size}"), proof.as_bytes())?;
        }
        Ok(())
    }

    async fn consistency(&mut self, old_size: u64, new_size: u64) -> anyhow::Result<()> {
        let asked = pb::ProveConsistencyRequest { log: "table".into(), old_size, new_size };
        let answer = self.api.prove_consistency(tonic::Request::new(asked)).await?.into_inner();
        let lines = answer.proof.iter().map(|hash| Base64::encode_string(hash) + "\n");
        let lines: String = lines.collect();
        self.write(&format!("consistency/{old_size}-to-{new_size}"), lines.as_bytes())
    }

    /// Fetches a file through [`Files`].
    async fn file(&mut self, path: &str) -> anyhow::Result<Vec<u8>> {
        let request = Request::get(format!("/log/table/{path}")).body(Body::empty())?;
        let Ok(answer) = self.files.call(request).await;
        if answer.status() != StatusCode::OK {
            bail!("{path}: {}", answer.status());
        }
        Ok(answer.into_body().collect().await?.to_bytes().to_vec())
    }

    async fn entries(&self, tile: TileId) -> anyhow::Result<Vec<u8>> {
        let (index, width) = (tile.index(), tile.width().into());
        let asked = pb::GetEntriesRequest { log: "table".into(), index, width };
        Ok(self.api.get_entries(tonic::Request::new(asked)).await?.into_inner().entries)
    }

    fn write(&self, name: &str, content: &[u8]) -> anyhow::Result<()> {
        let path = self.folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
        Ok(std::fs::write(path, content)?)
    }
}
