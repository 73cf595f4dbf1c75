//! Streams of the dealer's log that it still reads, so that they stay when old events are removed.
//!
//! A hand is read again until its seed is open, and by the tests of outcomes where it goes on behind the
//! cut: they need its commitment. Of each table the newest promise stays as well, since
//! the next number is promised only behind it (`promises.rs`), and the stream of lost promises.
//!
//! Specification: ARCHITECTURE.md §2.11.

use std::collections::BTreeMap;
use std::io::Read;

use eventlog::archive::{Archive, ArchiveError};
use eventlog::{Position, ReadError, Reader, StreamId};
use primitives::TableId;
use wire::records::DealerRecord;

use crate::outcome_tests::{self, TestError};
use crate::record::Corrupt;

/// The streams that stay cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum RetentionError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    #[error(
        "the dealer's tests of its outcomes have covered the first {tested} events, and count on from \
         there: the range must not reach beyond"
    )]
    NotTested { tested: u64 },
}

impl From<TestError> for RetentionError {
    fn from(error: TestError) -> RetentionError {
        match error {
            TestError::Read(error) => error.into(),
            TestError::Corrupt(error) => error.into(),
        }
    }
}

/// Number of events that the dealer needs no more but for the streams that stay: those that its tests
/// of outcomes have covered.
///
/// # Errors
/// The log cannot be read, or holds an event that no dealer can have written.
pub async fn tested_until(log: &Reader) -> Result<u64, RetentionError> {
    Ok(outcome_tests::tested_until(log).await?)
}

/// Streams with events in an archive that the dealer still reads. The archive is read and not the log,
/// so that a removal which was interrupted can be repeated.
///
/// # Errors
/// The log or the archive cannot be read, the archive holds an event that no dealer can have written,
/// or reaches beyond what the tests of outcomes have covered.
pub async fn retained_streams(
    log: &Reader,
    mut archive: Archive<impl Read>,
) -> Result<Vec<StreamId>, RetentionError> {
    let tested = tested_until(log).await?;
    if tested < archive.header().range.end {
        return Err(RetentionError::NotTested { tested });
    }
    let cut = Position(archive.header().range.end);
    let mut hands: BTreeMap<StreamId, (TableId, u64)> = BTreeMap::new();
    while let Some(event) = archive.next_event()? {
        let corrupt = |what: String| Corrupt { position: event.position.0, what };
        let record = DealerRecord::try_from(&event).map_err(|error| corrupt(error.to_string()))?;
        if let DealerRecord::SeedCommitted(promised) = record {
            let table = wire::field::table_id(&promised.table_id);
            let table = table.map_err(|bad| corrupt(bad.to_string()))?;
            hands.insert(event.stream, (table, promised.hand_no));
        }
    }
    let mut retained = vec![StreamId::CHANCE];
    for (stream, (table, number)) in hands {
        let next = StreamId::from(fairness::hand_id(table, number.saturating_add(1)));
        let is_newest = log.last_of_stream(next).await?.is_none();
        if is_newest || !is_over_before(log, stream, cut).await? {
            retained.push(stream);
        }
    }
    Ok(retained)
}

/// Whether the last event of a hand opens its seed, and stands before the cut.
async fn is_over_before(
    log: &Reader,
    hand: StreamId,
    cut: Position,
) -> Result<bool, RetentionError> {
    let Some(last) = log.last_of_stream(hand).await? else { return Ok(false) };
    let opens_seed = matches!(DealerRecord::try_from(&last), Ok(DealerRecord::SeedOpened(_)));
    Ok(opens_seed && last.position < cut)
}
