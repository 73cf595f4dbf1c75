//! Recovery from a failed write: drops the memory, answers those that wait, and reads the log
//! again.
//!
//! Specification: services/wallet/README.md "State and events".

use std::pin::pin;
use std::time::Duration;

use eventlog::{Log, OpenError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::load::{self, LoadedLedger};
use super::{Dependencies, FatalError, Owner, OwnerState, PendingReply};
use crate::wallet::{Query, RequestBatch, Tables, WalletError};

const MIN_PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_secs(2);

impl Owner {
    /// Reads the ledger again. Returns false if the wallet is asked to stop before.
    pub(super) async fn recover(
        &mut self,
        stopping: &CancellationToken,
    ) -> Result<bool, FatalError> {
        let unanswered = self.state.requests_in_flight.len();
        tracing::warn!(
            runbook = "deploy/README.md, The database is away",
            unanswered,
            "a write failed: the accounts are read again"
        );
        self.tables.set_loaded(false);
        // Callers of dropped commands see "unavailable".
        self.unverified_head.get_or_insert(self.state.log.head());
        let nothing = LoadedLedger::compared(load::genesis().ledger, 0);
        self.state = OwnerState::new(self.state.log.clone(), nothing);
        self.comparison.abort_all();
        let held = Some(self.state.log.clone());
        let queues = WaitingQueues { batches: &mut self.batches, queries: &mut self.queries };
        let read = open_and_load(&self.dependencies, &self.tables, held, queues, stopping).await?;
        let Some((log, loaded)) = read else { return Ok(false) };
        self.state = OwnerState::new(log, loaded);
        self.verify_history();
        Ok(true)
    }
}

/// Queues of requests that arrive while the ledger cannot answer them.
pub(super) struct WaitingQueues<'a> {
    pub(super) batches: &'a mut mpsc::Receiver<RequestBatch>,
    pub(super) queries: &'a mut mpsc::Receiver<Query>,
}

/// Opens the log and reads the ledger, as soon as both can be had; requests meanwhile are answered
/// "unavailable". `None` if the wallet is asked to stop before.
pub(super) async fn open_and_load(
    dependencies: &Dependencies,
    tables: &Tables,
    held: Option<Log>,
    queues: WaitingQueues<'_>,
    stopping: &CancellationToken,
) -> Result<Option<(Log, LoadedLedger)>, FatalError> {
    let WaitingQueues { batches, queries } = queues;
    let mut reopened = pin!(reopen(dependencies, tables, held));
    let mut accepting = true;
    loop {
        tokio::select! {
            // No request may be answered "unavailable" once the ledger is read.
            biased;
            read = &mut reopened => {
                if read.is_ok() {
                    tables.set_loaded(true);
                }
                return read.map(Some);
            }
            () = stopping.cancelled() => return Ok(None),
            batch = batches.recv(), if accepting => match batch {
                Some(batch) => {
                    let outcomes = vec![Err(WalletError::Unavailable); batch.requests.len()];
                    PendingReply { reply: batch.reply, outcomes, permits: batch.permits }.send();
                }
                None => accepting = false,
            },
            // Dropped unanswered, which the caller sees as "unavailable".
            Some(_) = queries.recv() => {}
        }
    }
}

/// Tries until the log is owned and read; only a final error ends it.
async fn reopen(
    dependencies: &Dependencies,
    tables: &Tables,
    mut log: Option<Log>,
) -> Result<(Log, LoadedLedger), FatalError> {
    let mut pause = MIN_PAUSE;
    loop {
        // A log that only failed to write is still owned.
        let held = log.take().filter(|log| !log.stopped().is_cancelled());
        match open_and_read(dependencies, tables, held).await {
            Ok(opened) => return Ok(opened),
            Err((fault, _)) if is_final(&fault) => return Err(fault),
            Err((fault, held)) => {
                tracing::warn!(runbook = "deploy/README.md, The database is away", %fault, ?pause, "the accounts cannot be read yet");
                log = held;
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

async fn open_and_read(
    dependencies: &Dependencies,
    tables: &Tables,
    held: Option<Log>,
) -> Result<(Log, LoadedLedger), (FatalError, Option<Log>)> {
    let log = match held {
        Some(log) => log,
        None => (dependencies.opener)().await.map_err(|error| (error.into(), None))?,
    };
    match load::load(&log, tables).await {
        Ok(loaded) => Ok((log, loaded)),
        Err(error) => Err((error.into(), Some(log))),
    }
}

fn is_final(fault: &FatalError) -> bool {
    match fault {
        FatalError::Open(error) => match error {
            OpenError::Corrupt { .. } => true,
            OpenError::Held { .. }
            | OpenError::Lost { .. }
            | OpenError::Unavailable { .. }
            | OpenError::Clock { .. } => false,
        },
        FatalError::Load(error) => error.is_final(),
    }
}
