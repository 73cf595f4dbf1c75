//! The errors that a shell answers by itself, before any service sees the call.

use std::collections::HashMap;

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

/// The domain of every error's reason.
pub(crate) const DOMAIN: &str = "sabacc";

/// A status with its reason, one of those listed in `sabacc.common.v1.ErrorReason`.
#[expect(clippy::disallowed_types, reason = "the library asks for one; its order reaches nobody")]
pub(crate) fn refusal(code: Code, reason: &str, message: impl Into<String>) -> Status {
    let details = ErrorDetails::with_error_info(reason, DOMAIN, HashMap::new());
    Status::with_error_details(code, message, details)
}
