//! Stopping in order: say so, take nothing new, finish what was accepted, leave.
//!
//! One token is cancelled; everything that would otherwise run for ever watches it. What was
//! accepted is tracked and has a grace period; behind it stands a second token, which cuts.

use std::future::Future;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// A stop whose last writes were not done in time.
#[derive(Debug, thiserror::Error)]
#[error(
    "the log was not closed within {0:?}, most likely because its database is away: what was \
     acknowledged stands, and the next start reads what was written (deploy/README.md, The database is \
     away)"
)]
pub struct NotClosed(Duration);

/// The exit code of a process told twice to stop.
const TOLD_TWICE: i32 = 130;

/// The stopping of one server. Cheap to clone; all clones are one.
#[derive(Debug, Clone)]
pub struct Drain {
    stopping: CancellationToken,
    cut: CancellationToken,
    tracker: TaskTracker,
    grace: Duration,
}

impl Drain {
    /// Whoever is still at work `grace` after the stop began is cut off.
    #[must_use]
    pub fn new(grace: Duration) -> Drain {
        Drain {
            stopping: CancellationToken::new(),
            cut: CancellationToken::new(),
            tracker: TaskTracker::new(),
            grace,
        }
    }

    /// One that stops when this one does, or earlier, and is waited for by itself: several servers
    /// in a process stop in the order that suits them.
    #[must_use]
    pub fn child(&self) -> Drain {
        Drain {
            stopping: self.stopping.child_token(),
            cut: self.cut.child_token(),
            tracker: TaskTracker::new(),
            grace: self.grace,
        }
    }

    /// Begins to stop at SIGTERM or SIGINT. A second signal ends the process at once.
    ///
    /// # Errors
    /// The signals cannot be listened to.
    pub fn on_signals(&self) -> std::io::Result<()> {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        let drain = self.clone();
        tokio::spawn(async move {
            let name = first(&mut terminate, &mut interrupt).await;
            tracing::info!(signal = name, grace = ?drain.grace, "stopping; once more stops at once");
            drain.begin();
            let name = first(&mut terminate, &mut interrupt).await;
            tracing::warn!(signal = name, "told twice: leaving without finishing");
            std::process::exit(TOLD_TWICE);
        });
        Ok(())
    }

    /// Begins to stop. Doing so again changes nothing.
    pub fn begin(&self) {
        self.stopping.cancel();
    }

    /// Cancelled when the stop begins. Every stream watches it, and ends.
    #[must_use]
    pub const fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    /// Cancelled when the grace is over: whatever sees this drops what it does.
    #[must_use]
    pub const fn cut(&self) -> &CancellationToken {
        &self.cut
    }

    /// Runs `work` as something that a stop waits for.
    pub fn spawn<F>(&self, work: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.tracker.spawn(work)
    }

    /// Waits for the last writes of a stop, at most as long as the grace lasts. A write whose outcome is
    /// unknown is asked about for ever, and a process that is told to stop has to end.
    ///
    /// # Errors
    /// [`NotClosed`] where they are not done in time; they are dropped, as a crash would drop them.
    pub async fn close<T>(&self, last: impl Future<Output = T>) -> Result<T, NotClosed> {
        tokio::time::timeout(self.grace, last).await.map_err(|_| NotClosed(self.grace))
    }

    /// Waits for a stop to begin and for all tracked work to end, at most as long as the grace
    /// lasts. Whether everything ended by itself; false means that somebody was cut off.
    pub async fn finish(&self) -> bool {
        self.stopping.cancelled().await;
        self.tracker.close();
        let finished = tokio::time::timeout(self.grace, self.tracker.wait()).await.is_ok();
        if !finished {
            tracing::warn!(left = self.tracker.len(), "grace is over: cutting off what still runs");
            self.cut.cancel();
            // What was cut goes within a moment, unless it blocks its thread.
            let _ = tokio::time::timeout(Duration::from_secs(1), self.tracker.wait()).await;
        }
        finished
    }
}

async fn first(
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
    async fn work_that_does_not_is_told_to_go() {
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
