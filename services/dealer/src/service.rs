//! The dealer as a service: reads settings, serves a port, and stops everything in order.
//!
//! Specification: ARCHITECTURE.md §4, §5.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chassis::auth::{Access, Verifier};
use chassis::config::{ConfigError, LogIdentity, Service, ServiceConfig, Settings, Source};
use chassis::drain::{CloseTimeout, Drain};
use chassis::serve::{BoundPort, GrpcBuilder, Health, PathRouter, Server};
use eventlog::{ConnectError, Limits, MigrateError, OpenError, Options, PgStore, PoolSizes};
use fairness::health::Unhealthy;
use keyring::{Keyring, SecretStore, UrlError};
use notary::{Files, KeyError, LOGS_PATH, Notary};
use system::clock::{Clock, SystemClock};
use system::entropy::SystemEntropy;
use tokio_util::sync::CancellationToken;

use crate::dealer::{Dealer, Dependencies, maintain_log};
use crate::rotation::rotate;
use crate::seeds;

/// The service's name: its schema, and a part of its role's name.
/// The log's name.
const SERVICE: &str = "dealer";
const LOG: &str = "dealer/0";
/// Time for which a silent dealer keeps its log.
const LEASE: Duration = Duration::from_secs(5);
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
}

/// Reason why a dealer could not start, or cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("the dealer needs a database: set SABACC_DATABASE_URL or DATABASE_URL")]
    NoDatabase,
    #[error(
        "the dealer needs a name for its log and a key that signs for it: set SABACC_ORIGIN and SABACC_LOG_KEY"
    )]
    NoLog,
    #[error(
        "the entropy of this machine fails its health test: {0}; nothing fair can be dealt here until the operating system's generator is mended"
    )]
    Entropy(#[from] Unhealthy),
    #[error("the name of the log cannot be used")]
    Origin(#[from] KeyError),
    #[error(transparent)]
    NotClosed(#[from] CloseTimeout),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Url(#[from] UrlError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("this program's own descriptors are damaged: {0}")]
    Descriptors(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the certificates cannot be used: {0}")]
    Tls(#[source] Box<dyn std::error::Error + Send + Sync>),
}

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
        let service = ServiceConfig::read(Service::Dealer, &mut settings);
        ServiceConfig::require(Service::Dealer, &mut settings);
        let seed_keys = Keyring::read(&mut settings, "seed_key", "seed_key_previous");
        let hands = settings.number("hands", 1..=10_000_000, DEFAULT_MAX_CACHED_HANDS);
        let hands = usize::try_from(hands).unwrap_or(usize::MAX);
        settings.finish()?;
        let seed_keys = seed_keys.expect("without it the settings were refused");
        Ok(Config { service, seed_keys, max_cached_hands: hands })
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
    let Config { service, seed_keys: keyring, max_cached_hands: hands } = config;
    let LogIdentity { origin, key } = service.log.clone().ok_or(RunError::NoLog)?;
    let url = service.database_url.as_ref().ok_or(RunError::NoDatabase)?;
    let store = PgStore::connect(url.expose(), SERVICE, PoolSizes::default()).await?;
    if !service.allow_unsafe_database {
        store.require_durability().await?;
    }
    let dealer = Dealer::try_new(Dependencies {
        seeds: SecretStore::postgres(url.expose(), seeds::SCHEMA)?,
        keyring,
        entropy: Arc::new(SystemEntropy),
        key,
        origin,
        max_cached_hands: hands,
    })?;
    let clock = Arc::new(SystemClock::new());
    let steps = dealer.record_steps(Arc::<SystemClock>::clone(&clock));
    let mut options = options(bound.address().to_string(), Arc::clone(&clock));
    options.owner = format!("{SERVICE} {}", service.instance).into();
    options.take_over = take_over;
    let notary = Notary::from_config(store.clone(), LOG, &service)?.ok_or(RunError::NoLog)?;
    let signs = notary.clone();
    let (stopping, health) = (CancellationToken::new(), Health::new());
    let log_condition = health.condition("log", "it is being opened");
    let ready = health.condition("state", UNREADY);
    tokio::spawn(ready.follow(dealer.serves(), UNREADY));
    // Only the first attempt takes over: a process that has taken the log from this one since is
    // alive.
    let take_over = AtomicBool::new(options.take_over);
    let open = move || {
        let take_over = take_over.swap(false, Ordering::Relaxed);
        let options = Options { take_over, ..options.clone() };
        let (store, notary, written) = (store.clone(), signs.clone(), log_condition.clone());
        async move { notary.open_log(store, options, &written).await }
    };
    let keeper = tokio::spawn(maintain_log(dealer.clone(), None, open, stopping.clone()));
    tokio::spawn(test_entropy(dealer.clone(), stopping.clone()));
    tokio::spawn(rotate(dealer.clone(), stopping.clone()));
    tokio::spawn(stopping.clone().run_until_cancelled_owned(steps));
    let served = Served { dealer, notary: notary.clone(), health };
    let served = serve(served, &service, clock, bound, drain.clone());
    let mut keeper = std::pin::pin!(keeper);
    let mut served = std::pin::pin!(served);
    let finished = tokio::select! {
        finished = &mut served => finished?,
        kept = &mut keeper => {
            // Only a corrupt log ends the task before it is asked to stop.
            drain.begin();
            served.await?;
            kept.expect("the keeper does not panic")?;
            return Ok(false);
        }
    };
    stopping.cancel();
    drain.close(keeper).await?.expect("the keeper does not panic")?;
    notary.wait_until_signed().await;
    Ok(finished)
}

/// Tests the entropy each hour until `stopping` fires. A failure is logged by the source, and stops
/// new hands.
async fn test_entropy(dealer: Dealer, stopping: CancellationToken) {
    while stopping.run_until_cancelled(tokio::time::sleep(ENTROPY_TEST_INTERVAL)).await.is_some() {
        if dealer.test_entropy().is_err() {
            return;
        }
    }
}

fn options(address: String, clock: Arc<SystemClock>) -> Options {
    Options {
        name: LOG.into(),
        owner: SERVICE.into(),
        address: address.into(),
        lease: LEASE,
        take_over: false,
        clock: Arc::new(move || clock.now()),
        limits: Limits::default(),
    }
}

/// Parts of the service behind the dealer's port.
struct Served {
    dealer: Dealer,
    notary: Notary,
    health: Health,
}

async fn serve(
    served: Served,
    config: &ServiceConfig,
    clock: Arc<SystemClock>,
    bound: BoundPort,
    drain: Drain,
) -> Result<bool, RunError> {
    let Served { dealer, notary, health } = served;
    let verifier = Verifier::new(config.auth.issuers.clone(), clock);
    let access = Access::from_descriptors(proto::DESCRIPTORS)
        .map_err(|error| RunError::Descriptors(Box::new(error)))?;
    let service =
        crate::api::service(dealer).max_decoding_message_size(config.limits.message_bytes);
    let logs = notary::api::service(notary.clone(), SERVICE)
        .max_decoding_message_size(config.limits.message_bytes);
    let app = GrpcBuilder::new(health.clone())
        .add(service)
        .await
        .add(logs)
        .await
        .add_reflection(proto::DESCRIPTORS)
        .map_err(|error| RunError::Descriptors(Box::new(error)))?
        .build(verifier, Arc::new(access), &config.limits);
    notary.report_health(health.clone());
    let app = PathRouter::new(LOGS_PATH, Files::new(notary, SERVICE), app);
    let mut server = Server::new(config.limits.clone(), health, drain);
    // For probes.
    server.http1 = true;
    server.tls = config
        .tls
        .as_ref()
        .map(|tls| tls.acceptor(true))
        .transpose()
        .map_err(|error| RunError::Tls(Box::new(error)))?;
    Ok(server.run(bound, app).await)
}

#[cfg(test)]
mod tests;
