//! Streams of the table service's log that it still reads, so that they stay when old events are
//! removed: those of disputes, whose words are in no snapshot. Whoever asks for others is told so.
//!
//! Specification: ARCHITECTURE.md §2.11.

use std::sync::Arc;

use eventlog::archive::MountError;
use eventlog::{PgStore, ReadError, Reader, StreamId};
use proto::common::v1::ErrorReason;

use wire::{ApiRefusal, api_refusal, status};

use crate::service::LOG;
use crate::snapshot::{self, Snapshot};

/// The streams that stay cannot be told, or the service could not start from what stays.
#[derive(Debug, thiserror::Error)]
pub enum RetentionError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(
        "the table service could not start without these events: its newest snapshot is of the first \
         {newest}, and it must reach to position {cut}. The service takes one when it stops, if a \
         hundredth of SABACC_SNAPSHOT_EVENTS came since the last: stop and start it, and remove the \
         range then"
    )]
    NoSnapshot { newest: u64, cut: u64 },
}

/// Number of events that the newest snapshot is of; 0 without one.
///
/// # Errors
/// The log or the snapshots cannot be read.
pub async fn newest_snapshot(store: &Arc<PgStore>) -> Result<u64, ReadError> {
    Ok(newest(store).await?.size)
}

async fn newest(store: &Arc<PgStore>) -> Result<Snapshot, ReadError> {
    let reader = Reader::new(Arc::<PgStore>::clone(store), LOG);
    Ok(snapshot::newest(&reader, &store.snapshots(LOG)).await?.unwrap_or_default())
}

/// Streams that stay when all events before `cut` are removed.
///
/// # Errors
/// The log cannot be read, or there is no snapshot of at least the first `cut` events.
pub async fn retained_streams(
    store: &Arc<PgStore>,
    cut: u64,
) -> Result<Vec<StreamId>, RetentionError> {
    let Snapshot { size: newest, state } = newest(store).await?;
    if newest < cut {
        return Err(RetentionError::NoSnapshot { newest, cut });
    }
    Ok(state.disputes().map(StreamId::from).collect())
}

/// Refusal of a question about records that cannot be read, or were removed.
pub(crate) fn read_refusal(error: &ReadError) -> ApiRefusal {
    match error {
        ReadError::Archived { size } => {
            let message =
                format!("records before position {size} are archived: have them restored");
            api_refusal(ErrorReason::NotInLog, message)
        }
        ReadError::Archive(MountError::Unavailable(_)) => {
            status::unavailable("the storage of the log's archives does not answer")
        }
        ReadError::Archive(error @ MountError::Damaged { .. }) => {
            api_refusal(ErrorReason::Corrupt, error.to_string())
        }
        ReadError::Unavailable { .. } | ReadError::Corrupt(_) | ReadError::Stopped => {
            status::unavailable("the log cannot be read")
        }
    }
}
