//! Assembles and runs the table service: connects, serves a port, takes the log, stops in order.
//!
//! Specification: ARCHITECTURE.md §4, §5.

use std::sync::Arc;
use std::time::Duration;

use chassis::auth::{Access, ServiceToken, Verifier};
use chassis::channel::{self, CredentialInterceptor};
use chassis::config::ServiceConfig;
use chassis::drain::{CloseTimeout, Drain};
use chassis::serve::{BoundPort, Condition, GrpcBuilder, Health, PathRouter, Server};
use eventlog::{
    ConnectError, Limits, MigrateError, OpenError, Options, PgStore, PoolSizes, ReadError,
};
use keyring::{SecretStore, StoreError, UrlError};
use notary::{Files, KeyError, LOGS_PATH, Notary};
use proto::dealer::v1::dealer_service_client::DealerServiceClient;
use proto::wallet::v1::settlement_service_client::SettlementServiceClient;
use system::clock::{Clock, SystemClock};
use system::entropy::SystemEntropy;
use system::ids::IdMaker;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use transport::ChannelError;

use crate::actor::Dependencies;
use crate::api::{Api, PeopleApi};
use crate::config::Config;
use crate::peers::Peers;
use crate::people::directory::Directory;
use crate::people::player_keys::{MIGRATION, SCHEMA};
use crate::people::{PeopleError, PlayerKeys};
use crate::receipt::ReceiptKey;
use crate::recovery::FoldError;
use crate::registry::{RecoverError, TableRegistry};
use crate::steps;

/// Name of the service: its schema, and a part of its role's name.
const SERVICE: &str = "table";
const LOG: &str = "table/0";
/// Time for which a silent owner keeps the log.
const LEASE: Duration = Duration::from_secs(5);
/// Time for which the dealer may be silent before a hand is aborted.
const DEALER_TIMEOUT: Duration = Duration::from_secs(60);
/// Pause between two tries to take the log.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// Reason of the unmet condition `state` until the tables are in memory.
const NOT_READ: &str = "the tables are not read yet";

/// Reason why the service cannot start or cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("the table service needs a database: set SABACC_DATABASE_URL or DATABASE_URL")]
    NoDatabase,
    #[error(
        "the table service needs a name for its log and a key that signs for it: set SABACC_ORIGIN and SABACC_LOG_KEY"
    )]
    NoLog,
    #[error("the table service needs the address of the {0} service: set {1}")]
    NoPeer(&'static str, &'static str),
    #[error("the table service needs a key to sign its own tokens with: set SABACC_SIGNING_KEY")]
    NoSigningKey,
    #[error("the name of the log cannot be used")]
    Origin(#[from] KeyError),
    #[error(transparent)]
    NotClosed(#[from] CloseTimeout),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Channel(#[from] ChannelError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Url(#[from] UrlError),
    #[error(transparent)]
    Recover(#[from] RecoverError),
    #[error("this program's own descriptors are damaged: {0}")]
    Descriptors(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the certificates cannot be used: {0}")]
    Tls(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// A schema of the table service could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error(transparent)]
    Log(#[from] MigrateError),
    #[error(transparent)]
    Keys(#[from] keyring::MigrateError),
}

/// Brings the schemas up to date: the log's, then the one of the players' keys. Safe to repeat.
pub async fn migrate(admin_url: &str, role_password: Option<&str>) -> Result<(), PrepareError> {
    eventlog::migrate(admin_url, SERVICE, role_password).await?;
    Ok(keyring::migrate(admin_url, MIGRATION).await?)
}

/// Runs the service until it is drained. Returns whether every call was finished. `take_over` takes
/// the log at once, for a caller who knows that its last owner is dead.
pub async fn run(
    config: Config,
    bound: BoundPort,
    drain: Drain,
    take_over: bool,
) -> Result<bool, RunError> {
    let Config { service: config, people_keys } = config;
    let clock = Arc::new(SystemClock::new());
    let url = config.database_url.as_ref().ok_or(RunError::NoDatabase)?;
    let log = config.log.clone().ok_or(RunError::NoLog)?;
    let store = PgStore::connect(url.expose(), SERVICE, PoolSizes::default()).await?;
    if !config.allow_unsafe_database {
        store.require_durability().await?;
    }
    let notary = Notary::from_config(store.clone(), LOG, &config)?.ok_or(RunError::NoLog)?;
    let dependencies = RegistryDependencies {
        peers: peers(&config, &clock)?,
        clock: Arc::clone(&clock),
        receipt_key: Arc::new(ReceiptKey::new(log.key)),
        player_keys: PlayerKeys {
            keys: SecretStore::postgres(url.expose(), SCHEMA)?,
            keyring: people_keys,
            entropy: Arc::new(SystemEntropy),
        },
    };
    let (sender, registry) = watch::channel(None);
    let (stopping, health) = (CancellationToken::new(), Health::new());
    let steps = steps::record(Arc::<SystemClock>::clone(&clock), registry.clone());
    tokio::spawn(stopping.clone().run_until_cancelled_owned(steps));
    let written = health.condition("log", "it is being opened");
    let read = health.condition("state", NOT_READ);
    watch_peers(&config, &health)?;
    let address = bound.address().to_string();
    let mut options = log_options(&config.instance, address, Arc::clone(&clock));
    options.take_over = take_over;
    let ownership = LogOwnership {
        store,
        notary: notary.clone(),
        options,
        log_condition: written,
        state_condition: read,
    };
    let owner = own_log(ownership, dependencies, sender, stopping.clone());
    let mut owner = Box::pin(owner);
    let api = ApiState { registry, notary: notary.clone(), health };
    let served = serve(api, &config, clock, bound, drain.clone());
    let mut served = std::pin::pin!(served);
    let finished = tokio::select! {
        finished = &mut served => finished?,
        ended = &mut owner => {
            drain.begin();
            served.await?;
            return ended.map(|()| false);
        }
    };
    stopping.cancel();
    drain.close(owner).await??;
    notary.wait_until_signed().await;
    Ok(finished)
}

/// Dependencies of each registry that is opened, apart from the log.
struct RegistryDependencies {
    peers: Peers,
    clock: Arc<SystemClock>,
    receipt_key: Arc<ReceiptKey>,
    player_keys: PlayerKeys,
}

/// The log, its options, and the conditions that report it.
struct LogOwnership {
    store: Arc<PgStore>,
    notary: Notary,
    options: Options,
    /// Whether this process owns the log and can write it.
    log_condition: Condition,
    /// Whether the tables are in memory, which is after the log is taken.
    state_condition: Condition,
}

/// Takes the log and opens the registry of its tables. Does so again after the log was lost, and
/// waits while another process owns it.
async fn own_log(
    mut ownership: LogOwnership,
    dependencies: RegistryDependencies,
    sender: watch::Sender<Option<Arc<TableRegistry>>>,
    stopping: CancellationToken,
) -> Result<(), RunError> {
    let mut first = true;
    loop {
        let opened = open_registry(&ownership, &dependencies);
        let Some(opened) = stopping.run_until_cancelled(opened).await else { return Ok(()) };
        // Whoever takes the log from this process later is alive.
        ownership.options.take_over = false;
        let registry = match opened {
            Ok(registry) => registry,
            Err(error) if is_final(&error, first) => return Err(error),
            Err(error) => {
                tracing::warn!(
                    runbook = "deploy/README.md, The database is away",
                    error = &error as &dyn std::error::Error,
                    "the tables wait"
                );
                ownership.state_condition.set_unmet(&format!("the tables cannot be read: {error}"));
                tokio::select! {
                    () = tokio::time::sleep(RETRY_PAUSE) => continue,
                    () = stopping.cancelled() => return Ok(()),
                }
            }
        };
        first = false;
        sender.send_replace(Some(Arc::clone(&registry)));
        ownership.state_condition.set_met();
        let lost = tokio::select! {
            () = registry.wait_until_lost() => true,
            () = stopping.cancelled() => false,
        };
        ownership.state_condition.set_unmet(NOT_READ);
        sender.send_replace(None);
        if !lost {
            registry.close().await;
            return Ok(());
        }
        tracing::warn!("the table log is lost; reading it again");
    }
}

/// Whether waiting cannot help, because what is stored contradicts itself. Keys of players that do
/// not open are an operator's fault at the first try. Later they are retried, since that passes or
/// the log shows it. A database that is away comes back, also for a standby that has just taken the
/// log.
const fn is_final(error: &RunError, first: bool) -> bool {
    match error {
        RunError::Recover(RecoverError::Fold(FoldError::Read(
            ReadError::Unavailable { .. } | ReadError::Stopped,
        ))) => false,
        RunError::Recover(RecoverError::People(PeopleError::Keys(StoreError::Unavailable(_)))) => {
            false
        }
        RunError::Recover(RecoverError::People(
            PeopleError::Keys(StoreError::Corrupt) | PeopleError::WrongKey,
        )) => first,
        RunError::NoDatabase
        | RunError::NoLog
        | RunError::NoPeer(..)
        | RunError::NoSigningKey
        | RunError::Origin(_)
        | RunError::NotClosed(_)
        | RunError::Connect(_)
        | RunError::Channel(_)
        | RunError::Open(_)
        | RunError::Url(_)
        | RunError::Recover(RecoverError::Fold(_))
        | RunError::Descriptors(_)
        | RunError::Tls(_) => true,
    }
}

async fn open_registry(
    ownership: &LogOwnership,
    dependencies: &RegistryDependencies,
) -> Result<Arc<TableRegistry>, RunError> {
    let LogOwnership { store, notary, options, log_condition: written, state_condition: _ } =
        ownership;
    let log = notary.open_log(Arc::<PgStore>::clone(store), options.clone(), written).await?;
    let RegistryDependencies { peers, clock, receipt_key, player_keys } = dependencies;
    let dependencies = Dependencies {
        log,
        peers: peers.clone(),
        clock: Arc::<SystemClock>::clone(clock),
        notary: notary.clone(),
        // Belongs to this ownership of the log, and ends with it.
        directory: Directory::default(),
        receipt_key: Arc::clone(receipt_key),
        dealer_timeout: DEALER_TIMEOUT,
        lease: LEASE,
        room_delay: Arc::default(),
        bounds: Arc::default(),
    };
    Ok(TableRegistry::open(dependencies, IdMaker::system(), player_keys.clone()).await?)
}

/// Watches whether dealer and wallet are ready: without them no hand starts and none is posted.
fn watch_peers(config: &ServiceConfig, health: &Health) -> Result<(), RunError> {
    let (dealer, wallet) = (&config.peers.dealer, &config.peers.wallet);
    for (name, uri) in [("dealer", dealer), ("wallet", wallet)] {
        let Some(uri) = uri else { continue };
        let channel =
            channel::connect_lazy(uri, config.peers.tls.as_ref(), CredentialInterceptor::NoToken)?;
        let condition = health.condition(name, "it was not asked yet");
        tokio::spawn(channel::watch_ready(channel, condition));
    }
    Ok(())
}

fn peers(config: &ServiceConfig, clock: &Arc<SystemClock>) -> Result<Peers, RunError> {
    let peers = &config.peers;
    let dealer = peers.dealer.as_ref().ok_or(RunError::NoPeer("dealer", "SABACC_DEALER_URL"))?;
    let wallet = peers.wallet.as_ref().ok_or(RunError::NoPeer("wallet", "SABACC_WALLET_URL"))?;
    let issuer = config.auth.signing.clone().ok_or(RunError::NoSigningKey)?;
    let clock: Arc<dyn Clock> = Arc::<SystemClock>::clone(clock);
    let token = ServiceToken::new(issuer, SERVICE, clock, Arc::new(SystemEntropy));
    let to = |uri| {
        channel::connect_lazy(
            uri,
            peers.tls.as_ref(),
            CredentialInterceptor::OwnToken(token.clone()),
        )
    };
    Ok(Peers {
        dealer: DealerServiceClient::new(to(dealer)?),
        wallet: SettlementServiceClient::new(to(wallet)?),
    })
}

fn log_options(instance: &str, address: String, clock: Arc<SystemClock>) -> Options {
    Options {
        name: LOG.into(),
        owner: format!("{SERVICE} {instance}").into(),
        address: address.into(),
        lease: LEASE,
        take_over: false,
        clock: Arc::new(move || clock.now()),
        limits: Limits::default(),
    }
}

/// State that the service's API reads.
struct ApiState {
    registry: watch::Receiver<Option<Arc<TableRegistry>>>,
    notary: Notary,
    health: Health,
}

async fn serve(
    api: ApiState,
    config: &ServiceConfig,
    clock: Arc<SystemClock>,
    bound: BoundPort,
    drain: Drain,
) -> Result<bool, RunError> {
    let ApiState { registry, notary, health } = api;
    let verifier = Verifier::new(config.auth.issuers.clone(), clock);
    let access = Access::from_descriptors(proto::DESCRIPTORS)
        .map_err(|error| RunError::Descriptors(Box::new(error)))?;
    let most = config.limits.message_bytes;
    let (people, disputes) = PeopleApi::services(registry.clone());
    let service = Api::service(registry, drain.stopping().clone()).max_decoding_message_size(most);
    let logs = notary::api::service(notary.clone(), SERVICE).max_decoding_message_size(most);
    let app = GrpcBuilder::new(health.clone())
        .add(service)
        .await
        .add(people.max_decoding_message_size(most))
        .await
        .add(disputes.max_decoding_message_size(most))
        .await
        .add(logs)
        .await
        .add_reflection(proto::DESCRIPTORS)
        .map_err(|error| RunError::Descriptors(Box::new(error)))?
        .build(verifier, Arc::new(access), &config.limits);
    notary.report_health(health.clone());
    let app = PathRouter::new(LOGS_PATH, Files::new(notary, SERVICE), app);
    let mut server = Server::new(config.limits.clone(), health, drain);
    // For readiness probes.
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
mod tests {
    use super::*;

    fn of_people(error: PeopleError) -> RunError {
        RunError::Recover(RecoverError::People(error))
    }

    #[test]
    fn a_standby_waits_for_the_database_of_the_keys_and_not_for_a_key_that_is_wrong() {
        let away = || {
            let away = sqlx::Error::PoolTimedOut;
            of_people(PeopleError::Keys(StoreError::Unavailable(Arc::new(away))))
        };
        // The first try of this process, however long it has waited for the log.
        assert!(!is_final(&away(), true) && !is_final(&away(), false));
        let wrong = of_people(PeopleError::WrongKey);
        assert!(is_final(&wrong, true) && !is_final(&wrong, false));
    }
}
