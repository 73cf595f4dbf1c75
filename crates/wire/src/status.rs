//! gRPC statuses: every error has a canonical code, an `ErrorInfo` with a documented reason, and
//! details where they help. The only module that knows gRPC codes.

use std::time::Duration;

use proto::common::v1::ErrorReason;
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::field::BadField;

/// Domain of every `ErrorInfo`.
pub const DOMAIN: &str = "sabacc";

/// Page of the public port that documents each reason, under the reason's full name.
pub const REASONS_PAGE: &str = "/reasons.html";

/// Link to the documentation of a value of an enum of reasons, from the room's own address on.
#[must_use]
pub fn doc_link(full_name: &str) -> String {
    format!("{REASONS_PAGE}#{full_name}")
}

/// Refusal of a call, from which a status is made.
#[derive(Debug, Clone)]
pub struct ApiRefusal {
    reason: ErrorReason,
    message: String,
    field: Option<BadField>,
    metadata: Vec<(&'static str, String)>,
    retry: Option<Duration>,
}

/// Begins a refusal. The reason decides the code and whether the caller may retry; the message says
/// what to do.
pub fn api_refusal(reason: ErrorReason, message: impl Into<String>) -> ApiRefusal {
    let code = code(reason);
    let retry = if code == Code::Unavailable {
        Some(Duration::from_millis(500))
    } else if code == Code::ResourceExhausted {
        Some(Duration::from_millis(100))
    } else {
        None
    };
    let message = sanitized(&message.into());
    ApiRefusal { reason, message, field: None, metadata: Vec::new(), retry }
}

impl ApiRefusal {
    /// Adds a fact for programs.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl Into<String>) -> ApiRefusal {
        self.metadata.push((key, sanitized(&value.into())));
        self
    }

    /// Names the field at fault.
    #[must_use]
    pub fn field(mut self, field: &str) -> ApiRefusal {
        self.field = Some(BadField::new(sanitized(field), self.message.clone()));
        self
    }

    /// Sets the time after which the caller may retry.
    #[must_use]
    pub fn retry_after(mut self, delay: Duration) -> ApiRefusal {
        self.retry = Some(delay);
        self
    }

    #[must_use]
    pub fn reason(&self) -> ErrorReason {
        self.reason
    }

    /// Explanation for people, with what to do.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Time after which the caller may retry.
    #[must_use]
    pub fn retry_delay(&self) -> Option<Duration> {
        self.retry
    }

    /// Facts for programs, with the field at fault as `field`.
    pub fn metadata(&self) -> impl Iterator<Item = (&str, &str)> {
        let field = self.field.as_ref().map(|bad| ("field", bad.field.as_str()));
        self.metadata.iter().map(|(key, value)| (*key, value.as_str())).chain(field)
    }
}

impl From<BadField> for ApiRefusal {
    fn from(bad: BadField) -> ApiRefusal {
        let mut refused = api_refusal(ErrorReason::BadField, bad.to_string());
        refused.field = Some(BadField::new(sanitized(&bad.field), sanitized(&bad.problem)));
        refused
    }
}

impl From<ApiRefusal> for Status {
    fn from(refused: ApiRefusal) -> Status {
        let ApiRefusal { reason, message, field, metadata, retry } = refused;
        let mut details = ErrorDetails::new();
        details.set_error_info(reason_name(reason), DOMAIN, to_map(metadata));
        details.add_help_link(reason_name(reason), doc_link(reason.as_str_name()));
        let code = code(reason);
        if code == Code::FailedPrecondition {
            let subject = field.as_ref().map_or("", |bad| bad.field.as_str());
            details.add_precondition_failure_violation(reason_name(reason), subject, &message);
        }
        if let Some(BadField { field, problem }) = field {
            details.add_bad_request_violation(field, problem);
        }
        if let Some(delay) = retry {
            details.set_retry_info(Some(delay));
        }
        Status::with_error_details(code, message, details)
    }
}

/// Most characters of any text in an error. Text of a caller is quoted by
/// [`Quoted`](primitives::Quoted) where it is inserted; this bound covers the places that forget
/// it.
const MAX_TEXT_CHARS: usize = 512;

/// Truncates a text to `MAX_TEXT_CHARS` characters and replaces characters that a terminal would
/// interpret.
fn sanitized(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(4 * MAX_TEXT_CHARS));
    for letter in text.chars().take(MAX_TEXT_CHARS) {
        primitives::write_escaped(&mut out, letter).expect("a text takes all that is written");
    }
    out
}

#[expect(clippy::disallowed_types, reason = "the type that ErrorInfo takes: a map on the wire")]
fn to_map(pairs: Vec<(&'static str, String)>) -> std::collections::HashMap<String, String> {
    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

impl From<BadField> for Status {
    fn from(bad: BadField) -> Status {
        ApiRefusal::from(bad).into()
    }
}

/// Name of a reason without its prefix, as in `ErrorInfo.reason`.
#[must_use]
pub fn reason_name(reason: ErrorReason) -> &'static str {
    reason.as_str_name().trim_start_matches("ERROR_REASON_")
}

/// Reason of a status; `None` if the status is not one of ours.
#[must_use]
pub fn reason_of(status: &Status) -> Option<ErrorReason> {
    let info = status.get_details_error_info()?;
    if info.domain != DOMAIN {
        return None;
    }
    ErrorReason::from_str_name(&format!("ERROR_REASON_{}", info.reason))
}

/// Canonical code of each reason, as documented in the protobuf file.
#[must_use]
pub fn code(reason: ErrorReason) -> Code {
    match reason {
        ErrorReason::BadField
        | ErrorReason::RuleSetInvalid
        | ErrorReason::SignatureNeeded
        | ErrorReason::MessageTooLong => Code::InvalidArgument,
        ErrorReason::TokenMissing
        | ErrorReason::TokenRevoked
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
        ErrorReason::HandInPlay
        | ErrorReason::SeedNotOpen
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
        | ErrorReason::NothingStopped
        | ErrorReason::PlayerErased
        | ErrorReason::PlayerSeated
        | ErrorReason::BarredFromPlay
        | ErrorReason::Withheld
        | ErrorReason::SatIdle
        | ErrorReason::SignatureInvalid
        | ErrorReason::HandSuspended
        | ErrorReason::TableDisabled
        | ErrorReason::GameDisabled
        | ErrorReason::RequestIdTooOld => Code::FailedPrecondition,
        ErrorReason::RequestIdReused | ErrorReason::AlreadyExists => Code::AlreadyExists,
        ErrorReason::Overloaded | ErrorReason::RecordsSpent => Code::ResourceExhausted,
        ErrorReason::Unavailable | ErrorReason::NotSigned => Code::Unavailable,
        ErrorReason::Deadline => Code::DeadlineExceeded,
        ErrorReason::NoSuchMethod | ErrorReason::Compressed => Code::Unimplemented,
        ErrorReason::Corrupt | ErrorReason::Unspecified => Code::Internal,
    }
}

/// Refusal of a call whose log did not take an append. The caller should repeat the call.
#[must_use]
pub fn unavailable(what: &str) -> ApiRefusal {
    api_refusal(
        ErrorReason::Unavailable,
        format!("{what}; repeat the call with the same request_id in a moment"),
    )
}

/// Whether the same request may succeed later with the same credentials. A documented reason
/// decides. A status without one comes from the connection, a proxy or a task that broke off, and
/// says nothing about the request unless its code does.
#[must_use]
pub fn is_retryable(status: &Status) -> bool {
    if let Some(reason) = reason_of(status) {
        return is_retryable_reason(reason);
    }
    match status.code() {
        Code::Unavailable
        | Code::DeadlineExceeded
        | Code::ResourceExhausted
        | Code::Cancelled
        | Code::Aborted
        | Code::Unknown
        | Code::Internal => true,
        Code::Ok
        | Code::InvalidArgument
        | Code::NotFound
        | Code::AlreadyExists
        | Code::PermissionDenied
        | Code::FailedPrecondition
        | Code::OutOfRange
        | Code::Unauthenticated
        | Code::Unimplemented
        | Code::DataLoss => false,
    }
}

/// Whether a call failed because of its credentials.
#[must_use]
pub fn is_unauthenticated(status: &Status) -> bool {
    status.code() == Code::Unauthenticated
}

/// Whether a request that was refused for this reason may succeed later.
#[must_use]
pub fn is_retryable_reason(reason: ErrorReason) -> bool {
    matches!(code(reason), Code::Unavailable | Code::ResourceExhausted | Code::DeadlineExceeded)
}

/// Refusal of a request id that only services may send.
#[must_use]
pub fn derived_request_id() -> ApiRefusal {
    let problem = "UUIDs of version 8 are for ids that services derive: send a UUIDv7";
    BadField::new("request_id", problem).into()
}

/// Refusal of a request id that was made `ahead` of the present, according to itself.
#[must_use]
pub fn future_request_id(ahead: Duration) -> ApiRefusal {
    let problem = format!(
        "a UUIDv7 that says it was made {} s from now: set this machine's clock right, or send a UUIDv4",
        ahead.as_secs()
    );
    BadField::new("request_id", problem).into()
}

/// Refusal of a request id that needs a lookup, too soon after the last one. `wait` is the time
/// until the next is accepted.
#[must_use]
pub fn request_id_needs_lookup(wait: Duration) -> ApiRefusal {
    let message = "this request_id is no UUIDv7 of about now, so it has to be looked up, which is done \
                   once a second for a player: send a UUIDv7";
    api_refusal(ErrorReason::Overloaded, message).field("request_id").retry_after(wait)
}

/// Refusal of a command of a player who has used up the day's records. `wait` is the time until the
/// next day.
#[must_use]
pub fn daily_records_spent(wait: Duration) -> ApiRefusal {
    let message = "you have had as many commands recorded today as one player may: playing on, leaving \
                   and excluding yourself are still taken";
    api_refusal(ErrorReason::RecordsSpent, message).retry_after(wait)
}

/// Refusal of a request id that was used before with other content.
#[must_use]
pub fn request_id_reused() -> ApiRefusal {
    api_refusal(
        ErrorReason::RequestIdReused,
        "this request_id was used before, for something else: make a new one for each command",
    )
    .field("request_id")
}

/// Refusal of a request id of a time whose answers are archived.
#[must_use]
pub fn request_id_too_old() -> ApiRefusal {
    api_refusal(
        ErrorReason::RequestIdTooOld,
        "this request_id is of a time whose answers are archived, so it may have been carried out then: \
         look at what became of it, or make a new id",
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
        assert_eq!(checked, 53);
    }

    #[test]
    fn retryable_statuses() {
        let documented = [
            (ErrorReason::Unavailable, true),
            (ErrorReason::NotSigned, true),
            (ErrorReason::Overloaded, true),
            (ErrorReason::RecordsSpent, true),
            (ErrorReason::Deadline, true),
            (ErrorReason::BadField, false),
            (ErrorReason::TokenMissing, false),
            (ErrorReason::TokenRevoked, false),
            (ErrorReason::TokenExpired, false),
            (ErrorReason::RoleNotAllowed, false),
            (ErrorReason::TableUnknown, false),
            (ErrorReason::NotYourTurn, false),
            (ErrorReason::AlreadyExists, false),
            (ErrorReason::NoSuchMethod, false),
            (ErrorReason::Compressed, false),
            (ErrorReason::Corrupt, false),
        ];
        for (reason, expected) in documented {
            let status = Status::from(api_refusal(reason, "no"));
            assert_eq!(is_retryable(&status), expected, "{reason:?}");
            assert_eq!(is_retryable_reason(reason), expected, "{reason:?}");
        }
        let undocumented = [
            (Code::Ok, false),
            (Code::Cancelled, true),
            (Code::Unknown, true),
            (Code::InvalidArgument, false),
            (Code::DeadlineExceeded, true),
            (Code::NotFound, false),
            (Code::AlreadyExists, false),
            (Code::PermissionDenied, false),
            (Code::ResourceExhausted, true),
            (Code::FailedPrecondition, false),
            (Code::Aborted, true),
            (Code::OutOfRange, false),
            (Code::Unimplemented, false),
            (Code::Internal, true),
            (Code::Unavailable, true),
            (Code::DataLoss, false),
            (Code::Unauthenticated, false),
        ];
        for (code, expected) in undocumented {
            let status = Status::new(code, "no");
            assert_eq!(is_retryable(&status), expected, "{code:?}");
            assert_eq!(is_unauthenticated(&status), code == Code::Unauthenticated);
        }
        assert!(is_retryable(&Status::from_error("connection reset".into())));
    }

    #[test]
    fn what_an_error_repeats_is_cut_and_obeyed_by_nobody() {
        let long = format!("\u{1b}[2J{}", "x".repeat(100_000));
        let refusal = api_refusal(ErrorReason::BadField, long.clone()).with("given", long.clone());
        let status = Status::from(refusal.field(&long));
        assert!(status.message().len() < 600 && !status.message().contains('\u{1b}'), "{status}");
        assert!(status.details().len() < 3_000, "{}", status.details().len());
        assert!(!status.details().contains(&0x1b));
    }

    #[test]
    fn details_reach_the_client() {
        let status = Status::from(BadField::new("decision.amount_credits", "too much"));
        assert_eq!(status.code(), Code::InvalidArgument);
        assert_eq!(reason_of(&status), Some(ErrorReason::BadField));
        let violations = status.get_details_bad_request().unwrap().field_violations;
        assert_eq!(violations[0].field, "decision.amount_credits");
        let busy = Status::from(api_refusal(ErrorReason::Overloaded, "busy"));
        assert!(busy.get_details_retry_info().is_some());
    }
}
