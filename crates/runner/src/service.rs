//! Run of a service: connects, serves its port beside the owner of its log, stops in order.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use archive_storage::StorageError;
use chassis::config::{LogIdentity, ServiceConfig};
use chassis::drain::{CloseTimeout, Drain};
use chassis::serve::{
    BoundPort, CertificateError, Condition, DescriptorError, GrpcBuilder, Health, PathRouter,
    Server,
};
use eventlog::archive::MountedArchives;
use eventlog::{
    Authenticator, CheckpointStore, ConnectError, Limits, Log, OpenError, Options, PgStore,
    PoolSizes, Position, PreviousSecret, Projection,
};
use futures_util::future::BoxFuture;
use notary::{EntryReaders, Files, KeyError, LOGS_PATH, Notary};
use system::clock::{Clock, SystemClock};
use system::entropy::{self, SystemEntropy};
use tokio_util::sync::CancellationToken;

/// Error of any kind.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Time for which a silent owner keeps its log.
pub const LEASE: Duration = Duration::from_secs(5);

/// Error that keeps a service from starting or ends it.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("{0} needs a database: set SABACC_DATABASE_URL or DATABASE_URL")]
    NoDatabase(&'static str),
    #[error(
        "{0} needs a name for its log and a key that signs for it: set SABACC_ORIGIN and SABACC_LOG_KEY"
    )]
    NoLog(&'static str),
    #[error("the name of the log cannot be used")]
    Origin(#[from] KeyError),
    #[error("the setting archives cannot be used")]
    Archives(#[from] StorageError),
    #[error(transparent)]
    NotClosed(#[from] CloseTimeout),
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error(transparent)]
    Descriptors(#[from] DescriptorError),
    #[error(transparent)]
    Certificates(#[from] CertificateError),
    /// Error of the service's own parts.
    #[error(transparent)]
    Own(BoxError),
}

impl RunError {
    /// Error of the service's own parts.
    pub fn own(error: impl Into<BoxError>) -> RunError {
        RunError::Own(error.into())
    }
}

/// Properties that tell one service from another.
pub struct Spec {
    /// Its schema, and a part of its role's name.
    pub name: &'static str,
    /// Name in errors, such as `the wallet`.
    pub title: &'static str,
    /// Name of its log, such as `wallet/0`.
    pub log: &'static str,
    /// Readers of its leaf records.
    pub entries: EntryReaders,
    pub limits: Limits,
    /// Tables that are written with the log.
    pub projection: Projection,
}

/// Service that is connected and does not answer yet.
pub struct Service {
    name: &'static str,
    entries: EntryReaders,
    pub config: ServiceConfig,
    /// Name and key of the log.
    pub log: LogIdentity,
    pub store: Arc<PgStore>,
    pub notary: Notary,
    pub clock: Arc<SystemClock>,
    pub health: Health,
    pub drain: Drain,
    /// Fires once all calls are answered, for the owner of the log and for tasks beside it.
    pub closing: CancellationToken,
    bound: BoundPort,
    options: Options,
    /// Archives of the log, where they are mounted.
    archives: Option<Arc<MountedArchives>>,
    log_condition: Condition,
}

impl Service {
    /// Connects to the database. `take_over` takes the log at once, for a caller that knows that
    /// its last owner is dead.
    ///
    /// # Errors
    /// A setting is missing, or the database cannot be used.
    pub async fn connect(
        spec: Spec,
        config: ServiceConfig,
        bound: BoundPort,
        drain: Drain,
        take_over: bool,
    ) -> Result<Service, RunError> {
        let Spec { name, title, log, entries, limits, projection } = spec;
        let identity = config.log.clone().ok_or(RunError::NoLog(title))?;
        let url = config.database_url.as_ref().ok_or(RunError::NoDatabase(title))?;
        let store =
            PgStore::connect_with(url.expose(), name, PoolSizes::default(), projection).await?;
        if !config.allow_unsafe_database {
            store.require_durability().await?;
        }
        let archives = mount_archives(&store, log, &config)?;
        let notary = Notary::from_config(store.clone(), log, &config, archives.clone())?;
        let notary = notary.ok_or(RunError::NoLog(title))?;
        let clock = Arc::new(SystemClock::new());
        let log_clock = Arc::clone(&clock);
        let options = Options {
            name: log.into(),
            owner: format!("{name} {}", config.instance).into(),
            address: bound.address().to_string().into(),
            lease: LEASE,
            take_over,
            clock: Arc::new(move || log_clock.now()),
            authenticator: authenticator(&identity, log),
            limits,
        };
        let (health, closing) = (Health::new(), CancellationToken::new());
        let log_condition = health.condition("log", "it is being opened");
        Ok(Service {
            name,
            entries,
            config,
            log: identity,
            store,
            notary,
            clock,
            health,
            drain,
            closing,
            bound,
            options,
            archives,
            log_condition,
        })
    }

    /// Function that opens the log as soon as no other process owns it. Only the first call takes
    /// over: a process that has taken the log from this one since is alive.
    pub fn opener(
        &self,
    ) -> impl Fn() -> BoxFuture<'static, Result<Log, OpenError>> + Send + Sync + use<> {
        let (store, notary) = (Arc::clone(&self.store), self.notary.clone());
        let (options, written) = (self.options.clone(), self.log_condition.clone());
        let archives = self.archives.clone();
        let take_over = AtomicBool::new(options.take_over);
        move || {
            let take_over = take_over.swap(false, Ordering::Relaxed);
            let options = Options { take_over, ..options.clone() };
            let (store, notary, written) = (store.clone(), notary.clone(), written.clone());
            let archives = archives.clone();
            Box::pin(async move {
                let log = notary.open_log(store, options, &written).await?;
                Ok(match archives {
                    Some(archives) => log.with_archives(archives),
                    None => log,
                })
            })
        }
    }

    /// Builder of what is served, with health alone.
    #[must_use]
    pub fn grpc(&self) -> GrpcBuilder {
        GrpcBuilder::new(self.health.clone())
    }

    /// Runs `task` until the service closes.
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(self.closing.clone().run_until_cancelled_owned(task));
    }

    /// Serves `routes` and the log's files until the drain, beside `owner`, which owns the log until
    /// `closing` fires. Returns whether all calls were finished.
    ///
    /// # Errors
    /// See [`RunError`]; once it serves, only an end of the owner ends it.
    pub async fn run<E: Into<BoxError> + Send + 'static>(
        self,
        routes: GrpcBuilder,
        owner: impl Future<Output = Result<(), E>> + Send + 'static,
    ) -> Result<bool, RunError> {
        let Service { name, entries, config, notary, clock, health, drain, closing, bound, .. } =
            self;
        let limits = &config.limits;
        let logs = notary::api::service(notary.clone(), name, entries)
            .max_decoding_message_size(limits.message_bytes);
        let routes = routes.add(logs).await;
        let app = routes.build(proto::DESCRIPTORS, &config.auth.issuers, limits, clock)?;
        notary.report_health(health.clone());
        let app = PathRouter::new(
            |path| path.starts_with(LOGS_PATH),
            Files::new(notary.clone(), name, entries),
            app,
        );
        let server = Server::from_config(&config, health, drain.clone())?;
        let mut owner = tokio::spawn(owner);
        let mut served = Box::pin(server.run(bound, app));
        let finished = tokio::select! {
            finished = &mut served => finished,
            owned = &mut owner => {
                // Only a fault that waiting cannot mend ends it before it is asked to stop.
                drain.begin();
                served.await;
                owned.expect("the owner does not panic").map_err(RunError::own)?;
                return Ok(false);
            }
        };
        closing.cancel();
        let owned = drain.close(owner).await?;
        owned.expect("the owner does not panic").map_err(RunError::own)?;
        notary.wait_until_signed().await;
        Ok(finished)
    }
}

/// Authenticator of a log's events, whose secret is that of the log's signing key.
fn authenticator(identity: &LogIdentity, log: &str) -> Authenticator {
    let nonces = Arc::new(|| entropy::bytes(&SystemEntropy));
    let previous = identity.previous.iter().map(|key| PreviousSecret {
        secret: key.secret.as_ref().map(|secret| &secret[..]),
        until: Position(key.until),
    });
    Authenticator::new(&identity.secret()[..], log, nonces).with_previous(previous, log)
}

/// Mounts the archives of a log where the settings say that they are.
fn mount_archives(
    store: &Arc<PgStore>,
    log: &str,
    config: &ServiceConfig,
) -> Result<Option<Arc<MountedArchives>>, StorageError> {
    let Some(location) = &config.archives.location else { return Ok(None) };
    let storage = archive_storage::open(location, &config.archives.access)?;
    let tiles = Arc::<PgStore>::clone(store) as Arc<dyn CheckpointStore>;
    Ok(Some(Arc::new(MountedArchives::new(storage, tiles, log))))
}
