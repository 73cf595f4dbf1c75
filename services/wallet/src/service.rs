//! The wallet as a service: assembles what serves its port and what owns its log.
//!
//! Specification: ARCHITECTURE.md §4, §5.

use std::sync::Arc;

use chassis::drain::Drain;
use chassis::serve::BoundPort;
use eventlog::{Clock, Limits};
use runner::{EntryReaders, Service, Spec};
use system::clock::{Clock as _, SystemClock};

use crate::api::Api;
use crate::config::Config;
use crate::owner::Dependencies;
use crate::repo::{self, LOG, Repo, SERVICE};
use crate::wallet::{QueueLimits, Wallet};

pub use crate::repo::migrate;
pub use runner::RunError;

/// Text of the condition `state` while the accounts are not in memory.
const NOT_LOADED: &str = "the accounts are not read yet";

/// Serves until the drain. Returns whether all calls were finished. `take_over` takes the log at
/// once; the caller must know that its last owner is dead.
///
/// # Errors
/// See [`RunError`]; once it serves, only a corrupt log or tables that differ from it end it.
pub async fn run(
    config: impl Into<Config>,
    bound: BoundPort,
    drain: Drain,
    take_over: bool,
) -> Result<bool, RunError> {
    let Config { service: config, starting } = config.into();
    let spec = Spec {
        name: SERVICE,
        title: "the wallet",
        log: LOG,
        entries: EntryReaders::Auditors,
        limits: log_limits(),
        projection: repo::projection(),
    };
    let service = Service::connect(spec, config, bound, drain, take_over).await?;
    let system = Arc::clone(&service.clock);
    let clock: Clock = Arc::new(move || system.now());
    let dependencies = Dependencies {
        opener: Box::new(service.opener()),
        clock: clock.clone(),
        repo: Some(Repo::new(&service.store)),
    };
    let (wallet, standby) = Wallet::standby(dependencies, QueueLimits::default());
    let read = service.health.condition("state", NOT_LOADED);
    tokio::spawn(read.follow(wallet.loaded(), NOT_LOADED));
    service.spawn(wallet.record_steps(Arc::<SystemClock>::clone(&service.clock)));
    let api = Api::new(&wallet, clock, service.drain.stopping().clone()).giving(starting);
    let limit = service.config.limits.message_bytes;
    let (accounts, settlement) = crate::api::services(api, limit);
    let routes = service.grpc().add(accounts).await.add(settlement).await;
    let owner = Box::pin(standby.run(service.closing.clone()));
    drop(wallet);
    service.run(routes, owner).await
}

/// Bounds that let the largest batch of the API fit into one commit, with the accounts it opens.
fn log_limits() -> Limits {
    Limits { batch_events: 6_000, batch_bytes: 8 << 20, ..Limits::default() }
}
