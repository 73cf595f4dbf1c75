//! Errors and refusals of calls.

use std::collections::BTreeMap;
use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use proto::common::v1::ErrorReason;
use tonic::Status;
use tonic_types::StatusExt;
use transport::ChannelError;
use wire::status;

use crate::chance::FairnessViolation;
use crate::checkpoints::CheckError;
use crate::guest::LoginError;

/// Reason that a call has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address cannot be called at all.
    #[error("this is no address to call: {0}")]
    Address(String),
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// The server refused the call and changed nothing.
    #[error("{0}")]
    Refused(Refusal),
    /// No answer within the retry policy; this was the last failure. Whether the last attempt took
    /// effect is unknown: the state says.
    #[error("no answer, repeated until patience ended: {0}")]
    Unanswered(Refusal),
    /// The server's answer breaks the protocol.
    #[error("the server's answer cannot be used: {0}")]
    Malformed(&'static str),
    /// An update of a followed table is missing or came twice. Following continues from a snapshot.
    #[error("update {expected} of the table should follow, but {got} came")]
    Gap { expected: u64, got: u64 },
    /// The table or its dealer breaks the rules of chance. Stop playing, and keep the evidence.
    #[error(transparent)]
    FairnessViolation(#[from] Box<FairnessViolation>),
    /// A log shows another history than it did before. Stop playing, and keep both notes.
    #[error(transparent)]
    Logs(#[from] Box<CheckError>),
    /// Failure to store what has to be kept before a message is sent.
    #[error("evidence cannot be stored, so nothing is sent: {0}")]
    Evidence(#[from] std::io::Error),
    /// A guest's login cannot be read or kept, so it is not used.
    #[error(transparent)]
    Login(#[from] LoginError),
    /// A client at play demands the dealer's signatures.
    #[error(
        "the key of the dealer's log is not known: give the room's keys, or say that you play without any check"
    )]
    NoDealerKey,
}

impl Error {
    /// Returns the documented reason, if the server gave one.
    #[must_use]
    pub fn reason(&self) -> Option<ErrorReason> {
        self.refusal().and_then(|refusal| refusal.reason)
    }

    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Error::Refused(refusal) | Error::Unanswered(refusal) => Some(refusal),
            Error::Address(_)
            | Error::Channel(_)
            | Error::Malformed(_)
            | Error::Gap { .. }
            | Error::FairnessViolation(_)
            | Error::Logs(_)
            | Error::Evidence(_)
            | Error::Login(_)
            | Error::NoDealerKey => None,
        }
    }
}

/// Refusal by the server, or failure of the connection to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Documented reason. None for an error from outside the card room, such as a broken connection
    /// or a proxy.
    pub reason: Option<ErrorReason>,
    pub message: String,
    /// Field of the request that is at fault.
    pub field: Option<String>,
    /// Trace id, 32 hexadecimal digits, for the operator.
    pub trace_id: Option<String>,
    /// Facts that belong to the reason, such as `min` and `max`.
    pub metadata: BTreeMap<String, String>,
    /// Time to wait before the next attempt, as the server asks.
    pub retry_after: Option<Duration>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        let reason = self.reason.map(|reason| status::reason_name(reason).to_owned());
        let trace = self.trace_id.as_ref().map(|trace| format!("trace {trace}"));
        let notes: Vec<String> = reason.into_iter().chain(trace).collect();
        if notes.is_empty() { Ok(()) } else { write!(f, " ({})", notes.join(", ")) }
    }
}

impl From<&Status> for Refusal {
    fn from(status: &Status) -> Refusal {
        let violations = status.get_details_bad_request().map(|bad| bad.field_violations);
        let trace = status.metadata().get("trace-id").and_then(|trace| trace.to_str().ok());
        let metadata = status.get_details_error_info().map(|info| info.metadata);
        // An error of the channel itself names its cause only in the chain of sources.
        let mut message = status.message().to_owned();
        let mut source = status.source();
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            if !message.contains(&cause_text) {
                message = format!("{message}: {cause_text}");
            }
            source = cause.source();
        }
        Refusal {
            reason: status::reason_of(status),
            message,
            field: violations.into_iter().flatten().next().map(|violation| violation.field),
            trace_id: trace.map(str::to_owned),
            metadata: metadata.into_iter().flatten().collect(),
            retry_after: status.get_details_retry_info().and_then(|info| info.retry_delay),
        }
    }
}

#[cfg(test)]
mod tests {
    use wire::api_refusal;

    use super::*;

    #[test]
    fn a_refusal_keeps_what_the_server_said() {
        let refused = api_refusal(ErrorReason::BuyInOutOfRange, "too little to sit down with");
        let mut status = Status::from(refused.with("min", "200").field("buy_in"));
        status
            .metadata_mut()
            .insert("trace-id", "0af7651916cd43dd8448eb211c80319c".parse().unwrap());
        let refusal = Refusal::from(&status);
        assert_eq!(refusal.reason, Some(ErrorReason::BuyInOutOfRange));
        assert_eq!(refusal.field.as_deref(), Some("buy_in"));
        assert_eq!(refusal.metadata["min"], "200");
        assert_eq!(
            refusal.to_string(),
            "too little to sit down with (BUY_IN_OUT_OF_RANGE, trace 0af7651916cd43dd8448eb211c80319c)"
        );
    }

    #[test]
    fn a_refusal_says_how_long_to_wait() {
        let status = Status::from(api_refusal(ErrorReason::Overloaded, "too much at once"));
        let asked = status.get_details_retry_info().unwrap().retry_delay;
        assert!(asked.is_some());
        assert_eq!(Refusal::from(&status).retry_after, asked);
    }

    #[test]
    fn a_broken_connection_has_no_reason_but_a_cause() {
        let broken = Status::from_error(std::io::Error::other("the wire was cut").into());
        let refusal = Refusal::from(&broken);
        assert_eq!((refusal.reason, refusal.retry_after), (None, None));
        assert_eq!(refusal.to_string(), "the wire was cut");
    }
}
