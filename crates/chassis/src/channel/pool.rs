//! Pool of connections to one peer.
//!
//! A server bounds the concurrent streams of an HTTP/2 connection. A call beyond that bound waits,
//! and may wait for ever, since watch streams do not end. So calls are spread over connections by
//! load, and another connection is opened when all are busy. A connection never carries more
//! answers than its window is made for. When all connections that may be opened are busy, a call is
//! refused. Streams may last for ever, so they may use three quarters of all permits; the rest is
//! kept for unary calls. Idle connections are kept: they cost a ping every twenty seconds.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use http::{Request, Response};
use tonic::body::Body;
use tower::Service;

use super::{ChannelError, PeerChannel};
use crate::body_with_permit::BodyWithPermit;
use crate::serve::IsStream;

/// Calls on a connection before another one is opened. Lower than the 256 streams that an internal
/// service accepts on one connection.
const CALLS_PER_CONNECTION: usize = 200;
/// Most connections of a pool.
const MAX_CONNECTIONS: usize = 64;
/// Most streams on all connections together.
const MAX_STREAMS: usize = CALLS_PER_CONNECTION * MAX_CONNECTIONS / 4 * 3;

type OpenChannel = Box<dyn Fn() -> Result<PeerChannel, ChannelError> + Send + Sync>;

/// Channel to a peer over as many connections as the load needs. Cheap to clone.
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

/// Reason why a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The call was not sent.
    #[error("as many calls are under way to the service behind as it may be sent")]
    Busy,
    /// No connection could be made, or it broke: the outcome of the call is unknown.
    #[error(transparent)]
    Transport(#[from] tonic::transport::Error),
}

struct Shared {
    open: OpenChannel,
    connections: Mutex<Vec<Connection>>,
    /// One strong reference per open stream, for counting.
    streams: Arc<()>,
}

struct Connection {
    channel: PeerChannel,
    /// One strong reference per call on the connection until the last byte of its answer.
    calls: Arc<()>,
}

/// Permit of a call on a connection, and of a stream among the streams.
struct Permit {
    _call: Arc<()>,
    _stream: Option<Arc<()>>,
}

impl Pool {
    /// Pool with one connection. `open` makes it and every later one.
    ///
    /// # Errors
    /// `open` fails. It is expected to fail always or never.
    pub fn new(
        open: impl Fn() -> Result<PeerChannel, ChannelError> + Send + Sync + 'static,
    ) -> Result<Pool, ChannelError> {
        let first = Connection { channel: open()?, calls: Arc::default() };
        let shared = Shared {
            open: Box::new(open),
            connections: Mutex::new(vec![first]),
            streams: Arc::default(),
        };
        Ok(Pool { shared: Arc::new(shared) })
    }

    /// Number of connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// Sends each call to the least busy connection. [`IsStream`] marks streams.
impl Service<Request<Body>> for Pool {
    type Response = Response<Body>;
    type Error = CallError;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        // Each call waits for its own connection's readiness.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let streams = request.extensions().get::<IsStream>().is_some();
        let least_busy = self.shared.least_busy(streams);
        Box::pin(async move {
            let (mut channel, place) = least_busy.ok_or(CallError::Busy)?;
            std::future::poll_fn(|context| channel.poll_ready(context)).await?;
            let answer = channel.call(request).await?;
            Ok(answer.map(|inner| Body::new(BodyWithPermit::new(Body::new(inner), place))))
        })
    }
}

impl Shared {
    /// Connection for the next call, and the call's permit; `None` if all connections are busy.
    fn least_busy(&self, streams: bool) -> Option<(PeerChannel, Permit)> {
        let mut lanes = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        if streams && Arc::strong_count(&self.streams) > MAX_STREAMS {
            return None;
        }
        let permit = |lane: &Connection| Permit {
            _call: Arc::clone(&lane.calls),
            _stream: streams.then(|| Arc::clone(&self.streams)),
        };
        let calls = |lane: &Connection| Arc::strong_count(&lane.calls) - 1;
        let least = lanes.iter().min_by_key(|lane| calls(lane)).expect("there is always one lane");
        if calls(least) < CALLS_PER_CONNECTION {
            return Some((least.channel.clone(), permit(least)));
        }
        if lanes.len() >= MAX_CONNECTIONS {
            return None;
        }
        match (self.open)() {
            Ok(channel) => {
                let lane = Connection { channel, calls: Arc::default() };
                let opened = (lane.channel.clone(), permit(&lane));
                lanes.push(lane);
                Some(opened)
            }
            Err(error) => {
                tracing::warn!(runbook = "deploy/README.md, A service does not answer", %error, "no further connection can be opened");
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::{self, CredentialInterceptor};

    /// ARCHITECTURE.md §7.6.
    #[tokio::test]
    async fn streams_leave_a_quarter_of_the_places_to_calls() {
        let open = || {
            channel::connect_lazy(
                &"http://127.0.0.1:1".parse().unwrap(),
                None,
                CredentialInterceptor::NoToken,
            )
        };
        let pool = Pool::new(open).unwrap();
        let taken = |streams| {
            let places: Vec<_> =
                std::iter::from_fn(|| pool.shared.least_busy(streams).map(|(_, place)| place))
                    .collect();
            places
        };
        let mut streams = taken(true);
        assert_eq!(streams.len(), 9_600);
        let calls = taken(false);
        assert_eq!((calls.len(), pool.connections()), (3_200, 64));
        drop(calls);
        assert!(taken(true).is_empty(), "a stream's place is a stream's");
        streams.pop();
        assert_eq!(taken(true).len(), 1);
    }
}
