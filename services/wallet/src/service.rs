//! Runs the wallet as a service: opens the log, serves the port, stops in order.
//!
//! Specification: ARCHITECTURE.md §4, §5.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chassis::auth::{Access, Verifier};
use chassis::config::ServiceConfig;
use chassis::drain::{CloseTimeout, Drain};
use chassis::serve::{BoundPort, Condition, GrpcBuilder, Health, PathRouter, Server};
use eventlog::{Clock, ConnectError, Options, PgStore, PoolSizes};
use notary::{Files, KeyError, LOGS_PATH, Notary};
use system::clock::{Clock as _, SystemClock};
use system::entropy::SystemEntropy;
use tokio_util::sync::CancellationToken;

use crate::api::Api;
use crate::owner::{Dependencies, FatalError, Opener};
use crate::repo::{self, LOG, Repo, SERVICE};
use crate::wallet::{QueueLimits, Wallet};

pub use crate::repo::migrate;

/// Time after which a silent wallet loses its log.
const LEASE: Duration = Duration::from_secs(5);

/// Text of the condition `state` while the accounts are not in memory.
const NOT_LOADED: &str = "the accounts are not read yet";

/// Error that keeps the wallet from starting or ends it.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("the wallet needs a database: set SABACC_DATABASE_URL or DATABASE_URL")]
    NoDatabase,
    #[error(
        "the wallet needs a name for its log and a key that signs for it: set SABACC_ORIGIN and SABACC_LOG_KEY"
    )]
    NoOriginOrKey,
    #[error("the name of the log cannot be used")]
    Origin(#[from] KeyError),
    #[error(transparent)]
    NotClosed(#[from] CloseTimeout),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Fatal(#[from] FatalError),
    #[error("this program's own descriptors are damaged: {0}")]
    Descriptors(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the certificates cannot be used: {0}")]
    Tls(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Serves until the drain. Returns whether all calls were finished. `take_over` takes the log at
/// once; the caller must know that its last owner is dead.
///
/// # Errors
/// See [`RunError`]; once it serves, only a corrupt log or tables that differ from it end it.
pub async fn run(
    config: ServiceConfig,
    bound: BoundPort,
    drain: Drain,
    take_over: bool,
) -> Result<bool, RunError> {
    let url = config.database_url.as_ref().ok_or(RunError::NoDatabase)?;
    let projection = repo::projection();
    let store =
        PgStore::connect_with(url.expose(), SERVICE, PoolSizes::default(), projection).await?;
    if !config.allow_unsafe_database {
        store.require_durability().await?;
    }
    let notary =
        Notary::from_config(store.clone(), LOG, &config)?.ok_or(RunError::NoOriginOrKey)?;
    let repo = Some(Repo::new(&store));
    let system = Arc::new(SystemClock::new());
    let clock: Clock = {
        let system = Arc::clone(&system);
        Arc::new(move || system.now())
    };
    let owner = format!("{SERVICE} {}", config.instance);
    let options = log_options(owner, bound.address().to_string(), clock.clone());
    let (stopping, health) = (CancellationToken::new(), Health::new());
    let written = health.condition("log", "it is being opened");
    let opener = opener(store, notary.clone(), written, options, take_over);
    let ground = Dependencies { opener, clock: clock.clone(), repo };
    let (wallet, standby) = Wallet::standby(ground, QueueLimits::default());
    let read = health.condition("state", NOT_LOADED);
    tokio::spawn(read.follow(wallet.loaded(), NOT_LOADED));
    let steps = wallet.record_steps(Arc::<SystemClock>::clone(&system));
    tokio::spawn(stopping.clone().run_until_cancelled_owned(steps));
    let api = Api::new(&wallet, clock, drain.stopping().clone());
    drop(wallet);
    let mut owner = tokio::spawn(standby.run(stopping.clone()));
    let served = Served { api, notary: notary.clone(), health };
    let served = serve(served, &config, system, bound, drain.clone());
    let mut served = std::pin::pin!(served);
    let finished = tokio::select! {
        finished = &mut served => finished?,
        owned = &mut owner => {
            // Only a corrupt log or differing tables end the owner before it is told to stop.
            drain.begin();
            served.await?;
            owned.expect("the owner does not panic")?;
            return Ok(false);
        }
    };
    stopping.cancel();
    drain.close(owner).await?.expect("the owner does not panic")?;
    notary.wait_until_signed().await;
    Ok(finished)
}

/// Opens the log for the wallet and its notary. Takes over only the first time: an owner that took
/// the log from this process later is alive.
fn opener(
    store: Arc<PgStore>,
    notary: Notary,
    written: Condition,
    options: Options,
    take_over: bool,
) -> Opener {
    let take_over = AtomicBool::new(take_over);
    Box::new(move || {
        let take_over = take_over.swap(false, Ordering::Relaxed);
        let options = Options { take_over, ..options.clone() };
        let (store, notary, written) = (store.clone(), notary.clone(), written.clone());
        Box::pin(async move { notary.open_log(store, options, &written).await })
    })
}

fn log_options(owner: String, address: String, clock: Clock) -> Options {
    Options {
        name: LOG.into(),
        owner: owner.into(),
        address: address.into(),
        lease: LEASE,
        take_over: false,
        clock,
        salts: Arc::new(|| system::entropy::bytes(&SystemEntropy)),
        limits: log_limits(),
    }
}

/// Bounds that let the largest batch of the API fit into one commit, with the accounts it opens.
fn log_limits() -> eventlog::Limits {
    let limits = eventlog::Limits::default();
    eventlog::Limits { batch_events: 6_000, batch_bytes: 8 << 20, ..limits }
}

/// Parts of the service behind the wallet's port.
struct Served {
    api: Api,
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
    let Served { api, notary, health } = served;
    let verifier = Verifier::new(config.auth.issuers.clone(), clock);
    let access = Access::from_descriptors(proto::DESCRIPTORS)
        .map_err(|error| RunError::Descriptors(Box::new(error)))?;
    let (accounts, settlement) = crate::api::services(api, config.limits.message_bytes);
    let logs = notary::api::service(notary.clone(), SERVICE)
        .max_decoding_message_size(config.limits.message_bytes);
    let app = GrpcBuilder::new(health.clone())
        .add(accounts)
        .await
        .add(settlement)
        .await
        .add(logs)
        .await
        .add_reflection(proto::DESCRIPTORS)
        .map_err(|error| RunError::Descriptors(Box::new(error)))?
        .build(verifier, Arc::new(access), &config.limits);
    notary.report_health(health.clone());
    let app = PathRouter::new(LOGS_PATH, Files::new(notary, SERVICE), app);
    let mut server = Server::new(config.limits.clone(), health, drain);
    // HTTP/1 is for probes.
    server.http1 = true;
    server.tls = config
        .tls
        .as_ref()
        .map(|tls| tls.acceptor(true))
        .transpose()
        .map_err(|error| RunError::Tls(Box::new(error)))?;
    Ok(server.run(bound, app).await)
}
