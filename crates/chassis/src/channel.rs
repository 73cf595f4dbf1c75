//! Calling another service.
//!
//! A channel connects when it is first used and again whenever it has to. Each call carries the
//! trace context, and a token: the one that the call brings with it (a player's, passed on), or the
//! channel's own.

mod pool;
mod ready;

use std::time::Duration;

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};
use tower::ServiceExt;

pub use pool::{CallError, Pool};
pub use ready::{is_ready, watch_ready};

use crate::auth::ServiceToken;
use crate::gathered::Gathered;
use crate::telemetry;
use crate::tls::Tls;

/// A connection takes no longer than this.
const CONNECT: Duration = Duration::from_secs(2);
/// An answer begins no later than this, or the call fails: longer than any deadline of a server.
const ANSWER: Duration = Duration::from_secs(10);
const KEEPALIVE: Duration = Duration::from_secs(20);
const KEEPALIVE_ANSWER: Duration = Duration::from_secs(10);
/// Bytes of an answer that a peer may be ahead of whoever reads it.
const WINDOW: u32 = 64 * 1024;
/// Answers on a connection that have windows of their own: as many as our services take calls on each
/// from the inside. All of them together have what the connection has, so that an answer that nobody
/// reads keeps no other one waiting.
const STREAMS: u32 = 256;

/// A way to another service: what the generated clients are made from. Cheap to clone.
pub type PeerChannel = InterceptedService<Channel, Carry>;

/// The peer cannot be called, by its configuration.
#[derive(Debug, thiserror::Error)]
#[error("{uri} cannot be called: {source}")]
pub struct ChannelError {
    uri: Uri,
    source: tonic::transport::Error,
}

/// A channel to `uri`, not connected yet. `https` takes `tls`, or the well-known roots without.
/// Needs a running tokio.
///
/// # Errors
/// The certificates cannot be used.
pub fn to(uri: &Uri, tls: Option<&Tls>, carry: Carry) -> Result<PeerChannel, ChannelError> {
    let mut endpoint = Endpoint::from(uri.clone())
        .connect_timeout(CONNECT)
        .timeout(ANSWER)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW * STREAMS)
        .http2_keep_alive_interval(KEEPALIVE)
        .keep_alive_timeout(KEEPALIVE_ANSWER)
        .keep_alive_while_idle(true);
    if uri.scheme_str() == Some("https") {
        let tls = tls.map_or_else(|| Tls::new(None, None).client(), Tls::client);
        endpoint =
            endpoint.tls_config(tls).map_err(|source| ChannelError { uri: uri.clone(), source })?;
    }
    // TLS, where there is any, is above.
    let gathered = |stream: TokioIo<TcpStream>| TokioIo::new(Gathered::new(stream.into_inner()));
    let connector = ServiceExt::<Uri>::map_response(tcp(), gathered);
    Ok(InterceptedService::new(endpoint.connect_with_connector_lazy(connector), carry))
}

fn tcp() -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT));
    tcp
}

/// What goes along with every call.
#[derive(Clone)]
pub enum Carry {
    /// The trace context, and whatever token the call itself brings.
    Nothing,
    /// This service's own token too, unless the call brings one.
    Own(ServiceToken),
}

impl Interceptor for Carry {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        let mut headers = std::mem::take(request.metadata_mut()).into_headers();
        telemetry::inject(&mut headers);
        *request.metadata_mut() = tonic::metadata::MetadataMap::from_headers(headers);
        match self {
            Carry::Nothing => {}
            Carry::Own(token) => {
                if !request.metadata().contains_key("authorization") {
                    bear(&mut request, &token.current());
                }
            }
        }
        Ok(request)
    }
}

/// A token as a call carries it, to be put into many.
#[derive(Clone)]
pub struct Bearer(Option<MetadataValue<Ascii>>);

impl Bearer {
    /// A token that is no header value is left out of calls: no server believes it.
    #[must_use]
    pub fn new(token: &str) -> Bearer {
        let value = MetadataValue::try_from(format!("Bearer {token}")).ok();
        Bearer(value.map(|mut value| {
            value.set_sensitive(true);
            value
        }))
    }

    /// Puts the token into a call.
    pub fn bear<T>(&self, request: &mut Request<T>) {
        if let Some(value) = &self.0 {
            request.metadata_mut().insert("authorization", value.clone());
        }
    }
}

/// Puts a token into a call. A token that is no header value is left out: no server believes it.
pub fn bear<T>(request: &mut Request<T>, token: &str) {
    Bearer::new(token).bear(request);
}

/// Passes the token of the call that is being answered on to a call made for it.
pub fn pass_on<T, U>(from: &Request<T>, to: &mut Request<U>) {
    if let Some(token) = from.metadata().get("authorization") {
        to.metadata_mut().insert("authorization", token.clone());
    }
}
