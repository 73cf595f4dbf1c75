//! Faults, after which a log is not signed any more, and errors that pass.

use eventlog::ReadError;
use eventlog::archive::MountError;
use eventlog::store::StoreError;
use merkle::{BuildError, CheckpointError, Refusal, TileId, TilesError};

/// Reason why nothing more is signed. None of them passes by itself.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Fault {
    #[error("the newest stored checkpoint, number {number}, is none of this log under its key")]
    Checkpoint { number: u64, source: CheckpointError },
    #[error("{file} remembers a checkpoint that is none of this log under its key")]
    CheckpointFile { file: String, source: CheckpointError },
    #[error("the stored records do not lead to the tree of {size} records that was signed")]
    Rewritten { size: u64 },
    #[error("the stored tiles are not those of the tree that was signed: {0}")]
    Tiles(TilesError),
    #[error("the store has no record at position {position}, or one that stands elsewhere")]
    Gap { position: u64 },
    #[error(
        "the stored records are not those that were acknowledged: other tree of {size} records"
    )]
    NotAcknowledged { size: u64 },
    #[error("record {position} is not the one that was written there: it was changed after that")]
    Changed { position: u64 },
    #[error("the store contradicts itself: {0}")]
    Store(std::sync::Arc<str>),
    #[error(
        "the log was cut at position {size} before its tiles were built: restore the archives, \
         start the service once, and remove them again"
    )]
    Archived { size: u64 },
    #[error(transparent)]
    Contradiction(#[from] Refusal),
}

/// Error of one attempt to read, prove or sign.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotaryError {
    #[error("the log's store is unavailable")]
    Unavailable(#[source] eventlog::store::StoreError),
    /// Another process has signed a checkpoint under the next number.
    #[error("another process has signed")]
    Superseded,
    #[error("{0} is not in the store")]
    MissingTile(TileId),
    /// The archives cannot be read, or one of them is damaged. The log is sound.
    #[error(transparent)]
    Archive(#[from] MountError),
    /// Too many read for callers at once.
    #[error("too many read this log at once")]
    Busy,
    #[error(transparent)]
    Fault(Box<Fault>),
}

impl NotaryError {
    /// Whether records were removed that archives may have.
    pub(crate) fn is_archived(&self) -> bool {
        matches!(self, NotaryError::Fault(fault) if matches!(**fault, Fault::Archived { .. }))
    }
}

impl From<Fault> for NotaryError {
    fn from(fault: Fault) -> NotaryError {
        NotaryError::Fault(Box::new(fault))
    }
}

impl From<Refusal> for NotaryError {
    fn from(refusal: Refusal) -> NotaryError {
        Fault::Contradiction(refusal).into()
    }
}

impl From<StoreError> for NotaryError {
    fn from(error: StoreError) -> NotaryError {
        match error {
            StoreError::Unavailable(_)
            | StoreError::InDoubt(_)
            | StoreError::Refused(_)
            | StoreError::Clock(_) => NotaryError::Unavailable(error),
            StoreError::Corrupt(what) => Fault::Store(what).into(),
        }
    }
}

impl From<ReadError> for NotaryError {
    fn from(error: ReadError) -> NotaryError {
        match error {
            ReadError::Unavailable { source } => NotaryError::Unavailable(StoreError::Unavailable(
                source.unwrap_or_else(|| std::sync::Arc::new(Stopped)),
            )),
            ReadError::Stopped => {
                NotaryError::Unavailable(StoreError::Unavailable(std::sync::Arc::new(Stopped)))
            }
            ReadError::Corrupt(what) => Fault::Store(what).into(),
            ReadError::Archived { size } => Fault::Archived { size }.into(),
            ReadError::Archive(error) => NotaryError::Archive(error),
        }
    }
}

impl From<TilesError> for NotaryError {
    fn from(error: TilesError) -> NotaryError {
        Fault::Tiles(error).into()
    }
}

impl From<BuildError> for NotaryError {
    fn from(error: BuildError) -> NotaryError {
        Fault::Store(error.to_string().into()).into()
    }
}

/// Error of a read that was broken off.
#[derive(Debug, thiserror::Error)]
#[error("the read was broken off")]
struct Stopped;
