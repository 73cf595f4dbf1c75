//! One connection, from its first byte to its last.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use system::entropy::{self, SystemEntropy};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};
use tonic::body::Body;
use tonic::transport::server::TcpConnectInfo;
use tower::Service;
use transport::CoalescingWriter;

use super::Server;
use super::address_limits::{AddressLimits, Admission};
use super::connection_calls::ConnectionCalls;
use super::lingering_body::LingeringBody;
use super::stall::{ChunkedBody, StallWatch, StreamExecutor};
use crate::auth::PeerNames;
use crate::limits::Limits;
use crate::telemetry::Traced;
use crate::transcoder::Transcoded;

/// Time between the end of a connection's streams and its own, in which they send their last
/// status.
const STREAM_END_GRACE: Duration = Duration::from_secs(1);
/// Lifetime of a connection that only receives why it is refused.
const REFUSED_LIFETIME: Duration = Duration::from_secs(2);
/// Bytes that a stream may be ahead of its reader, in either direction.
const STREAM_WINDOW_BYTES: u32 = 64 * 1024;

/// Newly accepted connection.
pub(super) struct AcceptedConnection {
    pub(super) stream: TcpStream,
    pub(super) peer: SocketAddr,
    pub(super) addresses: Arc<AddressLimits>,
}

/// Serves `app` on a new connection. Returns when the connection ends.
pub(super) async fn serve<S, B>(accepted: AcceptedConnection, app: S, server: Arc<Server>)
where
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<tonic::codegen::StdError> + Send + Sync,
{
    let AcceptedConnection { mut stream, peer, addresses } = accepted;
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%peer, %error, "the connection was gone at once");
        return;
    }
    let limits = &server.limits;
    let origin = addresses.origin(&mut stream, peer.ip());
    let origin = match tokio::time::timeout(limits.handshake_timeout, origin).await {
        Ok(Ok(origin)) => origin,
        Ok(Err(error)) => {
            tracing::debug!(%peer, %error, "the connection's address cannot be read");
            return;
        }
        Err(_) => {
            tracing::debug!(%peer, "the connection's address was not told in time");
            return;
        }
    };
    let (_place, _refusing, refused) = match addresses.admit_connection(origin, Instant::now()) {
        Admission::Admitted(place) => (Some(place), None, false),
        Admission::Refused(permit) => (None, Some(permit), true),
        Admission::Dropped => {
            tracing::debug!(%peer, "too many connections of this address");
            return;
        }
    };
    let info = TcpConnectInfo { local_addr: stream.local_addr().ok(), remote_addr: Some(peer) };
    let mut calls = ConnectionCalls::new(info, origin, addresses, limits, refused);
    calls.cors = server.cors.clone();
    let Some(acceptor) = &server.tls else {
        return Box::pin(serve_http(stream, Arc::new(calls), app, &server)).await;
    };
    match tokio::time::timeout(limits.handshake_timeout, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => {
            let certificate = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
            calls.names = certificate.map(PeerNames::from_certificate);
            Box::pin(serve_http(stream, Arc::new(calls), app, &server)).await;
        }
        Ok(Err(error)) => tracing::debug!(%peer, %error, "no TLS handshake"),
        Err(_) => tracing::debug!(%peer, "the TLS handshake took too long"),
    }
}

async fn serve_http<I, S, B>(io: I, calls: Arc<ConnectionCalls>, app: S, server: &Server)
where
    I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<tonic::codegen::StdError> + Send + Sync,
{
    let (peer, limits) = (calls.info.remote_addr, &server.limits);
    let answering = Arc::clone(&calls);
    let answers = tower::service_fn(move |request: Request<Body>| {
        let (app, calls) = (app.clone(), Arc::clone(&answering));
        async move { Ok::<_, Infallible>(calls.answer(app, request).await) }
    });
    let answers = Transcoded::new(
        Traced::new(answers, Arc::clone(&server.public_url)),
        server.transcoder.clone(),
    );
    let service = tower::ServiceBuilder::new()
        .map_request(|request: Request<Incoming>| {
            request.map(|body| Body::new(LingeringBody::new(body)))
        })
        .map_response(|answer: Response<_>| answer.map(ChunkedBody::new))
        .service(answers);
    let service = hyper_util::service::TowerToHyperService::new(service);
    let protocol = protocol(limits, server.http1);
    let mut connection =
        pin!(protocol.serve_connection(TokioIo::new(CoalescingWriter::new(io)), service));
    let mut watch = StallWatch::new(limits.stream_stall_timeout);
    let mut end = pin!(Shutdown::new(limits, calls.is_refused()));
    // Pings begin with HTTP/2. Until then only this timer notices a silent caller.
    let mut first_call_timer =
        pin!(tokio::time::sleep(limits.keepalive_interval + limits.keepalive_timeout));
    let mut elsewhere = server.health.readiness().met_elsewhere();
    // A caller that connects to a standby has chosen it as it is and may stay.
    let mut left = elsewhere.borrow().is_some();
    let (mut stopping, mut waited, mut deaf) = (false, false, false);
    loop {
        tokio::select! {
            ended = poll_fn(|context| watch.poll(connection.as_mut(), context)) => {
                match ended {
                    Some(Ok(())) => {}
                    Some(Err(error)) => {
                        tracing::debug!(?peer, error = &*error, "the connection broke");
                    }
                    None => tracing::debug!(?peer, "the caller takes nothing"),
                }
                return;
            }
            () = &mut first_call_timer, if !waited => {
                waited = true;
                if !calls.has_calls() {
                    tracing::debug!(?peer, "a connection on which nothing was asked");
                    return;
                }
            }
            step = end.next() => match step {
                ShutdownStep::Leave => connection.as_mut().graceful_shutdown(),
                ShutdownStep::EndStreams => calls.expired.cancel(),
                ShutdownStep::Cut => return,
            },
            // A caller that stayed would be asked for ever to try again.
            Ok(_) = elsewhere.wait_for(Option::is_some), if !left => {
                left = true;
                connection.as_mut().graceful_shutdown();
            }
            () = calls.caller_too_fast.cancelled(), if !deaf => {
                deaf = true;
                connection.as_mut().graceful_shutdown();
                end.hasten();
            }
            () = server.drain.stopping().cancelled(), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            () = server.drain.cut().cancelled() => return,
        }
    }
}

/// End of a connection's life, in three steps.
struct Shutdown {
    next: ShutdownStep,
    timer: Pin<Box<Sleep>>,
    grace: Option<Duration>,
}

#[derive(Clone, Copy)]
enum ShutdownStep {
    /// Accept no new call; running calls go on.
    Leave,
    /// End the running streams with a status.
    EndStreams,
    Cut,
}

impl Shutdown {
    fn new(limits: &Limits, refused: bool) -> Shutdown {
        let age = jittered(if refused { REFUSED_LIFETIME } else { limits.max_connection_age });
        let grace = if refused { Some(REFUSED_LIFETIME) } else { limits.connection_grace };
        Shutdown { next: ShutdownStep::Leave, timer: Box::pin(tokio::time::sleep(age)), grace }
    }

    /// Waits for the next step. Cancel safe.
    async fn next(&mut self) -> ShutdownStep {
        self.timer.as_mut().await;
        let step = self.next;
        let (next, wait) = match step {
            ShutdownStep::Leave => match self.grace {
                Some(grace) => (ShutdownStep::EndStreams, grace),
                None => (ShutdownStep::Leave, Duration::from_secs(86_400)),
            },
            ShutdownStep::EndStreams | ShutdownStep::Cut => (ShutdownStep::Cut, STREAM_END_GRACE),
        };
        self.next = next;
        self.timer.as_mut().reset(Instant::now() + wait);
        step
    }

    /// Begins the second step now.
    fn hasten(&mut self) {
        self.next = ShutdownStep::EndStreams;
        self.timer.as_mut().reset(Instant::now());
    }
}

/// Limits of the HTTP connection that hyper and h2 leave open or set too high.
///
/// The connection's window is the sum of all streams' windows, so that a stream that is read slowly
/// takes nothing from the others.
fn protocol(limits: &Limits, http1: bool) -> Builder<StreamExecutor> {
    let mut builder = Builder::new(StreamExecutor { stall_timeout: limits.stream_stall_timeout });
    if !http1 {
        builder = builder.http2_only();
    }
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.keepalive_timeout)
        // hyper accepts no less than 8 KiB.
        .max_buf_size(usize::try_from(limits.header_bytes).unwrap_or(usize::MAX).max(8192));
    let window = STREAM_WINDOW_BYTES.min(i32::MAX.unsigned_abs() / limits.streams.max(1));
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
        .initial_stream_window_size(window)
        .initial_connection_window_size(
            window.saturating_mul(limits.streams).max(STREAM_WINDOW_BYTES),
        )
        .max_send_buf_size(usize::try_from(STREAM_WINDOW_BYTES).unwrap_or(usize::MAX))
        .max_local_error_reset_streams(limits.error_resets)
        .max_pending_accept_reset_streams(limits.pending_resets)
        // Headers that are a little too long pass here, so that `ConnectionCalls` can refuse them
        // with a reason.
        .max_header_list_size(limits.header_bytes.saturating_mul(2))
        .keep_alive_interval(limits.keepalive_interval)
        .keep_alive_timeout(limits.keepalive_timeout);
    builder
}

/// Random age within a tenth of `age`.
fn jittered(age: Duration) -> Duration {
    let chance = u32::from(u16::from_be_bytes(entropy::bytes(&SystemEntropy)));
    let least = age / 10 * 9;
    least.saturating_add((age / 5).saturating_mul(chance) / u32::from(u16::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_differ_by_a_tenth_at_most() {
        let ages: Vec<_> = (0..1000).map(|_| jittered(Duration::from_secs(100))).collect();
        assert!(ages.iter().all(|age| (90..=110).contains(&age.as_secs())));
        assert!(ages.iter().any(|age| age.as_secs() < 98));
        assert!(ages.iter().any(|age| age.as_secs() > 102));
        assert!(jittered(Duration::from_secs(86_400)) >= Duration::from_secs(77_760));
        assert!(jittered(Limits::NEVER) > Duration::from_hours(24 * 365));
    }
}
