//! The only place that knows gRPC codes: every error is a canonical code, an `ErrorInfo` with a
//! reason of the documented enum, and details where they help.

use std::time::Duration;

use proto::common::v1::ErrorReason;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::field::BadField;

/// The domain of every `ErrorInfo` of ours.
pub const DOMAIN: &str = "sabacc";

/// An error on its way to becoming a status.
#[derive(Debug, Clone)]
pub struct Refused {
    reason: ErrorReason,
    message: String,
    field: Option<BadField>,
    metadata: Vec<(&'static str, String)>,
    retry: Option<Duration>,
}

/// Starts an error: the reason decides the code, the message says what to do.
pub fn refused(reason: ErrorReason, message: impl Into<String>) -> Refused {
    let code = code(reason);
    let retry = if code == Code::Unavailable {
        Some(Duration::from_millis(500))
    } else if code == Code::ResourceExhausted {
        Some(Duration::from_millis(100))
    } else {
        None
    };
    Refused { reason, message: message.into(), field: None, metadata: Vec::new(), retry }
}

impl Refused {
    /// Adds a fact that a program can read.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl Into<String>) -> Refused {
        self.metadata.push((key, value.into()));
        self
    }

    /// Names the field that is to blame.
    #[must_use]
    pub fn field(mut self, field: &str) -> Refused {
        self.field = Some(BadField::new(field, self.message.clone()));
        self
    }

    #[must_use]
    pub fn reason(&self) -> ErrorReason {
        self.reason
    }

    /// What to do, for people.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Facts for programs; the field that is to blame is `field`.
    pub fn metadata(&self) -> impl Iterator<Item = (&str, &str)> {
        let field = self.field.as_ref().map(|bad| ("field", bad.field.as_str()));
        self.metadata.iter().map(|(key, value)| (*key, value.as_str())).chain(field)
    }
}

impl From<BadField> for Refused {
    fn from(bad: BadField) -> Refused {
        let mut refused = refused(ErrorReason::BadField, bad.to_string());
        refused.field = Some(bad);
        refused
    }
}

impl From<Refused> for Status {
    fn from(refused: Refused) -> Status {
        let Refused { reason, message, field, metadata, retry } = refused;
        let mut details = ErrorDetails::new();
        details.set_error_info(name(reason), DOMAIN, unordered(metadata));
        if let Some(BadField { field, problem }) = field {
            details.add_bad_request_violation(field, problem);
        }
        if let Some(delay) = retry {
            details.set_retry_info(Some(delay));
        }
        Status::with_error_details(code(reason), message, details)
    }
}

#[expect(clippy::disallowed_types, reason = "the type that ErrorInfo takes: a map on the wire")]
fn unordered(pairs: Vec<(&'static str, String)>) -> std::collections::HashMap<String, String> {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

impl From<BadField> for Status {
    fn from(bad: BadField) -> Status {
        Refused::from(bad).into()
    }
}

/// The reason's name without its prefix, as `ErrorInfo.reason` carries it.
#[must_use]
pub fn name(reason: ErrorReason) -> &'static str {
    reason.as_str_name().trim_start_matches("ERROR_REASON_")
}

/// The reason an error of ours carries, if it is one of ours.
#[must_use]
pub fn reason_of(status: &Status) -> Option<ErrorReason> {
    let info = status.get_details_error_info()?;
    if info.domain != DOMAIN {
        return None;
    }
    ErrorReason::from_str_name(&format!("ERROR_REASON_{}", info.reason))
}

/// The canonical code of each reason, as the protobuf file documents it.
#[must_use]
pub fn code(reason: ErrorReason) -> Code {
    match reason {
        ErrorReason::BadField | ErrorReason::RuleSetInvalid => Code::InvalidArgument,
        ErrorReason::TokenMissing
        | ErrorReason::TokenMalformed
        | ErrorReason::TokenExpired
        | ErrorReason::TokenForged => Code::Unauthenticated,
        ErrorReason::RoleNotAllowed | ErrorReason::NotYourSeat | ErrorReason::NotYourHand => {
            Code::PermissionDenied
        }
        ErrorReason::TableUnknown
        | ErrorReason::AccountUnknown
        | ErrorReason::HandUnknown
        | ErrorReason::HoldUnknown
        | ErrorReason::NotInLog
        | ErrorReason::DisputeUnknown => Code::NotFound,
        ErrorReason::SeedNotOpen
        | ErrorReason::NotYourTurn
        | ErrorReason::IllegalMove
        | ErrorReason::AmountOutOfRange
        | ErrorReason::SeatTaken
        | ErrorReason::AlreadySeated
        | ErrorReason::InsufficientCredits
        | ErrorReason::BuyInOutOfRange
        | ErrorReason::TransferRefused
        | ErrorReason::ChanceRefused
        | ErrorReason::TableClosed
        | ErrorReason::DisputeAnswered
        | ErrorReason::DisputesOpen
        | ErrorReason::PlayerErased
        | ErrorReason::PlayerSeated => Code::FailedPrecondition,
        ErrorReason::RequestIdReused | ErrorReason::AlreadyExists => Code::AlreadyExists,
        ErrorReason::Overloaded => Code::ResourceExhausted,
        ErrorReason::Unavailable | ErrorReason::NotSigned => Code::Unavailable,
        ErrorReason::Deadline => Code::DeadlineExceeded,
        ErrorReason::NoSuchMethod => Code::Unimplemented,
        ErrorReason::Corrupt | ErrorReason::Unspecified => Code::Internal,
    }
}

/// The error of a log that did not take an append: what the caller should do next.
#[must_use]
pub fn unavailable(what: &str) -> Refused {
    refused(
        ErrorReason::Unavailable,
        format!("{what}; repeat the call with the same request_id in a moment"),
    )
}

/// Whether a call failed for a reason that passes: the same request again may well succeed.
#[must_use]
pub fn is_passing(status: &Status) -> bool {
    match status.code() {
        Code::Unavailable
        | Code::DeadlineExceeded
        | Code::ResourceExhausted
        | Code::Cancelled
        | Code::Aborted
        | Code::Unauthenticated
        | Code::Unknown => true,
        Code::Ok
        | Code::InvalidArgument
        | Code::NotFound
        | Code::AlreadyExists
        | Code::PermissionDenied
        | Code::FailedPrecondition
        | Code::OutOfRange
        | Code::Unimplemented
        | Code::Internal
        | Code::DataLoss => false,
    }
}

/// Whether a refusal is for a reason that passes: the same request again may well succeed.
#[must_use]
pub fn passes(reason: ErrorReason) -> bool {
    matches!(code(reason), Code::Unavailable | Code::ResourceExhausted | Code::DeadlineExceeded)
}

/// The error for a request id that was used before with other content.
#[must_use]
pub fn request_id_reused() -> Refused {
    refused(
        ErrorReason::RequestIdReused,
        "this request_id was used before, for something else: make a new one for each command",
    )
    .field("request_id")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_code_is_the_code_sent() {
        let file = include_str!("../../../proto/sabacc/common/v1/error.proto");
        let mut documented = None;
        let mut checked = 0;
        for line in file.lines().map(str::trim) {
            if let Some(rest) = line.strip_prefix("// (") {
                documented = rest.split(')').next();
            } else if let Some((variant, _)) = line.split_once(" = ")
                && let Some(reason) = ErrorReason::from_str_name(variant)
                && reason != ErrorReason::Unspecified
            {
                let sent = format!("{:?}", code(reason)).to_uppercase();
                let wanted = documented.take().unwrap().replace('_', "");
                assert_eq!(sent, wanted, "{variant}");
                checked += 1;
            }
        }
        assert_eq!(checked, 38);
    }

    #[test]
    fn details_reach_the_client() {
        let status = Status::from(BadField::new("move.amount", "too much"));
        assert_eq!(status.code(), Code::InvalidArgument);
        assert_eq!(reason_of(&status), Some(ErrorReason::BadField));
        let violations = status.get_details_bad_request().unwrap().field_violations;
        assert_eq!(violations[0].field, "move.amount");
        let busy = Status::from(refused(ErrorReason::Overloaded, "busy"));
        assert!(busy.get_details_retry_info().is_some());
    }
}
