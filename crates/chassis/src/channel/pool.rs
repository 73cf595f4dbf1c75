//! Several connections to one peer.
//!
//! An HTTP/2 connection carries as many streams at once as its server says; a call beyond that waits,
//! and waits for ever where the streams before it are watches that do not end. So calls are spread
//! over connections by how many of them each carries, and one more is opened where all are busy. A
//! connection that is no longer needed stays: idle, it costs a ping every twenty seconds.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Frame, SizeHint};
use tonic::Status;
use tonic::body::Body;
use tower::Service;

use super::{ChannelError, PeerChannel};

/// Calls on a connection before another one is opened: below the 256 streams that our services take
/// on each from the inside.
const BUSY: usize = 200;
/// Connections at the most; behind that the least busy one takes the call.
const MOST: usize = 64;

type Open = Box<dyn Fn() -> Result<PeerChannel, ChannelError> + Send + Sync>;

/// A way to a peer over as many connections as it takes. Cheap to clone.
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    open: Open,
    lanes: Mutex<Vec<Lane>>,
}

struct Lane {
    channel: PeerChannel,
    /// Held by each call on it until the last byte of its answer.
    calls: Arc<()>,
}

impl Pool {
    /// A pool with one connection, which `open` makes, as it makes every other.
    ///
    /// # Errors
    /// Where `open` fails; it is expected to fail always or never.
    pub fn new(
        open: impl Fn() -> Result<PeerChannel, ChannelError> + Send + Sync + 'static,
    ) -> Result<Pool, ChannelError> {
        let first = Lane { channel: open()?, calls: Arc::default() };
        let shared = Shared { open: Box::new(open), lanes: Mutex::new(vec![first]) };
        Ok(Pool { shared: Arc::new(shared) })
    }

    /// How many connections there are.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.lanes.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// A call goes to the least busy connection. An error says that no connection was to be had or that
/// it broke: what became of the call is not known.
impl Service<Request<Body>> for Pool {
    type Response = Response<Body>;
    type Error = tonic::transport::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        // Readiness is a connection's, and each call has its own.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let (mut channel, place) = self.shared.least_busy();
        Box::pin(async move {
            std::future::poll_fn(|context| channel.poll_ready(context)).await?;
            let answer = channel.call(request).await?;
            Ok(answer.map(|inner| Body::new(Placed { inner: Body::new(inner), _place: place })))
        })
    }
}

impl Shared {
    fn least_busy(&self) -> (PeerChannel, Arc<()>) {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = |lane: &Lane| Arc::strong_count(&lane.calls) - 1;
        let least = lanes.iter().min_by_key(|lane| calls(lane)).expect("there is always one lane");
        let (busy, taken) =
            (calls(least) >= BUSY, (least.channel.clone(), Arc::clone(&least.calls)));
        if !busy || lanes.len() >= MOST {
            return taken;
        }
        match (self.open)() {
            Ok(channel) => {
                let lane = Lane { channel, calls: Arc::default() };
                let opened = (lane.channel.clone(), Arc::clone(&lane.calls));
                lanes.push(lane);
                opened
            }
            Err(error) => {
                tracing::warn!(%error, "no further connection can be opened");
                taken
            }
        }
    }
}

/// An answer's body, and the place of its call on the connection.
struct Placed {
    inner: Body,
    _place: Arc<()>,
}

impl http_body::Body for Placed {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        Pin::new(&mut self.inner).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
