//! Settings that all services share.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use system::secret::Secret;
use transport::tls::{Tls, TlsError};

use super::archives::ArchiveConfig;
use super::limits::limits;
use super::log::{LogIdentity, LogWitnesses};
use super::problem::ConfigError;
use super::settings::Settings;
use super::source::Source;
use crate::auth::{IssuerKey, Role, TokenIssuer};
use crate::limits::Limits;
use crate::proxies::{Network, TrustedProxies};
use crate::serve::Cors;
use crate::telemetry::TelemetryConfig;

/// Programs of a card room.
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

    /// Default address to listen on: reachable from this machine alone.
    const fn default_listen_address(self) -> SocketAddr {
        let port = match self {
            Service::Gateway => 7400,
            Service::Table => 7401,
            Service::Dealer => 7402,
            Service::Wallet => 7403,
        };
        SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), port)
    }

    const fn default_limits(self) -> Limits {
        match self {
            Service::Gateway => Limits::public(),
            Service::Table | Service::Dealer | Service::Wallet => Limits::internal(),
        }
    }
}

/// Settings of a service.
#[derive(Debug, Clone)]
pub struct ServiceConfig {
    /// Name of this process as owner of a log: unique among processes, shown to operators.
    pub instance: String,
    pub listen: SocketAddr,
    /// Database of the service. `None` if it keeps nothing, or if the caller provides a database.
    pub database_url: Option<Secret>,
    /// Whether a database is accepted that may lose acknowledged commits: for tests alone.
    pub allow_unsafe_database: bool,
    /// Name and key of the service's log. `None` if it has no log, or if the caller provides them.
    pub log: Option<LogIdentity>,
    /// Witnesses of the log; empty if the service has no log.
    pub log_witnesses: LogWitnesses,
    /// Location of archives of logs. A service without a log does not read them.
    pub archives: ArchiveConfig,
    pub peers: Peers,
    pub auth: AuthConfig,
    /// Certificate and key of the server. `None` means no TLS.
    pub tls: Option<Tls>,
    pub limits: Limits,
    /// Proxies that are believed about the addresses of callers.
    pub trusted_proxies: TrustedProxies,
    /// Pages of other origins that may call.
    pub cors: Cors,
    /// Address of the room for the public, without a slash at its end, which links in refusals begin
    /// with; empty: they begin at the room's own root.
    pub public_url: Arc<str>,
    pub telemetry: TelemetryConfig,
    /// Longest time that a stop waits for accepted work.
    pub drain_grace: Duration,
}

/// Addresses of the other services, `http://` or `https://`.
#[derive(Debug, Clone, Default)]
pub struct Peers {
    pub table: Option<Uri>,
    pub dealer: Option<Uri>,
    pub wallet: Option<Uri>,
    /// Certificate shown to the peers, and the authority that theirs are verified by.
    pub tls: Option<Tls>,
}

/// Keys of trusted issuers, and the key that signs this service's own tokens.
#[derive(Debug, Clone, Default)]
pub struct AuthConfig {
    pub issuers: Vec<IssuerKey>,
    pub signing: Option<TokenIssuer>,
}

impl ServiceConfig {
    /// Settings of a program that runs alone: what it needs must be set.
    ///
    /// # Errors
    /// All settings that are wrong or missing.
    pub fn parse_standalone(
        service: Service,
        source: Source,
    ) -> Result<ServiceConfig, ConfigError> {
        let mut settings = Settings::new(source);
        let config = ServiceConfig::read(service, &mut settings);
        ServiceConfig::require(service, &mut settings);
        settings.finish().map(|()| config)
    }

    /// Settings of a service whose caller provides what is not set.
    ///
    /// # Errors
    /// All settings that are wrong.
    pub fn parse(service: Service, source: Source) -> Result<ServiceConfig, ConfigError> {
        let mut settings = Settings::new(source);
        let config = ServiceConfig::read(service, &mut settings);
        settings.finish().map(|()| config)
    }

    /// Adds a problem for each setting that the service needs to run alone and that is not set.
    pub fn require(service: Service, settings: &mut Settings) {
        match service {
            Service::Gateway => {}
            Service::Table | Service::Dealer | Service::Wallet => {
                let url = "postgres://sabacc_NAME:PASSWORD@HOST/sabacc, its own role's";
                settings.require("database_url", &["DATABASE_URL"], url);
                LogIdentity::require(service, settings);
            }
        }
        let issuers = "without it nobody's token would be believed; role+role=FILE,…, each file with \
                       an issuer's public key in PEM";
        settings.require("issuer_keys", &[], issuers);
        let mut peer = |key, whose| {
            let advice = format!("where the {whose} is, http://HOST:PORT or https://HOST:PORT");
            settings.require(key, &[], &advice);
        };
        match service {
            Service::Gateway => {
                peer("table_url", "table service");
                peer("wallet_url", "wallet");
            }
            Service::Table => {
                peer("dealer_url", "dealer");
                peer("wallet_url", "wallet");
                let key = "the file of the key that it signs its own tokens with: Ed25519 in PEM";
                settings.require("signing_key", &[], key);
            }
            Service::Dealer | Service::Wallet => {}
        }
    }

    /// Reads the shared settings, for a service that has more. The result may be used only after
    /// `settings.finish()` returned `Ok`.
    pub fn read(service: Service, settings: &mut Settings) -> ServiceConfig {
        let listen = settings
            .get("listen", "ADDRESS:PORT, such as 127.0.0.1:7400 or [::]:7400", |text| {
                text.parse().ok()
            })
            .unwrap_or(service.default_listen_address());
        let (log, log_witnesses) = log(service, settings);
        ServiceConfig {
            instance: std::process::id().to_string(),
            listen,
            database_url: settings.secret("database_url", &["DATABASE_URL"]),
            allow_unsafe_database: settings
                .choice("allow_unsafe_database", &["true", "false"])
                .is_some_and(|word| word == "true"),
            log,
            log_witnesses,
            archives: ArchiveConfig::read(settings),
            peers: peers(settings),
            auth: auth(service, settings),
            tls: tls(settings, ["tls.certificate", "tls.key", "tls.client_ca"]),
            limits: limits(settings, &service.default_limits()),
            trusted_proxies: trusted_proxies(settings),
            cors: cors(settings),
            public_url: public_url(settings),
            telemetry: TelemetryConfig::read(settings),
            drain_grace: settings.millis("drain_grace_ms", Duration::from_secs(10)),
        }
    }
}

/// TLS of a program that calls a service by hand: a service's TLS for peers, or else its TLS for
/// callers. `None` if neither is configured.
///
/// # Errors
/// A file cannot be read or used.
pub fn caller_tls(source: Source) -> Result<Option<Tls>, TlsError> {
    let mut settings = Settings::new(source);
    let peers = ["peer_tls.certificate", "peer_tls.key", "peer_tls.ca"];
    for keys in [peers, ["tls.certificate", "tls.key", "tls.client_ca"]] {
        let [certificate, key, authority] = keys.map(|key| settings.path(key));
        let tls = Tls::from_files(certificate.as_deref(), key.as_deref(), authority.as_deref())?;
        if tls.is_some() {
            return Ok(tls);
        }
    }
    Ok(None)
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

fn trusted_proxies(settings: &mut Settings) -> TrustedProxies {
    let allowed = "a comma-separated list of addresses and networks of proxies that say whose address \
                   it is: 10.0.0.7,10.1.0.0/16,fd00::/8";
    let networks = settings.get("trusted_proxies", allowed, |text| {
        text.split(',').map(|entry| Network::parse(entry.trim())).collect::<Option<Vec<_>>>()
    });
    TrustedProxies::new(networks.unwrap_or_default())
}

fn cors(settings: &mut Settings) -> Cors {
    let allowed = "a comma-separated list of the origins whose pages may call, as browsers write them: \
                   https://cards.example,http://127.0.0.1:8080; or * for all";
    settings.get("cors_origins", allowed, Cors::parse).unwrap_or_default()
}

fn public_url(settings: &mut Settings) -> Arc<str> {
    let allowed = "the address that the room has for the public, http://HOST or https://HOST, which \
                   links in refusals begin with: https://cards.example";
    let url = settings.get("public_url", allowed, |text| {
        let uri: Uri = text.parse().ok()?;
        let is_http = matches!(uri.scheme_str()?, "http" | "https");
        (is_http && uri.host().is_some() && uri.query().is_none())
            .then(|| Arc::from(text.trim_end_matches('/')))
    });
    url.unwrap_or_default()
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
                   may give before it, or none for all, and `guest` before the key of the room's own \
                   guests: player=door.pem,service+operator=room.pem,guest=guests.pem";
    let entries = settings.get("issuer_keys", allowed, |text| {
        text.split(',').map(|entry| parse_issuer(entry.trim())).collect::<Option<Vec<_>>>()
    });
    let mut issuers = Vec::new();
    for IssuerEntry { roles, is_for_guests, path } in entries.unwrap_or_default() {
        let key = read_file(&path).and_then(|pem| {
            IssuerKey::from_pem(&pem, roles).map_err(|error| format!("{path}: {error}"))
        });
        let key = key.map(|key| IssuerKey { is_for_guests, ..key });
        match key {
            Ok(key) => issuers.push(key),
            Err(advice) => settings.refuse("issuer_keys", advice),
        }
    }
    let signing = settings.issuer("signing_key", service.name());
    AuthConfig { issuers, signing }
}

/// Entry of the list of issuers.
struct IssuerEntry {
    roles: BTreeSet<Role>,
    is_for_guests: bool,
    path: String,
}

/// Parses `role+role=file`, `guest=file` for the room's own tokens of guests, or a file alone, which
/// gets all roles.
fn parse_issuer(entry: &str) -> Option<IssuerEntry> {
    let (roles, is_for_guests, path) = match entry.split_once('=') {
        None => (BTreeSet::from(Role::ALL), false, entry),
        Some(("guest", path)) => (BTreeSet::from([Role::Player]), true, path),
        Some((roles, path)) => {
            (roles.split('+').map(Role::from_name).collect::<Option<_>>()?, false, path)
        }
    };
    (!path.is_empty()).then(|| IssuerEntry { roles, is_for_guests, path: path.to_owned() })
}

fn read_file(path: &str) -> Result<String, String> {
    std::fs::read_to_string(Path::new(path))
        .map_err(|error| format!("{path} cannot be read: {error}"))
}
