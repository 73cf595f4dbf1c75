//! Every no of the wallet as the API says it.

use ledger::Refusal;
use proto::common::v1::ErrorReason;
use tonic::Status;
use wire::{Refused, refused};

use crate::wallet::Problem;

impl From<Problem> for Status {
    fn from(problem: Problem) -> Status {
        let text = problem.to_string();
        match problem {
            Problem::Refused(refusal) => from_refusal(&refusal).into(),
            Problem::Reused => wire::status::request_id_reused().into(),
            Problem::Overloaded => refused(ErrorReason::Overloaded, text).into(),
            Problem::Unavailable => {
                wire::status::unavailable("the wallet's log is out of reach").into()
            }
            Problem::Unwritable => refused(ErrorReason::Corrupt, text).into(),
        }
    }
}

/// The refusal's name is for programs, its text for people.
fn from_refusal(refusal: &Refusal) -> Refused {
    let text = refusal.to_string();
    let transfer =
        |name: &str| refused(ErrorReason::TransferRefused, text.clone()).with("refusal", name);
    match refusal {
        Refusal::TooFewLegs { .. } => transfer("TOO_FEW_LEGS"),
        Refusal::TooManyLegs { .. } => transfer("TOO_MANY_LEGS"),
        Refusal::ZeroLeg { account } => transfer("ZERO_LEG").with("account", account.to_string()),
        Refusal::DuplicateAccount { account } => {
            transfer("DUPLICATE_ACCOUNT").with("account", account.to_string())
        }
        Refusal::NotBalanced { sum } => transfer("NOT_BALANCED").with("sum", sum.to_string()),
        Refusal::WrongAccount { kind: _, account } => {
            transfer("WRONG_ACCOUNT").with("account", account.to_string())
        }
        Refusal::ReasonMissing { kind: _ } => transfer("REASON_MISSING"),
        Refusal::ReasonTooLong { chars: _ } => transfer("REASON_TOO_LONG"),
        Refusal::BalanceOutOfRange { account } => {
            transfer("BALANCE_OUT_OF_RANGE").with("account", account.to_string())
        }
        Refusal::AccountExists { account } => {
            refused(ErrorReason::AlreadyExists, text).with("account", account.to_string())
        }
        Refusal::UnknownAccount { account } => {
            refused(ErrorReason::AccountUnknown, text).with("account", account.to_string())
        }
        Refusal::InsufficientCredits { account, short } => {
            refused(ErrorReason::InsufficientCredits, text)
                .with("account", account.to_string())
                .with("short", short.to_string())
        }
    }
}
