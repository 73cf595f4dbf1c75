//! Tasks that follow the log, for lists that are folds of it.

use std::time::Duration;

use eventlog::{Event, Log, Position, ReadError};
use futures_util::StreamExt as _;

/// Pause before the log is read again where the database is away.
pub(crate) const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// Applies each event of the log from a position on, in their order, until the log is lost or
/// closed. `list` names what follows it.
pub(crate) async fn follow(log: Log, from: Position, list: &str, mut apply: impl FnMut(&Event)) {
    let (mut events, stopped) = (log.subscribe(from), log.stopped());
    // The log's handle must not keep the log open.
    drop(log);
    while let Some(event) = events.next().await {
        match event {
            Ok(event) => apply(&event),
            Err(ReadError::Stopped) => return,
            Err(error) => {
                tracing::warn!(%error, "{list} waits for the log");
                if stopped.run_until_cancelled(tokio::time::sleep(RETRY_PAUSE)).await.is_none() {
                    return;
                }
            }
        }
    }
}
