//! Connections to gRPC servers.

use std::time::Duration;

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tonic::transport::{Channel, Endpoint};
use tower::ServiceExt;

use crate::coalescing_writer::CoalescingWriter;
use crate::tls::Tls;

/// A connection takes no longer than this.
const CONNECT: Duration = Duration::from_secs(2);
/// An answer begins no later than this, or the call fails: longer than any deadline of a server, of
/// which the longest is that of a bundle whose witness is away, 10 seconds.
const ANSWER: Duration = Duration::from_secs(12);
const KEEPALIVE: Duration = Duration::from_secs(20);
const KEEPALIVE_ANSWER: Duration = Duration::from_secs(10);
/// Bytes of an answer that a peer may be ahead of whoever reads it.
const WINDOW: u32 = 64 * 1024;
/// Answers on a connection that have windows of their own: as many as our services take calls on
/// each from the inside. All of them together have what the connection has, so that an answer that
/// nobody reads keeps no other one waiting.
const STREAMS: u32 = 256;

/// Refusal of an address or of its certificates.
#[derive(Debug, thiserror::Error)]
#[error("{uri} cannot be called: {source}")]
pub struct ChannelError {
    uri: Uri,
    source: tonic::transport::Error,
}

/// Makes a channel to `uri` that connects at its first call, and again whenever it has to. `https`
/// takes `tls`, or the well-known roots without. Needs a running tokio.
///
/// # Errors
/// The certificates cannot be used.
pub fn connect(uri: &Uri, tls: Option<&Tls>) -> Result<Channel, ChannelError> {
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
    let coalesced =
        |stream: TokioIo<TcpStream>| TokioIo::new(CoalescingWriter::new(stream.into_inner()));
    let connector = ServiceExt::<Uri>::map_response(tcp(), coalesced);
    Ok(endpoint.connect_with_connector_lazy(connector))
}

fn tcp() -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(CONNECT));
    tcp
}
