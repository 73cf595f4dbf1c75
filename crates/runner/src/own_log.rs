//! Ownership of a log, and of the state that is read from it.

use std::sync::Arc;

use eventlog::Log;
use tokio_util::sync::CancellationToken;

/// State read from a log, good for as long as this process owns the log.
pub trait LogState {
    /// Waits until the log is lost.
    fn lost(&self) -> impl Future<Output = ()> + Send;

    /// Writes what waits, and releases the log.
    fn close(&self) -> impl Future<Output = ()> + Send;
}

impl LogState for Log {
    fn lost(&self) -> impl Future<Output = ()> + Send {
        self.stopped().cancelled_owned()
    }

    fn close(&self) -> impl Future<Output = ()> + Send {
        Log::close(self.clone())
    }
}

impl<S: LogState> LogState for Arc<S> {
    fn lost(&self) -> impl Future<Output = ()> + Send {
        S::lost(self)
    }

    fn close(&self) -> impl Future<Output = ()> + Send {
        S::close(self)
    }
}

/// Opens a state and publishes it, and again whenever its log was lost, until `stopping` fires. Then
/// closes it. `open` waits for a log that another process owns; it receives whether no state was
/// opened before. Nothing is published while there is no state.
///
/// # Errors
/// Those of `open`, which are final.
pub async fn own_log<S, E, F>(
    log: &str,
    open: impl Fn(bool) -> F,
    publish: impl Fn(Option<S>),
    stopping: &CancellationToken,
) -> Result<(), E>
where
    S: LogState + Clone,
    F: Future<Output = Result<S, E>>,
{
    let mut first = true;
    loop {
        let Some(opened) = stopping.run_until_cancelled(open(first)).await else { return Ok(()) };
        let state = opened?;
        first = false;
        publish(Some(state.clone()));
        let lost = stopping.run_until_cancelled(state.lost()).await.is_some();
        publish(None);
        if !lost {
            state.close().await;
            return Ok(());
        }
        tracing::warn!(log, "the log is lost: opening it again");
    }
}
