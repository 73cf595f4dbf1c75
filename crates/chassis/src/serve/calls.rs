//! Calls of one connection before authentication: counted, checked for size, admitted.

use std::convert::Infallible;
use std::net::IpAddr;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderMap, Request, Response, StatusCode};
use tokio::sync::Semaphore;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::transport::server::TcpConnectInfo;
use tonic::{Code, Status};
use tower::{Service, ServiceExt};

use super::addresses::{Addresses, Origin};
use super::streams::StreamsOf;
use super::taking::Pieces;
use crate::auth::PeerNames;
use crate::limits::Limits;
use crate::refusal::{self, answer, refusal};
use crate::telemetry::is_grpc;

/// Excess of calls refused for their rate over calls admitted at which the connection is closed.
const DEAF: u32 = 64;
/// Retry time for a call on a refused connection.
const LATER: Duration = Duration::from_secs(1);

/// State shared by the calls of a connection.
pub(super) struct Calls {
    pub(super) info: TcpConnectInfo,
    /// Names in the caller's certificate, if it showed one.
    pub(super) names: Option<PeerNames>,
    pub(super) origin: Origin,
    pub(super) addresses: Arc<Addresses>,
    header_bytes: usize,
    room: Semaphore,
    /// Whether the connection is one too many: no call on it is admitted.
    refused: bool,
    asked: AtomicBool,
    too_fast: AtomicU32,
    /// Cancelled if the caller's calls are too fast for so long that the connection is closed.
    pub(super) deaf: CancellationToken,
    /// Cancelled when the connection's age and grace are over: its streams end.
    pub(super) ended: CancellationToken,
}

/// Address that a request counts for, in IPv6 a network. Lies in the request's extensions; absent
/// if the request counts for none.
#[derive(Debug, Clone, Copy)]
pub struct CallerAddress(pub IpAddr);

/// Token that is cancelled when the connection's streams have to end. Lies in the request's
/// extensions.
#[derive(Clone)]
pub(super) struct ConnectionEnd(pub(super) CancellationToken);

impl Calls {
    pub(super) fn new(
        info: TcpConnectInfo,
        (origin, addresses): (Origin, Arc<Addresses>),
        limits: &Limits,
        refused: bool,
    ) -> Calls {
        Calls {
            info,
            names: None,
            origin,
            addresses,
            header_bytes: usize::try_from(limits.header_bytes).unwrap_or(usize::MAX),
            room: Semaphore::new(limits.connection_calls),
            refused,
            asked: AtomicBool::new(false),
            too_fast: AtomicU32::new(0),
            deaf: CancellationToken::new(),
            ended: CancellationToken::new(),
        }
    }

    /// Whether any call was made on the connection.
    pub(super) fn any(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    pub(super) const fn is_refused(&self) -> bool {
        self.refused
    }

    /// Answers a call.
    pub(super) async fn answer<S, B, R>(&self, app: S, request: Request<R>) -> Response<Body>
    where
        R: http_body::Body<Data = Bytes> + Send + 'static,
        R::Error: Into<tonic::codegen::StdError>,
        S: Service<Request<Body>, Response = Response<B>, Error = Infallible>,
        S::Future: Send,
        B: http_body::Body<Data = Bytes> + Send + Unpin + 'static,
        B::Error: Into<tonic::codegen::StdError> + Send + Sync,
    {
        self.asked.store(true, Ordering::Relaxed);
        let grpc = is_grpc(request.headers());
        let caller = self.addresses.caller(self.origin, request.headers());
        if let Err(status) = self.admit(caller, request.headers()) {
            return answer(&status, grpc);
        }
        let Ok(_place) = self.room.try_acquire() else {
            let message = "too many calls at once on this connection; wait for some to end";
            return answer(&refusal::overloaded(message, Duration::from_millis(100)), grpc);
        };
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(self.info.clone());
        if let Some(pays) = self.addresses.pays(caller) {
            request.extensions_mut().insert(pays);
        }
        if let Some(address) = caller {
            let streams = Arc::clone(self.addresses.streams());
            request.extensions_mut().insert(StreamsOf(address, streams));
            request.extensions_mut().insert(CallerAddress(address));
        }
        if let Some(names) = &self.names {
            request.extensions_mut().insert(names.clone());
        }
        request.extensions_mut().insert(ConnectionEnd(self.ended.clone()));
        match AssertUnwindSafe(app.oneshot(request)).catch_unwind().await {
            Ok(Ok(response)) => {
                if is_unbelieved(&response) {
                    self.addresses.unbelieved(caller, Instant::now());
                }
                response.map(|body| Body::new(Pieces::new(body)))
            }
            // The panic hook has already written it to standard error.
            Err(_) => {
                let message = "the service contradicts itself; tell its operator the trace id";
                answer(&refusal(Code::Internal, "CORRUPT", message), grpc)
            }
        }
    }

    fn admit(&self, caller: Option<IpAddr>, headers: &HeaderMap) -> Result<(), Status> {
        if self.refused {
            let message = "too many connections of this address; use those that are open";
            return Err(refusal::overloaded(message, LATER));
        }
        if let Err(wait) = self.addresses.call(caller, Instant::now()) {
            let own = matches!(self.origin, Origin::Address(_));
            if own && self.too_fast.fetch_add(1, Ordering::Relaxed) + 1 >= DEAF {
                self.deaf.cancel();
            }
            let message =
                "this address calls faster than one may: wait as long as the RetryInfo says";
            return Err(refusal::overloaded(message, wait));
        }
        let fewer = |count: u32| count.checked_sub(1);
        // Fails only at zero, where there is nothing to subtract.
        let _ = self.too_fast.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer);
        if size(headers) > self.header_bytes {
            let message = format!("the headers are longer than {} bytes", self.header_bytes);
            return Err(refusal(Code::InvalidArgument, "MESSAGE_TOO_LONG", message));
        }
        Ok(())
    }
}

/// Bytes of headers, as HTTP/2 counts them.
fn size(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 32).sum()
}

/// Whether an answer says that the token is missing or invalid, in gRPC or in plain HTTP.
fn is_unbelieved<B>(response: &Response<B>) -> bool {
    if response.status() == StatusCode::UNAUTHORIZED {
        return true;
    }
    let code = i32::from(Code::Unauthenticated).to_string();
    response.headers().get("grpc-status").is_some_and(|status| status.as_bytes() == code.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_is_not_believed_is_seen_in_any_answer() {
        let unbelieved = refusal(Code::Unauthenticated, "TOKEN_FORGED", "no");
        let other = refusal(Code::PermissionDenied, "ROLE_NOT_ALLOWED", "no");
        for grpc in [true, false] {
            assert!(is_unbelieved(&answer(&unbelieved, grpc)), "{grpc}");
            assert!(!is_unbelieved(&answer(&other, grpc)), "{grpc}");
        }
    }
}
