//! Faults, after which a log is not signed any more, and errors that pass.

use eventlog::ReadError;
use eventlog::store::StoreError;
use merkle::{BuildError, CheckpointError, Refusal, TileId, TilesError};

/// Reason why nothing more is signed. None of them passes by itself.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Fault {
    #[error("the newest stored checkpoint, number {number}, is none of this log under its key")]
    Checkpoint { number: u64, source: CheckpointError },
    #[error("{file} remembers a checkpoint that is none of this log under its key")]
    Memory { file: String, source: CheckpointError },
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
pub(crate) enum Trouble {
    #[error("the log's store is unavailable")]
    Passing(#[source] eventlog::store::StoreError),
    /// Another process has signed a checkpoint under the next number.
    #[error("another process has signed")]
    Overtaken,
    #[error("{0} is not in the store")]
    Missing(TileId),
    #[error(transparent)]
    Fault(Box<Fault>),
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Trouble {
        Trouble::Fault(Box::new(fault))
    }
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Trouble {
        Fault::Contradiction(refusal).into()
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Trouble {
        match error {
            StoreError::Unavailable(_)
            | StoreError::InDoubt(_)
            | StoreError::Refused(_)
            | StoreError::Clock(_) => Trouble::Passing(error),
            StoreError::Corrupt(what) => Fault::Store(what).into(),
        }
    }
}

impl From<ReadError> for Trouble {
    fn from(error: ReadError) -> Trouble {
        match error {
            ReadError::Unavailable { source } => Trouble::Passing(StoreError::Unavailable(
                source.unwrap_or_else(|| std::sync::Arc::new(Stopped)),
            )),
            ReadError::Stopped => {
                Trouble::Passing(StoreError::Unavailable(std::sync::Arc::new(Stopped)))
            }
            ReadError::Corrupt(what) => Fault::Store(what).into(),
            ReadError::Archived { size } => Fault::Archived { size }.into(),
        }
    }
}

impl From<TilesError> for Trouble {
    fn from(error: TilesError) -> Trouble {
        Fault::Tiles(error).into()
    }
}

impl From<BuildError> for Trouble {
    fn from(error: BuildError) -> Trouble {
        Fault::Store(error.to_string().into()).into()
    }
}

/// Error of a read that was broken off.
#[derive(Debug, thiserror::Error)]
#[error("the read was broken off")]
struct Stopped;
