//! When a write failed: forget everything, tell those who wait, and read again once that is possible.

use std::pin::pin;
use std::time::Duration;

use eventlog::{Log, OpenError, ReadError};
use ledger::Ledger;
use tokio_util::sync::CancellationToken;

use super::{Answer, Fault, Ground, LoadError, Owner, Work, load};
use crate::wallet::{Books, Problem};

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

impl Owner {
    /// False where the wallet is told to stop before the accounts are read again.
    pub(super) async fn recover(&mut self, stopping: &CancellationToken) -> Result<bool, Fault> {
        let unanswered = self.work.open.len();
        tracing::warn!(unanswered, "a write failed: the accounts are read again");
        // Whoever waits for what is thrown away hears that it is unavailable.
        self.work = Work::new(self.work.log.clone(), Ledger::new());
        let mut reopened = pin!(reopen(&self.ground, &self.books, self.work.log.clone()));
        let mut accepting = true;
        loop {
            tokio::select! {
                result = &mut reopened => {
                    let (log, ledger) = result?;
                    self.work = Work::new(log, ledger);
                    return Ok(true);
                }
                () = stopping.cancelled() => return Ok(false),
                ask = self.queue.recv(), if accepting => match ask {
                    Some(ask) => {
                        let outcomes = vec![Err(Problem::Unavailable); ask.requests.len()];
                        Answer { to: ask.answer, outcomes, room: ask.room }.tell();
                    }
                    None => accepting = false,
                },
            }
        }
    }
}

/// Tries until the log is ours and read; only a corrupt log ends it.
async fn reopen(ground: &Ground, books: &Books, log: Log) -> Result<(Log, Ledger), Fault> {
    let mut pause = FIRST_PAUSE;
    let mut log = Some(log);
    loop {
        // A log that only could not write is still ours.
        let held = log.take().filter(|log| !log.stopped().is_cancelled());
        match open_and_read(ground, books, held).await {
            Ok(opened) => return Ok(opened),
            Err((fault, _)) if is_final(&fault) => return Err(fault),
            Err((fault, held)) => {
                tracing::warn!(%fault, ?pause, "the accounts cannot be read yet");
                log = held;
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

async fn open_and_read(
    ground: &Ground,
    books: &Books,
    held: Option<Log>,
) -> Result<(Log, Ledger), (Fault, Option<Log>)> {
    let log = match held {
        Some(log) => log,
        None => (ground.opener)().await.map_err(|error| (error.into(), None))?,
    };
    match load::load(&log, books).await {
        Ok(ledger) => Ok((log, ledger)),
        Err(error) => Err((error.into(), Some(log))),
    }
}

fn is_final(fault: &Fault) -> bool {
    match fault {
        Fault::Open(error) => match error {
            OpenError::Corrupt { .. } => true,
            OpenError::Held { .. } | OpenError::Lost { .. } | OpenError::Unavailable { .. } => {
                false
            }
        },
        Fault::Load(error) => match error {
            LoadError::Read(ReadError::Unavailable { .. } | ReadError::Stopped) => false,
            LoadError::Read(ReadError::Corrupt(_) | ReadError::Archived { .. })
            | LoadError::Corrupt(_)
            | LoadError::Unsound(_) => true,
        },
    }
}
