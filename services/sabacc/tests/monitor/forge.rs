//! A house that signs and serves what it likes.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use merkle::note::{KeyName, LogKey, Note};
use merkle::record::{LeafRecord, RECORD_LEN, chain_hash};
use merkle::{Checkpoint, Leaves, Row, TILE_WIDTH, TileId, TreeHead, bundle, leaf_hash, root_at};
use primitives::{StreamId, TableId};
use proto::event::v1::EventType;
use tempfile::TempDir;

pub(crate) const TABLE: TableId = TableId([0x70; 16]);
/// The dealer's `CommitmentsClosed`.
pub(crate) const COMMITMENTS_CLOSED: u16 = proto::event::v1::EventType::CommitmentsClosed as u16;

pub(crate) fn hand(number: u64) -> StreamId {
    StreamId::from(fairness::hand_id(TABLE, number))
}

/// A log, its records and what is served of it.
#[derive(Clone, Default)]
pub(crate) struct Log {
    pub(crate) records: Vec<LeafRecord>,
    heads: BTreeMap<StreamId, (u64, [u8; 32])>,
    /// Leaf records that are served in the place of the signed ones.
    pub(crate) served: BTreeMap<u64, LeafRecord>,
    /// Bytes that are served as the checkpoint.
    pub(crate) checkpoint: Option<Vec<u8>>,
}

impl Log {
    pub(crate) fn write_kind(&mut self, stream: impl Into<StreamId>, kind: u16) -> &mut Log {
        let stream = stream.into();
        let (version, previous) = self.heads.get(&stream).copied().unwrap_or_default();
        let position = self.records.len() as u64;
        self.push(LeafRecord {
            position,
            recorded_at: position * 1_000,
            stream: stream.0,
            version: version + 1,
            kind,
            schema: 1,
            sealed: false,
            payload_len: 9,
            payload_hash: [1; 32],
            author_hash: [2; 32],
            previous,
        })
    }

    pub(crate) fn push(&mut self, record: LeafRecord) -> &mut Log {
        let stream = StreamId(record.stream);
        self.heads.insert(stream, (record.version, chain_hash(&record.to_bytes())));
        self.records.push(record);
        self
    }

    pub(crate) fn write(&mut self, stream: impl Into<StreamId>, kind: EventType) -> &mut Log {
        self.write_kind(stream, u16::try_from(i32::from(kind)).unwrap())
    }

    /// Writes the same log with another payload at a position.
    pub(crate) fn forked(&self, at: usize) -> Log {
        let mut fork = Log::default();
        for (position, record) in self.records.iter().enumerate() {
            let kind = record.kind;
            fork.write_kind(StreamId(record.stream), kind);
            if position == at {
                let mut other = fork.records.pop().unwrap();
                other.payload_hash = [9; 32];
                fork.push(other);
            }
        }
        fork
    }

    fn leaves(&self) -> Leaves {
        self.records.iter().map(|record| leaf_hash(&record.to_bytes())).collect()
    }

    pub(crate) fn head(&self) -> TreeHead {
        let size = self.records.len() as u64;
        TreeHead { size, root: root_at(&self.leaves(), size).unwrap() }
    }

    fn file(&self, key: &LogKey, path: &str) -> Option<Vec<u8>> {
        if path == "checkpoint" {
            let signed = || sign(key, self.head()).into_bytes();
            return Some(self.checkpoint.clone().unwrap_or_else(signed));
        }
        let tile: TileId = path.parse().ok()?;
        let there = TileId::at(tile.row(), tile.index(), self.records.len() as u64)?;
        if there.width() < tile.width() {
            return None;
        }
        match tile.row() {
            Row::Hashes(_) => tile.content(&self.leaves()).ok(),
            Row::Entries => {
                let first = tile.index() * u64::from(TILE_WIDTH);
                let records = (first..first + u64::from(tile.width())).map(|at| {
                    let signed = &self.records[usize::try_from(at).unwrap()];
                    self.served.get(&at).unwrap_or(signed).to_bytes()
                });
                Some(bundle::encode(&records.collect::<Vec<[u8; RECORD_LEN]>>()).unwrap())
            }
        }
    }
}

/// Signs a tree.
pub(crate) fn sign(key: &LogKey, head: TreeHead) -> String {
    let text = Checkpoint::try_new(key.public().name().as_str(), head, Vec::new()).unwrap();
    Note::new(text.to_string(), key.sign(&text.to_string())).unwrap().to_string()
}

/// Writes `hands` hands at one table, and the dealer's part of them.
pub(crate) fn honest(hands: u64) -> (Log, Log) {
    let (mut table, mut dealer) = (Log::default(), Log::default());
    table.write(TABLE, EventType::TableCreated);
    for number in 1..=hands {
        dealer.write(hand(number), EventType::SeedCommitted);
        dealer.write_kind(hand(number), COMMITMENTS_CLOSED);
        dealer.write(hand(number), EventType::SeedSealed);
        dealer.write(hand(number), EventType::SeedOpened);
        table.write(TABLE, EventType::HandCommitted).write(TABLE, EventType::HandStarted);
        for kind in [
            EventType::HandOpened,
            EventType::EntropyClosed,
            EventType::EntropyRevealed,
            EventType::HandSealed,
            EventType::MoveDecided,
            EventType::HandSettled,
        ] {
            table.write(hand(number), kind);
        }
        table.write(TABLE, EventType::HandFinished);
    }
    (table, dealer)
}

/// Logs that the house serves now.
pub(crate) struct Served {
    pub(crate) table: Log,
    pub(crate) dealer: Log,
    /// Paths that there are not.
    pub(crate) withheld: Vec<String>,
    /// Paths below which no answer comes.
    pub(crate) stalled: Option<String>,
    /// Answers in the place of files.
    pub(crate) replaced: BTreeMap<String, Vec<u8>>,
}

/// A house with its server, its keys, and a folder for monitors.
pub(crate) struct RoomFixture {
    pub(crate) served: Arc<Mutex<Served>>,
    pub(crate) keys: [Arc<LogKey>; 2],
    address: String,
    folder: TempDir,
}

impl RoomFixture {
    /// Starts a house of so many honest hands.
    pub(crate) fn new(hands: u64) -> RoomFixture {
        let key = |name: &str, secret| {
            Arc::new(LogKey::new(KeyName::try_new(name).unwrap(), &[secret; 32]))
        };
        let keys = [key("forged.example/table", 1), key("forged.example/dealer", 2)];
        let (table, dealer) = honest(hands);
        let served = Arc::new(Mutex::new(Served {
            table,
            dealer,
            withheld: Vec::new(),
            stalled: None,
            replaced: BTreeMap::new(),
        }));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let (shown, signing) = (Arc::clone(&served), keys.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (shown, signing) = (Arc::clone(&shown), signing.clone());
                std::thread::spawn(move || answer(stream.unwrap(), &shown, &signing));
            }
        });
        let folder = tempfile::tempdir().unwrap();
        let text = keys.iter().map(|key| format!("{}\n", key.public())).collect::<String>();
        std::fs::write(folder.path().join("keys.txt"), text).unwrap();
        RoomFixture { served, keys, address, folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn serve(&self, change: impl FnOnce(&mut Served)) {
        change(&mut self.served.lock().unwrap());
    }

    /// Returns the program as a monitor of this house.
    pub(crate) fn command(&self, state: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sabacc"));
        command.args(["monitor", "--server", &self.address, "--state"]);
        command.arg(self.path().join(state)).arg("--keys").arg(self.path().join("keys.txt"));
        command
    }

    /// Runs a monitor once; returns its exit code and all that it said.
    pub(crate) fn monitor(&self, state: &str, options: &[&str]) -> (i32, String) {
        let output = self.command(state).arg("--once").args(options).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(said).unwrap())
    }

    /// The only caller of a monitor that must find something: returns what it said, and the files of
    /// its evidence.
    pub(crate) fn finds(
        &self,
        state: &str,
        options: &[&str],
    ) -> (String, BTreeMap<String, Vec<u8>>) {
        let (code, said) = self.monitor(state, options);
        assert_eq!(code, 1, "{said}");
        let (words, evidence) = self.found(state);
        assert!(said.contains(words.trim_end()), "{said}");
        // Nothing that is shown later undoes it.
        let (code, again) = self.monitor(state, options);
        assert_eq!(code, 1, "{again}");
        assert!(again.contains("an earlier look has found something"), "{again}");
        assert_eq!(self.found(state), (words, evidence.clone()));
        (said, evidence)
    }

    /// Returns the words and the files of the only finding in a folder.
    pub(crate) fn found(&self, state: &str) -> (String, BTreeMap<String, Vec<u8>>) {
        let evidence = self.kept(state, "evidence");
        (String::from_utf8(evidence["finding.txt"].clone()).unwrap(), evidence)
    }

    /// Returns the files of the only finding of a kind.
    pub(crate) fn kept(&self, state: &str, kind: &str) -> BTreeMap<String, Vec<u8>> {
        let folders: Vec<PathBuf> = files(&self.path().join(state).join(kind));
        assert_eq!(folders.len(), 1);
        let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
        let read = |path: PathBuf| (name(&path), std::fs::read(path).unwrap());
        files(&folders[0]).into_iter().map(read).collect()
    }

    /// Checks that both texts are signed by this log, and differ.
    pub(crate) fn assert_both_signed(&self, evidence: &BTreeMap<String, Vec<u8>>, log: usize) {
        let opened = ["seen.checkpoint", "shown.checkpoint"].map(|name| {
            Checkpoint::open(&evidence[name], self.keys[log].public(), &[]).unwrap().checkpoint
        });
        assert_ne!(opened[0].head(), opened[1].head());
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn answer(mut stream: TcpStream, shown: &Mutex<Served>, keys: &[Arc<LogKey>; 2]) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let path = head.split(' ').nth(1).unwrap_or_default().trim_start_matches('/').to_owned();
    let content = {
        let served = shown.lock().unwrap();
        if served.stalled.as_ref().is_some_and(|stalled| path.starts_with(stalled)) {
            drop(served);
            std::thread::sleep(Duration::from_secs(60));
            return;
        }
        let withheld = served.withheld.iter().any(|withheld| path.starts_with(withheld));
        let logs = [("log/table/", &served.table), ("log/dealer/", &served.dealer)];
        let file = logs
            .into_iter()
            .zip(keys)
            .find_map(|((prefix, log), key)| log.file(key, path.strip_prefix(prefix)?));
        served.replaced.get(&path).cloned().or(file).filter(|_| !withheld)
    };
    let (status, content) = content.map_or(("404 Not Found", Vec::new()), |it| ("200 OK", it));
    let length = content.len();
    let head =
        format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    // A monitor may have left.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&content));
}
