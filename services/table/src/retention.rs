//! Streams of the table service's log that stay when old events are removed: those of disputes, whose
//! words are in no snapshot, and what the bundles of disputed hands and of hands to come need. A table
//! may be idle, or its hand suspended, for longer than events are kept. Whoever asks for other removed
//! records is told that they are archived.
//!
//! Specification: ARCHITECTURE.md §2.11.

use std::sync::Arc;

use eventlog::archive::MountError;
use eventlog::{Event, PgStore, ReadError, Reader, StreamId, Version};
use proto::common::v1::ErrorReason;

use wire::{ApiRefusal, TableRecord, api_refusal, status};

use crate::service::LOG;
use crate::snapshot::{self, Snapshot};

/// Records of a table that stay at the most, as many as a bundle may have.
const MAX_TAIL: u64 = 1024;
/// Records of a table that are read at a time.
const PAGE: u64 = 256;

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

/// Streams that stay when old events are removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RetainedStreams {
    pub whole: Vec<StreamId>,
    /// Streams of which the events from a version on stay.
    pub tails: Vec<(StreamId, Version)>,
}

/// Streams that stay when all events before `cut` are removed.
///
/// # Errors
/// The log cannot be read, or there is no snapshot of at least the first `cut` events.
pub async fn retained_streams(
    store: &Arc<PgStore>,
    cut: u64,
) -> Result<RetainedStreams, RetentionError> {
    let Snapshot { size: newest, state } = newest(store).await?;
    if newest < cut {
        return Err(RetentionError::NoSnapshot { newest, cut });
    }
    let mut retained = RetainedStreams::default();
    for dispute in state.disputes() {
        retained.whole.push(dispute.id.into());
        if dispute.answered.is_none() {
            retained.whole.push(dispute.hand.into());
        }
    }
    let log = Reader::new(Arc::<PgStore>::clone(store), LOG);
    for table in state.open_tables() {
        retained.whole.extend(table.hand.as_ref().map(|hand| StreamId::from(hand.id)));
        let stream = StreamId::from(table.id);
        retained.tails.extend(tail(&log, stream, cut).await?.map(|from| (stream, from)));
    }
    Ok(retained)
}

/// Version of a table's stream from which on the bundles of hands to come need its records, if that lies
/// before the cut: the last end but one of a hand that was played to its end. The dealer's commitment
/// to the next number stands behind that. At most [`MAX_TAIL`] records.
async fn tail(log: &Reader, stream: StreamId, cut: u64) -> Result<Option<Version>, ReadError> {
    let Some(end) = log.stream_end(stream).await? else { return Ok(None) };
    let oldest = end.version().0.saturating_sub(MAX_TAIL);
    let mut first = (end.position(), end.version());
    let (mut before, mut ends) = (end.version().0 + 1, 0);
    while before > oldest && ends < 2 {
        let page = page_before(log, stream, before).await?;
        let Some(earliest) = page.first() else { break };
        before = earliest.version.0;
        for event in page.into_iter().rev() {
            let is_end = matches!(
                TableRecord::try_from(&event),
                Ok(TableRecord::HandFinished(finished)) if !finished.aborted
            );
            ends += u32::from(is_end);
            first = (event.position, event.version);
            if ends == 2 {
                break;
            }
        }
    }
    let (position, version) = first;
    Ok((position.0 < cut).then_some(version))
}

/// Events of a stream before version `before`, as many as are there and no more than a page.
async fn page_before(log: &Reader, stream: StreamId, before: u64) -> Result<Vec<Event>, ReadError> {
    let mut size = PAGE.min(before.saturating_sub(1));
    while size > 0 {
        let from = Version(before - size);
        let limit = usize::try_from(size).unwrap_or(usize::MAX);
        match log.read_stream(stream, from, limit).await {
            // An earlier removal has left fewer.
            Err(ReadError::Archived { .. }) => size /= 2,
            page => return page,
        }
    }
    Ok(Vec::new())
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
