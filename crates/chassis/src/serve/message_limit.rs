//! Size limits of requests.
//!
//! The body of a unary call is read whole before the service sees it: it is one message within the
//! method's size limit. The messages of a stream pass one by one, each within that limit and each
//! paid for like a call. A message that comes too early waits, and the stream is not read
//! meanwhile.

use std::future::{self, Future};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::{Bytes, BytesMut};
use http::{HeaderValue, Request};
use http_body::{Frame, SizeHint};
use http_body_util::{BodyExt as _, Full};
use tokio::time::{Instant, Sleep};
use tonic::Status;
use tonic::body::Body;

use super::command_id::CommandId;
use super::frames::{Advance, FramePosition, HEAD_BYTES};
use super::fresh_tokens::FreshTokens;
use super::lifetime::StreamEnd;
use super::middleware::{Answer, Middleware, Next};
use crate::auth::{Access, MessageRateLimit, TokenExpiry, stream_token_refusal};
use crate::refusal::{Reason, message_too_long, refusal};

/// Marks a request whose body was read whole. Lies in the request's extensions.
#[derive(Debug, Clone, Copy)]
pub struct WholeBody;

/// Header of gRPC that names the encoding of a request's messages.
pub(crate) const GRPC_ENCODING: &str = "grpc-encoding";

/// Whether a header names an encoding that changes bytes.
pub(crate) fn is_compression(value: &HeaderValue) -> bool {
    !value.as_bytes().eq_ignore_ascii_case(b"identity")
}

/// Limits the size of messages.
#[derive(Clone)]
pub struct MessageLimit {
    /// Longest message, unless the method's option names another length.
    pub(super) max_message_bytes: usize,
    pub(super) access: Arc<Access>,
}

impl Middleware for MessageLimit {
    fn call(&self, mut request: Request<Body>, next: &mut impl Next) -> Answer {
        // The length of a compressed message says nothing about what it unfolds to.
        if request.headers().get_all(GRPC_ENCODING).iter().any(is_compression) {
            let words = "the request is compressed: send it as it is, without an encoding";
            return Box::pin(future::ready(Ok(refusal(Reason::Compressed, words).into_http())));
        }
        let rule = self.access.rule(request.uri().path());
        let longest = rule.and_then(|rule| rule.message_bytes).unwrap_or(self.max_message_bytes);
        if rule.is_none_or(|rule| rule.streams) {
            let paced = request.extensions_mut().remove::<MessageRateLimit>();
            let ending = request.extensions().get::<StreamEnd>().cloned();
            let field = rule.and_then(|rule| rule.token_field);
            let expiry = request.extensions().get::<TokenExpiry>().cloned();
            let fresh = field.zip(expiry).map(|(field, expiry)| FreshTokens::new(field, expiry));
            let metered =
                |inner| Body::new(MeteredBody::new(inner, longest, paced, ending).taking(fresh));
            return Box::pin(next.call(request.map(metered)));
        }
        // `poll_ready` was called on this instance, so this instance is called and a clone is kept.
        let ready = next.clone();
        let mut next = std::mem::replace(next, ready);
        let command = rule.and_then(|rule| rule.request_id_field);
        Box::pin(async move {
            let (mut head, body) = request.into_parts();
            match read_single_message(body, longest).await {
                Ok(message) => {
                    head.extensions.insert(WholeBody);
                    if let (Some(field), Some(id)) = (command, head.extensions.get::<CommandId>()) {
                        id.read(&message[HEAD_BYTES..], field);
                    }
                    let body = Body::new(Full::new(message));
                    next.call(Request::from_parts(head, body)).await
                }
                Err(status) => Ok(status.into_http()),
            }
        })
    }
}

/// Reads a body that must be one message.
async fn read_single_message(mut body: Body, longest: usize) -> Result<Bytes, Box<Status>> {
    let mut first = Bytes::new();
    let mut rest = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(fault)?.into_data() else { continue };
        if first.is_empty() && rest.is_empty() {
            first = data;
        } else {
            if rest.is_empty() {
                rest.extend_from_slice(&first);
            }
            rest.extend_from_slice(&data);
        }
        let so_far = if rest.is_empty() { &first[..] } else { &rest[..] };
        let announced = FramePosition::default().advance(so_far).message_bytes;
        if so_far.len() > longest.saturating_add(HEAD_BYTES)
            || announced.is_some_and(|announced| announced > longest)
        {
            return Err(Box::new(message_too_long(longest)));
        }
    }
    let whole = if rest.is_empty() { first } else { rest.freeze() };
    let Advance { bytes, message_bytes: begun } = FramePosition::default().advance(&whole);
    if begun.is_none_or(|length| length + HEAD_BYTES != whole.len()) || bytes != whole.len() {
        return Err(malformed("the request is not one message of gRPC"));
    }
    if whole.first() != Some(&0) {
        return Err(malformed("the request is compressed: send it as it is"));
    }
    Ok(whole)
}

fn malformed(message: &str) -> Box<Status> {
    Box::new(refusal(Reason::BadField, message))
}

/// Status of a body that cannot be read on. The transcoder's have details, a connection's have none.
fn fault(status: Status) -> Box<Status> {
    if status.details().is_empty() { malformed("the request broke off") } else { Box::new(status) }
}

/// Body of a stream whose messages are checked for size and paid for.
struct MeteredBody {
    inner: Body,
    frames: FramePosition,
    max_message_bytes: usize,
    rate_limit: Option<MessageRateLimit>,
    ending: Option<StreamEnd>,
    /// Received bytes that are not passed on yet.
    pending: Bytes,
    /// Timer until the next message may pass.
    wait: Option<Pin<Box<Sleep>>>,
    /// Whether the next message is paid for.
    paid: bool,
    /// Fresh tokens among the messages, where the method takes them.
    fresh_tokens: Option<FreshTokens>,
}

impl MeteredBody {
    fn new(
        inner: Body,
        longest: usize,
        paced: Option<MessageRateLimit>,
        ending: Option<StreamEnd>,
    ) -> MeteredBody {
        let (frames, held) = (FramePosition::default(), Bytes::new());
        MeteredBody {
            inner,
            frames,
            max_message_bytes: longest,
            rate_limit: paced,
            ending,
            pending: held,
            wait: None,
            paid: false,
            fresh_tokens: None,
        }
    }

    /// Takes fresh tokens out of the messages.
    fn taking(self, fresh_tokens: Option<FreshTokens>) -> MeteredBody {
        MeteredBody { fresh_tokens, ..self }
    }

    /// Ends the stream with a status, as its request's error too.
    fn end(&self, status: Status) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if let Some(ending) = &self.ending {
            ending.end(status.clone());
        }
        Poll::Ready(Some(Err(status)))
    }

    /// Waits until the next message may pass.
    fn poll_paid(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while self.frames.is_between() && !self.paid {
            if let Some(early) = &mut self.wait {
                ready!(early.as_mut().poll(context));
                self.wait = None;
            }
            match self.rate_limit.as_ref().map_or(Ok(()), MessageRateLimit::take_message) {
                Ok(()) => self.paid = true,
                Err(wait) => {
                    let at = Instant::now() + wait;
                    self.wait = Some(Box::pin(tokio::time::sleep_until(at)));
                }
            }
        }
        Poll::Ready(())
    }
}

impl http_body::Body for MeteredBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        while self.pending.is_empty() {
            match ready!(Pin::new(&mut self.inner).poll_frame(context)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.pending = data,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                Some(Err(error)) if error.details().is_empty() => {
                    return Poll::Ready(Some(Err(error)));
                }
                Some(Err(fault)) => return self.end(fault),
                None => return Poll::Ready(None),
            }
        }
        ready!(self.poll_paid(context));
        let held = std::mem::take(&mut self.pending);
        let Advance { bytes, message_bytes: begun } = self.frames.advance(&held);
        self.pending = held.slice(bytes..);
        self.paid = !self.frames.is_between();
        if begun.is_some_and(|length| length > self.max_message_bytes) {
            return self.end(message_too_long(self.max_message_bytes));
        }
        let passed = held.slice(..bytes);
        let ends = self.frames.is_between();
        if let Some(fresh) = &mut self.fresh_tokens
            && let Err(error) = fresh.pass(&passed, ends)
        {
            return self.end(stream_token_refusal(error));
        }
        Poll::Ready(Some(Ok(Frame::data(passed))))
    }

    fn is_end_stream(&self) -> bool {
        self.pending.is_empty() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use http_body_util::StreamBody;
    use tonic::Code;
    use tonic_types::StatusExt as _;

    use super::*;

    fn message(length: u32) -> Vec<u8> {
        let mut message = vec![0];
        message.extend(length.to_be_bytes());
        message.resize(HEAD_BYTES + usize::try_from(length).unwrap(), 7);
        message
    }

    fn body(bytes: &[u8], cut: usize) -> Body {
        let pieces: Vec<_> = bytes
            .chunks(cut)
            .map(|piece| Ok::<_, Status>(Frame::data(Bytes::copy_from_slice(piece))))
            .collect();
        Body::new(StreamBody::new(stream::iter(pieces)))
    }

    fn reason(status: &Status) -> String {
        status.get_error_details().error_info().unwrap().reason.clone()
    }

    #[tokio::test]
    async fn one_message_is_read_whole_and_nothing_else_is() {
        for cut in [1, 3, 5, 6, 1000] {
            for length in [0, 1, 100] {
                let sent = message(length);
                assert_eq!(read_single_message(body(&sent, cut), 100).await.unwrap(), sent);
            }
            let long = read_single_message(body(&message(101), cut), 100).await.unwrap_err();
            assert_eq!((long.code(), &*reason(&long)), (Code::InvalidArgument, "MESSAGE_TOO_LONG"));
            let two = [message(1), message(2)].concat();
            let compressed = [&[1][..], &message(3)[1..]].concat();
            for bad in [&[][..], &message(3)[..7], &two, &compressed] {
                let status = read_single_message(body(bad, cut), 100).await.unwrap_err();
                assert_eq!(
                    (status.code(), &*reason(&status)),
                    (Code::InvalidArgument, "BAD_FIELD")
                );
            }
        }
    }

    #[tokio::test]
    async fn what_says_that_it_is_long_is_not_read_to_its_end() {
        let head = &message(1_000_000)[..HEAD_BYTES];
        let rest = stream::pending::<Result<Frame<Bytes>, Status>>();
        let first = Ok(Frame::data(Bytes::copy_from_slice(head)));
        let body =
            Body::new(StreamBody::new(stream::StreamExt::chain(stream::iter([first]), rest)));
        let status = read_single_message(body, 100).await.unwrap_err();
        assert_eq!(reason(&status), "MESSAGE_TOO_LONG");
    }

    #[tokio::test]
    async fn a_stream_passes_message_by_message_until_one_is_too_long() {
        let sent = [message(3), message(100), message(0), message(101)].concat();
        let ending = StreamEnd::default();
        for cut in [1, 7, 1000] {
            let mut metered = MeteredBody::new(body(&sent, cut), 100, None, Some(ending.clone()));
            let mut passed = Vec::new();
            let status = loop {
                match metered.frame().await.unwrap() {
                    Ok(frame) => passed.extend(frame.into_data().unwrap()),
                    Err(status) => break status,
                }
            };
            assert!(sent.starts_with(&passed) && passed.len() < sent.len() - 101, "{cut}");
            assert_eq!(reason(&status), "MESSAGE_TOO_LONG");
            assert_eq!(reason(&ending.wait().await), "MESSAGE_TOO_LONG");
        }
    }
}
