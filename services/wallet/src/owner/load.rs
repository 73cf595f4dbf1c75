//! Reads the ledger at start and after a failure, from the log alone.
//!
//! The state is folded from the log: from a snapshot whose SHA-256 an event names and the events
//! after it, or from the beginning. A log that was cut ([`eventlog::archive`]) needs a snapshot
//! that is not older than the cut. The tables are then compared with that state, and nothing is read
//! from them before; a wallet whose tables differ serves nothing (`LoadError::Differs`). With many
//! accounts that takes longer than [`COMPARISON_WAIT`]: the wallet then posts transfers meanwhile,
//! which it decides by the state of the log alone, and stops where the tables turn out to differ.
//! Tables that were emptied, whose rebuild did not end, or that lack the newest transfer behind the
//! snapshot are rebuilt.
//!
//! Another process that takes the log meanwhile writes events and rows between two reads made here,
//! so that sound tables seem to differ. So an error that would end the wallet counts only once the
//! log is confirmed to be still owned; otherwise the ledger is read again.
//!
//! Specification: ARCHITECTURE.md §2.10.

use std::time::Duration;

use eventlog::{AppendError, Log, Position, ReadError, Reader, SnapshotPlace};
use ledger::{Event, InvariantViolation, Ledger, check_conservation, evolve, snapshot};
use sha2::{Digest as _, Sha256};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{sleep, timeout};

use crate::record::{self, Corrupt};
use crate::repo::{Comparison, GroupRows, Repo};
use crate::rows::{EntryRow, Rows};
use crate::verify::Difference;
use crate::wallet::Tables;

/// Longest time for which a start waits for the comparison of the tables.
const COMPARISON_WAIT: Duration = Duration::from_secs(1);
/// Pause after a comparison of the tables that could not be made.
const COMPARISON_PAUSE: Duration = Duration::from_secs(5);

/// Error of reading the ledger.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    #[error("the wallet's log is corrupt: {0}")]
    InvariantViolation(#[from] InvariantViolation),
    #[error(
        "the wallet's tables are not what its log says: {0}. Nothing is served from them, and what \
         the log says stands. Find out who changed them. To have them made anew from the log run \
         `sabacc migrate --rebuild`, and start the wallet again"
    )]
    Differs(Difference),
    #[error(
        "the first {events} events of the wallet's log are not those that it was made of: somebody \
         changed the database. Nothing is served by them. Run `sabacc audit log wallet`, and compare \
         with a backup"
    )]
    Rewritten { events: u64 },
    #[error(
        "the wallet's log was cut at position {cut}, and no snapshot from there on is stored that the \
         log vouches for: put the archive back with `sabacc archive restore FILE`, the newest first"
    )]
    NoSnapshot { cut: u64 },
}

impl LoadError {
    /// Whether reading again would fail again until an operator acts.
    pub(super) const fn is_final(&self) -> bool {
        match self {
            LoadError::Read(ReadError::Unavailable { .. } | ReadError::Stopped) => false,
            LoadError::Read(
                ReadError::Corrupt(_) | ReadError::Archived { .. } | ReadError::Archive(_),
            )
            | LoadError::Corrupt(_)
            | LoadError::InvariantViolation(_)
            | LoadError::Differs(_)
            | LoadError::Rewritten { .. }
            | LoadError::NoSnapshot { .. } => true,
        }
    }
}

/// A state that the log vouches for.
pub(crate) struct StartingState {
    pub(crate) ledger: Ledger,
    /// Number of events in it.
    pub(crate) size: u64,
}

/// The ledger as of the log's end.
pub(super) struct LoadedLedger {
    pub(super) ledger: Ledger,
    /// Size of the snapshot that it was folded from; 0 for none.
    pub(super) snapshot_size: u64,
    /// Comparison of the tables, if it goes on. Until it ends the tables are not read.
    pub(super) comparison: JoinSet<Result<(), LoadError>>,
}

impl LoadedLedger {
    /// A ledger whose tables, if it has any, agree with it.
    pub(super) fn compared(ledger: Ledger, snapshot_size: u64) -> LoadedLedger {
        LoadedLedger { ledger, snapshot_size, comparison: JoinSet::new() }
    }
}

/// Reads the ledger as of the log's end. Where few accounts are to be compared, the tables agree with
/// it.
pub(super) async fn load(log: &Log, tables: &Tables) -> Result<LoadedLedger, LoadError> {
    confirm_if_final(log, read(log, tables).await).await
}

/// Passes a result on. A final error counts only if the log is still owned by this process.
pub(super) async fn confirm_if_final<T>(
    log: &Log,
    found: Result<T, LoadError>,
) -> Result<T, LoadError> {
    if found.as_ref().is_err_and(LoadError::is_final) {
        log.confirm_ownership().await.map_err(|error| match error {
            AppendError::Unavailable { source } => ReadError::Unavailable { source },
            AppendError::Lost
            | AppendError::Clock(_)
            | AppendError::Duplicate { .. }
            | AppendError::Empty
            | AppendError::QueueFull
            | AppendError::Misplaced { .. }
            | AppendError::TooLarge { .. }
            | AppendError::DuplicateInGroup { .. } => ReadError::Stopped,
        })?;
    }
    found
}

async fn read(log: &Log, tables: &Tables) -> Result<LoadedLedger, LoadError> {
    let Some(repo) = &tables.repo else {
        let ledger = fold(log, genesis(), None).await?.ledger;
        return Ok(LoadedLedger::compared(ledger, 0));
    };
    tables.set_readable(false);
    if !repo.follows_log().await? {
        return rebuild(log, tables, repo).await;
    }
    let start = starting_state(log, repo).await?;
    let snapshot = start.size;
    let FoldedLog { ledger, newest_entry } = fold(log, start, None).await?;
    // Events that another program has added have no rows.
    if let Some(newest) = newest_entry
        && repo.entries_at(&[newest]).await?.is_empty()
    {
        return rebuild(log, tables, repo).await;
    }
    let (events, accounts) = (log.size(), ledger.accounts().len());
    tracing::info!(events, snapshot, accounts, "loaded");
    let begun = repo.begin_comparison(ledger.clone()).await?;
    let mut comparison = JoinSet::new();
    comparison.spawn(compare(log.clone(), begun));
    if let Ok(Some(compared)) = timeout(COMPARISON_WAIT, comparison.join_next()).await {
        finish_comparison(compared, tables)?;
    }
    Ok(LoadedLedger { ledger, snapshot_size: snapshot, comparison })
}

async fn compare(log: Log, begun: Comparison) -> Result<(), LoadError> {
    let compared = match begun.run().await {
        Ok(None) => Ok(()),
        Ok(Some(difference)) => Err(LoadError::Differs(difference)),
        Err(error) => Err(error.into()),
    };
    let compared = confirm_if_final(&log, compared).await;
    if compared.as_ref().is_err_and(|error| !error.is_final()) {
        // The wallet serves meanwhile; afterwards the ledger is read again.
        sleep(COMPARISON_PAUSE).await;
    }
    compared
}

/// Ends the comparison of the tables, which are read from then on. An error that is not final says that
/// it could not be made: the ledger has to be read again.
pub(super) fn finish_comparison(
    compared: Result<Result<(), LoadError>, JoinError>,
    tables: &Tables,
) -> Result<(), LoadError> {
    let compared = compared.unwrap_or_else(|error| {
        tracing::error!(%error, "the comparison of the wallet's tables with its log failed");
        Err(ReadError::Stopped.into())
    });
    match &compared {
        Ok(()) => tables.set_readable(true),
        Err(LoadError::Differs(difference)) => {
            tracing::error!(%difference, "the wallet's tables are not what its log says");
        }
        Err(_) => {}
    }
    compared
}

/// Makes the tables anew from the log.
async fn rebuild(log: &Log, tables: &Tables, repo: &Repo) -> Result<LoadedLedger, LoadError> {
    // A new log has no tables yet, which deserves no warning.
    if log.size() > 0 {
        tracing::warn!(events = log.size(), "the wallet's tables are made anew from its log");
    }
    let ledger = fold(log, genesis(), Some(repo)).await?.ledger;
    tables.set_readable(true);
    Ok(LoadedLedger::compared(ledger, 0))
}

/// State before the first event.
pub(crate) fn genesis() -> StartingState {
    StartingState { ledger: Ledger::new(), size: 0 }
}

/// Newest snapshot that the log vouches for, otherwise the state before the first event.
pub(crate) async fn starting_state(log: &Log, repo: &Repo) -> Result<StartingState, LoadError> {
    if let Some(start) = newest_state(log.reader(), repo).await? {
        return Ok(start);
    }
    match log.reader().cut().await?.map_or(0, |cut| cut.size()) {
        0 => Ok(genesis()),
        cut => Err(LoadError::NoSnapshot { cut }),
    }
}

/// Size of the newest snapshot that the log vouches for, in events; the last of them names it.
///
/// # Errors
/// [`LoadError`] if the log or the tables cannot be read, or no wallet can have written the log.
pub async fn newest_snapshot(log: &Reader, repo: &Repo) -> Result<Option<u64>, LoadError> {
    Ok(newest_state(log, repo).await?.map(|start| start.size))
}

async fn newest_state(log: &Reader, repo: &Repo) -> Result<Option<StartingState>, LoadError> {
    let snapshots = repo.snapshots();
    for SnapshotPlace { size, named_at: _ } in snapshots.places().await? {
        let digest = snapshot_digest(log, size).await?;
        let Some(bytes) = snapshots.vouched_bytes(size, digest).await? else { continue };
        match snapshot::read(&bytes) {
            Ok(ledger) => return Ok(Some(StartingState { ledger, size })),
            Err(error) => tracing::error!(size, %error, "a snapshot of the log cannot be read"),
        }
    }
    Ok(None)
}

/// SHA-256 of the snapshot of the first `size` events, if the last of them names one.
async fn snapshot_digest(log: &Reader, size: u64) -> Result<Option<[u8; 32]>, LoadError> {
    let Some(last) = size.checked_sub(1) else { return Ok(None) };
    let events = match log.read(Position(last), 1).await {
        Ok(events) => events,
        Err(ReadError::Archived { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let Some(stored) = events.first() else { return Ok(None) };
    match record::parse(stored)? {
        Some(Event::SnapshotTaken { digest }) => Ok(Some(digest)),
        None
        | Some(
            Event::AccountOpened(_)
            | Event::TransferPosted(_)
            | Event::AccountFrozen { .. }
            | Event::AccountUnfrozen { .. }
            | Event::AccountClosed { .. }
            | Event::HoldPlaced(_)
            | Event::HoldReleased(_)
            | Event::HoldExpired(_)
            | Event::LimitsSet { .. }
            | Event::PlayerExcluded { .. }
            | Event::AdjustmentProposed(_)
            | Event::AdjustmentRejected { .. },
        ) => Ok(None),
    }
}

/// Applies a stored event to the ledger and adds its rows. Fails if a snapshot event names another
/// state than the events before it lead to.
pub(crate) fn apply_stored(
    ledger: &mut Ledger,
    rows: &mut Rows,
    stored: &eventlog::Event,
) -> Result<(), LoadError> {
    let Some(event) = record::parse(stored)? else { return Ok(()) };
    let replaced = evolve(ledger, stored.recorded_at, &event);
    rows.add(ledger, stored.position, &event, replaced);
    if let Event::SnapshotTaken { digest } = event
        && Sha256::digest(snapshot::write(ledger))[..] != digest[..]
    {
        let what = "the snapshot it names is of another state than the events before it lead to";
        return Err(Corrupt { position: stored.position.0, reason: what.to_owned() }.into());
    }
    Ok(())
}

/// The ledger as of the log's end, and the last entry of the events that were read for it.
struct FoldedLog {
    ledger: Ledger,
    newest_entry: Option<EntryRow>,
}

/// Folds the log from a state on, and makes the tables of `repo` anew if it is given.
async fn fold(
    log: &Log,
    start: StartingState,
    repo: Option<&Repo>,
) -> Result<FoldedLog, LoadError> {
    let StartingState { mut ledger, size } = start;
    let mut newest_entry = None;
    if let Some(repo) = repo {
        // The log must be readable from its beginning before the tables are emptied. The first event
        // alone may be there after a cut too.
        if let Some(cut) = log.reader().cut().await?.filter(|cut| cut.size() > 0) {
            return Err(ReadError::Archived { size: cut.size() }.into());
        }
        repo.empty_tables(log.epoch()).await?;
        let house = GroupRows { rows: Rows::genesis(), states: Vec::new() };
        repo.add_rows(0, 0, &house).await?;
    }
    let mut from = size;
    let mut pages = log.reader().pages(Position(size)..Position(u64::MAX));
    while let Some(events) = pages.next().await? {
        let to = from + events.len() as u64;
        let mut rows = Rows::default();
        for stored in &events {
            apply_stored(&mut ledger, &mut rows, stored)?;
        }
        newest_entry = rows.entries.last().cloned().or(newest_entry);
        if let Some(repo) = repo {
            let states = rows.states(&ledger);
            repo.add_rows(from, to, &GroupRows { rows, states }).await?;
        }
        from = to;
    }
    if let Some(repo) = repo {
        repo.finish_rebuild(log.epoch(), from).await?;
    }
    check_conservation(&ledger)?;
    Ok(FoldedLog { ledger, newest_entry })
}
