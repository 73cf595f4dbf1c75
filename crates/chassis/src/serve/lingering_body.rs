//! Body of a request that is read on after its call was answered.
//!
//! A refusal is sent before its caller has finished sending. If the rest were not read, the stream
//! would be reset, or over HTTP/1.1 the connection closed, and many clients drop an answer that they
//! have together with the stream that was reset under their hands. So the rest is read and thrown
//! away, for a while and up to a bound. After that the stream is reset without an error.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt as _;

/// Most bytes of a request that are read after its answer.
const MAX_BYTES: usize = 2 * 1024 * 1024;
/// Longest time for that.
const MAX_TIME: Duration = Duration::from_secs(2);

/// Body whose rest is read when it is dropped.
pub(super) struct LingeringBody<B>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
{
    /// Body as it comes; `None` once it has ended.
    inner: Option<B>,
}

impl<B> LingeringBody<B>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
{
    pub(super) const fn new(inner: B) -> LingeringBody<B> {
        LingeringBody { inner: Some(inner) }
    }
}

impl<B> Body for LingeringBody<B>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
{
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let Some(inner) = &mut self.inner else { return Poll::Ready(None) };
        let polled = Pin::new(inner).poll_frame(context);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.inner = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl<B> Drop for LingeringBody<B>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
{
    fn drop(&mut self) {
        let Some(body) = self.inner.take().filter(|body| !body.is_end_stream()) else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(tokio::time::timeout(MAX_TIME, read_on(body)));
        }
    }
}

/// Reads a body to its end or bound.
async fn read_on(mut body: impl Body<Data = Bytes> + Unpin) {
    let mut read = 0;
    while let Some(Ok(frame)) = body.frame().await {
        read += frame.data_ref().map_or(0, Bytes::len);
        if read > MAX_BYTES {
            return;
        }
    }
}
