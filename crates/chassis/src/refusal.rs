//! Errors that the server answers itself, before any service sees the call.

use std::time::Duration;

use http::{HeaderValue, Response, StatusCode, header};
use tonic::body::Body;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

/// Domain of every error's reason.
pub(crate) const DOMAIN: &str = "sabacc";

/// Status with its reason, one of those listed in `sabacc.common.v1.ErrorReason`.
pub(crate) fn refusal(code: Code, reason: &str, message: impl Into<String>) -> Status {
    const NONE: [(String, String); 0] = [];
    let details = ErrorDetails::with_error_info(reason, DOMAIN, NONE);
    Status::with_error_details(code, message, details)
}

/// Status of an overload: the caller may try again after `wait`.
pub(crate) fn overloaded(message: impl Into<String>, wait: Duration) -> Status {
    const NONE: [(String, String); 0] = [];
    let mut details = ErrorDetails::with_error_info("OVERLOADED", DOMAIN, NONE);
    details.set_retry_info(Some(wait));
    Status::with_error_details(Code::ResourceExhausted, message, details)
}

/// Encodes a refusal for its caller: as gRPC trailers, or as JSON with an HTTP status.
pub(crate) fn encode_refusal(status: &Status, grpc: bool) -> Response<Body> {
    if grpc {
        return status.clone().into_http();
    }
    let details = status.get_error_details();
    let reason = details.error_info().map(|info| info.reason.as_str());
    let error = serde_json::json!({ "error": {
        "code": http_status(status.code()).as_u16(),
        "message": status.message(),
        "details": [{
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": reason,
            "domain": DOMAIN,
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
