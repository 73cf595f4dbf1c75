//! The errors that a shell answers by itself, before any service sees the call.

use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

/// The domain of every error's reason.
pub(crate) const DOMAIN: &str = "sabacc";

/// A status with its reason, one of those listed in `sabacc.common.v1.ErrorReason`.
pub(crate) fn refusal(code: Code, reason: &str, message: impl Into<String>) -> Status {
    const NONE: [(String, String); 0] = [];
    let details = ErrorDetails::with_error_info(reason, DOMAIN, NONE);
    Status::with_error_details(code, message, details)
}

/// Too much at once: to be tried again after `wait`.
pub(crate) fn overloaded(message: impl Into<String>, wait: Duration) -> Status {
    const NONE: [(String, String); 0] = [];
    let mut details = ErrorDetails::with_error_info("OVERLOADED", DOMAIN, NONE);
    details.set_retry_info(Some(wait));
    Status::with_error_details(Code::ResourceExhausted, message, details)
}
