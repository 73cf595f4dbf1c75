//! Server of one port: every resource that a caller can use is bounded, and it stops in order.
//!
//! Connections are accepted here and not by tonic's server, for three things that tonic does not
//! do: count the connections per address; vary the maximum age per connection, so that clients that
//! reconnected together after a restart do not all do so again half an hour later; and pause while
//! the process has no file descriptor left. A stop goes in this order: health says `NOT_SERVING`,
//! the port closes, streams end by their token, accepted work finishes, and after the grace period
//! the rest is cut off.

mod address_limits;
mod command_id;
mod connection;
mod connection_calls;
mod cors;
mod deadline;
mod decode_errors;
mod frames;
mod fresh_tokens;
mod grpc;
mod health;
mod lifetime;
mod lingering_body;
mod message_limit;
mod middleware;
mod only_grpc;
mod open_counter;
mod path_router;
mod probes;
mod readiness;
mod stall;
mod stream_limit;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tonic::body::Body;
use tower::Service;
use transport::tls::TlsError;

use self::address_limits::AddressLimits;
use self::connection::AcceptedConnection;
use self::probes::Probes;
use crate::config::ServiceConfig;
use crate::drain::Drain;
use crate::limits::Limits;
use crate::proxies::TrustedProxies;
use crate::transcoder::Transcoder;

pub(crate) use command_id::CommandId;
pub use connection_calls::CallerAddress;
pub(crate) use connection_calls::HeaderBytes;
pub use cors::Cors;
pub(crate) use frames::{FramePosition, HEAD_BYTES};
pub use grpc::{DescriptorError, GrpcApp, GrpcBuilder};
pub use health::{Health, LIVENESS};
pub use message_limit::WholeBody;
pub(crate) use message_limit::{GRPC_ENCODING, is_compression};
pub(crate) use middleware::{Answer, Middleware, Next, answered};
pub(crate) use open_counter::{OpenCounter, OpenPermit};
pub use path_router::PathRouter;
pub use readiness::{Condition, Readiness};
pub use stream_limit::IsStream;

/// Pause after a failed accept, in which the operating system may get file descriptors back.
const ACCEPT_RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Error of an address that cannot be listened on.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error(
        "{address} is in use by another program: stop it, or choose another address with \
         SABACC_LISTEN=ADDRESS:PORT (port 0 takes any that is free)"
    )]
    Taken { address: SocketAddr },
    #[error(
        "this user may not listen on {address}: choose a port from 1024 upwards with \
         SABACC_LISTEN=ADDRESS:PORT"
    )]
    Forbidden { address: SocketAddr },
    #[error(
        "{address} is no address of this machine: choose one that is, or 0.0.0.0 or [::] for all, \
         with SABACC_LISTEN=ADDRESS:PORT"
    )]
    NotLocal { address: SocketAddr },
    #[error("cannot listen on {address}: {source}")]
    Other { address: SocketAddr, source: io::Error },
}

/// Error of a server's certificates.
#[derive(Debug, thiserror::Error)]
#[error("the certificates cannot be used: {0}")]
pub struct CertificateError(#[from] TlsError);

/// Port that is listened on. Callers may connect already; they are answered once it is served.
#[derive(Debug)]
pub struct BoundPort {
    listener: TcpListener,
    address: SocketAddr,
}

impl BoundPort {
    /// Actual address, with the port that the system chose if port 0 was requested.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

/// Listens on `address`.
///
/// # Errors
/// The address cannot be listened on; the error says what to do.
pub async fn bind(address: SocketAddr) -> Result<BoundPort, BindError> {
    let bound = async {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(BoundPort { listener, address })
    };
    bound.await.map_err(|source: io::Error| {
        let is = |kind| source.kind() == kind;
        if is(io::ErrorKind::AddrInUse) {
            BindError::Taken { address }
        } else if is(io::ErrorKind::PermissionDenied) {
            BindError::Forbidden { address }
        } else if is(io::ErrorKind::AddrNotAvailable) {
            BindError::NotLocal { address }
        } else {
            BindError::Other { address, source }
        }
    })
}

/// Configuration and shared state of a server.
#[derive(Clone)]
pub struct Server {
    pub limits: Limits,
    pub tls: Option<TlsAcceptor>,
    /// Whether HTTP/1.1 is served too, for browsers and curl.
    pub http1: bool,
    /// Proxies that are believed about the addresses of callers.
    pub proxies: TrustedProxies,
    /// Pages of other origins that may call.
    pub cors: Cors,
    /// Address of the room for the public, which links in refusals begin with; empty: they begin at
    /// the port's own root.
    pub public_url: Arc<str>,
    /// Transcoder of calls in Connect and gRPC-Web; `None` means gRPC alone.
    pub transcoder: Option<Transcoder>,
    pub health: Health,
    pub drain: Drain,
}

impl Server {
    /// Server of gRPC alone, without TLS, HTTP/1.1, trusted proxies and other origins.
    #[must_use]
    pub fn new(limits: Limits, health: Health, drain: Drain) -> Server {
        Server {
            limits,
            tls: None,
            http1: false,
            proxies: TrustedProxies::default(),
            cors: Cors::default(),
            public_url: Arc::default(),
            transcoder: None,
            health,
            drain,
        }
    }

    /// Server of gRPC alone with a service's TLS, and with HTTP/1.1 for probes. No proxy is trusted,
    /// and no other origin.
    ///
    /// # Errors
    /// The certificates cannot be used.
    pub fn from_config(
        config: &ServiceConfig,
        health: Health,
        drain: Drain,
    ) -> Result<Server, CertificateError> {
        let tls = config.tls.as_ref().map(|tls| tls.acceptor(true)).transpose()?;
        let server = Server::new(config.limits.clone(), health, drain);
        Ok(Server { tls, http1: true, ..server })
    }

    /// Serves `app` until the drain begins, then stops in order. Returns whether all work ended by
    /// itself; `false` means that some was cut off.
    pub async fn run<S, B>(self, bound: BoundPort, app: S) -> bool
    where
        S: Service<Request<Body>, Response = Response<B>, Error = Infallible>,
        S: Clone + Send + Sync + 'static,
        S::Future: Send + 'static,
        B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<tonic::codegen::StdError> + Send + Sync,
    {
        let BoundPort { listener, address } = bound;
        tracing::info!(%address, tls = self.tls.is_some(), "serving");
        let app = Probes::new(app, self.health.readiness().clone());
        let addresses = Arc::new(AddressLimits::new(&self.limits, self.proxies.clone()));
        let most = self.limits.connections.unwrap_or(Semaphore::MAX_PERMITS);
        let places = Arc::new(Semaphore::new(most));
        let server = Arc::new(self);
        let (health, stopping) = (server.health.clone(), server.drain.stopping().clone());
        let follows = async move { stopping.run_until_cancelled(health.publish_readiness()).await };
        let follows = tokio::spawn(follows);
        while let Some((stream, peer)) = accept(&listener, &server.drain).await {
            let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
                tracing::debug!(%peer, "too many connections");
                continue;
            };
            let accepted = AcceptedConnection { stream, peer, addresses: Arc::clone(&addresses) };
            let connection = connection::serve(accepted, app.clone(), Arc::clone(&server));
            server.drain.spawn(async move {
                connection.await;
                drop(place);
            });
        }
        // Waits for the task, so that it reports nothing after the final status.
        let _ = follows.await;
        server.health.stop().await;
        drop(listener);
        let finished = server.drain.finish().await;
        tracing::info!(%address, finished, "stopped");
        finished
    }
}

/// Next connection; `None` once the drain has begun.
async fn accept(listener: &TcpListener, drain: &Drain) -> Option<(TcpStream, SocketAddr)> {
    loop {
        let accepted = tokio::select! {
            biased;
            () = drain.stopping().cancelled() => return None,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok(connection) => return Some(connection),
            Err(error) if is_connection_error(&error) => {}
            Err(error) => {
                tracing::warn!(runbook = "deploy/README.md, Connections cannot be accepted", %error, "cannot accept connections for the moment");
                tokio::time::sleep(ACCEPT_RETRY_PAUSE).await;
            }
        }
    }
}

/// Whether the error concerns a single connection and not the listener.
fn is_connection_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::BrokenPipe
            | io::ErrorKind::Interrupted
            | io::ErrorKind::TimedOut
    )
}
