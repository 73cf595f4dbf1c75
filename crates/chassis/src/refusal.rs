//! Errors that the server answers itself, before any service sees the call.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use tonic::body::Body;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, HelpLink, StatusExt};

use crate::connect_error::{add_retry_after, error_json};

/// Domain of every error's reason.
pub(crate) const DOMAIN: &str = "sabacc";

/// Reason of a refusal, one of those listed in `sabacc.common.v1.ErrorReason`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    BadField,
    Compressed,
    Corrupt,
    Deadline,
    MessageTooLong,
    NoSuchMethod,
    RoleNotAllowed,
    TokenExpired,
    TokenForged,
    TokenMalformed,
    TokenMissing,
    TokenRevoked,
    Unavailable,
}

impl Reason {
    const fn code_and_name(self) -> (Code, &'static str) {
        match self {
            Reason::BadField => (Code::InvalidArgument, "BAD_FIELD"),
            Reason::Compressed => (Code::Unimplemented, "COMPRESSED"),
            Reason::Corrupt => (Code::Internal, "CORRUPT"),
            Reason::Deadline => (Code::DeadlineExceeded, "DEADLINE"),
            Reason::MessageTooLong => (Code::InvalidArgument, "MESSAGE_TOO_LONG"),
            Reason::NoSuchMethod => (Code::Unimplemented, "NO_SUCH_METHOD"),
            Reason::RoleNotAllowed => (Code::PermissionDenied, "ROLE_NOT_ALLOWED"),
            Reason::TokenExpired => (Code::Unauthenticated, "TOKEN_EXPIRED"),
            Reason::TokenForged => (Code::Unauthenticated, "TOKEN_FORGED"),
            Reason::TokenMalformed => (Code::Unauthenticated, "TOKEN_MALFORMED"),
            Reason::TokenMissing => (Code::Unauthenticated, "TOKEN_MISSING"),
            Reason::TokenRevoked => (Code::Unauthenticated, "TOKEN_REVOKED"),
            Reason::Unavailable => (Code::Unavailable, "UNAVAILABLE"),
        }
    }
}

/// Status with its reason.
pub(crate) fn refusal(reason: Reason, message: impl Into<String>) -> Status {
    refusal_with(reason, message, None)
}

/// Status with its reason and a line of metadata.
pub(crate) fn refusal_with(
    reason: Reason,
    message: impl Into<String>,
    metadata: Option<(&str, &str)>,
) -> Status {
    let (code, reason) = reason.code_and_name();
    const NONE: [(String, String); 0] = [];
    let details = match metadata {
        Some((key, value)) => {
            ErrorDetails::with_error_info(reason, DOMAIN, [(key.to_owned(), value.to_owned())])
        }
        None => ErrorDetails::with_error_info(reason, DOMAIN, NONE),
    };
    Status::with_error_details(code, message, details)
}

/// Status of a request that cannot be read. `field` is empty if no field is at fault.
pub(crate) fn bad_request(message: impl Into<String>, field: &str, fault: &str) -> Status {
    const NONE: [(String, String); 0] = [];
    let (code, reason) = Reason::BadField.code_and_name();
    let mut details = ErrorDetails::with_error_info(reason, DOMAIN, NONE);
    if !field.is_empty() {
        details.add_bad_request_violation(field, fault);
    }
    Status::with_error_details(code, message, details)
}

/// Status of a message that is longer than its method takes.
pub(crate) fn message_too_long(longest: usize) -> Status {
    let message = format!("a message to this method is {longest} bytes at the most");
    refusal(Reason::MessageTooLong, message)
}

/// Page of the public port that documents each reason.
const REASONS_PAGE: &str = "/reasons.html";

/// Key of the command's own `request_id` in the metadata of a refusal.
const REQUEST_ID: &str = "request_id";

/// Facts about a call that its refusal names.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CallFacts<'a> {
    /// Trace of the call, 32 hexadecimal digits.
    pub(crate) trace: Option<&'a str>,
    /// `request_id` of the command.
    pub(crate) command: Option<&'a str>,
    /// Address of the room, which links begin with; empty: they begin at the port's own root.
    pub(crate) public_url: &'a str,
}

/// Completes a refusal in the headers or trailers of an answer: with a link to its reason's
/// documentation, the trace of the call and the command's own id, where they are missing.
pub(crate) fn complete(fields: &mut HeaderMap, facts: CallFacts<'_>) {
    let CallFacts { trace, command, public_url } = facts;
    let Some(status) = Status::from_header_map(fields) else { return };
    let mut details = status.get_error_details();
    let Some(mut info) = details.error_info().cloned() else { return };
    let mut links = details.help().map(|help| help.links.clone()).unwrap_or_default();
    let trace = trace.filter(|_| details.request_info().is_none());
    let command = command.filter(|_| !info.metadata.contains_key(REQUEST_ID));
    let at_root = |link: &HelpLink| link.url.starts_with('/') && !public_url.is_empty();
    if trace.is_none() && command.is_none() && !links.is_empty() && !links.iter().any(at_root) {
        return;
    }
    if links.is_empty() {
        let link = format!("{REASONS_PAGE}#ERROR_REASON_{}", info.reason);
        links.push(HelpLink::new(&info.reason, link));
    }
    for link in &mut links {
        if at_root(link) {
            link.url.insert_str(0, public_url);
        }
    }
    details.set_help(links);
    if let Some(trace) = trace {
        details.set_request_info(trace, "");
    }
    if let Some(command) = command {
        info.metadata.insert(REQUEST_ID.to_owned(), command.to_owned());
        details.set_error_info(info.reason, info.domain, info.metadata);
    }
    let completed = Status::with_error_details(status.code(), status.message(), details);
    // Cannot fail: the status came from headers.
    let _ = completed.add_header(fields);
}

/// Status of a method that this server does not have.
pub(crate) fn no_such_method() -> Status {
    refusal(Reason::NoSuchMethod, "this server does not have this method")
}

/// Status of a stream that has ended for no reason of its own.
pub(crate) fn stream_ended() -> Status {
    Status::cancelled("the stream has ended")
}

/// Status of an overload: the caller may try again after `wait`.
pub(crate) fn overloaded(message: impl Into<String>, wait: Duration) -> Status {
    const NONE: [(String, String); 0] = [];
    let mut details = ErrorDetails::with_error_info("OVERLOADED", DOMAIN, NONE);
    details.set_retry_info(Some(wait));
    Status::with_error_details(Code::ResourceExhausted, message, details)
}

/// Code of this number.
pub(crate) const fn parse_code(number: i32) -> Code {
    Code::from_i32(number)
}

/// Whether a call succeeded.
pub(crate) fn is_success(status: &Status) -> bool {
    status.code() == Code::Ok
}

/// Name of a code in Connect.
pub(crate) const fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "ok",
        Code::Cancelled => "canceled",
        Code::Unknown => "unknown",
        Code::InvalidArgument => "invalid_argument",
        Code::DeadlineExceeded => "deadline_exceeded",
        Code::NotFound => "not_found",
        Code::AlreadyExists => "already_exists",
        Code::PermissionDenied => "permission_denied",
        Code::ResourceExhausted => "resource_exhausted",
        Code::FailedPrecondition => "failed_precondition",
        Code::Aborted => "aborted",
        Code::OutOfRange => "out_of_range",
        Code::Unimplemented => "unimplemented",
        Code::Internal => "internal",
        Code::Unavailable => "unavailable",
        Code::DataLoss => "data_loss",
        Code::Unauthenticated => "unauthenticated",
    }
}

/// HTTP status of a code in Connect.
pub(crate) fn http_status(code: Code) -> StatusCode {
    match code {
        Code::Ok => StatusCode::OK,
        // "Client closed request", which has no name in HTTP.
        Code::Cancelled => StatusCode::from_u16(499).unwrap_or(StatusCode::BAD_REQUEST),
        Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange => {
            StatusCode::BAD_REQUEST
        }
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::PermissionDenied => StatusCode::FORBIDDEN,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::AlreadyExists | Code::Aborted => StatusCode::CONFLICT,
        Code::ResourceExhausted => StatusCode::TOO_MANY_REQUESTS,
        Code::Unimplemented => StatusCode::NOT_IMPLEMENTED,
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
        Code::Unknown | Code::Internal | Code::DataLoss => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Whether a code says that the server failed, not that it refused.
pub(crate) const fn is_failure(code: Code) -> bool {
    matches!(code, Code::Unknown | Code::Internal | Code::DataLoss)
}

/// Whether an answer says that the token is missing or invalid, in gRPC or in plain HTTP.
pub(crate) fn is_unauthenticated<B>(response: &Response<B>) -> bool {
    if response.status() == StatusCode::UNAUTHORIZED {
        return true;
    }
    let code = i32::from(Code::Unauthenticated).to_string();
    response.headers().get("grpc-status").is_some_and(|status| status.as_bytes() == code.as_bytes())
}

/// Encodes a refusal for its caller: as gRPC trailers, or as Connect's JSON with an HTTP status.
pub(crate) fn encode_refusal(status: &Status, grpc: bool) -> Response<Body> {
    if grpc {
        return status.clone().into_http();
    }
    encode_json(http_status(status.code()), status)
}

/// Encodes a refusal as JSON, with this HTTP status.
pub(crate) fn encode_json(code: StatusCode, status: &Status) -> Response<Body> {
    let mut fields = HeaderMap::new();
    // Cannot fail: the status contains nothing that is not allowed in a header.
    let _ = status.add_header(&mut fields);
    complete(&mut fields, CallFacts::default());
    let shown = Status::from_header_map(&fields);
    let shown = error_json(shown.as_ref().unwrap_or(status));
    let mut response = Response::new(Body::new(format!("{shown}\n")));
    *response.status_mut() = code;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    add_retry_after(status, headers);
    response
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;

    #[test]
    fn a_token_that_is_not_believed_is_seen_in_any_answer() {
        let unbelieved = refusal(Reason::TokenForged, "no");
        let other = refusal(Reason::RoleNotAllowed, "no");
        for grpc in [true, false] {
            assert!(is_unauthenticated(&encode_refusal(&unbelieved, grpc)), "{grpc}");
            assert!(!is_unauthenticated(&encode_refusal(&other, grpc)), "{grpc}");
        }
    }

    #[test]
    fn a_refusal_is_completed_once_with_link_trace_and_the_commands_id() {
        let facts = |public_url| CallFacts { trace: Some("0a"), command: Some("id"), public_url };
        for (inner, outer, link) in [
            ("", "", "/reasons.html#ERROR_REASON_DEADLINE"),
            ("", "https://room", "https://room/reasons.html#ERROR_REASON_DEADLINE"),
            ("https://room", "https://other", "https://room/reasons.html#ERROR_REASON_DEADLINE"),
        ] {
            let mut fields = HeaderMap::new();
            let refused = refusal_with(Reason::Deadline, "late", Some(("claim", "exp")));
            refused.add_header(&mut fields).unwrap();
            complete(&mut fields, facts(inner));
            complete(&mut fields, CallFacts { trace: Some("0b"), ..facts(outer) });
            let status = Status::from_header_map(&fields).unwrap();
            let details = status.get_error_details();
            assert_eq!((status.code(), status.message()), (Code::DeadlineExceeded, "late"));
            let links: Vec<_> = details.help().unwrap().links.iter().map(|it| &*it.url).collect();
            assert_eq!(links, [link]);
            assert_eq!(details.request_info().unwrap().request_id, "0a", "the first one's trace");
            let metadata = &details.error_info().unwrap().metadata;
            assert_eq!((&*metadata["request_id"], &*metadata["claim"]), ("id", "exp"));
        }
    }

    #[tokio::test]
    async fn whoever_does_not_speak_grpc_reads_the_reason_too() {
        let status = overloaded("wait", Duration::from_millis(10));
        let answer = encode_refusal(&status, false);
        assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(answer.headers()[header::RETRY_AFTER], "1");
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["details"][0]["debug"]["reason"], "OVERLOADED");
        assert_eq!(body["details"][0]["debug"]["domain"], DOMAIN);
    }
}
