//! Correction of the transport's status for requests that cannot be decoded.
//!
//! The transport answers bytes that it cannot decode with INTERNAL and no reason, as if the server
//! had a bug. The fault is the caller's, so the status becomes INVALID_ARGUMENT with the reason
//! BAD_FIELD before it is counted or logged. Every status of our services has details; one without
//! comes from the transport.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue, Request};
use http_body::Frame;
use http_body_util::BodyExt as _;
use tonic::Status;
use tonic::body::Body;

use super::middleware::{Answer, Middleware, Next};
use crate::auth::Access;
use crate::refusal::{Reason, refusal};

const STATUS: &str = "grpc-status";
const DETAILS: &str = "grpc-status-details-bin";

/// Answers BAD_FIELD to a request that could not be decoded.
#[derive(Clone)]
pub struct DecodeErrors {
    pub(super) access: Arc<Access>,
}

impl Middleware for DecodeErrors {
    fn call(&self, request: Request<Body>, next: &mut impl Next) -> Answer {
        let rule = self.access.rule(request.uri().path());
        // The final status of such a call may concern one of its later messages.
        let client_streams = rule.is_some_and(|rule| rule.client_streams);
        let answer = next.call(request);
        Box::pin(async move {
            let mut answer = answer.await?;
            correct_status(answer.headers_mut());
            if client_streams {
                answer = answer.map(|body| Body::new(body.map_frame(correct_trailers)));
            }
            Ok(answer)
        })
    }
}

fn correct_trailers<D>(mut frame: Frame<D>) -> Frame<D> {
    if let Some(trailers) = frame.trailers_mut() {
        correct_status(trailers);
    }
    frame
}

/// Replaces a status by which the transport says that it could not decode a request.
fn correct_status(fields: &mut HeaderMap) {
    if fields.get(STATUS).map(HeaderValue::as_bytes) != Some(b"13") || fields.contains_key(DETAILS)
    {
        return;
    }
    if !Status::from_header_map(fields).is_some_and(|status| is_decode_error(status.message())) {
        return;
    }
    let words = "the request is no message of this method: it cannot be decoded";
    // Cannot fail: the status contains nothing that is not allowed in a header.
    let _ = refusal(Reason::BadField, words).add_header(fields);
}

/// Whether the message is one that tonic or prost gives for a request that cannot be decoded.
fn is_decode_error(message: &str) -> bool {
    [
        "failed to decode Protobuf message",
        "protocol error: received message",
        "Missing request message",
        "Unexpected EOF decoding stream",
        "Error decompressing",
    ]
    .iter()
    .any(|beginning| message.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    fn check(status: &Status, code: Code, has_details: bool) {
        let mut fields = HeaderMap::new();
        status.add_header(&mut fields).unwrap();
        correct_status(&mut fields);
        let found = Status::from_header_map(&fields).unwrap();
        assert_eq!((found.code(), fields.contains_key(DETAILS)), (code, has_details), "{found:?}");
    }

    #[test]
    fn the_transports_word_for_a_bad_request_is_put_right_and_nothing_else() {
        let broken = <u64 as prost::Message>::decode(&b"\xff"[..]).unwrap_err();
        check(&Status::internal(broken.to_string()), Code::InvalidArgument, true);
        check(&Status::internal("Missing request message."), Code::InvalidArgument, true);
        check(&Status::internal("something else"), Code::Internal, false);
        check(&refusal(Reason::Corrupt, "Missing request message"), Code::Internal, true);
        check(&Status::unavailable("failed to decode Protobuf message"), Code::Unavailable, false);
        correct_status(&mut HeaderMap::new());
    }
}
