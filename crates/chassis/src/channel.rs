//! Channels to other services.
//!
//! A channel connects at its first use and reconnects when necessary. Each call carries the trace
//! context and a token: the call's own token if it has one (a player's, forwarded), else the
//! channel's.

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

/// Longest time to connect.
const CONNECT: Duration = Duration::from_secs(2);
/// Longest time until an answer begins. It is longer than any deadline of a server.
const ANSWER: Duration = Duration::from_secs(10);
const KEEPALIVE: Duration = Duration::from_secs(20);
const KEEPALIVE_ANSWER: Duration = Duration::from_secs(10);
/// Flow-control window of one stream: bytes of an answer that may be sent before they are read.
const WINDOW: u32 = 64 * 1024;
/// Streams of a connection that have a full window each: as many as an internal service accepts on
/// one connection. The connection's window is the sum, so that an answer that is not read delays no
/// other.
const STREAMS: u32 = 256;

/// Channel to another service, from which the generated clients are made. Cheap to clone.
pub type PeerChannel = InterceptedService<Channel, Carry>;

/// Error of a peer whose configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{uri} cannot be called: {source}")]
pub struct ChannelError {
    uri: Uri,
    source: tonic::transport::Error,
}

/// Channel to `uri`, not connected yet. `https` uses `tls`, or the well-known roots without it.
/// Needs a running tokio runtime.
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
    // tonic adds TLS on top of this stream if the endpoint asks for it.
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

/// Adds the trace context and credentials to every call.
#[derive(Clone)]
pub enum Carry {
    /// Adds the trace context. A token comes only from the call itself.
    Nothing,
    /// Adds the trace context, and this service's own token if the call has none.
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

/// Prepared `authorization` value that can be put into many calls.
#[derive(Clone)]
pub struct Bearer(Option<MetadataValue<Ascii>>);

impl Bearer {
    /// Prepares the header value. A token that is no valid header value is left out: every server
    /// would refuse it.
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

/// Puts a token into a call. A token that is no valid header value is left out: every server would
/// refuse it.
pub fn bear<T>(request: &mut Request<T>, token: &str) {
    Bearer::new(token).bear(request);
}

/// Forwards the token of the call `from` to a call that is made on its behalf.
pub fn pass_on<T, U>(from: &Request<T>, to: &mut Request<U>) {
    if let Some(token) = from.metadata().get("authorization") {
        to.metadata_mut().insert("authorization", token.clone());
    }
}
