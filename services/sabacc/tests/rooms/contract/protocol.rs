//! Calls in each protocol of the public port, over bare HTTP/2: requests may be late, cut off or
//! noise, which no client's library sends.

use std::convert::Infallible;
use std::time::Duration;

use base64ct::{Base64, Encoding as _};
use bytes::{Buf as _, Bytes, BytesMut};
use futures_util::StreamExt as _;
use http::{HeaderMap, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message as _;
use prost_reflect::{DynamicMessage, MessageDescriptor, MethodDescriptor};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tonic::{Code, Status};

use crate::harness::LONG_TIMEOUT;

type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Flag of the envelope that ends an answer: in gRPC-Web, and in Connect's streams.
const WEB_END: u8 = 0x80;
const CONNECT_END: u8 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    Grpc,
    GrpcWeb,
    /// In JSON.
    Connect,
}

impl Protocol {
    pub(super) const ALL: [Protocol; 3] = [Protocol::Grpc, Protocol::GrpcWeb, Protocol::Connect];

    fn content_type(self, streams: bool) -> &'static str {
        match self {
            Protocol::Grpc => "application/grpc",
            Protocol::GrpcWeb => "application/grpc-web+proto",
            Protocol::Connect if streams => "application/connect+json",
            Protocol::Connect => "application/json",
        }
    }

    /// Header of a deadline that has passed before the call arrives.
    const fn past_deadline(self) -> (&'static str, &'static str) {
        match self {
            Protocol::Grpc | Protocol::GrpcWeb => ("grpc-timeout", "1n"),
            Protocol::Connect => ("connect-timeout-ms", "0"),
        }
    }

    const fn has_envelopes(self, streams: bool) -> bool {
        !matches!(self, Protocol::Connect) || streams
    }
}

/// Request to a method.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) method: MethodDescriptor,
    pub(super) token: Option<String>,
    /// The message, by the names of the protobuf files.
    pub(super) json: Value,
    /// Bytes that are sent behind the message's own, in the protocols that have bytes.
    pub(super) unknown: Vec<u8>,
}

/// Answer to a call: its outcome, and its first message.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) status: Status,
    pub(super) message: Option<DynamicMessage>,
}

/// Place at which a caller breaks its call off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BrokenOff {
    /// With half of the request sent.
    InRequest,
    /// With all of it sent, before the answer.
    BeforeAnswer,
}

impl Call {
    pub(super) fn streams(&self) -> bool {
        self.method.is_client_streaming() || self.method.is_server_streaming()
    }

    fn message(&self, protocol: Protocol) -> Vec<u8> {
        if protocol == Protocol::Connect {
            return serde_json::to_vec(&self.json).unwrap();
        }
        [message_of(self.method.input(), &self.json).encode_to_vec(), self.unknown.clone()].concat()
    }

    fn body(&self, protocol: Protocol) -> Bytes {
        framed(protocol, self.streams(), &self.message(protocol))
    }

    fn request(&self, protocol: Protocol) -> http::request::Builder {
        let path = format!("{}/{}", self.method.parent_service().full_name(), self.method.name());
        let request = Request::post(format!("http://room/{path}"));
        let request = request.header("content-type", protocol.content_type(self.streams()));
        match &self.token {
            Some(token) => request.header("authorization", format!("Bearer {token}")),
            None => request,
        }
    }
}

/// Message of a request as JSON says it.
pub(super) fn message_of(descriptor: MessageDescriptor, json: &Value) -> DynamicMessage {
    let name = descriptor.full_name().to_owned();
    DynamicMessage::deserialize(descriptor, json)
        .unwrap_or_else(|error| panic!("{name}: {error}: {json}"))
}

fn framed(protocol: Protocol, streams: bool, message: &[u8]) -> Bytes {
    if !protocol.has_envelopes(streams) {
        return Bytes::copy_from_slice(message);
    }
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    [&[0][..], &length, message].concat().into()
}

fn whole(body: Bytes) -> Body {
    let frame = Ok::<_, Infallible>(Frame::data(body));
    StreamBody::new(futures_util::stream::iter([frame])).boxed_unsync()
}

/// Body that goes no further after these bytes.
fn begun(body: Bytes) -> Body {
    let frame = futures_util::stream::iter([Ok::<_, Infallible>(Frame::data(body))]);
    StreamBody::new(frame.chain(futures_util::stream::pending())).boxed_unsync()
}

/// Connection to the public port. Where it is closed, it is opened again.
pub(super) struct Connection {
    url: String,
    requests: Mutex<SendRequest<Body>>,
}

impl Connection {
    pub(super) async fn open(url: &str) -> Connection {
        Connection { url: url.to_owned(), requests: Mutex::new(connect(url).await) }
    }

    async fn requests(&self) -> SendRequest<Body> {
        let mut requests = self.requests.lock().await;
        if requests.ready().await.is_err() {
            // A connection on which nothing was asked for a while is closed.
            *requests = connect(&self.url).await;
        }
        requests.clone()
    }

    /// Makes a call. One that is refused for a moment alone is made again, as its refusal says.
    pub(super) async fn call(&self, protocol: Protocol, call: &Call) -> Answer {
        for _ in 0..100 {
            let answer = self.send(protocol, call, call.body(protocol), None).await;
            let passes =
                matches!(answer.status.code(), Code::ResourceExhausted | Code::Unavailable);
            if !passes {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Answer { status: Status::unknown("the room is busy for ever"), message: None }
    }

    /// Makes a call whose deadline has passed.
    pub(super) async fn call_too_late(&self, protocol: Protocol, call: &Call) -> Answer {
        self.send(protocol, call, call.body(protocol), Some(protocol.past_deadline())).await
    }

    /// Makes a call with these bytes in place of its message.
    pub(super) async fn call_with(&self, protocol: Protocol, call: &Call, bytes: &[u8]) -> Answer {
        self.send(protocol, call, framed(protocol, call.streams(), bytes), None).await
    }

    /// Begins a call and breaks it off.
    pub(super) async fn break_off(&self, protocol: Protocol, call: &Call, at: BrokenOff) {
        let body = call.body(protocol);
        let body = match at {
            BrokenOff::InRequest => begun(body.slice(..body.len() / 2)),
            BrokenOff::BeforeAnswer => whole(body),
        };
        let request = call.request(protocol).body(body).unwrap();
        let mut requests = self.requests().await;
        let answer = requests.send_request(request);
        // Long enough for the request to arrive, and short enough for most answers to be under way.
        let _ = tokio::time::timeout(Duration::from_millis(3), answer).await;
    }

    async fn send(
        &self,
        protocol: Protocol,
        call: &Call,
        body: Bytes,
        header: Option<(&str, &str)>,
    ) -> Answer {
        let mut request = call.request(protocol);
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        let request = request.body(whole(body)).unwrap();
        let answered = async {
            let mut requests = self.requests().await;
            let answer = requests.send_request(request).await.map_err(|error| error.to_string())?;
            read(protocol, call, answer).await
        };
        let unanswered = match tokio::time::timeout(LONG_TIMEOUT, answered).await {
            Ok(Ok(answer)) => return answer,
            Ok(Err(error)) => error,
            Err(_) => "it takes too long".to_owned(),
        };
        Answer { status: Status::unknown(format!("no answer: {unanswered}")), message: None }
    }
}

async fn connect(url: &str) -> SendRequest<Body> {
    let address = url.strip_prefix("http://").unwrap();
    let io = TokioIo::new(TcpStream::connect(address).await.unwrap());
    let (requests, connection) = Builder::new(TokioExecutor::new()).handshake(io).await.unwrap();
    tokio::spawn(connection);
    requests
}

/// Reads an answer: of a stream no more than its first message.
async fn read(
    protocol: Protocol,
    call: &Call,
    answer: Response<Incoming>,
) -> Result<Answer, String> {
    let (head, mut body) = answer.into_parts();
    let (mut received, mut message) = (BytesMut::new(), None);
    let output = call.method.output();
    let mut trailers = HeaderMap::new();
    loop {
        if protocol.has_envelopes(call.streams()) {
            while let Some((flags, content)) = take_envelope(&mut received) {
                if flags != 0 {
                    return Ok(Answer { status: end_of(flags, &content), message });
                }
                message = Some(decoded(protocol, output.clone(), &content));
                if call.streams() {
                    return Ok(Answer { status: Status::ok(""), message });
                }
            }
        }
        match body.frame().await {
            Some(Ok(frame)) if frame.is_data() => received.extend(frame.into_data().unwrap()),
            Some(Ok(frame)) => trailers = frame.into_trailers().unwrap(),
            Some(Err(error)) => return Err(format!("{error}: {head:?}")),
            None => break,
        }
    }
    if protocol == Protocol::Connect {
        let json: Value = serde_json::from_slice(&received)
            .map_err(|error| format!("{error}: {head:?} {received:?}"))?;
        if head.status != http::StatusCode::OK {
            return Ok(Answer { status: status_of_json(&json), message: None });
        }
        let message = Some(decoded(protocol, output, &received));
        return Ok(Answer { status: Status::ok(""), message });
    }
    let fields = if trailers.contains_key("grpc-status") { &trailers } else { &head.headers };
    let status = Status::from_header_map(fields).ok_or_else(|| format!("no status: {head:?}"))?;
    Ok(Answer { status, message })
}

fn decoded(protocol: Protocol, descriptor: MessageDescriptor, bytes: &[u8]) -> DynamicMessage {
    if protocol != Protocol::Connect {
        return DynamicMessage::decode(descriptor, bytes).unwrap();
    }
    message_of(descriptor, &serde_json::from_slice(bytes).unwrap())
}

fn take_envelope(received: &mut BytesMut) -> Option<(u8, Bytes)> {
    let length =
        usize::try_from(u32::from_be_bytes(received.get(1..5)?.try_into().unwrap())).unwrap();
    if received.len() < 5 + length {
        return None;
    }
    let flags = received.get_u8();
    received.advance(4);
    Some((flags, received.split_to(length).freeze()))
}

/// Outcome in the envelope that ends an answer.
fn end_of(flags: u8, content: &[u8]) -> Status {
    if flags == CONNECT_END {
        let json: Value = serde_json::from_slice(content).unwrap();
        return json.get("error").map_or_else(|| Status::ok(""), status_of_json);
    }
    assert_eq!(flags, WEB_END);
    let text = std::str::from_utf8(content).unwrap();
    let lines = text.lines().map(|line| line.split_once(": ").unwrap());
    let fields = lines
        .map(|(name, value)| (name.parse::<http::HeaderName>().unwrap(), value.parse().unwrap()));
    Status::from_header_map(&fields.collect()).unwrap()
}

/// Status that an error in Connect's JSON stands for, from the bytes of its details.
fn status_of_json(error: &Value) -> Status {
    let named = error["code"].as_str().unwrap().replace('_', "");
    let is_named = |code: &Code| format!("{code:?}").eq_ignore_ascii_case(&named);
    let code = (1..=16).map(Code::from_i32).find(is_named).unwrap();
    let message = error["message"].as_str().unwrap_or_default();
    let details = error["details"].as_array().into_iter().flatten().map(|detail| {
        let padded = |text: &str| format!("{text}{}", &"===="[..(4 - text.len() % 4) % 4]);
        prost_types::Any {
            type_url: format!("type.googleapis.com/{}", detail["type"].as_str().unwrap()),
            value: Base64::decode_vec(&padded(detail["value"].as_str().unwrap())).unwrap(),
        }
    });
    let status = tonic_types::pb::Status {
        code: code.into(),
        message: message.to_owned(),
        details: details.collect(),
    };
    Status::with_details(code, message, status.encode_to_vec().into())
}
