//! Monitoring of the logs' checkpoints, to detect a log that shows different histories to different
//! viewers or at different times.
//!
//! [`CheckpointMonitor`] takes the logs' keys, which come from a trusted source, and a
//! [`CheckpointStore`] that outlives the program. Each [`check`](CheckpointMonitor::check), best at
//! every hand's end, fetches each log's newest checkpoint, verifies its signature, and verifies a
//! proof that the remembered tree is its prefix. On a failure the answer holds both signed notes
//! ([`Contradiction`]): they prove the log's fault to anybody who has its key.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use merkle::note::VerifierKey;
use merkle::{Checkpoint, CheckpointError, Hash, TreeHead, verify_consistency};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use proto::audit::v1 as pb;
use proto::audit::v1::log_service_client::LogServiceClient;

use crate::connection::Client;
use crate::durable;
use crate::error::Error;

/// Characters of an origin that are escaped in the name of its file.
const UNSAFE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');

/// Storage for the last checkpoint of each log.
pub trait CheckpointStore: Send + Sync {
    /// Returns the stored note of a log, if there is one.
    ///
    /// # Errors
    /// The note cannot be read.
    fn load(&self, origin: &str) -> io::Result<Option<String>>;

    /// Replaces the stored note of a log. The new one survives a crash.
    ///
    /// # Errors
    /// The note cannot be written.
    fn save(&self, origin: &str, note: &str) -> io::Result<()>;
}

/// Storage in memory, lost with the process.
#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<BTreeMap<String, String>>);

/// Storage in a directory, one file for each log.
#[derive(Debug)]
pub struct DirectoryStore(PathBuf);

/// Monitor that compares the remembered checkpoints with those that the logs show.
#[derive(Debug)]
pub struct CheckpointMonitor<M> {
    logs: Vec<VerifierKey>,
    witnesses: Vec<VerifierKey>,
    store: M,
}

/// Monitor that several clients share: one of them checks at a time.
pub type SharedMonitor = tokio::sync::Mutex<CheckpointMonitor<DirectoryStore>>;

/// Log whose checkpoint was verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedLog {
    pub origin: String,
    pub head: TreeHead,
    /// Number of known witnesses whose cosignatures are valid.
    pub cosignatures: usize,
}

/// Two notes signed with one log's key that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    pub origin: String,
    pub kind: ContradictionKind,
    /// The note that was stored.
    pub remembered: String,
    /// The note that the log shows.
    pub shown: String,
}

/// Kind of a contradiction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContradictionKind {
    /// Two trees of one size: proof against the log without further evidence.
    Fork,
    /// The log shows fewer records than it signed before.
    Rewound,
    /// The log cannot prove that the older tree is a prefix of the newer.
    Unproved,
}

/// Error of a check of the logs.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error("THE LOG {} CONTRADICTS ITSELF: {}; keep both notes:\n{}\n{}", .0.origin, .0.kind, .0.remembered, .0.shown)]
    Contradiction(Box<Contradiction>),
    /// The answer is not signed with the log's key.
    #[error("what is shown as {origin} is not signed by it: {source}\n{shown}")]
    Unsigned { origin: String, shown: String, source: CheckpointError },
    #[error("what is remembered of {origin} is damaged: {source}")]
    Corrupt { origin: String, source: CheckpointError },
    #[error("what is known of {origin} cannot be remembered: {source}")]
    Store { origin: String, source: io::Error },
    #[error(transparent)]
    Call(#[from] Error),
}

impl std::fmt::Display for ContradictionKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ContradictionKind::Fork => "it signed two trees of one size",
            ContradictionKind::Rewound => "it shows fewer records than it signed before",
            ContradictionKind::Unproved => "it cannot prove that it only grew",
        })
    }
}

impl<M: CheckpointStore> CheckpointMonitor<M> {
    /// Creates a monitor. `keys` holds the keys of logs, whose names end in `/table`, `/dealer` or
    /// `/wallet`, and of witnesses.
    pub fn new(keys: impl IntoIterator<Item = VerifierKey>, memory: M) -> CheckpointMonitor<M> {
        let (logs, witnesses) = keys.into_iter().partition(VerifierKey::is_log);
        CheckpointMonitor { logs, witnesses, store: memory }
    }

    /// Checks every log once.
    ///
    /// # Errors
    /// See [`CheckError`]; stops at the first log that fails.
    pub async fn check(&self, client: &Client) -> Result<Vec<VerifiedLog>, CheckError> {
        let mut all = Vec::new();
        for log in &self.logs {
            all.push(self.check_log(client, log).await?);
        }
        Ok(all)
    }

    async fn check_log(
        &self,
        client: &Client,
        log: &VerifierKey,
    ) -> Result<VerifiedLog, CheckError> {
        let origin = log.name().as_str();
        let name = origin.rsplit('/').next().unwrap_or(origin);
        let remembered = self.load(log)?;
        let shown = client.checkpoint(name).await?;
        let opened =
            Checkpoint::open(shown.as_bytes(), log, &self.witnesses).map_err(|source| {
                CheckError::Unsigned { origin: origin.to_owned(), shown: shown.clone(), source }
            })?;
        let head = opened.checkpoint.head();
        if let Some((old, remembered)) = &remembered
            && let Some(how) = contradiction(client, name, *old, head).await?
        {
            let (origin, remembered) = (origin.to_owned(), remembered.clone());
            let found = Contradiction { origin, kind: how, remembered, shown };
            return Err(CheckError::Contradiction(Box::new(found)));
        }
        if remembered.is_none_or(|(old, _)| old != head) {
            let kept = self.store.save(origin, &shown);
            kept.map_err(|source| CheckError::Store { origin: origin.to_owned(), source })?;
        }
        Ok(VerifiedLog { origin: origin.to_owned(), head, cosignatures: opened.cosignatures.len() })
    }

    fn load(&self, log: &VerifierKey) -> Result<Option<(TreeHead, String)>, CheckError> {
        let origin = log.name().to_string();
        let note = match self.store.load(&origin) {
            Ok(Some(note)) => note,
            Ok(None) => return Ok(None),
            Err(source) => return Err(CheckError::Store { origin, source }),
        };
        match Checkpoint::open(note.as_bytes(), log, &[]) {
            Ok(opened) => Ok(Some((opened.checkpoint.head(), note))),
            Err(source) => Err(CheckError::Corrupt { origin, source }),
        }
    }
}

/// Returns how the newer tree contradicts the older, if it does.
async fn contradiction(
    client: &Client,
    log: &str,
    old: TreeHead,
    new: TreeHead,
) -> Result<Option<ContradictionKind>, Error> {
    if new.size < old.size {
        return Ok(Some(ContradictionKind::Rewound));
    }
    if new.size == old.size {
        return Ok((new.root != old.root).then_some(ContradictionKind::Fork));
    }
    let proof = match client.consistency(log, old.size, new.size).await {
        Ok(proof) => proof,
        // The server answered without a proof.
        Err(Error::Refused(_) | Error::Malformed(_)) => {
            return Ok(Some(ContradictionKind::Unproved));
        }
        Err(error) => return Err(error),
    };
    let (old, new) = ((old.size, &old.root), (new.size, &new.root));
    Ok(verify_consistency(old, new, &proof).is_err().then_some(ContradictionKind::Unproved))
}

impl Client {
    /// Returns the newest checkpoint of a log ("table", "dealer" or "wallet") as a signed note, not
    /// verified.
    ///
    /// # Errors
    /// See [`Error`]; mostly `NOT_SIGNED`.
    pub async fn checkpoint(&self, log: &str) -> Result<String, Error> {
        let request = pb::GetCheckpointRequest { log: log.to_owned() };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                LogServiceClient::new(channel).get_checkpoint(request).await
            })
            .await?;
        Ok(answer.checkpoint)
    }

    /// Returns the proof that a log's tree of `old` records is a prefix of its tree of `new`
    /// records, not verified.
    ///
    /// # Errors
    /// See [`Error`]; mostly `NOT_IN_LOG`.
    pub async fn consistency(&self, log: &str, old: u64, new: u64) -> Result<Vec<Hash>, Error> {
        let request =
            pb::ProveConsistencyRequest { log: log.to_owned(), old_size: old, new_size: new };
        let answer = self
            .call_with_retries(request, |channel, request| async move {
                LogServiceClient::new(channel).prove_consistency(request).await
            })
            .await?;
        let hash = |hash: Vec<u8>| {
            Hash::try_from(hash).map_err(|_| Error::Malformed("a hash of a proof is not 32 bytes"))
        };
        answer.proof.into_iter().map(hash).collect()
    }
}

impl CheckpointStore for MemoryStore {
    fn load(&self, origin: &str) -> io::Result<Option<String>> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).get(origin).cloned())
    }

    fn save(&self, origin: &str, note: &str) -> io::Result<()> {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.insert(origin.to_owned(), note.to_owned());
        Ok(())
    }
}

impl DirectoryStore {
    /// Opens a directory, and creates it if it is missing.
    ///
    /// # Errors
    /// The directory cannot be created.
    pub fn open(folder: impl Into<PathBuf>) -> io::Result<DirectoryStore> {
        let folder = folder.into();
        durable::create_directory(&folder, DirBuilder::new().recursive(true))?;
        Ok(DirectoryStore(folder))
    }

    /// Path of an origin's file; characters that are unsafe in a name are escaped.
    fn path(&self, origin: &str) -> PathBuf {
        self.0.join(format!("{}.checkpoint", utf8_percent_encode(origin, UNSAFE)))
    }
}

impl CheckpointStore for DirectoryStore {
    fn load(&self, origin: &str) -> io::Result<Option<String>> {
        match fs::read_to_string(self.path(origin)) {
            Ok(note) => Ok(Some(note)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn save(&self, origin: &str, note: &str) -> io::Result<()> {
        let path = self.path(origin);
        let new = path.with_extension("new");
        fs::write(&new, note)?;
        fs::File::open(&new)?.sync_all()?;
        fs::rename(new, path)?;
        durable::sync_directory(&self.0)
    }
}
