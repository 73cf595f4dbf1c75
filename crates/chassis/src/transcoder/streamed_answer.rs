//! Answers in envelopes: of Connect's streams, and all of gRPC-Web.
//!
//! A message passes when the transport asks for it, as in gRPC, so a slow reader is noticed and no
//! more than one message waits here. gRPC's trailers become a last envelope. So does a connection
//! that breaks towards the service behind: these callers have no other way to learn of it.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use base64ct::{Base64, Encoding as _};
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body::{Body as _, Frame, SizeHint};
use serde_json::{Map, Value, json};
use tonic::Status;
use tonic::body::Body;

use super::{answer_form::AnswerForm, envelope, without_grpc};
use crate::connect_error::error_json;
use crate::content_type::{Codec, Dialect};
use crate::refusal::{Reason, is_success, refusal};
use crate::serve::FramePosition;

/// Body of an answer in envelopes.
pub(super) struct StreamedAnswer {
    inner: Body,
    dialect: Dialect,
    form: AnswerForm,
    /// Trailers of an answer that has no body.
    only: Option<HeaderMap>,
    /// Bytes of a message that is not whole yet; with protobuf always empty.
    received: BytesMut,
    /// Position in what has passed with protobuf.
    position: FramePosition,
    ended: bool,
}

impl StreamedAnswer {
    /// Answer of gRPC in another form. `only` are the trailers, if they came in place of headers.
    pub(super) fn new(
        inner: Body,
        dialect: Dialect,
        form: AnswerForm,
        only: Option<HeaderMap>,
    ) -> StreamedAnswer {
        StreamedAnswer {
            inner,
            dialect,
            form,
            only,
            received: BytesMut::new(),
            position: FramePosition::default(),
            ended: false,
        }
    }

    /// Converts received bytes; empty if no message is whole yet.
    fn convert(&mut self, data: Bytes) -> Result<Bytes, Box<Status>> {
        match self.form.codec {
            Codec::Protobuf => {
                self.position.advance_all(&data);
                Ok(data)
            }
            Codec::Json => {
                self.received.extend_from_slice(&data);
                let mut converted = BytesMut::new();
                while let Some((_, message)) = envelope::take(&mut self.received) {
                    let message = self.form.convert_streamed(message)?;
                    envelope::wrap(envelope::MESSAGE, &message, &mut converted);
                }
                Ok(converted.freeze())
            }
        }
    }

    /// Last envelope.
    fn end(&mut self, trailers: HeaderMap) -> Bytes {
        self.ended = true;
        let mut end = BytesMut::new();
        match self.dialect {
            Dialect::GrpcWeb { .. } => {
                let mut text = BytesMut::new();
                for (name, value) in &trailers {
                    let line = [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"];
                    line.iter().for_each(|part| text.extend_from_slice(part));
                }
                envelope::wrap(envelope::GRPC_WEB_END, &text, &mut end);
            }
            Dialect::ConnectStream | Dialect::ConnectUnary => {
                let end_of_stream = end_of_stream(trailers).to_string();
                envelope::wrap(envelope::CONNECT_END, end_of_stream.as_bytes(), &mut end);
            }
        }
        end.freeze()
    }

    /// Last envelope with a status of our own.
    fn end_with(&mut self, status: &Status) -> Bytes {
        let mut trailers = HeaderMap::new();
        // Cannot fail: the status contains nothing that is not allowed in a header.
        let _ = status.add_header(&mut trailers);
        self.end(trailers)
    }

    fn poll_bytes(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Status>>> {
        if let Some(trailers) = self.only.take() {
            return Poll::Ready(Some(Ok(self.end(trailers))));
        }
        while !self.ended {
            let frame = ready!(Pin::new(&mut self.inner).poll_frame(context));
            let bytes = match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => {
                    self.convert(data).unwrap_or_else(|status| self.end_with(&status))
                }
                Some(Ok(Err(frame))) => self.end(frame.into_trailers().unwrap_or_default()),
                // In the middle of a message nothing can be said any more.
                Some(Err(status)) if !self.position.is_between() => {
                    self.ended = true;
                    return Poll::Ready(Some(Err(status)));
                }
                Some(Err(_)) | None => self.end_with(&broken()),
            };
            if !bytes.is_empty() {
                return Poll::Ready(Some(Ok(bytes)));
            }
        }
        Poll::Ready(None)
    }
}

impl http_body::Body for StreamedAnswer {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let bytes = ready!(self.poll_bytes(context));
        let text = self.dialect == Dialect::GrpcWeb { text: true };
        Poll::Ready(bytes.map(|bytes| {
            let bytes = bytes?;
            Ok(Frame::data(if text { Base64::encode_string(&bytes).into() } else { bytes }))
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

/// End of a Connect stream: its error, if there is one, and its trailers.
fn end_of_stream(trailers: HeaderMap) -> Value {
    let mut end = json!({});
    let status = Status::from_header_map(&trailers).unwrap_or_else(broken);
    if !is_success(&status) {
        end["error"] = error_json(&status);
    }
    let mut trailers = trailers;
    without_grpc(&mut trailers);
    let mut metadata = Map::new();
    for name in trailers.keys() {
        let values = trailers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        metadata.insert(name.to_string(), values.collect());
    }
    if !metadata.is_empty() {
        end["metadata"] = metadata.into();
    }
    end
}

fn broken() -> Status {
    let words = "the answer broke off: repeat the call, a watched table from its last resume token";
    refusal(Reason::Unavailable, words)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http::HeaderValue;
    use http_body_util::{BodyExt as _, StreamBody};
    use prost_reflect::DescriptorPool;

    use super::*;

    /// An answer of these pieces as it is sent; breaks after them where it `breaks`.
    async fn sent(
        dialect: Dialect,
        codec: Codec,
        pieces: &[&'static [u8]],
        breaks: bool,
    ) -> Vec<u8> {
        let pool = DescriptorPool::decode(tonic_health::pb::FILE_DESCRIPTOR_SET).unwrap();
        let descriptor = pool.get_message_by_name("grpc.health.v1.HealthCheckResponse").unwrap();
        let mut frames: Vec<Result<_, Status>> =
            pieces.iter().map(|piece| Ok(Frame::data(Bytes::from_static(piece)))).collect();
        if breaks {
            frames.push(Err(Status::internal("h2 protocol error")));
        } else {
            let mut trailers = HeaderMap::new();
            trailers.insert("grpc-status", HeaderValue::from_static("0"));
            frames.push(Ok(Frame::trailers(trailers)));
        }
        let inner = Body::new(StreamBody::new(futures_util::stream::iter(frames)));
        let form = AnswerForm { codec, descriptor, recent: Arc::default() };
        let mut answer = StreamedAnswer::new(inner, dialect, form, None);
        let mut sent = Vec::new();
        while let Some(frame) = answer.frame().await {
            let Ok(frame) = frame else { return b"reset".to_vec() };
            sent.extend(frame.into_data().unwrap());
        }
        sent
    }

    #[tokio::test]
    async fn messages_are_converted_however_they_are_cut() {
        let whole: &[&'static [u8]] = &[b"\0\0\0\0\x02\x08\x01\0\0\0\0\0"];
        let cut: &[&'static [u8]] = &[b"\0\0", b"\0\0\x02\x08", b"\x01\0\0\0\0", b"\0"];
        let expected = b"\0\0\0\0\x14{\"status\":\"SERVING\"}\0\0\0\0\x02{}\x02\0\0\0\x02{}";
        for pieces in [whole, cut] {
            let json = sent(Dialect::ConnectStream, Codec::Json, pieces, false).await;
            assert_eq!(json, expected, "{}", String::from_utf8_lossy(&json));
            let proto =
                sent(Dialect::GrpcWeb { text: false }, Codec::Protobuf, pieces, false).await;
            assert_eq!(proto, [whole[0], b"\x80\0\0\0\x10grpc-status: 0\r\n"].concat());
        }
    }

    #[tokio::test]
    async fn a_stream_that_breaks_is_reported_unless_it_breaks_within_a_message() {
        let between: &[&'static [u8]] = &[b"\0\0\0\0\x02\x08\x01"];
        let end = sent(Dialect::ConnectStream, Codec::Protobuf, between, true).await;
        let end = String::from_utf8_lossy(&end[7..]).into_owned();
        assert!(end.contains("unavailable") && end.contains("UNAVAILABLE"), "{end}");
        let web = sent(Dialect::GrpcWeb { text: false }, Codec::Json, between, true).await;
        assert!(String::from_utf8_lossy(&web).contains("grpc-status: 14"));
        let within: &[&'static [u8]] = &[b"\0\0\0\0\x02\x08"];
        let cut = sent(Dialect::ConnectStream, Codec::Protobuf, within, true).await;
        assert_eq!(cut, b"reset");
    }
}
