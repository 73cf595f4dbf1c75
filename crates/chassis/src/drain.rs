//! Orderly stop of a server: announce it, accept nothing new, finish what was accepted, exit.
//!
//! Two cancellation tokens drive it. The first says that a stop has begun; everything that would
//! otherwise run for ever watches it. Accepted work is tracked and has a grace period. The second
//! token is cancelled when the period is over and cuts off what still runs.
//!
//! Specification: ARCHITECTURE.md §5.

use std::future::Future;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Error of a stop whose last writes were not done within the grace period.
#[derive(Debug, thiserror::Error)]
#[error(
    "the log was not closed within {0:?}, most likely because its database is away: what was \
     acknowledged stands, and the next start reads what was written (deploy/README.md, The database is \
     away)"
)]
pub struct CloseTimeout(Duration);

/// Error of signal handlers that cannot be installed.
#[derive(Debug, thiserror::Error)]
#[error("signals cannot be listened to")]
pub struct SignalError(#[from] std::io::Error);

/// Exit code after a second signal.
const SECOND_SIGNAL_EXIT_CODE: i32 = 130;

/// Stop of one server. Cheap to clone; clones share their state.
#[derive(Debug, Clone)]
pub struct Drain {
    stopping: CancellationToken,
    cut: CancellationToken,
    tracker: TaskTracker,
    grace: Duration,
}

impl Drain {
    /// Stop with a grace period of `grace`, after which running work is cut off.
    #[must_use]
    pub fn new(grace: Duration) -> Drain {
        Drain {
            stopping: CancellationToken::new(),
            cut: CancellationToken::new(),
            tracker: TaskTracker::new(),
            grace,
        }
    }

    /// Child that stops when this one does, or earlier, and waits for its own work alone. So
    /// several servers in a process can stop in a suitable order.
    #[must_use]
    pub fn child(&self) -> Drain {
        Drain {
            stopping: self.stopping.child_token(),
            cut: self.cut.child_token(),
            tracker: TaskTracker::new(),
            grace: self.grace,
        }
    }

    /// Begins to stop at SIGTERM or SIGINT. A second signal ends the process at once, with exit
    /// code 130.
    ///
    /// # Errors
    /// The signal handlers cannot be installed.
    pub fn on_signals(&self) -> Result<(), SignalError> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let drain = self.clone();
        tokio::spawn(async move {
            let name = next_signal(&mut terminate, &mut interrupt).await;
            tracing::info!(signal = name, grace = ?drain.grace, "stopping; once more stops at once");
            drain.begin();
            let name = next_signal(&mut terminate, &mut interrupt).await;
            tracing::warn!(signal = name, "told twice: leaving without finishing");
            std::process::exit(SECOND_SIGNAL_EXIT_CODE);
        });
        Ok(())
    }

    /// Begins to stop. Idempotent.
    pub fn begin(&self) {
        self.stopping.cancel();
    }

    /// Token that is cancelled when the stop begins. Every stream watches it and ends.
    #[must_use]
    pub const fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    /// Token that is cancelled when the grace period is over. Work that sees it is dropped.
    #[must_use]
    pub const fn cut(&self) -> &CancellationToken {
        &self.cut
    }

    /// Spawns work that a stop waits for.
    pub fn spawn<F>(&self, work: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.tracker.spawn(work)
    }

    /// Waits for the last writes of a stop, for the grace period at most. A write with an unknown
    /// outcome is retried for ever, but a process that is asked to stop has to end.
    ///
    /// # Errors
    /// [`CloseTimeout`] if they are not done in time. They are dropped, as in a crash.
    pub async fn close<T>(&self, last_writes: impl Future<Output = T>) -> Result<T, CloseTimeout> {
        tokio::time::timeout(self.grace, last_writes).await.map_err(|_| CloseTimeout(self.grace))
    }

    /// Waits for a stop to begin and for all tracked work to end, for the grace period at most.
    /// Returns whether all work ended by itself; `false` means that some was cut off.
    pub async fn finish(&self) -> bool {
        self.stopping.cancelled().await;
        self.tracker.close();
        let finished = tokio::time::timeout(self.grace, self.tracker.wait()).await.is_ok();
        if !finished {
            tracing::warn!(left = self.tracker.len(), "grace is over: cutting off what still runs");
            self.cut.cancel();
            // Work that was cut ends within a moment, unless it blocks its thread.
            let _ = tokio::time::timeout(Duration::from_secs(1), self.tracker.wait()).await;
        }
        finished
    }
}

async fn next_signal(
    terminate: &mut tokio::signal::unix::Signal,
    interrupt: &mut tokio::signal::unix::Signal,
) -> &'static str {
    tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn work_that_ends_in_time_is_waited_for() {
        let drain = Drain::new(Duration::from_secs(10));
        let work = drain.spawn(tokio::time::sleep(Duration::from_secs(9)));
        drain.begin();
        assert!(drain.finish().await);
        assert!(work.is_finished());
    }

    #[tokio::test(start_paused = true)]
    async fn a_log_that_cannot_be_closed_does_not_keep_the_process() {
        let drain = Drain::new(Duration::from_secs(10));
        assert_eq!(drain.close(std::future::ready(1)).await.unwrap(), 1);
        let error = drain.close(std::future::pending::<()>()).await.unwrap_err();
        assert!(error.to_string().contains("within 10s"), "{error}");
    }

    #[tokio::test(start_paused = true)]
    async fn work_that_does_not_is_asked_to_go() {
        let drain = Drain::new(Duration::from_secs(10));
        let cut = drain.cut().clone();
        let work = drain.spawn(async move { cut.cancelled().await });
        drain.begin();
        assert!(!drain.finish().await);
        assert!(work.is_finished());
    }

    #[tokio::test]
    async fn a_child_stops_with_its_parent_and_not_the_other_way_round() {
        let parent = Drain::new(Duration::from_secs(1));
        let (one, two) = (parent.child(), parent.child());
        one.begin();
        assert!(!parent.stopping().is_cancelled() && !two.stopping().is_cancelled());
        parent.begin();
        assert!(two.stopping().is_cancelled());
    }
}
