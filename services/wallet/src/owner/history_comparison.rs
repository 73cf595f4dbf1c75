//! Comparison of every entry with the log, in the background after each start.
//!
//! Reads the whole log, or if it was cut from the snapshot on, at half the possible speed, and
//! looks up each page's entries by their key. It also counts the entries of each account, which
//! finds entries that no event made, and compares the positions at which accounts were opened.
//! Snapshots on the way are recomputed. The tree over the events is recomputed too, so a wallet
//! that reads its log again after a failure finds out whether it is the log that it wrote.
//!
//! An unreadable record ends the wallet as a difference does. If the database is away, the
//! comparison panics, or the log is cut meanwhile, it starts anew after a pause.
//!
//! Specification: services/wallet/README.md "State and events".

use std::collections::VecDeque;
use std::time::Duration;

use eventlog::{Log, Position, ReadError, TreeHead};
use tokio::task::JoinError;
use tokio::time::Instant;

use super::Owner;
use super::load::{self, LoadError, StartingState};
use crate::repo::Repo;
use crate::rows::{AccountRow, EntryRow, Rows};
use crate::verify::Difference;

/// Events in one read of the log.
const PAGE: usize = 1_000;
/// Pause before the comparison starts anew.
const RESTART_PAUSE: Duration = Duration::from_secs(1);
/// Shortest rest between two pages.
const MIN_REST: Duration = Duration::from_millis(1);

impl Owner {
    /// Starts the comparison anew, if there are tables.
    pub(super) fn verify_history(&mut self) {
        self.verify_history_after(Duration::ZERO);
    }

    /// Handles the end of a comparison: returns the error that ends the wallet, if any. A
    /// comparison without a result starts anew.
    pub(super) fn finish_comparison(
        &mut self,
        verified: Result<Result<(), LoadError>, JoinError>,
    ) -> Option<LoadError> {
        match ComparisonResult::of(verified) {
            ComparisonResult::Fatal(error) => return Some(error),
            ComparisonResult::Unknown => self.verify_history_after(RESTART_PAUSE),
            ComparisonResult::Equal => self.unverified_head = None,
            ComparisonResult::Cancelled => {}
        }
        None
    }

    fn verify_history_after(&mut self, pause: Duration) {
        self.comparison.abort_all();
        let Some(repo) = self.tables.repo.clone() else { return };
        let log = self.state.log.clone();
        let (written, found) = (self.unverified_head.map_or(0, |head| head.size), log.size());
        if written > found {
            // A replica took over that did not have all events: the wallet goes on from what there
            // is.
            tracing::error!(
                runbook = "deploy/README.md, The database is away",
                written,
                found,
                "the database has lost events that were acknowledged"
            );
            self.unverified_head = None;
        }
        let heads = self.unverified_head.into_iter().chain([log.head()]).collect();
        self.comparison.spawn(async move {
            tokio::time::sleep(pause).await;
            let verified = compare_history(&log, &repo, heads).await;
            load::confirm_if_final(&log, verified).await
        });
    }
}

/// Outcome of a comparison.
enum ComparisonResult {
    /// All entries agree with the log.
    Equal,
    /// The comparison was aborted.
    Cancelled,
    /// No result: the log or the database is away, or the log was cut meanwhile.
    Unknown,
    Fatal(LoadError),
}

impl ComparisonResult {
    fn of(verified: Result<Result<(), LoadError>, JoinError>) -> ComparisonResult {
        match verified {
            Ok(Ok(())) => ComparisonResult::Equal,
            Ok(Err(LoadError::Read(
                error @ (ReadError::Unavailable { .. }
                | ReadError::Stopped
                | ReadError::Archived { .. }
                | ReadError::Archive(_)),
            ))) => {
                tracing::warn!(runbook = "deploy/README.md, The database is away", %error, "the entries were not all compared with the log: again in a moment");
                ComparisonResult::Unknown
            }
            Ok(Err(
                error @ (LoadError::Read(ReadError::Corrupt(_))
                | LoadError::Differs(_)
                | LoadError::Corrupt(_)
                | LoadError::InvariantViolation(_)
                | LoadError::Rewritten { .. }
                | LoadError::NoSnapshot { .. }),
            )) => ComparisonResult::Fatal(error),
            Err(error) if error.is_cancelled() => ComparisonResult::Cancelled,
            Err(error) => {
                tracing::error!(%error, "the comparison with the log failed: again in a moment");
                ComparisonResult::Unknown
            }
        }
    }
}

/// Compares the entries of all events below the last of `heads`, and the root of each head with
/// that of the events below it.
///
/// # Errors
/// [`LoadError::Differs`], [`LoadError::Rewritten`] and [`LoadError::Corrupt`] if something is
/// wrong; others if the comparison could not be made.
async fn compare_history(log: &Log, repo: &Repo, heads: Vec<TreeHead>) -> Result<(), LoadError> {
    let mut tree = log.reader().cut().await?.unwrap_or_default();
    // Archived events cannot be read here.
    let mut heads: VecDeque<_> =
        heads.into_iter().filter(|head| head.size >= tree.size()).collect();
    let StartingState { mut ledger, size: first } =
        if tree.size() == 0 { load::genesis() } else { load::starting_state(log, repo).await? };
    compare_opened_positions(repo, &Rows::genesis().opened).await?;
    let mut counts = EntryCounts::default();
    while let Some(head) = heads.front() {
        let rewritten = LoadError::Rewritten { events: head.size };
        if tree.size() >= head.size {
            if (tree.size(), tree.root()) != (head.size, head.root) {
                return Err(rewritten);
            }
            heads.pop_front();
            continue;
        }
        let began = Instant::now();
        let limit = usize::try_from(head.size - tree.size()).unwrap_or(PAGE).min(PAGE);
        let events = log.read(Position(tree.size()), limit).await?;
        if events.is_empty() {
            return Err(rewritten);
        }
        let mut rows = Rows::default();
        for stored in &events {
            tree.push(&stored.record());
            if stored.position.0 >= first {
                load::apply_stored(&mut ledger, &mut rows, stored)?;
            }
        }
        rows.entries.sort_unstable_by_key(|row| (row.position, row.account));
        counts.add(&rows.entries);
        compare_opened_positions(repo, &rows.opened).await?;
        let found = repo.entries_at(&rows.entries).await?;
        let name = |number| account_name(&ledger, number);
        if let Some(difference) = first_difference(&rows.entries, &found, name) {
            return Err(LoadError::Differs(difference));
        }
        tokio::time::sleep(began.elapsed().max(MIN_REST)).await;
    }
    let found = repo.entry_counts(first..tree.size()).await?;
    match counts.first_difference(&found) {
        Some((number, expected, found)) => Err(LoadError::Differs(Difference {
            table: "entries",
            account: account_name(&ledger, number),
            position: None,
            column: "row",
            expected: format!("{expected} of them"),
            found: found.to_string(),
        })),
        None => {
            tracing::info!(events = tree.size(), from = first, "every entry is what the log says");
            Ok(())
        }
    }
}

/// Compares the positions at which accounts were opened.
async fn compare_opened_positions(repo: &Repo, expected: &[AccountRow]) -> Result<(), LoadError> {
    let found = repo.opened_positions(expected).await?;
    let other = expected.iter().find(|row| found.get(&row.number) != Some(&row.opened));
    let Some(row) = other else { return Ok(()) };
    let there = found.get(&row.number);
    Err(LoadError::Differs(Difference {
        table: "accounts",
        account: row.account.to_string(),
        position: Some(row.opened.0),
        column: if there.is_some() { "opened" } else { "row" },
        expected: row.opened.0.to_string(),
        found: there.map_or_else(|| "none".to_owned(), |opened| opened.0.to_string()),
    }))
}

/// Name of the account with this number. Searches all accounts; only used for errors.
fn account_name(ledger: &ledger::Ledger, number: u32) -> String {
    let of_number = ledger.accounts().find(|(_, state)| state.number == number);
    of_number.map_or_else(|| format!("account {number}"), |(account, _)| account.to_string())
}

fn first_difference(
    expected: &[EntryRow],
    found: &[EntryRow],
    name: impl Fn(u32) -> String,
) -> Option<Difference> {
    let at = expected.iter().zip(found).position(|(expected, found)| expected != found);
    let at = at.or((expected.len() != found.len()).then_some(found.len()))?;
    let row = expected.get(at)?;
    let there = found.get(at).filter(|it| (it.position, it.account) == (row.position, row.account));
    let (column, expected, found) = match there {
        None => ("row", "one".to_owned(), "none".to_owned()),
        Some(there) if there.balance != row.balance => {
            ("balance", row.balance.to_string(), there.balance.to_string())
        }
        Some(there) if there.amount != row.amount => {
            ("amount", row.amount.to_string(), there.amount.to_string())
        }
        Some(there) => ("row", format!("{row:?}"), format!("{there:?}")),
    };
    Some(Difference {
        table: "entries",
        account: name(row.account),
        position: Some(row.position.0),
        column,
        expected,
        found,
    })
}

/// Number of entries of each account, by the account's number.
#[derive(Default)]
struct EntryCounts(Vec<u64>);

impl EntryCounts {
    fn add(&mut self, entries: &[EntryRow]) {
        for entry in entries {
            let Ok(at) = usize::try_from(entry.account) else { continue };
            if at >= self.0.len() {
                self.0.resize(at + 1, 0);
            }
            if let Some(count) = self.0.get_mut(at) {
                *count += 1;
            }
        }
    }

    /// First account whose number of entries differs: its number, the expected count, the found
    /// count.
    fn first_difference(&self, found: &[(u32, u64)]) -> Option<(u32, u64, u64)> {
        found.iter().find_map(|(number, found)| {
            let at = usize::try_from(*number).ok();
            let expected = at.and_then(|at| self.0.get(at)).copied().unwrap_or_default();
            (expected != *found).then_some((*number, expected, *found))
        })
    }
}
