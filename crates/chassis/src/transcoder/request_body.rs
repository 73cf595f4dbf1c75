//! Bodies of requests on their way to gRPC.
//!
//! Nothing is read before the layers behind ask for it, so a caller whom the guard refuses has
//! nothing parsed, and a message waits where gRPC's would wait. Every fault of a body is an error of
//! reading it, with the status that its caller gets.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use base64ct::{Base64, Encoding as _};
use bytes::{Bytes, BytesMut};
use http_body::{Frame, SizeHint};
use prost_reflect::MessageDescriptor;
use tonic::Status;
use tonic::body::Body;

use super::{envelope, json};
use crate::content_type::Codec;
use crate::refusal::{Reason, message_too_long, refusal};

type Polled = Poll<Option<Result<Frame<Bytes>, Status>>>;

/// Longest JSON of a message, as a multiple of its longest encoding: bytes in base64 take a third
/// more, and names and numbers are longer too.
const JSON_FACTOR: usize = 2;

/// Form of a request's messages.
#[derive(Debug, Clone)]
pub(super) struct MessageForm {
    pub(super) codec: Codec,
    pub(super) descriptor: MessageDescriptor,
    /// Bytes of the longest message in protobuf.
    pub(super) max_bytes: usize,
}

impl MessageForm {
    /// Bytes of the longest message as it comes.
    const fn max_bytes_received(&self) -> usize {
        match self.codec {
            Codec::Protobuf => self.max_bytes,
            Codec::Json => self.max_bytes.saturating_mul(JSON_FACTOR),
        }
    }

    fn too_long(&self) -> Status {
        message_too_long(self.max_bytes)
    }

    /// Puts a message as it came into gRPC's envelope.
    fn to_grpc(&self, message: &[u8], into: &mut BytesMut) -> Result<(), Status> {
        match self.codec {
            Codec::Protobuf => envelope::wrap(envelope::MESSAGE, message, into),
            Codec::Json => {
                let message = json::to_protobuf(&self.descriptor, message).map_err(|no| *no)?;
                envelope::wrap(envelope::MESSAGE, &message, into);
            }
        }
        Ok(())
    }
}

/// Body that is one message without an envelope.
pub(super) struct SingleMessage {
    inner: Body,
    form: MessageForm,
    received: BytesMut,
    ended: bool,
}

impl SingleMessage {
    pub(super) fn new(inner: Body, form: MessageForm) -> SingleMessage {
        SingleMessage { inner, form, received: BytesMut::new(), ended: false }
    }

    fn add(&mut self, data: &[u8]) -> Result<(), Status> {
        if self.received.len() + data.len() > self.form.max_bytes_received() {
            return Err(self.form.too_long());
        }
        self.received.extend_from_slice(data);
        Ok(())
    }
}

impl http_body::Body for SingleMessage {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        while !self.ended {
            let Some(frame) = ready!(Pin::new(&mut self.inner).poll_frame(context)) else {
                self.ended = true;
                let mut message = BytesMut::new();
                let converted = self.form.to_grpc(&self.received, &mut message);
                return Poll::Ready(Some(converted.map(|()| Frame::data(message.freeze()))));
            };
            let added = match frame {
                Ok(frame) => frame.data_ref().map_or(Ok(()), |data| self.add(data)),
                Err(status) => Err(fault(status)),
            };
            if let Err(status) = added {
                self.ended = true;
                return Poll::Ready(Some(Err(status)));
            }
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

/// Body of messages in envelopes, each of which is converted.
pub(super) struct Messages {
    inner: Body,
    form: MessageForm,
    received: BytesMut,
    ended: bool,
}

impl Messages {
    pub(super) fn new(inner: Body, form: MessageForm) -> Messages {
        Messages { inner, form, received: BytesMut::new(), ended: false }
    }

    /// Converts the first message, if it is whole.
    fn next(&mut self) -> Result<Option<Bytes>, Status> {
        let Some((flags, length)) = envelope::peek(&self.received) else { return Ok(None) };
        if flags != envelope::MESSAGE {
            let words = "a message has flags: send messages that are not compressed, and no other";
            return Err(refusal(Reason::BadField, words));
        }
        if length > self.form.max_bytes_received() {
            return Err(self.form.too_long());
        }
        let Some((_, message)) = envelope::take(&mut self.received) else { return Ok(None) };
        let mut converted = BytesMut::new();
        self.form.to_grpc(&message, &mut converted)?;
        Ok(Some(converted.freeze()))
    }
}

impl http_body::Body for Messages {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        while !self.ended {
            match self.next() {
                Ok(None) => {}
                Ok(Some(message)) => return Poll::Ready(Some(Ok(Frame::data(message)))),
                Err(status) => {
                    self.ended = true;
                    return Poll::Ready(Some(Err(status)));
                }
            }
            match ready!(Pin::new(&mut self.inner).poll_frame(context)) {
                Some(Ok(frame)) => {
                    if let Some(data) = frame.data_ref() {
                        self.received.extend_from_slice(data);
                    }
                }
                Some(Err(status)) => {
                    self.ended = true;
                    return Poll::Ready(Some(Err(fault(status))));
                }
                None => {
                    self.ended = true;
                    if !self.received.is_empty() {
                        return Poll::Ready(Some(Err(broken_off())));
                    }
                }
            }
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

/// Body of gRPC-Web in base64, read as bytes. Padding may stand at the end of every piece.
pub(super) struct FromBase64 {
    inner: Body,
    /// Characters of a group of four that is not whole yet.
    rest: Vec<u8>,
    ended: bool,
}

impl FromBase64 {
    pub(super) const fn new(inner: Body) -> FromBase64 {
        FromBase64 { inner, rest: Vec::new(), ended: false }
    }

    fn decode(&mut self, data: &[u8]) -> Result<Bytes, Status> {
        self.rest.extend_from_slice(data);
        let whole = self.rest.len() / 4 * 4;
        let mut bytes = Vec::with_capacity(whole / 4 * 3);
        for group in self.rest[..whole].chunks_exact(4) {
            let mut decoded = [0; 3];
            let decoded = Base64::decode(group, &mut decoded).map_err(|_| no_base64())?;
            bytes.extend_from_slice(decoded);
        }
        self.rest.drain(..whole);
        Ok(bytes.into())
    }
}

impl http_body::Body for FromBase64 {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        while !self.ended {
            let decoded = match ready!(Pin::new(&mut self.inner).poll_frame(context)) {
                Some(Ok(frame)) => match frame.data_ref() {
                    Some(data) => self.decode(data),
                    None => continue,
                },
                Some(Err(status)) => Err(fault(status)),
                None if self.rest.is_empty() => {
                    self.ended = true;
                    continue;
                }
                None => Err(no_base64()),
            };
            match decoded {
                Ok(bytes) if bytes.is_empty() => {}
                Ok(bytes) => return Poll::Ready(Some(Ok(Frame::data(bytes)))),
                Err(status) => {
                    self.ended = true;
                    return Poll::Ready(Some(Err(status)));
                }
            }
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

/// Body that cannot be read, because of something in its request's headers.
pub(super) struct Unreadable {
    pub(super) status: Option<Status>,
    /// Body as it came. Kept, so that its sender can finish.
    pub(super) _inner: Body,
}

impl http_body::Body for Unreadable {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Polled {
        Poll::Ready(self.status.take().map(Err))
    }
}

/// Status of a body that cannot be read on: its own, or that of a broken connection.
fn fault(status: Status) -> Status {
    if status.details().is_empty() { broken_off() } else { status }
}

fn broken_off() -> Status {
    refusal(Reason::BadField, "the request broke off")
}

fn no_base64() -> Status {
    refusal(Reason::BadField, "the body of application/grpc-web-text is base64, and this is none")
}
