//! The dealer as a service: reads settings, and assembles what serves its port.
//!
//! Specification: ARCHITECTURE.md §4, §5.

use std::sync::Arc;
use std::time::Duration;

use chassis::config::{self, ConfigError, LogIdentity, ServiceConfig, Settings, Source};
use chassis::drain::Drain;
use chassis::serve::BoundPort;
use eventlog::{Limits, MigrateError, Projection};
use keyring::{Keyring, SecretStore};
use runner::{EntryReaders, Service, Spec};
use system::clock::SystemClock;
use system::entropy::{EntropyError, SystemEntropy};

use crate::dealer::{Dealer, Dependencies, maintain_log};
use crate::entropy_failure;
use crate::fixed_seeds::FixedSeeds;
use crate::rotation::rotate;
use crate::seeds;

pub use runner::RunError;

/// The service's name: its schema, and a part of its role's name.
const SERVICE: &str = "dealer";
/// The log's name.
const LOG: &str = "dealer/0";
/// Time between two tests of the entropy.
const ENTROPY_TEST_INTERVAL: Duration = Duration::from_hours(1);
/// Condition that an unready dealer does not meet.
const UNREADY: &str = "calls are not taken yet";
/// Hands kept in memory by default.
const DEFAULT_MAX_CACHED_HANDS: u64 = 10_000;

/// Settings of a dealer.
pub struct Config {
    /// Settings of every service. The log's origin is bound into every hand for ever, and the log's
    /// key signs commitments too.
    pub service: ServiceConfig,
    /// Keys of seeds at rest. While there are previous ones, seeds under them are sealed again.
    pub seed_keys: Keyring,
    /// Number of hands kept in memory.
    pub max_cached_hands: usize,
    /// Seeds of a room for developers. No setting has them.
    pub fixed_seeds: Option<FixedSeeds>,
}

/// Entropy that no dealer starts on.
#[derive(Debug, thiserror::Error)]
#[error(
    "no secret can be made on this machine: {0}; nothing fair can be dealt here until that is mended"
)]
struct BadEntropy(EntropyError);

/// The dealer's schemas could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error(transparent)]
    Log(#[from] MigrateError),
    #[error(transparent)]
    Seeds(#[from] keyring::MigrateError),
}

impl Config {
    /// Reads all settings from a file and the environment.
    ///
    /// # Errors
    /// All faults at once.
    pub fn parse(source: Source) -> Result<Config, ConfigError> {
        let mut settings = Settings::new(source);
        let service = ServiceConfig::read(config::Service::Dealer, &mut settings);
        ServiceConfig::require(config::Service::Dealer, &mut settings);
        let seed_keys = Keyring::read(&mut settings, "seed_key", "seed_key_previous");
        let hands = settings.number("hands", 1..=10_000_000, DEFAULT_MAX_CACHED_HANDS);
        let hands = usize::try_from(hands).unwrap_or(usize::MAX);
        settings.finish()?;
        let seed_keys = seed_keys.expect("without it the settings were refused");
        Ok(Config { service, seed_keys, max_cached_hands: hands, fixed_seeds: None })
    }
}

/// Brings the dealer's schemas up to date: the log's, then the seeds'. Safe to repeat.
pub async fn migrate(admin_url: &str, role_password: Option<&str>) -> Result<(), PrepareError> {
    eventlog::migrate(admin_url, SERVICE, role_password).await?;
    Ok(keyring::migrate(admin_url, seeds::MIGRATION).await?)
}

/// Runs the dealer until the drain. Returns whether every call finished. `take_over` takes the log
/// at once, for a caller that knows that its last owner is dead.
pub async fn run(
    config: Config,
    bound: BoundPort,
    drain: Drain,
    take_over: bool,
) -> Result<bool, RunError> {
    let Config { service, seed_keys: keyring, max_cached_hands, fixed_seeds } = config;
    let spec = Spec {
        name: SERVICE,
        title: "the dealer",
        log: LOG,
        entries: EntryReaders::Everybody,
        limits: Limits::default(),
        projection: Projection::nothing(),
    };
    let service = Service::connect(spec, service, bound, drain, take_over).await?;
    let LogIdentity { origin, key, .. } = service.log.clone();
    let url = service.config.database_url.as_ref().ok_or(RunError::NoDatabase("the dealer"))?;
    let dealer = Dealer::try_new(Dependencies {
        seeds: SecretStore::postgres(url.expose(), seeds::SCHEMA).map_err(RunError::own)?,
        keyring,
        entropy: Arc::new(SystemEntropy),
        key,
        origin,
        max_cached_hands,
    });
    let dealer = dealer.map_err(|failure| RunError::own(BadEntropy(failure)))?;
    let dealer = dealer.with_fixed_seeds(fixed_seeds).map_err(RunError::own)?;
    let ready = service.health.condition("state", UNREADY);
    tokio::spawn(ready.follow(dealer.serves(), UNREADY));
    service.spawn(dealer.record_steps(Arc::<SystemClock>::clone(&service.clock)));
    service.spawn(test_entropy(dealer.clone()));
    let entropy = service.health.condition("entropy", "it is not tested yet");
    service.spawn(entropy_failure::report(dealer.clone(), entropy));
    service.spawn(dealer.record_entropy_failure());
    service.spawn(dealer.test_outcomes());
    service.spawn(rotate(dealer.clone()));
    let owner = maintain_log(dealer.clone(), service.opener(), service.closing.clone());
    let calls =
        crate::api::service(dealer).max_decoding_message_size(service.config.limits.message_bytes);
    let routes = service.grpc().add(calls).await;
    service.run(routes, owner).await
}

/// Tests the entropy each hour. A failure is logged by the source, and stops new hands.
async fn test_entropy(dealer: Dealer) {
    loop {
        tokio::time::sleep(ENTROPY_TEST_INTERVAL).await;
        if dealer.test_entropy().is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
