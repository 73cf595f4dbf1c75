//! Detection of answers that their callers do not read.
//!
//! HTTP/2 polls an answer's body only when there is room for more. So a body that gave a frame and
//! is not polled again waits for its caller, and a body that was polled and is pending waits for
//! this server. After a long wait for the caller the stream is reset, by ending the task that
//! serves it; on HTTP/1 the connection ends. Frames are cut into small pieces, so that the
//! transport never buffers a whole answer.

use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::rt::Executor;
use tokio::time::{Instant, Sleep};

/// Most bytes of one frame.
const MAX_FRAME_BYTES: usize = 16 * 1024;

tokio::task_local! {
    /// State of the stream, or the connection, whose body is being polled.
    static STALL: Arc<StalledSince>;
}

/// Time since which the caller has not taken anything; `None` while the body is pending.
#[derive(Debug, Default)]
struct StalledSince(Mutex<Option<Instant>>);

impl StalledSince {
    fn set(&self, since: Option<Instant>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = since;
    }

    fn since(&self) -> Option<Instant> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Watches a future that polls bodies.
pub(super) struct StallWatch {
    taking: Arc<StalledSince>,
    stall_timeout: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl StallWatch {
    pub(super) fn new(timeout: Duration) -> StallWatch {
        StallWatch { taking: Arc::default(), stall_timeout: timeout, timer: None }
    }

    /// Polls the future. `Ready(None)` if nothing was taken for too long.
    pub(super) fn poll<F: Future>(
        &mut self,
        future: Pin<&mut F>,
        context: &mut Context<'_>,
    ) -> Poll<Option<F::Output>> {
        let polled = STALL.sync_scope(Arc::clone(&self.taking), || future.poll(context));
        if let Poll::Ready(output) = polled {
            return Poll::Ready(Some(output));
        }
        let Some(since) = self.taking.since() else {
            self.timer = None;
            return Poll::Pending;
        };
        let end = since + self.stall_timeout;
        let timer = match &mut self.timer {
            Some(timer) if timer.deadline() == end => timer,
            timer => timer.insert(Box::pin(tokio::time::sleep_until(end))),
        };
        ready!(timer.as_mut().poll(context));
        Poll::Ready(None)
    }
}

/// Executor for the streams of a connection.
#[derive(Debug, Clone)]
pub(super) struct StreamExecutor {
    pub(super) stall_timeout: Duration,
}

impl<F> Executor<F> for StreamExecutor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, stream: F) {
        let mut watch = StallWatch::new(self.stall_timeout);
        tokio::spawn(async move {
            let mut stream = pin!(stream);
            let ended = std::future::poll_fn(|context| watch.poll(stream.as_mut(), context)).await;
            if ended.is_none() {
                tracing::debug!("a stream is reset: its caller takes nothing");
            }
        });
    }
}

/// Body that is given in pieces and records when it was polled.
pub(super) struct ChunkedBody<B> {
    inner: B,
    rest: Bytes,
}

impl<B> ChunkedBody<B> {
    pub(super) const fn new(inner: B) -> ChunkedBody<B> {
        ChunkedBody { inner, rest: Bytes::new() }
    }

    fn piece(&mut self) -> Frame<Bytes> {
        let length = self.rest.len().min(MAX_FRAME_BYTES);
        // Unit tests may poll without a watch.
        let _ = STALL.try_with(|taking| taking.set(Some(Instant::now())));
        Frame::data(self.rest.split_to(length))
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for ChunkedBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let _ = STALL.try_with(|taking| taking.set(None));
        if !self.rest.is_empty() {
            return Poll::Ready(Some(Ok(self.piece())));
        }
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(context));
        Poll::Ready(frame.map(|frame| {
            frame.map(|frame| match frame.into_data() {
                Ok(data) => {
                    self.rest = data;
                    self.piece()
                }
                Err(frame) => frame,
            })
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.inner.size_hint();
        let rest = u64::try_from(self.rest.len()).unwrap_or(u64::MAX);
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper.saturating_add(rest));
        }
        hint.set_lower(hint.lower().saturating_add(rest));
        hint
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use http_body_util::{BodyExt as _, Full};

    use super::*;

    #[tokio::test]
    async fn what_is_long_comes_in_pieces() {
        let long = Bytes::from(vec![7; 3 * MAX_FRAME_BYTES + 1]);
        let mut pieces = ChunkedBody::new(Full::new(long.clone()));
        assert_eq!(pieces.size_hint().exact(), Some(long.len() as u64));
        let mut seen = Vec::new();
        while let Some(frame) = pieces.frame().await {
            let piece = frame.unwrap().into_data().unwrap();
            assert!(piece.len() <= MAX_FRAME_BYTES);
            seen.extend(piece);
            assert_eq!(pieces.is_end_stream(), seen.len() == long.len());
        }
        assert_eq!(seen, long);
    }

    /// Polls a body for one frame after each of these pauses, in seconds.
    async fn ask(pauses: &[u64]) -> Option<()> {
        let mut watch = StallWatch::new(Duration::from_secs(30));
        let mut asking = pin!(async {
            let mut pieces =
                ChunkedBody::new(Full::new(Bytes::from(vec![7; 100 * MAX_FRAME_BYTES])));
            for pause in pauses {
                tokio::time::sleep(Duration::from_secs(*pause)).await;
                pieces.frame().await;
            }
        });
        poll_fn(|context| watch.poll(asking.as_mut(), context)).await
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_something_now_and_then_is_waited_for() {
        assert_eq!(ask(&[100, 29, 29, 29]).await, Some(()));
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_nothing_is_not() {
        assert_eq!(ask(&[100, 29, 31]).await, None);
    }
}
