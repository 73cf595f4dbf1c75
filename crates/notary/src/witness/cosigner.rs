//! A witness: it cosigns a tree of a log that it follows only if the tree follows from the one
//! cosigned before. It keeps that one in a file. The file is durable before the cosignature is
//! sent, so that no two cosignatures contradict each other even after a crash.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use merkle::note::{Note, NoteError, Signature, VerifierKey, WitnessKey};
use merkle::witness::{AddCheckpoint, Unwitnessed};
use merkle::{Checkpoint, CheckpointError, TreeHead};

use crate::checkpoint_file::replace_file;

/// Witness of some logs.
pub struct Witness {
    key: WitnessKey,
    /// Keys of the logs, by origin.
    logs: BTreeMap<String, VerifierKey>,
    /// Folder with one file for each log.
    folder: PathBuf,
    /// The checkpoint of each log that was cosigned last, by origin. Locked while a request is
    /// decided.
    last_cosigned: Mutex<BTreeMap<String, Note>>,
}

/// Error of a witness that cannot start.
#[derive(Debug, thiserror::Error)]
pub enum WitnessError {
    #[error("{file} cannot be used: {source}")]
    File { file: String, source: std::io::Error },
    #[error(
        "{file} holds no checkpoint of {origin}: find out who wrote it; a witness who forgets is none"
    )]
    Corrupt { file: String, origin: String, source: CheckpointError },
    #[error("{0} is the key of a witness, not of a log")]
    NotALog(String),
    #[error("two keys are named for the log {0}")]
    DuplicateLog(String),
}

/// Reason why a request gets no cosignature.
#[derive(Debug, thiserror::Error)]
pub(super) enum CosignError {
    #[error(transparent)]
    Unwitnessed(#[from] Unwitnessed),
    #[error("the witness cannot remember it: {0}")]
    NotStored(std::io::Error),
}

impl Witness {
    /// Creates a witness of these logs that keeps its files in `folder`, which exists.
    pub fn open(
        key: WitnessKey,
        logs: Vec<VerifierKey>,
        folder: impl Into<PathBuf>,
    ) -> Result<Witness, WitnessError> {
        let folder = folder.into();
        let (mut by_origin, mut known) = (BTreeMap::new(), BTreeMap::new());
        for log in logs {
            if !log.is_log() {
                return Err(WitnessError::NotALog(log.to_string()));
            }
            let origin = log.name().as_str().to_owned();
            let path = folder.join(file_name(&origin));
            let file = path.display().to_string();
            match std::fs::read(&path) {
                Ok(note) => {
                    let note = parse_verified(&note, &log).map_err(|source| {
                        let origin = origin.clone();
                        WitnessError::Corrupt { file, origin, source }
                    })?;
                    known.insert(origin.clone(), note);
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(source) => return Err(WitnessError::File { file, source }),
            }
            if by_origin.insert(origin.clone(), log).is_some() {
                return Err(WitnessError::DuplicateLog(origin));
            }
        }
        Ok(Witness { key, logs: by_origin, folder, last_cosigned: Mutex::new(known) })
    }

    /// Returns the public key that verifies its cosignatures.
    #[must_use]
    pub const fn key(&self) -> &VerifierKey {
        self.key.public()
    }

    /// Cosigns at `time`, in Unix seconds. Waits for the disk.
    pub(super) fn cosign(
        &self,
        request: &AddCheckpoint,
        time: u64,
    ) -> Result<Signature, CosignError> {
        let origin = request.origin();
        // The lock is held until the file is written: each request is checked against the one
        // before it.
        let mut known = self.last_cosigned.lock().unwrap_or_else(PoisonError::into_inner);
        let last = known.get(origin).and_then(head);
        let checkpoint = request.check(self.logs.get(origin), last)?;
        if last != Some(checkpoint.head()) {
            let path = self.folder.join(file_name(origin));
            let note = request.note();
            replace_file(&path, note.to_string().as_bytes()).map_err(CosignError::NotStored)?;
            known.insert(origin.to_owned(), note.clone());
        }
        Ok(self.key.cosign(&checkpoint, time))
    }

    /// Returns the tree of a log that was cosigned last.
    #[must_use]
    pub fn last(&self, origin: &str) -> Option<TreeHead> {
        let known = self.last_cosigned.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(origin).and_then(head)
    }
}

fn head(note: &Note) -> Option<TreeHead> {
    Some(Checkpoint::parse(note.text()).ok()?.head())
}

fn parse_verified(note: &[u8], log: &VerifierKey) -> Result<Note, CheckpointError> {
    let note = Note::parse(note).map_err(|error: NoteError| CheckpointError::Note(error))?;
    Checkpoint::open_note(&note, log, &[])?;
    Ok(note)
}

/// Returns a file name that is unique to the origin, whatever characters the origin has.
fn file_name(origin: &str) -> String {
    use sha2::{Digest as _, Sha256};
    let hash: [u8; 32] = Sha256::digest(origin).into();
    format!("{}.checkpoint", hex::encode(&hash[..16]))
}
