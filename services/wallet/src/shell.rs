//! The wallet as a process has it: settings in, a port served, everything put down in order.

use std::sync::Arc;
use std::time::Duration;

use chassis::auth::{Access, Verifier};
use chassis::clock::{Clock, SystemClock};
use chassis::config::ServiceConfig;
use chassis::drain::Drain;
use chassis::serve::{Bound, Grpc, Health, Server};
use eventlog::{ConnectError, Log, MigrateError, Options, PgStore, Pools};
use tokio_util::sync::CancellationToken;

use crate::owner::{Fault, Opener};
use crate::wallet::{Limits, Wallet};

/// The service's name: its schema, and a part of its role's name.
const SERVICE: &str = "wallet";
const LOG: &str = "wallet/0";
/// How long a silent wallet keeps its log.
const LEASE: Duration = Duration::from_secs(5);

/// Why a wallet could not start, or cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("the wallet needs a database: set SABACC_DATABASE_URL or DATABASE_URL")]
    NoDatabase,
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Fault(#[from] Fault),
    #[error("this program's own descriptors are damaged: {0}")]
    Descriptors(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the certificates cannot be used: {0}")]
    Tls(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Brings the schema of the wallet's log up to date. Safe to repeat.
///
/// # Errors
/// The database cannot be reached, or `admin_url` is not an administrator's.
pub async fn migrate(admin_url: &str, role_password: Option<&str>) -> Result<(), MigrateError> {
    eventlog::migrate(admin_url, SERVICE, role_password).await
}

/// Serves until the drain. Whether everybody was finished with. `take_over` takes the log at once,
/// for whoever knows that its last owner is dead.
///
/// # Errors
/// See [`RunError`]; once it serves, only a corrupt log ends it.
pub async fn run(
    config: ServiceConfig,
    (bound, drain): (Bound, Drain),
    take_over: bool,
) -> Result<bool, RunError> {
    let url = config.database_url.as_ref().ok_or(RunError::NoDatabase)?;
    let store = PgStore::connect(url.expose(), SERVICE, Pools::default()).await?;
    let clock = Arc::new(SystemClock::new());
    let opener = opener(store, (bound.address().to_string(), take_over), Arc::clone(&clock));
    let (wallet, owner) = Wallet::open(opener, Limits::default()).await?;
    let stopping = CancellationToken::new();
    let mut owner = tokio::spawn(owner.run(stopping.clone()));
    let mut served = std::pin::pin!(serve(wallet, &config, clock, (bound, drain.clone())));
    let finished = tokio::select! {
        finished = &mut served => finished?,
        owned = &mut owner => {
            // Only a corrupt log ends the owner before it is told to stop.
            drain.begin();
            served.await?;
            owned.expect("the owner does not panic")?;
            return Ok(false);
        }
    };
    stopping.cancel();
    owner.await.expect("the owner does not panic")?;
    Ok(finished)
}

fn opener(
    store: Arc<PgStore>,
    (address, take_over): (String, bool),
    clock: Arc<SystemClock>,
) -> Opener {
    let options = Options {
        name: LOG.into(),
        owner: format!("{SERVICE} {}", std::process::id()).into(),
        address: address.into(),
        lease: LEASE,
        take_over,
        clock: Arc::new(move || clock.now()),
        limits: eventlog::Limits::default(),
    };
    Box::new(move || Box::pin(Log::open(store.clone(), options.clone())))
}

async fn serve(
    wallet: Wallet,
    config: &ServiceConfig,
    clock: Arc<SystemClock>,
    (bound, drain): (Bound, Drain),
) -> Result<bool, RunError> {
    let verifier = Verifier::new(config.auth.issuers.clone(), clock);
    let access = Access::from_descriptors(proto::DESCRIPTORS)
        .map_err(|error| RunError::Descriptors(Box::new(error)))?;
    let health = Health::new();
    let (accounts, settlement) = crate::api::services(&wallet, config.limits.message_bytes);
    let app = Grpc::new(health.clone())
        .add(accounts)
        .await
        .add(settlement)
        .await
        .reflect(proto::DESCRIPTORS)
        .map_err(|error| RunError::Descriptors(Box::new(error)))?
        .guarded(verifier, Arc::new(access), &config.limits);
    let mut server = Server::new(config.limits.clone(), health, drain);
    server.tls = config
        .tls
        .as_ref()
        .map(|tls| tls.acceptor(false))
        .transpose()
        .map_err(|error| RunError::Tls(Box::new(error)))?;
    Ok(server.run(bound, app).await)
}
