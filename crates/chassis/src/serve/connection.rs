//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tonic::Code;
use tonic::body::Body;
use tonic::transport::server::TcpConnectInfo;
use tower::{Service, ServiceExt};

use super::Server;
use crate::entropy::{self, SystemEntropy};
use crate::gathered::Gathered;
use crate::limits::Limits;
use crate::refusal::{self, refusal};
use crate::telemetry::{Traced, is_grpc};

/// Serves `app` on a fresh connection. Ends when the connection does.
pub(super) async fn serve<S, B>(stream: TcpStream, peer: SocketAddr, app: S, server: Arc<Server>)
where
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<tonic::codegen::StdError> + Send + Sync,
{
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%peer, %error, "the connection was gone at once");
        return;
    }
    let info = TcpConnectInfo { local_addr: stream.local_addr().ok(), remote_addr: Some(peer) };
    let Some(acceptor) = &server.tls else {
        return Box::pin(speak(stream, info, app, &server)).await;
    };
    match tokio::time::timeout(server.limits.handshake, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => Box::pin(speak(stream, info, app, &server)).await,
        Ok(Err(error)) => tracing::debug!(%peer, %error, "no TLS handshake"),
        Err(_) => tracing::debug!(%peer, "the TLS handshake took too long"),
    }
}

async fn speak<I, S, B>(io: I, info: TcpConnectInfo, app: S, server: &Server)
where
    I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<tonic::codegen::StdError> + Send + Sync,
{
    let peer = info.remote_addr;
    let calls = Arc::new(Semaphore::new(server.limits.connection_calls));
    let asked = Arc::new(AtomicBool::new(false));
    let first = Arc::clone(&asked);
    let shed = tower::service_fn(move |request: Request<Incoming>| {
        first.store(true, Ordering::Relaxed);
        let (app, calls, info) = (app.clone(), Arc::clone(&calls), info.clone());
        async move {
            let mut request = request.map(Body::new);
            let Ok(_place) = calls.try_acquire() else {
                return Ok::<_, Infallible>(overloaded(is_grpc(request.headers())));
            };
            request.extensions_mut().insert(info);
            let grpc = is_grpc(request.headers());
            match AssertUnwindSafe(app.oneshot(request)).catch_unwind().await {
                Ok(answer) => Ok(answer?.map(Body::new)),
                // The panic itself is on standard error already.
                Err(_) => Ok(broken(grpc)),
            }
        }
    });
    let service = hyper_util::service::TowerToHyperService::new(Traced::new(shed));
    let protocol = protocol(&server.limits, server.http1);
    let mut connection = pin!(protocol.serve_connection(TokioIo::new(Gathered::new(io)), service));
    let mut age = pin!(tokio::time::sleep(aged(server.limits.connection_age)));
    // Pings begin with HTTP/2: until then nothing else notices a caller who says nothing.
    let mut patience =
        pin!(tokio::time::sleep(server.limits.keepalive + server.limits.keepalive_answer));
    let (mut old, mut stopping, mut waited) = (false, false, false);
    loop {
        tokio::select! {
            ended = &mut connection => {
                if let Err(error) = ended {
                    tracing::debug!(?peer, error = &*error, "the connection broke");
                }
                return;
            }
            () = &mut patience, if !waited => {
                waited = true;
                if !asked.load(Ordering::Relaxed) {
                    tracing::debug!(?peer, "a connection on which nothing was asked");
                    return;
                }
            }
            () = &mut age, if !old => {
                old = true;
                connection.as_mut().graceful_shutdown();
            }
            () = server.drain.stopping().cancelled(), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            () = server.drain.cut().cancelled() => return,
        }
    }
}

/// Everything that hyper and h2 leave open or set wide.
fn protocol(limits: &Limits, http1: bool) -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    if !http1 {
        builder = builder.http2_only();
    }
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.keepalive_answer)
        // 8 KiB is the least that hyper takes.
        .max_buf_size(usize::try_from(limits.header_bytes).unwrap_or(usize::MAX).max(8192));
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .max_local_error_reset_streams(limits.error_resets)
        .max_pending_accept_reset_streams(limits.pending_resets)
        .max_header_list_size(limits.header_bytes)
        .keep_alive_interval(limits.keepalive)
        .keep_alive_timeout(limits.keepalive_answer);
    builder
}

/// The age, give or take a tenth.
fn aged(age: Duration) -> Duration {
    let chance = u32::from(u16::from_be_bytes(entropy::bytes(&SystemEntropy)));
    age.saturating_mul(9) / 10 + age / 5 * chance / u32::from(u16::MAX)
}

/// More calls at once than the connection may have.
fn overloaded(grpc: bool) -> Response<Body> {
    if grpc {
        let message = "too many calls at once on this connection; wait for some to end";
        return refusal::overloaded(message, Duration::from_millis(100)).into_http();
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response.headers_mut().insert(http::header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

/// A service has a bug: its caller is told so, and nobody else on the connection is harmed.
fn broken(grpc: bool) -> Response<Body> {
    if grpc {
        let message = "the service contradicts itself; tell its operator the trace id";
        return refusal(Code::Internal, "CORRUPT", message).into_http();
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_differ_by_a_tenth_at_most() {
        let ages: Vec<_> = (0..1000).map(|_| aged(Duration::from_secs(100))).collect();
        assert!(ages.iter().all(|age| (90..=110).contains(&age.as_secs())));
        assert!(ages.iter().any(|age| age.as_secs() < 98));
        assert!(ages.iter().any(|age| age.as_secs() > 102));
        assert!(aged(Duration::from_secs(86_400)) >= Duration::from_secs(77_760));
    }
}
