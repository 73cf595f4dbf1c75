//! What is on the accounts, read at start and after a failure.

use std::sync::Arc;

use eventlog::{Log, Position, ReadError};
use ledger::{Ledger, Unsound, conserved};

use crate::record::{self, Corrupt};
use crate::repo::{Repo, Written};
use crate::rows::{Place, Rows};
use crate::wallet::Books;

/// Events in one read of the log, and in one piece of the tables.
const PAGE: usize = 5_000;

/// The accounts could not be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    #[error("the wallet's log is corrupt: {0}")]
    Unsound(#[from] Unsound),
}

/// The ledger as of the log's end: from the tables where they go that far, else from the log, and
/// then the tables are made anew.
pub(super) async fn load(log: &Log, books: &Books) -> Result<Ledger, LoadError> {
    let Some(repo) = &books.repo else { return fold(log, None).await };
    if repo.projected().await? == Some(log.size()) {
        match read(repo).await? {
            Ok(ledger) => {
                tracing::info!(events = log.size(), accounts = ledger.accounts().len(), "loaded");
                books.set_whole(true);
                return Ok(ledger);
            }
            Err(what) => tracing::error!(%what, "the wallet's tables are unsound"),
        }
    }
    // A log that is new has no tables yet, and that is no reason to worry anybody.
    if log.size() > 0 {
        tracing::warn!(events = log.size(), "the wallet's tables are made anew from its log");
    }
    books.set_whole(false);
    let ledger = fold(log, Some(repo)).await?;
    books.set_whole(true);
    Ok(ledger)
}

/// The ledger that the tables speak of, or what is wrong with them.
async fn read(repo: &Repo) -> Result<Result<Ledger, Arc<str>>, ReadError> {
    let (accounts, holds, adjustments) = match repo.load().await {
        Ok(loaded) => loaded,
        Err(ReadError::Corrupt(what)) => return Ok(Err(what)),
        Err(
            error @ (ReadError::Unavailable { .. }
            | ReadError::Stopped
            | ReadError::Archived { .. }),
        ) => return Err(error),
    };
    Ok(Ledger::restore(accounts, holds, adjustments).map_err(|error| error.to_string().into()))
}

async fn fold(log: &Log, repo: Option<&Repo>) -> Result<Ledger, LoadError> {
    let mut ledger = Ledger::new();
    if let Some(repo) = repo {
        repo.empty(log.epoch()).await?;
        let house = Written { rows: Rows::of_the_house(), states: Vec::new() };
        repo.add(0, 0, &house).await?;
    }
    let mut from = Position(0);
    loop {
        let events = log.read(from, PAGE).await?;
        let Some(last) = events.last() else { break };
        let to = last.position.0 + 1;
        let mut rows = Rows::default();
        for stored in &events {
            let place = Place { position: stored.position, at: stored.recorded_at };
            rows.step(&mut ledger, place, &record::parse(stored)?);
        }
        if let Some(repo) = repo {
            let states = rows.states(&ledger);
            repo.add(from.0, to, &Written { rows, states }).await?;
        }
        from = Position(to);
    }
    conserved(&ledger)?;
    Ok(ledger)
}
