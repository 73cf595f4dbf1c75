//! Knows: the public edge: which service answers which method, and that callers are authenticated.
//! Does not know: what the messages mean that it forwards; no game, no credits, no table.
//!
//! The port speaks gRPC, gRPC-Web and Connect. What is not gRPC becomes gRPC at the door, by the
//! descriptors (`chassis::transcoder`), so all that follows is the same for the three.
//!
//! The gateway verifies a caller's token, checks their role against the method, holds the limits of
//! the public port, and forwards the call byte for byte, so that a new method needs no code here.
//! The service behind verifies the player's token once more, so that whoever takes the gateway over
//! cannot play anybody's hand. One service is the gateway's own: it collects the records of a hand
//! from the logs, in its own name, and audits them (`audits`). A new dispute is forwarded with the
//! hash of such a bundle (`disputes`), and a new guest is forwarded within the limits of their
//! address (`guests`). The room as a whole is collected from what each service says of itself (`room`),
//! with the gateway's own counts (`meter`). Which tokens are revoked, the gateway learns from the table (`revocations`).
//! The checkpoints and tiles of the logs are served as files, without a token; so are the logs' keys,
//! the verifier's page, the description of the API, and the bundles of hands that have ended or are
//! suspended (`public`).
//!
//! Specification: ARCHITECTURE.md §1.2, §6.

mod audits;
pub mod config;
mod disputes;
mod forward;
mod guests;
mod logs;
mod meter;
mod pages;
mod public;
mod reasons;
mod revocations;
mod room;

use std::collections::BTreeMap;
use std::sync::Arc;

use chassis::auth::Revocations;
use chassis::channel::{self, CredentialInterceptor, Pool};
use chassis::config::ServiceConfig;
use chassis::drain::Drain;
use chassis::serve::{
    BoundPort, CertificateError, DescriptorError, GrpcBuilder, Health, PathRouter, Server,
};
use chassis::transcoder::Transcoder;
use system::clock::{Clock, SystemClock};

use audits::Audits;
use config::Config;
use disputes::Disputes;
use forward::Forward;
use guests::Guests;
use logs::Logs;
use meter::Meter;
use pages::Pages;
use public::PublicFiles;
use room::Room;

/// Reason why a gateway could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the gateway needs the address of the {0} service: set {1}")]
    NoPeer(&'static str, &'static str),
    #[error(transparent)]
    Channel(#[from] transport::ChannelError),
    #[error(transparent)]
    Descriptors(#[from] DescriptorError),
    #[error(transparent)]
    Certificates(#[from] CertificateError),
}

/// Serves the public port until the drain. Returns whether every call was finished before the grace
/// ended.
pub async fn run(
    config: impl Into<Config>,
    bound: BoundPort,
    drain: Drain,
) -> Result<bool, StartError> {
    let Config { service: config, guests } = config.into();
    let peers = &config.peers;
    let table_url = peers.table.as_ref().ok_or(StartError::NoPeer("table", "SABACC_TABLE_URL"))?;
    let wallet_url =
        peers.wallet.as_ref().ok_or(StartError::NoPeer("wallet", "SABACC_WALLET_URL"))?;
    let connect = |uri: &http::Uri| {
        let (uri, tls) = (uri.clone(), peers.tls.clone());
        Pool::new(move || channel::connect_lazy(&uri, tls.as_ref(), CredentialInterceptor::NoToken))
    };
    let (table, wallet) = (connect(table_url)?, connect(wallet_url)?);
    let mut log_services = BTreeMap::from([("table", table.clone()), ("wallet", wallet.clone())]);
    if let Some(dealer) = &peers.dealer {
        log_services.insert("dealer", connect(dealer)?);
    }
    let audits = Audits::new(&config, drain.stopping().clone())?;
    let logs = Logs::new(log_services, config.limits.message_bytes);
    let health = Health::new();
    // Without them no hand is played. The table's readiness includes the dealer's.
    let watched = [("table", table_url), ("wallet", wallet_url)];
    channel::watch_peers(watched, peers.tls.as_ref(), &health)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let revocations = follow_revocations(&config, table_url, &clock, &health, &drain)?;
    // Whoever asks first which program runs need not wait for its file to be read.
    drop(tokio::task::spawn_blocking(chassis::build::running));
    let meter = Meter::new(clock.now());
    let keeping = Arc::clone(&meter).keep();
    tokio::spawn(drain.stopping().clone().run_until_cancelled_owned(keeping));
    let room = room::Dependencies {
        forward: Forward::new(table.clone(), Arc::clone(&meter)),
        meter: Arc::clone(&meter),
        clock: Arc::clone(&clock),
        stopping: drain.stopping().clone(),
    };
    let room = Room::new(&config, table_url, room)?;
    let metered = || Arc::clone(&meter);
    let services = GrpcBuilder::new(health.clone())
        .with_revocations(Some(revocations))
        .add(Forward::<forward::Table>::new(table.clone(), metered()))
        .await
        .add(Guests::new(Forward::new(table.clone(), metered()), guests, Arc::clone(&clock)))
        .await
        .add(Disputes::new(audits.clone(), Forward::new(table.clone(), metered())))
        .await
        .add(room)
        .await
        .add(Forward::<forward::Hands>::new(table.clone(), metered()))
        .await
        .add(Forward::<forward::Rules>::new(table, metered()))
        .await
        .add(Forward::<forward::Wallet>::new(wallet, metered()))
        .await
        .add(logs.clone())
        .await
        .add(audits.service(config.limits.message_bytes))
        .await;
    let api = services.api(proto::DESCRIPTORS, &config.limits)?;
    let app = services.build(proto::DESCRIPTORS, &config.auth.issuers, &config.limits, clock)?;
    let app = PathRouter::new(|path| path.starts_with("/log/"), logs.files(), app);
    let files = PublicFiles::new(audits, Arc::clone(&api));
    let app = PathRouter::new(public::is_public, files, app);
    let app = PathRouter::new(pages::is_page, Pages, app);
    let mut server = Server::from_config(&config, health, drain)?;
    server.proxies = config.trusted_proxies.clone();
    server.cors = config.cors.clone();
    server.public_url = Arc::clone(&config.public_url);
    server.transcoder = Some(Transcoder::new(api));
    Ok(server.run(bound, app).await)
}

/// Revoked tokens, followed until the drain where this gateway has a key.
fn follow_revocations(
    config: &ServiceConfig,
    table: &http::Uri,
    clock: &Arc<dyn Clock>,
    health: &Health,
    drain: &Drain,
) -> Result<Revocations, transport::ChannelError> {
    let revocations = Revocations::new(Arc::clone(clock));
    if let Some(token) = audits::own_token(config) {
        let table = revocations::client(table, config, token)?;
        let ready = health.condition("revocations", "they are not received yet");
        let followed = revocations::follow(table, revocations.clone(), ready);
        tokio::spawn(drain.stopping().clone().run_until_cancelled_owned(followed));
    }
    Ok(revocations)
}
