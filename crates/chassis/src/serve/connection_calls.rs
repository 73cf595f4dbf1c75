//! Calls of one connection before authentication: counted, checked for size, admitted.

use std::convert::Infallible;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use http::header::ORIGIN;
use http::{HeaderMap, Request, Response};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tonic::body::Body;
use tonic::transport::server::TcpConnectInfo;
use tower::{Service, ServiceExt};

use super::address_limits::{AddressLimits, Origin};
use super::cors::Cors;
use super::stream_limit::StreamLimit;
use crate::auth::PeerNames;
use crate::content_type::is_grpc;
use crate::limits::Limits;
use crate::refusal::{Reason, encode_refusal, is_unauthenticated, overloaded, refusal};

/// Excess of calls refused for their rate over calls admitted at which the connection is closed.
const MAX_EXCESS_REFUSALS: u32 = 64;
/// Retry time for a call on a refused connection.
const REFUSED_CONNECTION_RETRY: Duration = Duration::from_secs(1);

/// State shared by the calls of a connection.
pub(super) struct ConnectionCalls {
    pub(super) info: TcpConnectInfo,
    /// Names in the caller's certificate, if it showed one.
    pub(super) names: Option<PeerNames>,
    pub(super) origin: Origin,
    pub(super) addresses: Arc<AddressLimits>,
    /// Pages of other origins that may call.
    pub(super) cors: Cors,
    header_bytes: usize,
    permits: Semaphore,
    /// Whether the connection is one too many: no call on it is admitted.
    refused: bool,
    was_called: AtomicBool,
    excess_refusals: AtomicU32,
    /// Cancelled if the caller's calls are too fast for so long that the connection is closed.
    pub(super) caller_too_fast: CancellationToken,
    /// Cancelled when the connection's age and grace are over: its streams end.
    pub(super) expired: CancellationToken,
}

/// Address that a request counts for, in IPv6 a network. Lies in the request's extensions; absent
/// if the request counts for none.
#[derive(Debug, Clone, Copy)]
pub struct CallerAddress(pub IpAddr);

/// Bytes of a request's headers as it came. Lies in the extensions of a request whose headers were
/// changed since.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeaderBytes(usize);

impl HeaderBytes {
    /// Counts headers as HTTP/2 does.
    pub(crate) fn count(headers: &HeaderMap) -> HeaderBytes {
        let bytes = headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 32);
        HeaderBytes(bytes.sum())
    }

    fn of<B>(request: &Request<B>) -> HeaderBytes {
        let before = request.extensions().get().copied();
        before.unwrap_or_else(|| HeaderBytes::count(request.headers()))
    }
}

/// Token that is cancelled when the connection's streams have to end. Lies in the request's
/// extensions.
#[derive(Clone)]
pub(super) struct ConnectionEnd(pub(super) CancellationToken);

impl ConnectionCalls {
    pub(super) fn new(
        info: TcpConnectInfo,
        origin: Origin,
        addresses: Arc<AddressLimits>,
        limits: &Limits,
        refused: bool,
    ) -> ConnectionCalls {
        ConnectionCalls {
            info,
            names: None,
            origin,
            addresses,
            cors: Cors::default(),
            header_bytes: usize::try_from(limits.header_bytes).unwrap_or(usize::MAX),
            permits: Semaphore::new(limits.connection_calls),
            refused,
            was_called: AtomicBool::new(false),
            excess_refusals: AtomicU32::new(0),
            caller_too_fast: CancellationToken::new(),
            expired: CancellationToken::new(),
        }
    }

    /// Whether any call was made on the connection.
    pub(super) fn has_calls(&self) -> bool {
        self.was_called.load(Ordering::Relaxed)
    }

    pub(super) const fn is_refused(&self) -> bool {
        self.refused
    }

    /// Answers a call, so that a page of an allowed origin can read the answer.
    pub(super) async fn answer<S, B, R>(&self, app: S, request: Request<R>) -> Response<Body>
    where
        R: http_body::Body<Data = Bytes> + Send + 'static,
        R::Error: Into<tonic::codegen::StdError>,
        S: Service<Request<Body>, Response = Response<B>, Error = Infallible>,
        S::Future: Send,
        B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<tonic::codegen::StdError> + Send + Sync,
    {
        let origin = request.headers().get(ORIGIN).cloned();
        let mut answer = self.answer_call(app, request).await;
        if let Some(origin) = origin {
            self.cors.allow(&origin, answer.headers_mut());
        }
        answer
    }

    async fn answer_call<S, B, R>(&self, app: S, request: Request<R>) -> Response<Body>
    where
        R: http_body::Body<Data = Bytes> + Send + 'static,
        R::Error: Into<tonic::codegen::StdError>,
        S: Service<Request<Body>, Response = Response<B>, Error = Infallible>,
        S::Future: Send,
        B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<tonic::codegen::StdError> + Send + Sync,
    {
        self.was_called.store(true, Ordering::Relaxed);
        let grpc = is_grpc(request.headers());
        let caller = self.addresses.caller(self.origin, request.headers());
        if let Err(status) = self.admit(caller, HeaderBytes::of(&request)) {
            return encode_refusal(&status, grpc);
        }
        if let Some(answer) = self.cors.preflight(&request) {
            return answer;
        }
        let Ok(_place) = self.permits.try_acquire() else {
            let message = "too many calls at once on this connection; wait for some to end";
            return encode_refusal(&overloaded(message, Duration::from_millis(100)), grpc);
        };
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(self.info.clone());
        if let Some(pays) = self.addresses.rate_limit_of(caller) {
            request.extensions_mut().insert(pays);
        }
        if let Some(address) = caller {
            let streams = Arc::clone(self.addresses.streams());
            request.extensions_mut().insert(StreamLimit(address, streams));
            request.extensions_mut().insert(CallerAddress(address));
        }
        if let Some(names) = &self.names {
            request.extensions_mut().insert(names.clone());
        }
        request.extensions_mut().insert(ConnectionEnd(self.expired.clone()));
        match AssertUnwindSafe(app.oneshot(request)).catch_unwind().await {
            Ok(Ok(response)) => {
                if is_unauthenticated(&response) {
                    self.addresses.charge_invalid_token(caller, Instant::now());
                }
                response.map(Body::new)
            }
            // The panic hook has already written it to standard error.
            Err(_) => {
                let message = "the service contradicts itself; tell its operator the trace id";
                encode_refusal(&refusal(Reason::Corrupt, message), grpc)
            }
        }
    }

    fn admit(&self, caller: Option<IpAddr>, headers: HeaderBytes) -> Result<(), Status> {
        if self.refused {
            let message = "too many connections of this address; use those that are open";
            return Err(overloaded(message, REFUSED_CONNECTION_RETRY));
        }
        if let Err(wait) = self.addresses.take_call(caller, Instant::now()) {
            let own = matches!(self.origin, Origin::Address(_));
            if own
                && self.excess_refusals.fetch_add(1, Ordering::Relaxed) + 1 >= MAX_EXCESS_REFUSALS
            {
                self.caller_too_fast.cancel();
            }
            let message =
                "this address calls faster than one may: wait as long as the RetryInfo says";
            return Err(overloaded(message, wait));
        }
        let fewer = |count: u32| count.checked_sub(1);
        // Fails only at zero, where there is nothing to subtract.
        let _ = self.excess_refusals.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer);
        if headers.0 > self.header_bytes {
            let message = format!("the headers are longer than {} bytes", self.header_bytes);
            return Err(refusal(Reason::MessageTooLong, message));
        }
        Ok(())
    }
}
