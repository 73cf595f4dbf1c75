//! Waiting for a log, and reporting whether it is written.
//!
//! A second process of a service is a warm standby: it waits for the owner's lease to end, for as
//! long as that takes, and then takes the log. Only a corrupt log ends the wait.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::error::OpenError;
use crate::log::{Health, Log, Options};
use crate::store::Store;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Time between two log lines about one lasting outage.
const QUIET: Duration = Duration::from_secs(60);
/// Time between two checks of the write health.
const LOOK: Duration = Duration::from_millis(250);

/// Reason why a log is waited for, as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits<'a> {
    /// Another process owns it.
    Standby(&'a str),
    Trouble(&'a str),
}

impl Log {
    /// Takes the log as soon as it is free. Reports meanwhile what it waits for. `take_over`
    /// applies until another owner has been seen.
    ///
    /// # Errors
    /// Only [`OpenError::Corrupt`].
    pub async fn open_in_turn(
        store: Arc<dyn Store>,
        mut options: Options,
        waits: impl Fn(Waits<'_>) + Send + Sync,
    ) -> Result<Log, OpenError> {
        let (mut pause, mut told) = (FIRST_PAUSE, Told::default());
        loop {
            let error = match Log::open(Arc::clone(&store), options.clone()).await {
                Ok(log) => {
                    told.over(&options.name);
                    return Ok(log);
                }
                Err(error) => error,
            };
            match &error {
                OpenError::Corrupt { .. } => return Err(error),
                OpenError::Held { owner, address, .. } => {
                    options.take_over = false;
                    waits(Waits::Standby(&format!("standby: {error}")));
                    // The claim has already waited for a whole lease.
                    pause = FIRST_PAUSE;
                    told.held(&error, &format!("{owner} at {address}"));
                }
                OpenError::Lost { .. }
                | OpenError::Unavailable { .. }
                | OpenError::Clock { .. } => {
                    options.take_over &= !matches!(error, OpenError::Lost { .. });
                    waits(Waits::Trouble(&words(&error)));
                    told.trouble(&error);
                }
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Reports whether the store takes writes, until the log is no longer owned here. The future
    /// holds no handle of the log, so it does not keep the log from being released.
    pub fn report<R>(&self, report: R) -> impl Future<Output = ()> + Send + use<R>
    where
        R: Fn(Writes<'_>) + Send + Sync,
    {
        let (health, stopped, stale) = (self.health(), self.stopped(), self.stale());
        async move {
            let reports = report_health(&health, stale, &report);
            if stopped.run_until_cancelled(reports).await.is_none() {
                report(Writes::Trouble("the log is not owned here any more"));
            }
        }
    }
}

/// Health of the log's writes.
#[derive(Clone, Copy, Debug)]
pub enum Writes<'a> {
    Taken,
    /// Writes fail at the moment, for this reason.
    Trouble(&'a str),
    /// Writes have failed for longer than the lease, for this reason: another process may own the
    /// log.
    Silence(&'a str),
}

async fn report_health(
    health: &watch::Receiver<Health>,
    stale: Duration,
    report: &(impl Fn(Writes<'_>) + Send + Sync),
) {
    loop {
        let Health { written, trouble } = health.borrow().clone();
        let silent = written.elapsed();
        let what = match trouble {
            Some(trouble) => Some(format!("the log takes nothing: {trouble}")),
            None if silent >= stale => {
                Some(format!("the database has taken nothing for {} s", silent.as_secs()))
            }
            None => None,
        };
        report(match &what {
            None => Writes::Taken,
            // By then the lease has expired.
            Some(what) if silent >= stale * 2 => Writes::Silence(what),
            Some(what) => Writes::Trouble(what),
        });
        sleep(LOOK).await;
    }
}

fn words(error: &OpenError) -> String {
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
struct Told {
    owner: Option<String>,
    trouble: Option<Instant>,
}

impl Told {
    /// Logs each owner once.
    fn held(&mut self, error: &OpenError, owner: &str) {
        if self.owner.as_deref() != Some(owner) {
            tracing::info!("standby: {error}; this process takes it then");
            self.owner = Some(owner.to_owned());
        }
    }

    fn trouble(&mut self, error: &OpenError) {
        if self.trouble.is_none_or(|told| told.elapsed() >= QUIET) {
            tracing::warn!(
                runbook = "deploy/README.md, The database is away",
                "{}; tried again until it can be taken",
                words(error)
            );
            self.trouble = Some(Instant::now());
        }
    }

    fn over(&self, log: &str) {
        if self.owner.is_some() || self.trouble.is_some() {
            tracing::info!(log, "the log is taken: this process serves now");
        }
    }
}
