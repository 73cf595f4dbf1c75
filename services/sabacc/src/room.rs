//! A whole card room in one process: the four services, talking gRPC over loopback as they do in
//! separate processes, on a private PostgreSQL that is restarted if it dies.
//!
//! The public port uses TLS if a certificate is set, and must do so if other machines reach it. The
//! room's own clients (bots, and commands of its folder) then use a second port, on loopback and
//! without TLS, because they know the room by its folder and not by a name. They also do so behind
//! a proxy. The public port then exempts nobody from its limits.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use chassis::auth::{IssuerKey, Role, TokenIssuer};
use chassis::channel::{self, CredentialInterceptor};
use chassis::config::{ArchiveLocation, Service, ServiceConfig, Source};
use chassis::drain::Drain;
use chassis::proxies::TrustedProxies;
use chassis::serve::{self, BoundPort, Cors};
use merkle::note::VerifierKey;
use postgres_launcher::{Postgres, PostgresError};
use primitives::{Credits, PlayerId};
use sabacc_dealer::fixed_seeds::FixedSeeds;
use sabacc_table::config::{GUESTS_PER_DAY, GuestConfig, SNAPSHOT_EVENTS};
use sabacc_table::development::Development;
use sabacc_wallet::config::StartingCredits;
use system::secret::Secret;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tonic::transport::Uri;

use crate::data_directory::{DataDirectory, DirectoryLock, PEOPLE_KEY, RunningRoom, SEED_KEY};
use crate::keys;
use crate::output::Progress;

mod database_claim;

/// Time for all services to stop if the database is away, since nothing they wait for will come.
const STOP_WITHOUT_DATABASE: Duration = Duration::from_secs(3);
/// Time for the services to become ready, before the room is announced as it is.
const READY_TIMEOUT: Duration = Duration::from_secs(30);
const READY_POLL: Duration = Duration::from_millis(20);
/// Loopback with a port that the system chooses.
const LOOPBACK: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// Time for each service to finish the calls that it accepted.
const DRAIN_GRACE: Duration = Duration::from_secs(5);

/// Credits that a guest begins with, unless an option says another number.
pub(crate) const STARTING_CREDITS: u64 = 100_000;

/// Dependencies and options of a room.
pub(crate) struct RoomOptions {
    pub(crate) folder: DataDirectory,
    pub(crate) listen: SocketAddr,
    pub(crate) postgres: postgres_launcher::Options,
    /// Least number of streams and calls allowed on each connection, for load from one machine.
    pub(crate) min_streams: Option<u32>,
    /// No limits for players: for bots that play as fast as possible.
    pub(crate) no_player_limits: bool,
    /// Addresses and keys of the witnesses.
    pub(crate) witnesses: Vec<(Uri, VerifierKey)>,
    /// Whether anybody may become a guest, with play money.
    pub(crate) guests: bool,
    /// Factor by which the clocks of tables run faster that are opened from now on.
    pub(crate) time_scale: u32,
}

/// Running room.
pub(crate) struct Room {
    /// Address for the room's own clients.
    local_address: SocketAddr,
    /// URL of the public port.
    public_url: String,
    pub(crate) issuer: TokenIssuer,
    pub(crate) folder: DataDirectory,
    pub(crate) postgres: Postgres,
    min_streams: Option<u32>,
    no_player_limits: bool,
    witnesses: Vec<(Uri, VerifierKey)>,
    /// Signs guests' tokens, where the room has guests.
    guests: Option<TokenIssuer>,
    time_scale: u32,
    services: Vec<RunningService>,
    lock: DirectoryLock,
    database_claim: database_claim::DatabaseClaim,
}

/// Running service, and its drain.
struct RunningService {
    name: &'static str,
    drain: Drain,
    task: JoinHandle<anyhow::Result<bool>>,
}

impl Room {
    /// Starts everything, and prints progress.
    pub(crate) async fn start(plan: RoomOptions, progress: &Progress) -> anyhow::Result<Room> {
        let RoomOptions {
            folder,
            listen,
            postgres,
            min_streams: streams,
            no_player_limits: unpaced,
            witnesses,
            guests,
            time_scale,
        } = plan;
        let is_new_fixed = folder.fixed_seed().is_some() && folder.is_fresh();
        let lock = folder.lock()?;
        progress.print(&format!("data folder {}", folder.path().display()));
        // The port first: a taken port is reported before a database is started.
        let public = serve::bind(listen).await?;
        let issuer = folder.issuer()?;
        let guests = if guests { Some(folder.guest_issuer()?) } else { None };
        let postgres = postgres_launcher::obtain(&postgres).await?;
        progress.print(&postgres.describe());
        let own_database = database_claim::claim(&postgres.admin_url(), &lock, progress).await?;
        if is_new_fixed && !own_database.is_fresh {
            bail!(
                "this database has logs already, and --insecure-fixed-seed is for a fresh one: name \
                 another with DATABASE_URL"
            );
        }
        let postgres = postgres.supervise();
        folder.write_public_keys(&keys::room_keys(&folder)?)?;
        let urls = migrate(&folder, &postgres).await?;
        progress.print("schemas dealer, wallet and table are up to date");
        let edge = public_port_config(listen)?;
        let own = if edge.is_exposed() { Some(serve::bind(LOOPBACK).await?) } else { None };
        let scheme = if edge.0.tls.is_some() { "https" } else { "http" };
        let mut room = Room {
            local_address: own.as_ref().unwrap_or(&public).address(),
            public_url: format!("{scheme}://{}", public.address()),
            lock,
            issuer,
            folder,
            postgres,
            min_streams: streams,
            no_player_limits: unpaced,
            witnesses,
            guests,
            time_scale,
            services: Vec::new(),
            database_claim: own_database,
        };
        let take_over = room.database_claim.take_over;
        room.start_services(public, own, urls, take_over).await?;
        let ready = room.until_ready().await?;
        room.folder.write_running_room(&RunningRoom {
            pid: std::process::id(),
            address: room.local_url(),
            database_url: room.postgres.admin_url(),
        })?;
        for role in [Role::Operator, Role::Auditor] {
            let token = room.token(role, "up");
            room.folder.write_token(&format!("{}.token", role.name()), &token)?;
        }
        let serves = match ready {
            Ok(()) => "serve".to_owned(),
            Err(why) => format!("run, and are not ready: {why}"),
        };
        progress.print(&format!(
            "dealer, wallet, table and gateway {serves}; the public port is {}",
            room.public_url
        ));
        Ok(room)
    }

    /// Waits until the gateway is ready; the inner error is the reason that it is not.
    async fn until_ready(&self) -> anyhow::Result<Result<(), String>> {
        let gateway = channel::connect_lazy(
            &self.local_url().parse()?,
            None,
            CredentialInterceptor::NoToken,
        )?;
        let until = Instant::now() + READY_TIMEOUT;
        loop {
            let Err(why) = channel::is_ready(&gateway).await else { return Ok(Ok(())) };
            let ended = self.services.iter().any(|service| service.task.is_finished());
            if ended || Instant::now() >= until {
                return Ok(Err(why.to_string()));
            }
            tokio::time::sleep(READY_POLL).await;
        }
    }

    /// URL for the room's own clients.
    #[must_use]
    pub(crate) fn local_url(&self) -> String {
        format!("http://{}", self.local_address)
    }

    /// URL of the public port.
    #[must_use]
    pub(crate) fn public_url(&self) -> &str {
        &self.public_url
    }

    async fn start_services(
        &mut self,
        public: BoundPort,
        own: Option<BoundPort>,
        urls: [String; 3],
        take_over: bool,
    ) -> anyhow::Result<()> {
        let [dealer, wallet, table] = [
            serve::bind(LOOPBACK).await?,
            serve::bind(LOOPBACK).await?,
            serve::bind(LOOPBACK).await?,
        ];
        let [dealer_url, wallet_url, table_url] = urls;
        let uri = |bound: &BoundPort| format!("http://{}", bound.address()).parse().ok();
        let (to_dealer, to_wallet, to_table) = (uri(&dealer), uri(&wallet), uri(&table));

        let service = self.service_config(Service::Dealer, Some(dealer_url))?;
        let dealer_config = sabacc_dealer::service::Config {
            service,
            seed_keys: self.folder.keys(SEED_KEY)?.keyring(),
            max_cached_hands: 10_000,
            fixed_seeds: self.folder.fixed_seed().map(FixedSeeds::new),
        };
        self.spawn("dealer", |drain| async move {
            Ok(sabacc_dealer::service::run(dealer_config, dealer, drain, take_over).await?)
        });
        let service = self.service_config(Service::Wallet, Some(wallet_url))?;
        let starting = StartingCredits {
            amount: Credits::try_new(STARTING_CREDITS)?,
            per_day: GUESTS_PER_DAY,
        };
        let starting = self.guests.as_ref().map_or(StartingCredits::NONE, |_| starting);
        let config = sabacc_wallet::config::Config { service, starting };
        self.spawn("wallet", |drain| async move {
            Ok(sabacc_wallet::service::run(config, wallet, drain, take_over).await?)
        });
        let mut service = self.service_config(Service::Table, Some(table_url))?;
        service.peers.dealer = to_dealer.clone();
        service.peers.wallet = to_wallet.clone();
        service.auth.signing = Some(self.issuer.clone());
        let config = self.table_config(service)?;
        self.spawn("table", |drain| async move {
            Ok(sabacc_table::service::run(config, table, drain, take_over).await?)
        });
        let mut config = self.service_config(Service::Gateway, None)?;
        config.tls = None;
        config.peers.table = to_table;
        config.peers.dealer = to_dealer;
        config.peers.wallet = to_wallet;
        // The gateway reads the logs for auditors in its own name.
        config.auth.signing = Some(self.issuer.clone());
        if config.cors.is_empty() {
            config.cors = Cors::parse(&self.public_url).unwrap_or_default();
        }
        if let Some(own) = own {
            let mut plain = config.clone();
            // Only clients on this machine reach it, and none speaks for others.
            plain.trusted_proxies = TrustedProxies::default();
            self.spawn("gateway of this machine", |drain| async move {
                Ok(sabacc_gateway::run(plain, own, drain).await?)
            });
            let edge = public_port_config(public.address())?.0;
            config.tls = edge.tls;
            config.limits.exempt_loopback = edge.limits.exempt_loopback;
        }
        self.spawn("gateway", |drain| async move {
            Ok(sabacc_gateway::run(config, public, drain).await?)
        });
        Ok(())
    }

    fn table_config(&self, service: ServiceConfig) -> anyhow::Result<sabacc_table::config::Config> {
        let guests = self.guests.clone();
        Ok(sabacc_table::config::Config {
            service,
            people_keys: self.folder.keys(PEOPLE_KEY)?.keyring(),
            guests: guests.map(|issuer| GuestConfig { issuer, per_day: GUESTS_PER_DAY }),
            snapshot_events: SNAPSHOT_EVENTS,
            development: Development {
                time_scale: self.time_scale,
                fixed_seed: self.folder.fixed_seed(),
            },
        })
    }

    /// Returns a service's configuration: telemetry and limits from the environment, the rest from
    /// the room. Every service trusts the room's own tokens.
    fn service_config(
        &self,
        service: Service,
        database_url: Option<String>,
    ) -> anyhow::Result<ServiceConfig> {
        let mut config = ServiceConfig::parse(service, Source::from_process(None)?)?;
        config.log = match service {
            Service::Gateway => None,
            Service::Table | Service::Dealer | Service::Wallet => {
                config.log_witnesses.witnesses.clone_from(&self.witnesses);
                config.log_witnesses.checkpoint_file = Some(self.folder.checkpoint_path(service)?);
                Some(self.folder.log_identity(service)?)
            }
        };
        config.database_url = database_url.map(Secret::new);
        let guests = self.guests.as_ref().map(|issuer| IssuerKey::for_guests(issuer.public_key()));
        let own = IssuerKey::for_all_roles(self.issuer.public_key());
        config.auth.issuers = [own].into_iter().chain(guests).collect();
        if config.archives.location.is_none() {
            let folder = self.folder.archives_path();
            config.archives.location = Some(ArchiveLocation::Folder(folder));
        }
        config.drain_grace = DRAIN_GRACE;
        config.instance = self.lock.instance();
        if service != Service::Gateway {
            // Only this machine reaches them.
            config.tls = None;
        }
        if let Some(streams) = self.min_streams {
            config.limits.streams = config.limits.streams.max(streams);
            let calls = usize::try_from(streams).unwrap_or(usize::MAX);
            config.limits.connection_calls = config.limits.connection_calls.max(calls);
        }
        // Bots and their users are on this machine.
        config.limits.exempt_loopback = true;
        if self.no_player_limits {
            config.limits.player_calls = None;
            config.limits.player_open = None;
            config.limits.player_streams = None;
        }
        Ok(config)
    }

    fn spawn<F>(&mut self, name: &'static str, run: impl FnOnce(Drain) -> F)
    where
        F: Future<Output = anyhow::Result<bool>> + Send + 'static,
    {
        let drain = Drain::new(DRAIN_GRACE);
        let running = run(drain.clone());
        let task =
            tokio::spawn(
                async move { running.await.with_context(|| format!("the {name} stopped")) },
            );
        self.services.push(RunningService { name, drain, task });
    }

    /// Issues a token of the room, good for a day.
    #[must_use]
    pub(crate) fn token(&self, role: Role, subject: &str) -> String {
        self.issuer.issue_for_a_day(role, subject)
    }

    /// Issues a token of the room for a player whom the house seats itself, good for a day.
    #[must_use]
    pub(crate) fn house_token(&self, player: PlayerId) -> String {
        self.issuer.issue_to_house(player)
    }

    /// Removes a service that ended by itself, and returns its error.
    pub(crate) async fn take_failure(&mut self) -> Option<anyhow::Error> {
        let index = self.services.iter().position(|service| service.task.is_finished())?;
        let RunningService { name, drain: _, task } = self.services.remove(index);
        Some(match task.await {
            Ok(Ok(_)) => anyhow::anyhow!("the {name} stopped by itself"),
            Ok(Err(error)) => error,
            Err(error) => anyhow::anyhow!("the {name} crashed: {error}"),
        })
    }

    /// Waits until a service ends by itself.
    pub(crate) async fn until_service_ends(&self) {
        while !self.services.iter().any(|service| service.task.is_finished()) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Waits until the room's database is gone for good, and returns the reason.
    pub(crate) async fn until_database_gone(&self) -> Arc<PostgresError> {
        self.postgres.wait_until_given_up().await
    }

    /// Waits until another room has taken the database.
    pub(crate) async fn until_database_taken(&self) {
        self.database_claim.until_taken().await;
    }

    /// Stops everything in order: the gateway first, then the services behind it, the database
    /// last. If the database is away, all stop at once with a short deadline.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        let mut end = None;
        if !self.postgres.answers().await {
            tracing::warn!("the database does not answer: nothing more can be written");
            self.services.iter().for_each(|service| service.drain.begin());
            end = Some(Instant::now() + STOP_WITHOUT_DATABASE);
        }
        while let Some(mut service) = self.services.pop() {
            service.drain.begin();
            let name = service.name;
            let until = end.unwrap_or_else(|| Instant::now() + DRAIN_GRACE + DRAIN_GRACE);
            match tokio::time::timeout_at(until, &mut service.task).await {
                Ok(Ok(Ok(true))) => {}
                Ok(Ok(Ok(false))) => tracing::warn!(name, "somebody was cut off"),
                Ok(Ok(Err(error))) => tracing::warn!(name, %error, "stopped with an error"),
                Ok(Err(error)) => tracing::warn!(name, %error, "crashed while stopping"),
                Err(_) => {
                    tracing::warn!(name, "did not stop in time");
                    service.task.abort();
                }
            }
        }
        self.folder.remove_running_room();
        self.postgres.stop().await.context("PostgreSQL did not stop")
    }
}

/// Settings of the public port.
pub(crate) struct PublicPortConfig(ServiceConfig);

/// Reads the public port's settings from the environment.
///
/// # Errors
/// A setting is wrong, or other machines would reach a port without TLS.
pub(crate) fn public_port_config(listen: SocketAddr) -> anyhow::Result<PublicPortConfig> {
    let config = ServiceConfig::parse(Service::Gateway, Source::from_process(None)?)?;
    if config.tls.is_none() && !listen.ip().is_loopback() {
        bail!(
            "others than this machine reach {listen}, and without TLS they could read every token: \
             set SABACC_TLS_CERTIFICATE and SABACC_TLS_KEY to files in PEM, or listen on 127.0.0.1, \
             put a proxy that speaks TLS before it, and name that with SABACC_TRUSTED_PROXIES=127.0.0.1"
        );
    }
    Ok(PublicPortConfig(config))
}

impl PublicPortConfig {
    /// Whether other machines' clients use the public port. It then exempts nobody beyond its
    /// settings, and the room's own clients have another port.
    fn is_exposed(&self) -> bool {
        let PublicPortConfig(config) = self;
        config.tls.is_some() || !config.trusted_proxies.is_empty()
    }
}

/// Updates all schemas; returns the database addresses of dealer, wallet and table, each with its
/// own role.
pub(crate) async fn migrate(
    folder: &DataDirectory,
    postgres: &Postgres,
) -> anyhow::Result<[String; 3]> {
    let admin = postgres.admin_url();
    let password = |service: &str| folder.secret_text(&format!("{service}.password"));
    let (dealer, wallet, table) = (password("dealer")?, password("wallet")?, password("table")?);
    let cannot = "the database's schemas cannot be brought up to date";
    sabacc_dealer::service::migrate(&admin, Some(&dealer)).await.context(cannot)?;
    sabacc_wallet::service::migrate(&admin, Some(&wallet)).await.context(cannot)?;
    sabacc_table::service::migrate(&admin, Some(&table)).await.context(cannot)?;
    Ok([
        postgres.url_for("sabacc_dealer", &dealer),
        postgres.url_for("sabacc_wallet", &wallet),
        postgres.url_for("sabacc_table", &table),
    ])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_rooms_own_people_have_a_port_where_others_come_in_by_the_public_one() {
        let edge = |text: &str| {
            let source = Source::new("room.toml", text, BTreeMap::new()).unwrap();
            PublicPortConfig(ServiceConfig::parse(Service::Gateway, source).unwrap())
        };
        assert!(!edge("").is_exposed());
        assert!(edge("trusted_proxies = '127.0.0.1'").is_exposed());
        assert!(!edge("").0.limits.exempt_loopback, "the public port exempts nobody by itself");
    }
}
