//! Errors that the server answers itself, before any service sees the call.

use std::time::Duration;

use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use tonic::body::Body;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

/// Domain of every error's reason.
pub(crate) const DOMAIN: &str = "sabacc";

/// Reason of a refusal, one of those listed in `sabacc.common.v1.ErrorReason`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    BadField,
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

/// Page of the public port that documents each reason.
const REASONS_PAGE: &str = "/reasons.html";

/// Completes a refusal in the headers or trailers of an answer: with a link to its reason's
/// documentation and the trace of the call, where they are missing.
pub(crate) fn complete(fields: &mut HeaderMap, trace: Option<&str>) {
    let Some(status) = Status::from_header_map(fields) else { return };
    let mut details = status.get_error_details();
    let Some(reason) = details.error_info().map(|info| info.reason.clone()) else { return };
    if details.help().is_some() && (details.request_info().is_some() || trace.is_none()) {
        return;
    }
    if details.help().is_none() {
        details.add_help_link(&reason, format!("{REASONS_PAGE}#ERROR_REASON_{reason}"));
    }
    if let Some(trace) = trace.filter(|_| details.request_info().is_none()) {
        details.set_request_info(trace, "");
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

/// Encodes a refusal for its caller: as gRPC trailers, or as JSON with an HTTP status.
pub(crate) fn encode_refusal(status: &Status, grpc: bool) -> Response<Body> {
    if grpc {
        return status.clone().into_http();
    }
    let details = status.get_error_details();
    let reason = details.error_info().map(|info| info.reason.as_str());
    let metadata = details.error_info().map(|info| &info.metadata);
    let error = serde_json::json!({ "error": {
        "code": http_status(status.code()).as_u16(),
        "message": status.message(),
        "details": [{
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": reason,
            "domain": DOMAIN,
            "metadata": metadata,
        }],
    }});
    let mut response = Response::new(Body::new(format!("{error}\n")));
    *response.status_mut() = http_status(status.code());
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let wait = details.retry_info().and_then(|info| info.retry_delay);
    if let Some(wait) = wait {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(wait.as_secs().max(1)));
    }
    response
}

/// HTTP status that fits a gRPC code best.
const fn http_status(code: Code) -> StatusCode {
    match code {
        Code::Ok => StatusCode::OK,
        Code::InvalidArgument | Code::FailedPrecondition | Code::OutOfRange => {
            StatusCode::BAD_REQUEST
        }
        Code::Unauthenticated => StatusCode::UNAUTHORIZED,
        Code::PermissionDenied => StatusCode::FORBIDDEN,
        Code::NotFound | Code::Unimplemented => StatusCode::NOT_FOUND,
        Code::AlreadyExists | Code::Aborted => StatusCode::CONFLICT,
        Code::ResourceExhausted => StatusCode::TOO_MANY_REQUESTS,
        Code::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::DeadlineExceeded | Code::Cancelled => StatusCode::GATEWAY_TIMEOUT,
        Code::Unknown | Code::Internal | Code::DataLoss => StatusCode::INTERNAL_SERVER_ERROR,
    }
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

    #[tokio::test]
    async fn whoever_does_not_speak_grpc_reads_the_reason_too() {
        let status = overloaded("wait", Duration::from_millis(10));
        let answer = encode_refusal(&status, false);
        assert_eq!(answer.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(answer.headers()[header::RETRY_AFTER], "1");
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["error"]["details"][0]["reason"], "OVERLOADED");
        assert_eq!(body["error"]["details"][0]["domain"], DOMAIN);
    }
}
