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
use chassis::auth::{Claims, Identity, IssuerKey, Role, TokenIssuer};
use chassis::channel::{self, Carry};
use chassis::config::{Service, ServiceConfig, Source};
use chassis::drain::Drain;
use chassis::proxies::Proxies;
use chassis::serve::{self, Bound};
use merkle::note::VerifierKey;
use postgres_launcher::{Postgres, PostgresError};
use system::clock::SystemClock;
use system::entropy::SystemEntropy;
use system::secret::Secret;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tonic::transport::Uri;

use crate::folder::{Folder, Lock, Running};
use crate::keys;
use crate::say::Progress;

mod owners;

/// Time for all services to stop if the database is away, since nothing they wait for will come.
const WITHOUT_DATABASE: Duration = Duration::from_secs(3);
/// Time for the services to become ready, before the room is announced as it is.
const READY: Duration = Duration::from_secs(30);
const READY_POLL: Duration = Duration::from_millis(20);
/// Loopback with a port that the system chooses.
const LOOPBACK: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// Time for each service to finish the calls that it accepted.
const GRACE: Duration = Duration::from_secs(5);

/// Dependencies and options of a room.
pub(crate) struct Plan {
    pub(crate) folder: Folder,
    pub(crate) listen: SocketAddr,
    pub(crate) postgres: postgres_launcher::Options,
    /// Least number of streams and calls allowed on each connection, for load from one machine.
    pub(crate) streams: Option<u32>,
    /// No limits for players: for bots that play as fast as possible.
    pub(crate) unpaced: bool,
    /// Addresses and keys of the witnesses.
    pub(crate) witnesses: Vec<(Uri, VerifierKey)>,
}

/// Running room.
pub(crate) struct Room {
    /// Address for the room's own clients.
    address: SocketAddr,
    /// URL of the public port.
    public: String,
    pub(crate) issuer: TokenIssuer,
    pub(crate) folder: Folder,
    pub(crate) postgres: Postgres,
    streams: Option<u32>,
    unpaced: bool,
    witnesses: Vec<(Uri, VerifierKey)>,
    services: Vec<Started>,
    lock: Lock,
    own_database: owners::Own,
}

/// Running service, and its drain.
struct Started {
    name: &'static str,
    drain: Drain,
    task: JoinHandle<anyhow::Result<bool>>,
}

impl Room {
    /// Starts everything, and prints progress.
    pub(crate) async fn start(plan: Plan, progress: &Progress) -> anyhow::Result<Room> {
        let Plan { folder, listen, postgres, streams, unpaced, witnesses } = plan;
        let lock = folder.lock()?;
        progress.say(&format!("data folder {}", folder.path().display()));
        // The port first: a taken port is reported before a database is started.
        let public = serve::bind(listen).await?;
        let issuer = folder.issuer()?;
        let postgres = postgres_launcher::obtain(&postgres).await?;
        progress.say(&postgres.describe());
        let own_database = owners::own(&postgres.admin_url(), &lock, progress).await?;
        let postgres = postgres.look_after();
        folder.publish(&keys::of_room(&folder)?)?;
        let urls = migrate(&folder, &postgres).await?;
        progress.say("schemas dealer, wallet and table are up to date");
        let edge = edge(listen)?;
        let own = if edge.others_come() { Some(serve::bind(LOOPBACK).await?) } else { None };
        let scheme = if edge.0.tls.is_some() { "https" } else { "http" };
        let mut room = Room {
            address: own.as_ref().unwrap_or(&public).address(),
            public: format!("{scheme}://{}", public.address()),
            lock,
            issuer,
            folder,
            postgres,
            streams,
            unpaced,
            witnesses,
            services: Vec::new(),
            own_database,
        };
        let take_over = room.own_database.take_over;
        room.start_services((public, own), urls, take_over).await?;
        let ready = room.until_ready().await?;
        room.folder.announce(&Running {
            pid: std::process::id(),
            address: room.url(),
            database_url: room.postgres.admin_url(),
        })?;
        let serves = match ready {
            Ok(()) => "serve".to_owned(),
            Err(why) => format!("run, and are not ready: {why}"),
        };
        progress.say(&format!(
            "dealer, wallet, table and gateway {serves}; the public port is {}",
            room.public
        ));
        Ok(room)
    }

    /// Waits until the gateway is ready; the inner error is the reason that it is not.
    async fn until_ready(&self) -> anyhow::Result<Result<(), String>> {
        let gateway = channel::to(&self.url().parse()?, None, Carry::Nothing)?;
        let until = Instant::now() + READY;
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
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// URL of the public port.
    #[must_use]
    pub(crate) fn public(&self) -> &str {
        &self.public
    }

    async fn start_services(
        &mut self,
        (public, own): (Bound, Option<Bound>),
        urls: [String; 3],
        take_over: bool,
    ) -> anyhow::Result<()> {
        let [dealer, wallet, table] = [
            serve::bind(LOOPBACK).await?,
            serve::bind(LOOPBACK).await?,
            serve::bind(LOOPBACK).await?,
        ];
        let [dealer_url, wallet_url, table_url] = urls;
        let uri = |bound: &Bound| format!("http://{}", bound.address()).parse().ok();
        let (to_dealer, to_wallet, to_table) = (uri(&dealer), uri(&wallet), uri(&table));

        let service = self.config(Service::Dealer, Some(dealer_url))?;
        let seed_keys = self.folder.seed_keys()?;
        let dealer_config = sabacc_dealer::shell::Config {
            service,
            seed_key: seed_keys.current,
            seed_keys_previous: seed_keys.previous,
            hands: 10_000,
        };
        self.spawn("dealer", |drain| async move {
            Ok(sabacc_dealer::shell::run(dealer_config, (dealer, drain), take_over).await?)
        });
        let config = self.config(Service::Wallet, Some(wallet_url))?;
        self.spawn("wallet", |drain| async move {
            Ok(sabacc_wallet::shell::run(config, (wallet, drain), take_over).await?)
        });
        let mut service = self.config(Service::Table, Some(table_url))?;
        service.peers.dealer = to_dealer.clone();
        service.peers.wallet = to_wallet.clone();
        service.auth.signing = Some(self.issuer.clone());
        let (people_key, people_keys_previous) = self.folder.people_keys()?;
        let config = sabacc_table::config::Config { service, people_key, people_keys_previous };
        self.spawn("table", |drain| async move {
            Ok(sabacc_table::shell::run(config, (table, drain), take_over).await?)
        });
        let mut config = self.config(Service::Gateway, None)?;
        config.tls = None;
        config.peers.table = to_table;
        config.peers.dealer = to_dealer;
        config.peers.wallet = to_wallet;
        // The gateway reads the logs for auditors in its own name.
        config.auth.signing = Some(self.issuer.clone());
        if let Some(own) = own {
            let mut plain = config.clone();
            // Only clients on this machine reach it, and none speaks for others.
            plain.trusted_proxies = Proxies::default();
            self.spawn("gateway of this machine", |drain| async move {
                Ok(sabacc_gateway::run(plain, own, drain).await?)
            });
            let edge = edge(public.address())?.0;
            config.tls = edge.tls;
            config.limits.exempt_loopback = edge.limits.exempt_loopback;
        }
        self.spawn("gateway", |drain| async move {
            Ok(sabacc_gateway::run(config, public, drain).await?)
        });
        Ok(())
    }

    /// Returns a service's configuration: telemetry and limits from the environment, the rest from
    /// the room. Every service trusts the room's own tokens.
    fn config(
        &self,
        service: Service,
        database_url: Option<String>,
    ) -> anyhow::Result<ServiceConfig> {
        let mut config = ServiceConfig::parse(service, Source::from_process(None)?)?;
        config.log = match service {
            Service::Gateway => None,
            Service::Table | Service::Dealer | Service::Wallet => {
                config.log_witnesses.witnesses.clone_from(&self.witnesses);
                config.log_witnesses.memory = Some(self.folder.checkpoint(service)?);
                Some(self.folder.log(service)?)
            }
        };
        config.database_url = database_url.map(Secret::new);
        config.auth.issuers = vec![IssuerKey::trusted(self.issuer.public_key())];
        config.drain_grace = GRACE;
        config.instance = self.lock.instance();
        if service != Service::Gateway {
            // Only this machine reaches them.
            config.tls = None;
        }
        if let Some(streams) = self.streams {
            config.limits.streams = config.limits.streams.max(streams);
            let calls = usize::try_from(streams).unwrap_or(usize::MAX);
            config.limits.connection_calls = config.limits.connection_calls.max(calls);
        }
        // Bots and their users are on this machine.
        config.limits.exempt_loopback = true;
        if self.unpaced {
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
        let drain = Drain::new(GRACE);
        let running = run(drain.clone());
        let task =
            tokio::spawn(
                async move { running.await.with_context(|| format!("the {name} stopped")) },
            );
        self.services.push(Started { name, drain, task });
    }

    /// Issues a token of the room, good for a day.
    #[must_use]
    pub(crate) fn token(&self, role: Role, subject: &str) -> String {
        token(&self.issuer, role, subject)
    }

    /// Removes a service that ended by itself, and returns its error.
    pub(crate) async fn failed_already(&mut self) -> Option<anyhow::Error> {
        let index = self.services.iter().position(|service| service.task.is_finished())?;
        let Started { name, drain: _, task } = self.services.remove(index);
        Some(match task.await {
            Ok(Ok(_)) => anyhow::anyhow!("the {name} stopped by itself"),
            Ok(Err(error)) => error,
            Err(error) => anyhow::anyhow!("the {name} crashed: {error}"),
        })
    }

    /// Waits until a service ends by itself.
    pub(crate) async fn service_ended(&self) {
        while !self.services.iter().any(|service| service.task.is_finished()) {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Waits until the room's database is gone for good, and returns the reason.
    pub(crate) async fn database_gone(&self) -> Arc<PostgresError> {
        self.postgres.given_up().await
    }

    /// Waits until another room has taken the database.
    pub(crate) async fn database_taken(&self) {
        self.own_database.taken().await;
    }

    /// Stops everything in order: the gateway first, then the services behind it, the database
    /// last. If the database is away, all stop at once with a short deadline.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        let mut end = None;
        if !self.postgres.answers().await {
            tracing::warn!("the database does not answer: nothing more can be written");
            self.services.iter().for_each(|service| service.drain.begin());
            end = Some(Instant::now() + WITHOUT_DATABASE);
        }
        while let Some(mut service) = self.services.pop() {
            service.drain.begin();
            let name = service.name;
            let until = end.unwrap_or_else(|| Instant::now() + GRACE + GRACE);
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
        self.folder.retract();
        self.postgres.stop().await.context("PostgreSQL did not stop")
    }
}

/// Settings of the public port.
pub(crate) struct Edge(ServiceConfig);

/// Reads the public port's settings from the environment.
///
/// # Errors
/// A setting is wrong, or other machines would reach a port without TLS.
pub(crate) fn edge(listen: SocketAddr) -> anyhow::Result<Edge> {
    let config = ServiceConfig::parse(Service::Gateway, Source::from_process(None)?)?;
    if config.tls.is_none() && !listen.ip().is_loopback() {
        bail!(
            "others than this machine reach {listen}, and without TLS they could read every token: \
             set SABACC_TLS_CERTIFICATE and SABACC_TLS_KEY to files in PEM, or listen on 127.0.0.1, \
             put a proxy that speaks TLS before it, and name that with SABACC_TRUSTED_PROXIES=127.0.0.1"
        );
    }
    Ok(Edge(config))
}

impl Edge {
    /// Whether other machines' clients use the public port. It then exempts nobody beyond its
    /// settings, and the room's own clients have another port.
    fn others_come(&self) -> bool {
        let Edge(config) = self;
        config.tls.is_some() || !config.trusted_proxies.is_empty()
    }
}

/// Issues a token of the room, good for a day.
#[must_use]
pub(crate) fn token(issuer: &TokenIssuer, role: Role, subject: &str) -> String {
    let identity = Identity { role, subject: subject.to_owned() };
    let day = Duration::from_secs(24 * 3600);
    let clock = SystemClock::new();
    issuer.issue(&Claims::new(issuer.name(), &identity, day, (&clock, &SystemEntropy)))
}

/// Updates all schemas; returns the database addresses of dealer, wallet and table, each with its
/// own role.
pub(crate) async fn migrate(folder: &Folder, postgres: &Postgres) -> anyhow::Result<[String; 3]> {
    let admin = postgres.admin_url();
    let password = |service: &str| folder.password(&format!("{service}.password"));
    let (dealer, wallet, table) = (password("dealer")?, password("wallet")?, password("table")?);
    let cannot = "the database's schemas cannot be brought up to date";
    sabacc_dealer::shell::migrate(&admin, Some(&dealer)).await.context(cannot)?;
    sabacc_wallet::shell::migrate(&admin, Some(&wallet)).await.context(cannot)?;
    sabacc_table::shell::migrate(&admin, Some(&table)).await.context(cannot)?;
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
            Edge(ServiceConfig::parse(Service::Gateway, source).unwrap())
        };
        assert!(!edge("").others_come());
        assert!(edge("trusted_proxies = '127.0.0.1'").others_come());
        assert!(!edge("").0.limits.exempt_loopback, "the public port exempts nobody by itself");
    }
}
