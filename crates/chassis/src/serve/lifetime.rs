//! End of streams whose time is over: that of their token, that of their connection, or that of the
//! caller's own `grpc-timeout`. A stream whose token is revoked ends at once.
//!
//! A streamed answer goes on to the end of the message that is under way, and then ends with a
//! status that gives the reason. The call itself may end a stream too, because of something in its
//! request.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use http::{HeaderMap, Request};
use http_body::{Frame, SizeHint};
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tonic::body::Body;

use super::connection_calls::ConnectionEnd;
use super::deadline::{deadline_refusal, grpc_timeout, has_passed};
use super::frames::FramePosition;
use super::middleware::{Answer, Middleware, Next, answered};
use crate::auth::{Access, TokenExpiry, stream_token_refusal};
use crate::refusal::{Reason, refusal, stream_ended};

/// Ends a streaming call, once. Cheap to clone. Lies in the request's extensions.
#[derive(Debug, Clone, Default)]
pub(super) struct StreamEnd {
    status: Arc<OnceLock<Status>>,
    ended: CancellationToken,
}

impl StreamEnd {
    /// Ends the stream, unless it has already ended.
    pub(super) fn end(&self, status: Status) {
        // The caller gets the first status.
        let _ = self.status.set(status);
        self.ended.cancel();
    }

    /// Waits for the end and returns its status.
    pub(super) async fn wait(&self) -> Status {
        self.ended.cancelled().await;
        self.status.get().cloned().unwrap_or_else(stream_ended)
    }
}

/// Ends streams when their token, their connection or their caller's deadline is over.
#[derive(Clone)]
pub struct Lifetime {
    pub(super) access: Arc<Access>,
}

impl Middleware for Lifetime {
    fn call(&self, mut request: Request<Body>, next: &mut impl Next) -> Answer {
        let rule = self.access.rule(request.uri().path());
        if rule.is_some_and(|rule| !rule.streams) {
            return Box::pin(next.call(request));
        }
        let deadline = grpc_timeout(request.headers());
        if deadline.is_some_and(has_passed) {
            return answered(deadline_refusal().into_http());
        }
        let ending = StreamEnd::default();
        let token = request.extensions().get::<TokenExpiry>().cloned();
        let connection = request.extensions().get::<ConnectionEnd>().cloned();
        request.extensions_mut().insert(ending.clone());
        let answer = next.call(request);
        Box::pin(async move {
            let mut over: EndFuture = Box::pin(over(token, connection, deadline, ending));
            tokio::select! {
                biased;
                // First: an answer to a request that has ended the stream itself says less.
                status = &mut over => Ok(status.into_http()),
                answer = answer => {
                    Ok(answer?.map(|inner| Body::new(EndingBody::new(inner, over))))
                }
            }
        })
    }
}

type EndFuture = Pin<Box<dyn Future<Output = Status> + Send>>;

/// Waits for the first event that ends a stream.
async fn over(
    token: Option<TokenExpiry>,
    connection: Option<ConnectionEnd>,
    deadline: Option<Duration>,
    ending: StreamEnd,
) -> Status {
    let token = async {
        match token {
            Some(token) => token.until_over().await,
            None => std::future::pending().await,
        }
    };
    let connection = async {
        match connection {
            Some(ConnectionEnd(ended)) => ended.cancelled().await,
            None => std::future::pending().await,
        }
    };
    let deadline = async {
        match deadline {
            Some(left) => tokio::time::sleep(left).await,
            None => std::future::pending().await,
        }
    };
    tokio::select! {
        status = ending.wait() => status,
        () = deadline => deadline_refusal(),
        error = token => stream_token_refusal(error),
        () = connection => {
            let message = "the connection's time is over: go on, on another one";
            refusal(Reason::Unavailable, message)
        }
    }
}

/// Answer that ends when its time is over.
struct EndingBody {
    /// Body of the answer; `None` once it has ended.
    inner: Option<Body>,
    /// The one future, in a set that polls it only after it was woken: a frame costs no look at it.
    end: FuturesUnordered<EndFuture>,
    /// Final status, to be sent after the message that is under way.
    final_status: Option<Status>,
    frames: FramePosition,
}

impl EndingBody {
    fn new(inner: Body, over: EndFuture) -> EndingBody {
        EndingBody {
            inner: Some(inner),
            end: FuturesUnordered::from_iter([over]),
            final_status: None,
            frames: FramePosition::default(),
        }
    }
}

impl http_body::Body for EndingBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        let Some(inner) = &mut this.inner else { return Poll::Ready(None) };
        if this.final_status.is_none()
            && let Poll::Ready(Some(status)) = this.end.poll_next_unpin(context)
        {
            this.final_status = Some(status);
        }
        if this.frames.is_between()
            && let Some(status) = this.final_status.take()
        {
            this.inner = None;
            let mut trailers = HeaderMap::new();
            return Poll::Ready(Some(match status.add_header(&mut trailers) {
                Ok(()) => Ok(Frame::trailers(trailers)),
                Err(status) => Err(status),
            }));
        }
        let polled = Pin::new(inner).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            this.frames.advance_all(data);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(http_body::Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}
