//! Steps of the clock, recorded in the table log.
//!
//! Specification: ARCHITECTURE.md §2.7.

use std::sync::Arc;

use system::clock::Clock;
use tokio::sync::watch;

use crate::registry::TableRegistry;

/// Records each step of the clock from now on, for as long as it is polled: one event a step, however
/// many tables there are. Waits while the log is not owned.
pub(crate) fn record(
    clock: Arc<dyn Clock>,
    registry: watch::Receiver<Option<Arc<TableRegistry>>>,
) -> impl Future<Output = ()> + Send {
    clocklog::record(clock, move |noticed| {
        let registry = registry.borrow().clone();
        async move {
            match registry {
                Some(registry) => registry.record_step(noticed).await,
                None => false,
            }
        }
    })
}
