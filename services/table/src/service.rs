//! The table service: assembles what serves its port and what owns its log.
//!
//! Specification: ARCHITECTURE.md §4, §5.

use std::sync::Arc;
use std::time::Duration;

use chassis::auth::ServiceToken;
use chassis::channel::{self, CredentialInterceptor};
use chassis::config::{LogIdentity, ServiceConfig};
use chassis::drain::Drain;
use chassis::serve::{BoundPort, Condition, Health};
use eventlog::{Limits, Log, MigrateError, OpenError, Projection, ReadError};
use futures_util::future::BoxFuture;
use keyring::{SecretStore, StoreError};
use notary::Notary;
use proto::dealer::v1::dealer_service_client::DealerServiceClient;
use proto::wallet::v1::settlement_service_client::SettlementServiceClient;
use runner::{BoxError, EntryReaders, LEASE, Service, Spec, own_log};
use system::clock::{Clock, SystemClock};
use system::entropy::SystemEntropy;
use system::ids::IdMaker;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use transport::ChannelError;

use crate::actor::Dependencies;
use crate::api::{Api, HandsApi, MAX_DISPUTE_BYTES, PeopleApi, RevocationsApi, RoomApi, RulesApi};
use crate::config::{Config, GuestConfig};
use crate::development::Development;
use crate::peers::Peers;
use crate::people::directory::Directory;
use crate::people::guests::GuestIssuer;
use crate::people::player_keys::{MIGRATION, SCHEMA};
use crate::people::{PeopleError, PlayerKeys};
use crate::player_hands::PlayerHands;
use crate::receipt::ReceiptKey;
use crate::recovery::FoldError;
use crate::registry::{RecoverError, TableRegistry};
use crate::repo::{self, Repo};
use crate::room::{self, RoomActivity};
use crate::snapshot::SnapshotPolicy;
use crate::steps;

pub use runner::RunError;

/// Name of the service: its schema, and a part of its role's name.
pub(crate) const SERVICE: &str = "table";
/// Name of the log.
pub(crate) const LOG: &str = "table/0";
/// Time for which the dealer may be silent before a hand is suspended.
const DEALER_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause between two tries to take the log.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// Reason of the unmet condition `state` until the tables are in memory.
const NOT_READ: &str = "the tables are not read yet";

/// Setting that is missing, or a peer that cannot be called.
#[derive(Debug, thiserror::Error)]
enum PeersError {
    #[error("the table service needs the address of the {0} service: set {1}")]
    NoPeer(&'static str, &'static str),
    #[error("the table service needs a key to sign its own tokens with: set SABACC_SIGNING_KEY")]
    NoSigningKey,
    #[error(transparent)]
    Channel(#[from] ChannelError),
}

/// A schema of the table service could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error(transparent)]
    Log(#[from] MigrateError),
    #[error(transparent)]
    Keys(#[from] keyring::MigrateError),
}

/// Brings the schemas up to date: that of the log and the players' hands, then the one of the
/// players' keys. Safe to repeat.
pub async fn migrate(admin_url: &str, role_password: Option<&str>) -> Result<(), PrepareError> {
    repo::migrate(admin_url, role_password).await?;
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
    let Config { service: config, people_keys, guests, snapshot_events, development } = config;
    let spec = Spec {
        name: SERVICE,
        title: "the table service",
        log: LOG,
        entries: EntryReaders::Everybody,
        limits: Limits::default(),
        projection: Projection::nothing(),
    };
    let service = Service::connect(spec, config, bound, drain, take_over).await?;
    let LogIdentity { origin: _, key, .. } = service.log.clone();
    let (clock, config) = (&service.clock, &service.config);
    let url = config.database_url.as_ref().ok_or(RunError::NoDatabase("the table service"))?;
    let opener = RegistryOpener {
        open_log: Box::new(service.opener()),
        notary: service.notary.clone(),
        state_condition: service.health.condition("state", NOT_READ),
        peers: peers(config, clock).map_err(RunError::own)?,
        clock: Arc::clone(clock),
        receipt_key: Arc::new(ReceiptKey::new(key)),
        repo: Repo::new(&service.store),
        snapshots: SnapshotPolicy::new(service.store.snapshots(LOG), snapshot_events),
        player_keys: PlayerKeys {
            keys: SecretStore::postgres(url.expose(), SCHEMA).map_err(RunError::own)?,
            keyring: people_keys,
            entropy: Arc::new(SystemEntropy),
        },
        guests: guests.map(|guests| guest_issuer(guests, clock)),
        activity: room::activity(clock.now()),
        development,
    };
    service.spawn(keep_activity(Arc::clone(&opener.activity)));
    let (sender, registry) = watch::channel(None);
    service.spawn(steps::record(Arc::<SystemClock>::clone(clock), registry.clone()));
    watch_peers(config, &service.health)?;
    let most = config.limits.message_bytes;
    let (people, disputes) = PeopleApi::services(registry.clone());
    let hands = HandsApi::service(registry.clone());
    let rules = RulesApi::service(registry.clone());
    let room = RoomApi::service(registry.clone(), service.drain.stopping().clone());
    let revocations = RevocationsApi::service(registry.clone(), service.drain.stopping().clone());
    let public_url = Arc::clone(&config.public_url);
    let tables = Api::service(registry, service.drain.stopping().clone(), public_url);
    let routes = service
        .grpc()
        .add(tables.max_decoding_message_size(most))
        .await
        .add(people.max_decoding_message_size(most))
        .await
        .add(disputes.max_decoding_message_size(most.max(MAX_DISPUTE_BYTES)))
        .await
        .add(hands.max_decoding_message_size(most))
        .await
        .add(rules.max_decoding_message_size(most))
        .await
        .add(room.max_decoding_message_size(most))
        .await
        .add(revocations.max_decoding_message_size(most))
        .await;
    let closing = service.closing.clone();
    service.run(routes, Box::pin(own_registry(opener, sender, closing))).await
}

/// Owns the log and publishes its registry, until the service closes.
async fn own_registry(
    opener: RegistryOpener,
    sender: watch::Sender<Option<Arc<TableRegistry>>>,
    closing: CancellationToken,
) -> Result<(), BoxError> {
    let open = |first| opener.open(first);
    let publish = |registry: Option<_>| {
        opener.state_condition.set(registry.is_none().then_some(NOT_READ));
        sender.send_replace(registry);
    };
    Box::pin(own_log("table", open, publish, &closing)).await
}

/// Watches the services without which no hand starts and none is posted.
fn watch_peers(config: &ServiceConfig, health: &Health) -> Result<(), RunError> {
    let (dealer, wallet) = (config.peers.dealer.as_ref(), config.peers.wallet.as_ref());
    let watched =
        dealer.map(|uri| ("dealer", uri)).into_iter().chain(wallet.map(|uri| ("wallet", uri)));
    channel::watch_peers(watched, config.peers.tls.as_ref(), health).map_err(RunError::own)
}

fn guest_issuer(config: GuestConfig, clock: &Arc<SystemClock>) -> Arc<GuestIssuer> {
    let GuestConfig { issuer, per_day } = config;
    let clock = Arc::<SystemClock>::clone(clock);
    Arc::new(GuestIssuer::new(issuer, per_day, clock, Arc::new(SystemEntropy)))
}

/// Keeps the counts of each second, for ever.
async fn keep_activity(activity: Arc<RoomActivity>) {
    // Whoever asks first which program runs need not wait for its file to be read.
    drop(tokio::task::spawn_blocking(chassis::build::running));
    activity.keep().await;
}

/// Opener of the log's registry, again after each loss of the log.
struct RegistryOpener {
    open_log: Box<dyn Fn() -> BoxFuture<'static, Result<Log, OpenError>> + Send + Sync>,
    notary: Notary,
    /// Whether the tables are in memory, which is after the log is taken.
    state_condition: Condition,
    peers: Peers,
    clock: Arc<SystemClock>,
    receipt_key: Arc<ReceiptKey>,
    repo: Repo,
    snapshots: SnapshotPolicy,
    player_keys: PlayerKeys,
    guests: Option<Arc<GuestIssuer>>,
    activity: Arc<RoomActivity>,
    development: Development,
}

impl RegistryOpener {
    /// Takes the log and reads its tables, until they can be read or waiting cannot help.
    async fn open(&self, first: bool) -> Result<Arc<TableRegistry>, BoxError> {
        loop {
            let log = (self.open_log)().await?;
            let error = match self.read(log).await {
                Ok(registry) => return Ok(registry),
                Err(error) if is_final(&error, first) => return Err(error.into()),
                Err(error) => error,
            };
            tracing::warn!(
                runbook = "deploy/README.md, The database is away",
                error = &error as &dyn std::error::Error,
                "the tables wait"
            );
            self.state_condition.set_unmet(&format!("the tables cannot be read: {error}"));
            tokio::time::sleep(RETRY_PAUSE).await;
        }
    }

    async fn read(&self, log: Log) -> Result<Arc<TableRegistry>, RecoverError> {
        let dependencies = Dependencies {
            log,
            peers: self.peers.clone(),
            clock: Arc::<SystemClock>::clone(&self.clock),
            notary: self.notary.clone(),
            // Belongs to this ownership of the log, and ends with it.
            directory: Directory::default(),
            receipt_key: Arc::clone(&self.receipt_key),
            dealer_timeout: DEALER_TIMEOUT,
            lease: LEASE,
            room_delay: Arc::default(),
            bounds: Arc::default(),
            guests: self.guests.clone(),
            games: Arc::default(),
            activity: Arc::clone(&self.activity),
            player_hands: PlayerHands::new(Some(self.repo.clone())),
            snapshots: self.snapshots.clone(),
            development: self.development,
        };
        TableRegistry::open(dependencies, IdMaker::system(), self.player_keys.clone()).await
    }
}

/// Whether waiting cannot help, because what is stored contradicts itself. Keys of players that do
/// not open are an operator's fault at the first try. Later they are retried, since that passes or
/// the log shows it. A database that is away comes back, also for a standby that has just taken the
/// log.
const fn is_final(error: &RecoverError, first: bool) -> bool {
    match error {
        RecoverError::Fold(FoldError::Read(ReadError::Unavailable { .. } | ReadError::Stopped))
        | RecoverError::People(PeopleError::Keys(StoreError::Unavailable(_))) => false,
        RecoverError::People(PeopleError::Keys(StoreError::Corrupt) | PeopleError::WrongKey) => {
            first
        }
        RecoverError::Fold(_) => true,
    }
}

fn peers(config: &ServiceConfig, clock: &Arc<SystemClock>) -> Result<Peers, PeersError> {
    let peers = &config.peers;
    let dealer = peers.dealer.as_ref().ok_or(PeersError::NoPeer("dealer", "SABACC_DEALER_URL"))?;
    let wallet = peers.wallet.as_ref().ok_or(PeersError::NoPeer("wallet", "SABACC_WALLET_URL"))?;
    let issuer = config.auth.signing.clone().ok_or(PeersError::NoSigningKey)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_standby_waits_for_the_database_of_the_keys_and_not_for_a_key_that_is_wrong() {
        let away = || {
            let away = sqlx::Error::PoolTimedOut;
            RecoverError::People(PeopleError::Keys(StoreError::Unavailable(Arc::new(away))))
        };
        // The first try of this process, however long it has waited for the log.
        assert!(!is_final(&away(), true) && !is_final(&away(), false));
        let wrong = RecoverError::People(PeopleError::WrongKey);
        assert!(is_final(&wrong, true) && !is_final(&wrong, false));
    }
}
