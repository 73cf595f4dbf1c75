//! Client of all protocols, made of nothing but HTTP: it says the bytes, and can do what no library
//! would.

use std::convert::Infallible;
use std::net::SocketAddr;

use base64ct::{Base64, Base64Unpadded, Encoding as _};
use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message as _;
use serde_json::Value;
use tonic::Status;
use tonic::codegen::http::{self, HeaderMap, Request, Response, Version};
use tonic::server::NamedService as _;
use tonic_types::StatusExt as _;

use crate::echo::{Echo, Text};
use crate::raw::dial;

pub(crate) type Sent = UnsyncBoxBody<Bytes, Infallible>;

/// Content types of methods that do not stream.
pub(crate) const UNARY: [&str; 8] = [
    "application/json",
    "application/json; charset=utf-8",
    "application/proto",
    "application/grpc",
    "application/grpc-web",
    "application/grpc-web+json",
    "application/grpc-web-text",
    "application/grpc-web-text+json",
];
/// Content types of methods that stream.
pub(crate) const STREAMS: [&str; 6] = [
    "application/connect+json",
    "application/connect+proto",
    "application/grpc",
    "application/grpc-web+proto",
    "application/grpc-web+json",
    "application/grpc-web-text+proto",
];
pub(crate) const VERSIONS: [Version; 2] = [Version::HTTP_11, Version::HTTP_2];

/// Answer to a call in any protocol: its messages, and its error as code and reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answered {
    pub(crate) texts: Vec<String>,
    pub(crate) error: Option<(String, String)>,
}

impl Answered {
    /// Code and reason of a refusal, which has no message.
    pub(crate) fn refused(self) -> (String, String) {
        assert_eq!(self.texts, [""; 0]);
        self.error.expect("it is a refusal")
    }
}

/// Whether messages are in envelopes.
pub(crate) fn enveloped(content_type: &str) -> bool {
    content_type.contains("grpc") || content_type.contains("connect")
}

/// A message as this content type has it.
pub(crate) fn encode(content_type: &str, text: &str) -> Bytes {
    let message = if content_type.contains("json") {
        serde_json::json!({ "text": text }).to_string().into_bytes()
    } else {
        Text { text: text.to_owned() }.encode_to_vec()
    };
    frame(content_type, message)
}

/// Bytes of a message in its envelope, where the content type has envelopes.
pub(crate) fn frame(content_type: &str, message: Vec<u8>) -> Bytes {
    if !enveloped(content_type) {
        return message.into();
    }
    let mut framed = BytesMut::new();
    framed.put_u8(0);
    framed.put_u32(u32::try_from(message.len()).unwrap());
    framed.put_slice(&message);
    if content_type.contains("text") {
        return Base64::encode_string(&framed).into();
    }
    framed.freeze()
}

pub(crate) fn whole(bytes: impl Into<Bytes>) -> Sent {
    Full::new(bytes.into()).boxed_unsync()
}

/// Request of a method of the echo service.
pub(crate) fn request(
    version: Version,
    method: &str,
    content_type: &str,
    headers: &[(&str, &str)],
) -> http::request::Builder {
    let path = format!("/{}/{method}", Echo::NAME);
    let uri = if version == Version::HTTP_2 { format!("http://room{path}") } else { path };
    let request = Request::post(uri).version(version).header("content-type", content_type);
    let request =
        if version == Version::HTTP_2 { request.header("te", "trailers") } else { request };
    headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))
}

/// Sends a request on a connection of its own.
pub(crate) async fn send(
    from: &str,
    to: SocketAddr,
    mut request: Request<Sent>,
) -> hyper::Result<Response<Incoming>> {
    let io = TokioIo::new(dial(from, to).await.unwrap());
    if request.version() == Version::HTTP_2 {
        let builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
        let (mut requests, connection) = builder.handshake(io).await?;
        tokio::spawn(connection);
        return requests.send_request(request).await;
    }
    request.headers_mut().entry("host").or_insert(http::HeaderValue::from_static("room"));
    let (mut requests, connection) = hyper::client::conn::http1::handshake(io).await?;
    tokio::spawn(connection);
    requests.send_request(request).await
}

/// Makes a call with one message.
pub(crate) async fn call(
    to: SocketAddr,
    request: http::request::Builder,
    body: impl Into<Bytes>,
) -> Answered {
    let request = request.body(whole(body)).unwrap();
    answered(send("127.0.0.1", to, request).await.unwrap()).await
}

/// Reads an answer to its end.
pub(crate) async fn answered<B>(answer: Response<B>) -> Answered
where
    B: hyper::body::Body<Data = Bytes, Error: std::fmt::Debug>,
{
    let (head, body) = answer.into_parts();
    let content_type = head.headers["content-type"].to_str().unwrap().to_owned();
    let body = body.collect().await.unwrap();
    let trailers = body.trailers().cloned();
    let body = body.to_bytes();
    if !enveloped(&content_type) {
        if head.status.is_success() {
            return Answered { texts: vec![text_of(&content_type, &body)], error: None };
        }
        return Answered { texts: Vec::new(), error: Some(connect_error(&body)) };
    }
    let mut body = if content_type.contains("text") { unbase64(&body) } else { body.into() };
    let (mut texts, mut error) = (Vec::new(), None);
    if let Some(status) = Status::from_header_map(&trailers.unwrap_or(head.headers)) {
        error = grpc_error(&status);
    }
    while body.has_remaining() {
        let (flags, length) = (body.get_u8(), usize::try_from(body.get_u32()).unwrap());
        let message = body.split_to(length);
        match flags {
            0 => texts.push(text_of(&content_type, &message)),
            2 => {
                let end: Value = serde_json::from_slice(&message).unwrap();
                error = end.get("error").map(|error| connect_error(error.to_string().as_bytes()));
                assert!(body.is_empty(), "it is the end");
            }
            0x80 => {
                error = grpc_error(&Status::from_header_map(&trailers_of(&message)).unwrap());
                assert!(body.is_empty(), "it is the end");
            }
            _ => panic!("flags {flags}"),
        }
    }
    Answered { texts, error }
}

fn text_of(content_type: &str, message: &[u8]) -> String {
    if content_type.contains("json") {
        let message: Value = serde_json::from_slice(message).unwrap();
        return message["text"].as_str().unwrap_or_default().to_owned();
    }
    Text::decode(message).unwrap().text
}

/// Code and reason of an error in Connect's JSON.
pub(crate) fn connect_error(body: &[u8]) -> (String, String) {
    let error: Value = serde_json::from_slice(body).unwrap();
    let code = error["code"].as_str().unwrap().replace('_', "");
    let Some(info) = error.get("details").map(|details| &details[0]) else {
        return (code, String::new());
    };
    assert_eq!(info["type"], "google.rpc.ErrorInfo", "{error}");
    let value = Base64Unpadded::decode_vec(info["value"].as_str().unwrap()).unwrap();
    let value = tonic_types::pb::ErrorInfo::decode(&*value).unwrap();
    assert_eq!(info["debug"]["reason"], value.reason);
    (code, value.reason)
}

fn grpc_error(status: &Status) -> Option<(String, String)> {
    if status.code() == tonic::Code::Ok {
        return None;
    }
    let reason = status.get_error_details().error_info().map(|info| info.reason.clone());
    Some((format!("{:?}", status.code()).to_lowercase(), reason.unwrap_or_default()))
}

fn trailers_of(text: &[u8]) -> HeaderMap {
    let lines = std::str::from_utf8(text).unwrap().split_terminator("\r\n");
    let fields = lines.map(|line| line.split_once(": ").unwrap());
    fields
        .map(|(name, value)| {
            (http::HeaderName::try_from(name).unwrap(), http::HeaderValue::try_from(value).unwrap())
        })
        .collect()
}

/// Bytes of base64 in pieces, each with its own padding.
fn unbase64(text: &[u8]) -> BytesMut {
    let mut bytes = BytesMut::new();
    for group in text.chunks(4) {
        bytes.put_slice(&Base64::decode_vec(std::str::from_utf8(group).unwrap()).unwrap());
    }
    bytes
}
