//! Waiting for a log, and saying whether it is written.
//!
//! A second process of a service is a warm standby: it waits for the owner's lease to end, for as long as
//! that takes, and takes the log then. Only what is corrupt ends the wait.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::error::OpenError;
use crate::log::{Health, Log, Options};
use crate::store::Store;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Between two lines about a trouble that lasts.
const QUIET: Duration = Duration::from_secs(60);
/// Between two looks at whether a log is written.
const LOOK: Duration = Duration::from_millis(250);

/// Reason why a log is waited for, in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waits<'a> {
    /// Another process owns it.
    Standby(&'a str),
    Trouble(&'a str),
}

impl Log {
    /// Takes the log as soon as it can be had, and tells meanwhile what it waits for. `take_over` holds
    /// until somebody else has been seen to own it.
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
                    // It has waited for a whole lease already.
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

    /// Reports, until the log is no longer owned here, whether the store takes what is written. It keeps the
    /// log from nothing, so that it may be dropped meanwhile.
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

/// Whether the store takes what is written.
#[derive(Clone, Copy, Debug)]
pub enum Writes<'a> {
    Taken,
    /// Not at the moment, and why.
    Trouble(&'a str),
    /// Not for longer than the lease, and why: another may own the log by now.
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
            // The lease is over by then.
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

/// What was said about a wait.
#[derive(Default)]
struct Told {
    owner: Option<String>,
    trouble: Option<Instant>,
}

impl Told {
    /// Once for each owner.
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
