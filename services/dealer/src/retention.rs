//! Streams of the dealer's log that it still reads, so that they stay when old events are removed.
//!
//! A hand is read again until its seed is open, and by the tests of outcomes where it goes on behind the
//! cut: they need its commitment. Of each table the newest promise stays as well, since
//! the next number is promised only behind it (`promises.rs`), and the stream of lost promises.
//!
//! Specification: ARCHITECTURE.md §2.11.

use std::collections::BTreeSet;
use std::io::Read;

use eventlog::archive::{Archive, ArchiveError};
use eventlog::{Position, ReadError, Reader, StreamId};
use proto::event::v1::EventType;
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
    let (mut hands, mut retained) = (BTreeSet::new(), BTreeSet::from([StreamId::CHANCE]));
    while let Some(event) = archive.next_event()? {
        let corrupt = |what: String| Corrupt { position: event.position.0, what };
        let record = DealerRecord::try_from(&event).map_err(|error| corrupt(error.to_string()))?;
        match record {
            DealerRecord::SeedCommitted(promised) => {
                let table = wire::field::table_id(&promised.table_id);
                let table = table.map_err(|bad| corrupt(bad.to_string()))?;
                let next = fairness::hand_id(table, promised.hand_no.saturating_add(1));
                if log.stream_end(next.into()).await?.is_none() {
                    retained.insert(event.stream);
                }
                hands.insert(event.stream);
            }
            // Of a hand that was promised in an earlier archive, perhaps.
            DealerRecord::CommitmentsClosed(_)
            | DealerRecord::SeedSealed(_)
            | DealerRecord::OperationPerformed(_)
            | DealerRecord::CardsOpened(_)
            | DealerRecord::SeedOpened(_) => drop(hands.insert(event.stream)),
            DealerRecord::ClockStepped(_)
            | DealerRecord::EntropyFailed(_)
            | DealerRecord::OutcomesTested(_)
            | DealerRecord::BiasFound(_)
            | DealerRecord::PromisesLost(_) => {}
        }
    }
    for hand in hands {
        if !retained.contains(&hand) && !is_over_before(log, hand, cut).await? {
            retained.insert(hand);
        }
    }
    Ok(retained.into_iter().collect())
}

/// Whether the last event of a hand opens its seed, and stands before the cut.
async fn is_over_before(
    log: &Reader,
    hand: StreamId,
    cut: Position,
) -> Result<bool, RetentionError> {
    let Some(end) = log.stream_end(hand).await? else { return Ok(false) };
    let opens_seed = i32::from(end.kind()) == i32::from(EventType::SeedOpened);
    Ok(opens_seed && end.position() < cut)
}
