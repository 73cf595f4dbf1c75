//! Steps of the clock, recorded in the log of whichever house is open.
//!
//! Specification: ARCHITECTURE.md §2.7.

use std::sync::Arc;

use system::clock::Clock;
use tokio::sync::watch;

use crate::registry::TableRegistry;

/// Has each step of the clock from now on recorded, for as long as it is polled: one event, however many
/// tables there are. While there is no house it waits for one.
pub fn record(
    clock: Arc<dyn Clock>,
    house: watch::Receiver<Option<Arc<TableRegistry>>>,
) -> impl Future<Output = ()> + Send {
    clocklog::record(clock, move |noticed| {
        let house = house.borrow().clone();
        async move {
            match house {
                Some(house) => house.record_step(noticed).await,
                None => false,
            }
        }
    })
}
