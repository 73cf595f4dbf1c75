//! Recovery from a failed write: drops the memory, answers those that wait, and reads the log
//! again.

use std::pin::pin;
use std::time::Duration;

use eventlog::{Log, OpenError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::load::{self, Loaded};
use super::{Answer, Fault, Ground, Owner, Work};
use crate::wallet::{Ask, Books, Look, Problem};

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

impl Owner {
    /// Reads the ledger again. Returns false if the wallet is told to stop before.
    pub(super) async fn recover(&mut self, stopping: &CancellationToken) -> Result<bool, Fault> {
        let unanswered = self.work.open.len();
        tracing::warn!(
            runbook = "deploy/README.md, The database is away",
            unanswered,
            "a write failed: the accounts are read again"
        );
        self.books.set_loaded(false);
        // Callers of dropped commands see "unavailable".
        self.written.get_or_insert(self.work.log.head());
        let nothing = load::genesis();
        let nothing = Loaded { ledger: nothing.ledger, snapshot: nothing.size };
        self.work = Work::new(self.work.log.clone(), nothing);
        self.verifying.abort_all();
        let held = Some(self.work.log.clone());
        let queues = (&mut self.queue, &mut self.looks);
        let read = read((&self.ground, &self.books, held), queues, stopping).await?;
        let Some((log, loaded)) = read else { return Ok(false) };
        self.work = Work::new(log, loaded);
        self.verify_history();
        Ok(true)
    }
}

/// Opens the log and reads the ledger, as soon as both can be had; requests meanwhile are answered
/// "unavailable". `None` if the wallet is told to stop before.
pub(super) async fn read(
    (ground, books, held): (&Ground, &Books, Option<Log>),
    (queue, looks): (&mut mpsc::Receiver<Ask>, &mut mpsc::Receiver<Look>),
    stopping: &CancellationToken,
) -> Result<Option<(Log, Loaded)>, Fault> {
    let mut reopened = pin!(reopen(ground, books, held));
    let mut accepting = true;
    loop {
        tokio::select! {
            // No request may be answered "unavailable" once the ledger is read.
            biased;
            read = &mut reopened => {
                if read.is_ok() {
                    books.set_loaded(true);
                }
                return read.map(Some);
            }
            () = stopping.cancelled() => return Ok(None),
            ask = queue.recv(), if accepting => match ask {
                Some(ask) => {
                    let outcomes = vec![Err(Problem::Unavailable); ask.requests.len()];
                    Answer { to: ask.answer, outcomes, room: ask.room }.tell();
                }
                None => accepting = false,
            },
            // Dropped unanswered, which the caller sees as "unavailable".
            Some(_) = looks.recv() => {}
        }
    }
}

/// Tries until the log is owned and read; only a final error ends it.
async fn reopen(
    ground: &Ground,
    books: &Books,
    mut log: Option<Log>,
) -> Result<(Log, Loaded), Fault> {
    let mut pause = FIRST_PAUSE;
    loop {
        // A log that only failed to write is still owned.
        let held = log.take().filter(|log| !log.stopped().is_cancelled());
        match open_and_read(ground, books, held).await {
            Ok(opened) => return Ok(opened),
            Err((fault, _)) if is_final(&fault) => return Err(fault),
            Err((fault, held)) => {
                tracing::warn!(runbook = "deploy/README.md, The database is away", %fault, ?pause, "the accounts cannot be read yet");
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
) -> Result<(Log, Loaded), (Fault, Option<Log>)> {
    let log = match held {
        Some(log) => log,
        None => (ground.opener)().await.map_err(|error| (error.into(), None))?,
    };
    match load::load(&log, books).await {
        Ok(loaded) => Ok((log, loaded)),
        Err(error) => Err((error.into(), Some(log))),
    }
}

fn is_final(fault: &Fault) -> bool {
    match fault {
        Fault::Open(error) => match error {
            OpenError::Corrupt { .. } => true,
            OpenError::Held { .. }
            | OpenError::Lost { .. }
            | OpenError::Unavailable { .. }
            | OpenError::Clock { .. } => false,
        },
        Fault::Load(error) => error.is_final(),
    }
}
