//! Low-level client: calls from any address of this machine, with any headers, and need not read
//! its answers.

use std::net::{IpAddr, SocketAddr};

use bytes::{BufMut as _, Bytes, BytesMut};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message as _;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpSocket, TcpStream};
use tonic::Status;
use tonic::codegen::http;
use tonic_types::StatusExt as _;

use crate::echo::{Echo, Text};
use tonic::server::NamedService as _;

/// Connection of the low-level client.
pub(crate) struct RawClient {
    requests: SendRequest<Full<Bytes>>,
}

/// Opens a TCP connection from an address of this machine.
pub(crate) async fn dial(from: &str, to: SocketAddr) -> std::io::Result<TcpStream> {
    let from: IpAddr = from.parse().unwrap();
    let socket = if from.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_nodelay(true)?;
    socket.bind(SocketAddr::new(from, 0))?;
    socket.connect(to).await
}

impl RawClient {
    pub(crate) async fn open(from: &str, to: SocketAddr) -> hyper::Result<RawClient> {
        RawClient::open_after(from, to, b"").await
    }

    /// Opens a connection whose first bytes are `first`.
    pub(crate) async fn open_after(
        from: &str,
        to: SocketAddr,
        first: &[u8],
    ) -> hyper::Result<RawClient> {
        let mut stream = dial(from, to).await.unwrap();
        stream.write_all(first).await.unwrap();
        let (requests, connection) = Builder::new(TokioExecutor::new())
            .initial_stream_window_size(65_535)
            .initial_connection_window_size(16 << 20)
            .handshake(TokioIo::new(stream))
            .await?;
        tokio::spawn(connection);
        Ok(RawClient { requests })
    }

    /// Sends a call of the echo service. The caller may read the answer or not.
    pub(crate) async fn send(
        &mut self,
        method: &str,
        headers: &[(&str, &str)],
        text: &str,
    ) -> hyper::Result<http::Response<Incoming>> {
        let message = Text { text: text.to_owned() }.encode_to_vec();
        let mut body = BytesMut::new();
        body.put_u8(0);
        body.put_u32(u32::try_from(message.len()).unwrap());
        body.put_slice(&message);
        let mut request = http::Request::post(format!("http://room/{}/{method}", Echo::NAME))
            .header("content-type", "application/grpc")
            .header("te", "trailers");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.requests.ready().await?;
        self.requests.send_request(request.body(Full::new(body.freeze())).unwrap()).await
    }

    /// Makes a call and returns its status; `None` if the connection is gone.
    pub(crate) async fn call(
        &mut self,
        method: &str,
        headers: &[(&str, &str)],
        text: &str,
    ) -> Option<Status> {
        let (head, body) = self.send(method, headers, text).await.ok()?.into_parts();
        let body = body.collect().await.ok()?;
        let trailers = body.trailers().cloned().unwrap_or(head.headers);
        Some(Status::from_header_map(&trailers).unwrap())
    }
}

/// Reason of an error; empty if there is none.
pub(crate) fn reason(status: &Status) -> String {
    status.get_error_details().error_info().map(|info| info.reason.clone()).unwrap_or_default()
}
