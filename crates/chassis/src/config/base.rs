//! The settings that all services share.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::Path;
use std::time::Duration;

use http::Uri;

use super::log::{LogIdentity, LogWitnesses};
use super::problem::ConfigError;
use super::settings::Settings;
use super::source::Source;
use crate::auth::{IssuerKey, Role, TokenIssuer};
use crate::limits::Limits;
use crate::secret::Secret;
use crate::telemetry::TelemetryConfig;
use crate::tls::Tls;

/// The programs of a card room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Service {
    Gateway,
    Table,
    Dealer,
    Wallet,
}

impl Service {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Service::Gateway => "gateway",
            Service::Table => "table",
            Service::Dealer => "dealer",
            Service::Wallet => "wallet",
        }
    }

    /// Where it listens unless told otherwise: nobody but this machine reaches it there.
    const fn listen(self) -> SocketAddr {
        let port = match self {
            Service::Gateway => 7400,
            Service::Table => 7401,
            Service::Dealer => 7402,
            Service::Wallet => 7403,
        };
        SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), port)
    }

    const fn limits(self) -> Limits {
        match self {
            Service::Gateway => Limits::public(),
            Service::Table | Service::Dealer | Service::Wallet => Limits::inside(),
        }
    }
}

/// Everything a service is told.
#[derive(Debug, Clone)]
pub struct ServiceConfig {
    pub listen: SocketAddr,
    /// None where the service keeps nothing, or where somebody else sees to a database.
    pub database_url: Option<Secret>,
    /// Who its log is. None where it has no log, or where somebody else sees to that too.
    pub log: Option<LogIdentity>,
    /// Nobody and nothing where it has no log.
    pub log_witnesses: LogWitnesses,
    pub peers: Peers,
    pub auth: AuthConfig,
    /// What the server shows; none means no TLS.
    pub tls: Option<Tls>,
    pub limits: Limits,
    pub telemetry: TelemetryConfig,
    /// How long a stop waits for what was accepted.
    pub drain_grace: Duration,
}

/// Where the other services are, `http://` or `https://`.
#[derive(Debug, Clone, Default)]
pub struct Peers {
    pub table: Option<Uri>,
    pub dealer: Option<Uri>,
    pub wallet: Option<Uri>,
    /// What is shown to them and whom of them we believe.
    pub tls: Option<Tls>,
}

/// Whose tokens are believed, and with what our own are signed.
#[derive(Debug, Clone, Default)]
pub struct AuthConfig {
    pub issuers: Vec<IssuerKey>,
    pub signing: Option<TokenIssuer>,
}

impl ServiceConfig {
    /// All settings of a service that has none of its own.
    ///
    /// # Errors
    /// Everything that is wrong, at once.
    pub fn parse(service: Service, source: Source) -> Result<ServiceConfig, ConfigError> {
        let mut settings = Settings::new(source);
        let config = ServiceConfig::read(service, &mut settings);
        settings.finish().map(|()| config)
    }

    /// The shared settings, for a service that has more. What is returned may be used only after
    /// `settings.finish()` was content.
    pub fn read(service: Service, settings: &mut Settings) -> ServiceConfig {
        let listen = settings
            .get("listen", "ADDRESS:PORT, such as 127.0.0.1:7400 or [::]:7400", |text| {
                text.parse().ok()
            })
            .unwrap_or(service.listen());
        let (log, log_witnesses) = log(service, settings);
        ServiceConfig {
            listen,
            database_url: settings.secret("database_url", &["DATABASE_URL"]),
            log,
            log_witnesses,
            peers: peers(settings),
            auth: auth(service, settings),
            tls: tls(settings, ["tls.certificate", "tls.key", "tls.client_ca"]),
            limits: limits(settings, &service.limits()),
            telemetry: TelemetryConfig::read(settings),
            drain_grace: settings.millis("drain_grace_ms", Duration::from_secs(10)),
        }
    }
}

fn log(service: Service, settings: &mut Settings) -> (Option<LogIdentity>, LogWitnesses) {
    match service {
        Service::Gateway => (None, LogWitnesses::default()),
        Service::Table | Service::Dealer | Service::Wallet => {
            (LogIdentity::read(service, settings), LogWitnesses::read(settings))
        }
    }
}

fn peers(settings: &mut Settings) -> Peers {
    let mut uri = |key| {
        settings.get(key, "http://HOST:PORT or https://HOST:PORT", |text| {
            let uri: Uri = text.parse().ok()?;
            let scheme = uri.scheme_str()?;
            (matches!(scheme, "http" | "https") && uri.host().is_some()).then_some(uri)
        })
    };
    let (table, dealer, wallet) = (uri("table_url"), uri("dealer_url"), uri("wallet_url"));
    let tls = tls(settings, ["peer_tls.certificate", "peer_tls.key", "peer_tls.ca"]);
    Peers { table, dealer, wallet, tls }
}

fn tls(settings: &mut Settings, keys: [&str; 3]) -> Option<Tls> {
    let [certificate, key, authority] = keys.map(|key| settings.path(key));
    match Tls::from_files(certificate.as_deref(), key.as_deref(), authority.as_deref()) {
        Ok(tls) => tls,
        Err(error) => {
            settings.refuse(keys[0], error.to_string());
            None
        }
    }
}

fn auth(service: Service, settings: &mut Settings) -> AuthConfig {
    let allowed = "a comma-separated list of files with public keys in PEM, each with the roles it \
                   may give before it, or none for all: player=door.pem,service+operator=room.pem";
    let entries = settings.get("issuer_keys", allowed, |text| {
        text.split(',').map(|entry| issuer(entry.trim())).collect::<Option<Vec<_>>>()
    });
    let mut issuers = Vec::new();
    for (roles, path) in entries.unwrap_or_default() {
        let key = read(&path).and_then(|pem| {
            IssuerKey::from_pem(&pem, roles).map_err(|error| format!("{path}: {error}"))
        });
        match key {
            Ok(key) => issuers.push(key),
            Err(advice) => settings.refuse("issuer_keys", advice),
        }
    }
    let signing = settings.path("signing_key").and_then(|path| {
        let path = path.display().to_string();
        let key = read(&path).and_then(|pem| {
            TokenIssuer::from_pem(service.name(), &pem).map_err(|error| format!("{path}: {error}"))
        });
        key.map_err(|advice| settings.refuse("signing_key", advice)).ok()
    });
    AuthConfig { issuers, signing }
}

/// `role+role=file`, or a file alone.
fn issuer(entry: &str) -> Option<(BTreeSet<Role>, String)> {
    let (roles, path) = match entry.split_once('=') {
        None => (BTreeSet::from(Role::ALL), entry),
        Some((roles, path)) => {
            (roles.split('+').map(Role::from_name).collect::<Option<_>>()?, path)
        }
    };
    (!path.is_empty()).then(|| (roles, path.to_owned()))
}

fn read(path: &str) -> Result<String, String> {
    std::fs::read_to_string(Path::new(path))
        .map_err(|error| format!("{path} cannot be read: {error}"))
}

fn limits(settings: &mut Settings, default: &Limits) -> Limits {
    let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let wide = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let streams = settings.number("limits.streams", 1..=10_000, default.streams.into());
    let per_address = default.address_connections.map_or(0, wide);
    let per_address = settings.number("limits.address_connections", 0..=1_000_000, per_address);
    let per_player = default.player_calls.map_or(0, |calls| u64::from(calls.get()));
    let per_player = settings.number("limits.player_calls", 0..=1_000_000, per_player);
    Limits {
        streams: u32::try_from(streams).unwrap_or(default.streams),
        message_bytes: size(settings.number(
            "limits.message_bytes",
            1024..=64 * 1024 * 1024,
            wide(default.message_bytes),
        )),
        connection_calls: size(settings.number(
            "limits.connection_calls",
            1..=10_000,
            wide(default.connection_calls),
        )),
        player_calls: u32::try_from(per_player).ok().and_then(NonZeroU32::new),
        address_connections: (per_address > 0).then(|| size(per_address)),
        unary_deadline: settings.millis("limits.unary_deadline_ms", default.unary_deadline),
        connection_age: settings.millis("limits.connection_age_ms", default.connection_age),
        ..default.clone()
    }
}
