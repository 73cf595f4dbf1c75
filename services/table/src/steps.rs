//! Steps of the clock, recorded in the log of the registry that is open.

use std::sync::Arc;

use system::clock::Clock;
use tokio::sync::watch;

use crate::registry::TableRegistry;

/// Has each step of the clock from now on recorded, for as long as it is polled: one event, however
/// many tables there are. While there is no registry it waits for one.
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
