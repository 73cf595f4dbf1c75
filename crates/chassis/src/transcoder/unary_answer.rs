//! Answers to Connect calls of methods that do not stream: the message alone, or an error with an
//! HTTP status.
//!
//! The status of a call comes after its message, so the message is read whole before its answer
//! begins. The drained body is kept until the answer has been sent, with the permits of its call:
//! a slow reader holds them as in gRPC.

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, Response, header};
use http_body_util::{BodyExt as _, Full};
use tonic::Status;
use tonic::body::Body;

use super::{answer_form::AnswerForm, envelope, without_grpc};
use crate::body_with_permit::BodyWithPermit;
use crate::connect_error::{add_retry_after, error_json};
use crate::content_type::{Codec, Dialect};
use crate::refusal::{Reason, http_status, is_success, refusal};

/// Bytes from which a message is converted on a thread of its own, so that the calls of others go
/// on.
const BLOCKING_BYTES: usize = 256 * 1024;

/// Converts an answer of gRPC.
pub(super) async fn convert(answer: Response<Body>, form: AnswerForm) -> Response<Body> {
    let (mut head, mut body) = answer.into_parts();
    let mut received = BytesMut::new();
    let mut trailers = HeaderMap::new();
    while let Some(frame) = body.frame().await {
        match frame.map(http_body::Frame::into_data) {
            Ok(Ok(data)) => received.extend_from_slice(&data),
            Ok(Err(frame)) => trailers = frame.into_trailers().unwrap_or_default(),
            Err(error) => {
                tracing::debug!(%error, "an answer broke off");
                break;
            }
        }
    }
    let status = Status::from_header_map(&head.headers)
        .or_else(|| Status::from_header_map(&trailers))
        .unwrap_or_else(broken);
    without_grpc(&mut head.headers);
    add_trailers(trailers, &mut head.headers);
    let codec = form.codec;
    let converted =
        if is_success(&status) { message(received, form).await } else { Err(Box::new(status)) };
    let content = match converted {
        Ok(content) => {
            let kind = Dialect::ConnectUnary.content_type(codec);
            head.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
            content
        }
        Err(status) => {
            head.status = http_status(status.code());
            let kind = HeaderValue::from_static("application/json");
            head.headers.insert(header::CONTENT_TYPE, kind);
            add_retry_after(&status, &mut head.headers);
            error_json(&status).to_string().into()
        }
    };
    let length = HeaderValue::from(content.len());
    head.headers.insert(header::CONTENT_LENGTH, length);
    let content = Body::new(Full::new(content));
    Response::from_parts(head, Body::new(BodyWithPermit::new(content, body)))
}

/// Message of a successful answer, converted.
async fn message(mut received: BytesMut, form: AnswerForm) -> Result<Bytes, Box<Status>> {
    let Some((envelope::MESSAGE, message)) = envelope::take(&mut received) else {
        return Err(Box::new(contradiction()));
    };
    if !received.is_empty() {
        return Err(Box::new(contradiction()));
    }
    if message.len() < BLOCKING_BYTES || form.codec == Codec::Protobuf {
        return form.convert(message);
    }
    let converted = tokio::task::spawn_blocking(move || form.convert(message)).await;
    converted.unwrap_or_else(|_| Err(Box::new(contradiction())))
}

/// Adds trailers to the headers, as Connect names them.
fn add_trailers(trailers: HeaderMap, headers: &mut HeaderMap) {
    let mut trailers = trailers;
    without_grpc(&mut trailers);
    for (name, value) in &trailers {
        let named = HeaderName::try_from(format!("trailer-{name}"));
        if let (Ok(named), false) = (named, headers.contains_key(name)) {
            headers.append(named, value.clone());
        }
    }
}

fn contradiction() -> Status {
    refusal(Reason::Corrupt, "the service contradicts itself; tell its operator the trace id")
}

fn broken() -> Status {
    let words = "the answer broke off: repeat the call under the same request_id";
    refusal(Reason::Unavailable, words)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http_body::Frame;
    use http_body_util::StreamBody;
    use prost_reflect::DescriptorPool;

    use super::*;

    fn form(codec: Codec) -> AnswerForm {
        let pool = DescriptorPool::decode(tonic_health::pb::FILE_DESCRIPTOR_SET).unwrap();
        let descriptor = pool.get_message_by_name("grpc.health.v1.HealthCheckResponse").unwrap();
        AnswerForm { codec, descriptor, recent: Arc::default() }
    }

    /// Answer of gRPC with this body and this status after it, and a permit of its call.
    fn answer(body: &'static [u8], status: Option<&'static str>) -> (Response<Body>, Arc<()>) {
        let permit = Arc::new(());
        let mut frames = vec![Ok::<_, Status>(Frame::data(Bytes::from_static(body)))];
        if let Some(status) = status {
            let mut trailers = HeaderMap::new();
            trailers.insert("grpc-status", HeaderValue::from_static(status));
            trailers.insert("trace-id", HeaderValue::from_static("7"));
            frames.push(Ok(Frame::trailers(trailers)));
        }
        let body = Body::new(StreamBody::new(futures_util::stream::iter(frames)));
        let body = Body::new(BodyWithPermit::new(body, Arc::clone(&permit)));
        (Response::new(body), permit)
    }

    #[tokio::test]
    async fn a_call_keeps_its_permit_until_its_answer_is_sent() {
        let (answer, permit) = answer(b"\0\0\0\0\x02\x08\x01", Some("0"));
        let converted = convert(answer, form(Codec::Json)).await;
        assert_eq!(converted.headers()["trailer-trace-id"], "7");
        assert_eq!(Arc::strong_count(&permit), 2, "nobody has read it yet");
        let body = converted.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(body, r#"{"status":"SERVING"}"#);
        assert_eq!(Arc::strong_count(&permit), 1);
    }

    #[tokio::test]
    async fn an_answer_that_is_not_one_message_and_its_status_is_an_error() {
        for (body, status, code) in [
            (&b"\0\0\0\0\x02\x08\x01"[..], None, 503),
            (b"\0\0\0\0\x02\x08", Some("0"), 500),
            (b"", Some("0"), 500),
            (b"\0\0\0\0\0\0\0\0\0\0", Some("0"), 500),
            (b"\0\0\0\0\x01\xff", Some("0"), 500),
            (b"", Some("5"), 404),
        ] {
            let (answer, _) = answer(body, status);
            let converted = convert(answer, form(Codec::Json)).await;
            assert_eq!(converted.status(), code, "{body:?} {status:?}");
            assert_eq!(converted.headers()[header::CONTENT_TYPE], "application/json");
        }
    }
}
