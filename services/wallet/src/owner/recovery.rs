//! When the log is lost: forget everything, tell those who wait, and read the log again once it can
//! be owned again.

use std::pin::pin;
use std::time::Duration;

use eventlog::{Log, OpenError, ReadError};
use tokio_util::sync::CancellationToken;

use super::{Fault, Opener, Owner, Work, tell};
use crate::books::{Books, BooksError};
use crate::wallet::{Problem, Shelf};

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

impl Owner {
    /// False where the wallet is told to stop before the log is ours again.
    pub(super) async fn recover(&mut self, stopping: &CancellationToken) -> Result<bool, Fault> {
        self.shelf.put(None);
        let Work { open, .. } = std::mem::take(&mut self.work);
        tracing::warn!(unanswered = open.len(), "the log is lost: reading it again");
        for answer in open.into_values().flat_map(|open| open.answers) {
            tell(answer, Err(Problem::Unavailable));
        }
        let mut reopened = pin!(reopen(&self.opener));
        let mut accepting = true;
        loop {
            tokio::select! {
                result = &mut reopened => {
                    let (log, books) = result?;
                    put(&self.shelf, books, &log);
                    self.log = log;
                    return Ok(true);
                }
                () = stopping.cancelled() => return Ok(false),
                ask = self.asks.recv(), if accepting => match ask {
                    Some(ask) => tell(ask.answer, Err(Problem::Unavailable)),
                    None => accepting = false,
                },
            }
        }
    }
}

/// Lays the books out for everybody.
pub(super) fn put(shelf: &Shelf, books: Books, log: &Log) {
    let accounts = books.ledger().accounts().len();
    tracing::info!(events = log.size(), accounts, "the wallet's books are open");
    shelf.put(Some(books));
}

/// Tries until the log is ours again; only a corrupt log ends it.
async fn reopen(opener: &Opener) -> Result<(Log, Books), Fault> {
    let mut pause = FIRST_PAUSE;
    loop {
        match open_and_read(opener).await {
            Ok(opened) => return Ok(opened),
            Err(fault) if is_final(&fault) => return Err(fault),
            Err(fault) => tracing::warn!(%fault, ?pause, "the log cannot be opened yet"),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn open_and_read(opener: &Opener) -> Result<(Log, Books), Fault> {
    let log = opener().await?;
    let books = Books::read(&log).await?;
    Ok((log, books))
}

fn is_final(fault: &Fault) -> bool {
    match fault {
        Fault::Open(error) => match error {
            OpenError::Corrupt { .. } => true,
            OpenError::Held { .. } | OpenError::Lost { .. } | OpenError::Unavailable { .. } => {
                false
            }
        },
        Fault::Books(error) => match error {
            BooksError::Read(ReadError::Unavailable { .. } | ReadError::Stopped) => false,
            BooksError::Read(ReadError::Corrupt(_) | ReadError::Archived { .. })
            | BooksError::Corrupt(_)
            | BooksError::Unsound(_) => true,
        },
    }
}
