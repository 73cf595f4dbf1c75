//! Waiting for a log, and reporting whether it is written.
//!
//! A second process of a service is a warm standby: it waits for the owner's lease to end, for as
//! long as that takes, and then takes the log. Only a corrupt log ends the wait.
//!
//! The waits of a log double in a line of code: each loop reports, gives up or starts anew by rules
//! of its own, which the crate `backon` would not shorten.
//!
//! Specification: ARCHITECTURE.md §4.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::error::OpenError;
use crate::log::{Health, Log, Options};
use crate::store::Store;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// Time between two log lines about one lasting outage.
const LOG_INTERVAL: Duration = Duration::from_secs(60);
/// Time between two checks of the write health.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// Reason why a log is waited for, as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitReason<'a> {
    /// Another process owns it.
    Standby(&'a str),
    Outage(&'a str),
}

impl Log {
    /// Takes the log as soon as it is free. Reports meanwhile what it waits for. `take_over`
    /// applies until another owner has been seen.
    ///
    /// # Errors
    /// Only [`OpenError::Corrupt`].
    pub async fn open_when_free(
        store: Arc<dyn Store>,
        mut options: Options,
        waits: impl Fn(WaitReason<'_>) + Send + Sync,
    ) -> Result<Log, OpenError> {
        let (mut pause, mut wait_log) = (FIRST_PAUSE, WaitLog::default());
        loop {
            let error = match Log::open(Arc::clone(&store), options.clone()).await {
                Ok(log) => {
                    wait_log.log_end(&options.name);
                    return Ok(log);
                }
                Err(error) => error,
            };
            match &error {
                OpenError::Corrupt { .. } => return Err(error),
                OpenError::Held { owner, address, .. } => {
                    options.take_over = false;
                    waits(WaitReason::Standby(&format!("standby: {error}")));
                    // The claim has already waited for a whole lease.
                    pause = FIRST_PAUSE;
                    wait_log.log_owner(&error, &format!("{owner} at {address}"));
                }
                OpenError::Lost { .. }
                | OpenError::Unavailable { .. }
                | OpenError::Clock { .. } => {
                    options.take_over &= !matches!(error, OpenError::Lost { .. });
                    waits(WaitReason::Outage(&error_chain(&error)));
                    wait_log.log_outage(&error);
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(MAX_PAUSE);
        }
    }

    /// Reports whether the store takes writes, until the log is no longer owned here. The future
    /// holds no handle of the log, so it does not keep the log from being released.
    pub fn report_writes<R>(&self, report: R) -> impl Future<Output = ()> + Send + use<R>
    where
        R: Fn(WriteHealth<'_>) + Send + Sync,
    {
        let (health, stopped, stale) = (self.watch_health(), self.stopped(), self.max_silence());
        async move {
            let reports = report_health(&health, stale, &report);
            if stopped.run_until_cancelled(reports).await.is_none() {
                report(WriteHealth::Outage("the log is not owned here any more"));
            }
        }
    }
}

/// Health of the log's writes.
#[derive(Clone, Copy, Debug)]
pub enum WriteHealth<'a> {
    Accepted,
    /// Writes fail at the moment, for this reason.
    Outage(&'a str),
    /// Writes have failed for longer than the lease, for this reason: another process may own the
    /// log.
    LeaseExpired(&'a str),
}

async fn report_health(
    health: &watch::Receiver<Health>,
    stale: Duration,
    report: &(impl Fn(WriteHealth<'_>) + Send + Sync),
) {
    loop {
        let Health { renewed, outage: trouble } = health.borrow().clone();
        let silent = renewed.elapsed();
        let what = match trouble {
            Some(trouble) => Some(format!("the log takes nothing: {trouble}")),
            None if silent >= stale => {
                Some(format!("the database has renewed no lease for {} s", silent.as_secs()))
            }
            None => None,
        };
        report(match &what {
            None => WriteHealth::Accepted,
            // By then the lease has expired.
            Some(what) if silent >= stale * 2 => WriteHealth::LeaseExpired(what),
            Some(what) => WriteHealth::Outage(what),
        });
        sleep(CHECK_INTERVAL).await;
    }
}

fn error_chain(error: &OpenError) -> String {
    let mut words = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        words = format!("{words}: {error}");
        source = error.source();
    }
    words
}

/// State of the log lines about a wait.
#[derive(Default)]
struct WaitLog {
    owner: Option<String>,
    outage_logged_at: Option<Instant>,
}

impl WaitLog {
    /// Logs each owner once.
    fn log_owner(&mut self, error: &OpenError, owner: &str) {
        if self.owner.as_deref() != Some(owner) {
            tracing::info!("standby: {error}; this process takes it then");
            self.owner = Some(owner.to_owned());
        }
    }

    fn log_outage(&mut self, error: &OpenError) {
        if self.outage_logged_at.is_none_or(|logged_at| logged_at.elapsed() >= LOG_INTERVAL) {
            tracing::warn!(
                runbook = "deploy/README.md, The database is away",
                "{}; tried again until it can be taken",
                error_chain(error)
            );
            self.outage_logged_at = Some(Instant::now());
        }
    }

    fn log_end(&self, log: &str) {
        if self.owner.is_some() || self.outage_logged_at.is_some() {
            tracing::info!(log, "the log is taken: this process serves now");
        }
    }
}
