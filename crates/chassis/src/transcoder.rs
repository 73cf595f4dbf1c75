//! Transcoder of the public port: a call in Connect or gRPC-Web becomes the same call in gRPC, and
//! its answer is turned back.
//!
//! It stands in front of everything, so the price by address, the guard, the limits, the deadlines,
//! the ends of streams and the forwarding see one protocol, and hold for all three. There is no code
//! for any method: paths and messages come from the descriptors ([`Api`]), JSON from
//! `prost-reflect`. A request in gRPC is recognised by its content type and passed as it is; no byte of it
//! is looked at.
//!
//! The crate `connectrpc` serves the three protocols from a dispatcher over bytes. It is a server of
//! its own, with a protobuf runtime of its own, where a layer is needed: it reads and decodes a
//! request before its dispatcher, and with it our guard, is asked; its longest message is one for
//! all methods; and prices of single messages, permits that last as long as an answer is read,
//! status details and deadlines would have to be carried around it. Every guard would have a second
//! place. The framing that it would save is the small part of this module.
//!
//! A `GET` of a method without side effects, which Connect allows, is not served: a URL with an
//! encoded request would be kept by proxies and logs.

mod answer_form;
mod envelope;
mod json;
mod recent_answers;
mod request_body;
mod service;
mod streamed_answer;
mod unary_answer;

use std::sync::Arc;

use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request, Response, Version};
use tonic::Status;
use tonic::body::Body;

use self::answer_form::AnswerForm;
use self::recent_answers::RecentAnswers;
use self::request_body::{FromBase64, MessageForm, Messages, SingleMessage, Unreadable};
use self::streamed_answer::StreamedAnswer;
use crate::api::{self, Api};
use crate::content_type::{Codec, ContentType, Dialect, is_grpc};
use crate::refusal::{Reason, refusal};
use crate::serve::{GRPC_ENCODING, HeaderBytes, is_compression};

pub(crate) use service::Transcoded;

/// Turns calls of an API's methods into gRPC. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Transcoder {
    api: Arc<Api>,
    recent: Arc<RecentAnswers>,
}

/// Call in another protocol than gRPC.
pub(crate) struct TranscodedCall {
    dialect: Dialect,
    request: MessageForm,
    answer: AnswerForm,
}

/// Headers of the other protocols, of compression and of HTTP/1.1's connections, which say nothing
/// about the call in gRPC. A caller's own headers of gRPC are among them: only the transcoder says
/// what the call is.
const OWN_HEADERS: [&str; 24] = [
    "accept",
    "accept-encoding",
    "connect-accept-encoding",
    "connect-content-encoding",
    "connect-protocol-version",
    "connect-timeout-ms",
    "connection",
    "content-encoding",
    "content-length",
    "expect",
    "grpc-accept-encoding",
    "grpc-encoding",
    "grpc-message",
    "grpc-message-type",
    "grpc-status",
    "grpc-status-details-bin",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-grpc-web",
];

const GRPC_TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");

impl Transcoder {
    #[must_use]
    pub fn new(api: Arc<Api>) -> Transcoder {
        Transcoder { api, recent: Arc::default() }
    }

    /// Call that a request is; `None` if it is in gRPC, or no call of a method in a protocol that
    /// the method has.
    pub(crate) fn call_of(&self, request: &Request<Body>) -> Option<TranscodedCall> {
        let Some(ContentType::Web(dialect, codec)) = ContentType::of(request.headers()) else {
            return None;
        };
        let method = self.api.method(request.uri().path())?;
        speaks(request, dialect, method).then(|| TranscodedCall {
            dialect,
            request: MessageForm {
                codec,
                descriptor: method.descriptor.input(),
                max_bytes: method.max_request_bytes,
            },
            answer: AnswerForm {
                codec,
                descriptor: method.descriptor.output(),
                recent: Arc::clone(&self.recent),
            },
        })
    }
}

/// Whether a method is called by this request.
fn speaks(request: &Request<Body>, dialect: Dialect, method: &api::Method) -> bool {
    let fits = match dialect {
        Dialect::ConnectUnary => !method.streams(),
        Dialect::ConnectStream => method.streams(),
        Dialect::GrpcWeb { .. } => true,
    };
    // HTTP/1.1 answers once the request is there.
    let in_time = !method.descriptor.is_client_streaming() || request.version() >= Version::HTTP_2;
    fits && in_time && *request.method() == Method::POST
}

fn to_grpc(request: Request<Body>, dialect: Dialect, form: MessageForm) -> Request<Body> {
    let (mut head, body) = request.into_parts();
    head.extensions.insert(HeaderBytes::count(&head.headers));
    let encoding = encoding(&head.headers);
    let fault = match dialect {
        Dialect::GrpcWeb { .. } => Ok(()),
        Dialect::ConnectUnary | Dialect::ConnectStream => {
            head.headers.remove(GRPC_TIMEOUT);
            connect_headers(&mut head.headers)
        }
    };
    for name in OWN_HEADERS {
        head.headers.remove(name);
    }
    if let Some(encoding) = encoding {
        head.headers.insert(GRPC_ENCODING, encoding);
    }
    head.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    head.headers.insert(header::TE, HeaderValue::from_static("trailers"));
    head.version = Version::HTTP_2;
    let body = match fault {
        Err(status) => Body::new(Unreadable { status: Some(*status), _inner: body }),
        Ok(()) => body_to_grpc(body, dialect, form),
    };
    Request::from_parts(head, body)
}

fn body_to_grpc(body: Body, dialect: Dialect, form: MessageForm) -> Body {
    let body = match dialect {
        Dialect::ConnectUnary => return Body::new(SingleMessage::new(body, form)),
        Dialect::GrpcWeb { text: true } => Body::new(FromBase64::new(body)),
        Dialect::GrpcWeb { text: false } | Dialect::ConnectStream => body,
    };
    match form.codec {
        // The envelopes are gRPC's own.
        Codec::Protobuf => body,
        Codec::Json => Body::new(Messages::new(body, form)),
    }
}

/// Returns the encoding of a compressed request, which the size limit refuses in every protocol.
fn encoding(headers: &HeaderMap) -> Option<HeaderValue> {
    let names = ["content-encoding", "connect-content-encoding", GRPC_ENCODING];
    let mut all = names.iter().flat_map(|name| headers.get_all(*name));
    all.find(|value| is_compression(value)).cloned()
}

/// Reads Connect's version and deadline, and sets the deadline as gRPC has it.
fn connect_headers(headers: &mut HeaderMap) -> Result<(), Box<Status>> {
    let version = headers.get("connect-protocol-version");
    if version.is_some_and(|version| version != "1") {
        let words = "this is version 1 of the Connect protocol: connect-protocol-version: 1";
        return Err(Box::new(refusal(Reason::BadField, words)));
    }
    let Some(timeout) = headers.get("connect-timeout-ms") else { return Ok(()) };
    let digits = timeout.to_str().ok().filter(|text| {
        (1..=10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    });
    let Some(millis) = digits.and_then(|digits| digits.parse::<u64>().ok()) else {
        let words = "connect-timeout-ms is a whole number of milliseconds, ten digits at the most";
        return Err(Box::new(refusal(Reason::BadField, words)));
    };
    // gRPC has eight digits at the most.
    let timeout =
        if millis < 100_000_000 { format!("{millis}m") } else { format!("{}S", millis / 1000) };
    if let Ok(timeout) = HeaderValue::try_from(timeout) {
        headers.insert(GRPC_TIMEOUT, timeout);
    }
    Ok(())
}

impl TranscodedCall {
    /// Turns the request into gRPC.
    pub(crate) fn to_grpc(&self, request: Request<Body>) -> Request<Body> {
        to_grpc(request, self.dialect, self.request.clone())
    }

    /// Turns the answer back.
    pub(crate) async fn turn_back(self, answer: Response<Body>) -> Response<Body> {
        if !is_grpc(answer.headers()) {
            return answer;
        }
        let kind = HeaderValue::from_static(self.dialect.content_type(self.answer.codec));
        match self.dialect {
            Dialect::ConnectUnary => unary_answer::convert(answer, self.answer).await,
            Dialect::GrpcWeb { .. } => {
                let (mut head, body) = answer.into_parts();
                head.headers.insert(header::CONTENT_TYPE, kind);
                head.headers.remove(header::CONTENT_LENGTH);
                if head.headers.contains_key("grpc-status") {
                    return Response::from_parts(head, body);
                }
                let body = StreamedAnswer::new(body, self.dialect, self.answer, None);
                Response::from_parts(head, Body::new(body))
            }
            Dialect::ConnectStream => {
                let (mut head, body) = answer.into_parts();
                let only = trailers_only(&head.headers);
                without_grpc(&mut head.headers);
                head.headers.insert(header::CONTENT_TYPE, kind);
                let body = StreamedAnswer::new(body, self.dialect, self.answer, only);
                Response::from_parts(head, Body::new(body))
            }
        }
    }
}

/// Headers with the outcome of a call in gRPC.
const STATUS_HEADERS: [&str; 3] = ["grpc-status", "grpc-message", "grpc-status-details-bin"];

/// Outcome of a call that has no body; `None` if it comes after the body.
fn trailers_only(headers: &HeaderMap) -> Option<HeaderMap> {
    headers.contains_key("grpc-status").then(|| {
        let own = STATUS_HEADERS.into_iter().map(HeaderName::from_static);
        own.filter_map(|name| Some((name.clone(), headers.get(name)?.clone()))).collect()
    })
}

/// Removes headers that only gRPC has.
fn without_grpc(headers: &mut HeaderMap) {
    let others = ["content-type", "content-length", "grpc-encoding", "grpc-accept-encoding"];
    for name in STATUS_HEADERS.into_iter().chain(others) {
        headers.remove(name);
    }
}
