//! Maps problems and refusals of the wallet to gRPC statuses.

use ledger::{Account, Measure, Refusal, Window};
use proto::common::v1::ErrorReason;
use proto::wallet::v1 as pb;
use tonic::Status;
use wire::time::rfc3339;
use wire::{ApiRefusal, api_refusal};

use crate::wallet::WalletError;

impl From<WalletError> for Status {
    fn from(problem: WalletError) -> Status {
        match problem {
            WalletError::Refused(refusal) => from_refusal(&refusal).into(),
            WalletError::RequestIdReused => wire::status::request_id_reused().into(),
            WalletError::RequestIdTooOld => wire::status::request_id_too_old().into(),
            WalletError::Unavailable => {
                wire::status::unavailable("the wallet's log is out of reach").into()
            }
            WalletError::Clock(off) => wire::status::unavailable(&off.to_string()).into(),
            WalletError::DerivedRequestId => wire::status::derived_request_id().into(),
            WalletError::FutureRequestId(ahead) => wire::status::future_request_id(ahead).into(),
            WalletError::RequestIdRateLimited(wait) => {
                wire::status::request_id_needs_lookup(wait).into()
            }
            WalletError::DailyQuotaSpent(wait) => wire::status::daily_records_spent(wait).into(),
            WalletError::Overloaded | WalletError::Corrupt => {
                api_refusal(reason(&problem), problem.to_string()).into()
            }
        }
    }
}

/// Maps a problem to the result of one transfer of a batch.
pub(crate) fn batch_refusal(problem: &WalletError) -> pb::Refused {
    let refusal = match problem {
        WalletError::Refused(refusal) => refusal_name(refusal),
        WalletError::RequestIdReused
        | WalletError::RequestIdTooOld
        | WalletError::Overloaded
        | WalletError::Unavailable
        | WalletError::Clock(_)
        | WalletError::DerivedRequestId
        | WalletError::FutureRequestId(_)
        | WalletError::RequestIdRateLimited(_)
        | WalletError::DailyQuotaSpent(_)
        | WalletError::Corrupt => pb::Refusal::Unspecified,
    };
    pb::Refused {
        // In a batch, every refusal has the reason of the ledger's refusals; `refusal` names it.
        reason: match problem {
            WalletError::Refused(_) => ErrorReason::TransferRefused,
            WalletError::RequestIdReused
            | WalletError::RequestIdTooOld
            | WalletError::Overloaded
            | WalletError::Unavailable
            | WalletError::Clock(_)
            | WalletError::DerivedRequestId
            | WalletError::FutureRequestId(_)
            | WalletError::RequestIdRateLimited(_)
            | WalletError::DailyQuotaSpent(_)
            | WalletError::Corrupt => reason(problem),
        }
        .into(),
        refusal: refusal.into(),
        text: problem.to_string(),
    }
}

fn reason(problem: &WalletError) -> ErrorReason {
    match problem {
        WalletError::Refused(Refusal::AccountExists { .. }) => ErrorReason::AlreadyExists,
        WalletError::Refused(Refusal::AccountUnknown { .. }) => ErrorReason::AccountUnknown,
        WalletError::Refused(Refusal::InsufficientCredits { .. }) => {
            ErrorReason::InsufficientCredits
        }
        WalletError::Refused(_) => ErrorReason::TransferRefused,
        WalletError::RequestIdReused => ErrorReason::RequestIdReused,
        WalletError::RequestIdTooOld => ErrorReason::RequestIdTooOld,
        WalletError::Overloaded | WalletError::RequestIdRateLimited(_) => ErrorReason::Overloaded,
        WalletError::DerivedRequestId | WalletError::FutureRequestId(_) => ErrorReason::BadField,
        WalletError::DailyQuotaSpent(_) => ErrorReason::RecordsSpent,
        WalletError::Unavailable | WalletError::Clock(_) => ErrorReason::Unavailable,
        WalletError::Corrupt => ErrorReason::Corrupt,
    }
}

/// Status of a refusal: a name for programs, a text for people.
fn from_refusal(refusal: &Refusal) -> ApiRefusal {
    let name = refusal_name(refusal).as_str_name().trim_start_matches("REFUSAL_");
    let said = api_refusal(reason(&WalletError::Refused(*refusal)), refusal.to_string());
    let said = said.with("refusal", name);
    let of = |said: ApiRefusal, account: &Account| said.with("account", account.to_string());
    match refusal {
        Refusal::TooFewLegs { legs: _ }
        | Refusal::TooManyLegs { legs: _ }
        | Refusal::ZeroLeg
        | Refusal::ReasonMissing
        | Refusal::ReasonTooLong { chars: _ }
        | Refusal::TimePassed
        | Refusal::HoldNotPending { hold: _ }
        | Refusal::AdjustmentNotPending { adjustment: _ }
        | Refusal::SameOperator
        | Refusal::LinkedRefused => said,
        Refusal::NotBalanced { sum } => said.with("sum", sum.to_string()),
        Refusal::DuplicateAccount { account }
        | Refusal::WrongAccount { account }
        | Refusal::AccountExists { account }
        | Refusal::AccountUnknown { account }
        | Refusal::AccountClosed { account }
        | Refusal::AccountFrozen { account }
        | Refusal::AccountNotFrozen { account }
        | Refusal::AccountNotEmpty { account }
        | Refusal::BalanceOutOfRange { account } => of(said, account),
        Refusal::ShareInPot { account, table } => {
            of(said, account).with("table", table.to_string())
        }
        Refusal::Excluded { account, until } => {
            let said = of(said, account);
            until.map_or(said.clone(), |until| said.with("until", rfc3339(until)))
        }
        Refusal::ExclusionShorter { until } => match until {
            Some(until) => said.with("until", rfc3339(*until)),
            None => said,
        },
        Refusal::LimitReached { measure, window, limit, left, until } => {
            let measure = match measure {
                Measure::BuyIn => "BUY_IN",
                Measure::Loss => "LOSS",
                Measure::Time => "TIME",
            };
            let window = match window {
                Window::Day => "DAY",
                Window::Week => "WEEK",
                Window::Month => "MONTH",
            };
            let said = said.with("measure", measure).with("window", window);
            let said = said.with("limit", limit.to_string()).with("left", left.to_string());
            until.map_or(said.clone(), |until| said.with("until", rfc3339(until)))
        }
        Refusal::HoldTooSmall { left } => said.with("left", left.to_string()),
        Refusal::InsufficientCredits { account, short } => {
            of(said, account).with("short", short.to_string())
        }
    }
}

/// Name of a refusal in the API.
fn refusal_name(refusal: &Refusal) -> pb::Refusal {
    match refusal {
        Refusal::TooFewLegs { .. } => pb::Refusal::TooFewLegs,
        Refusal::TooManyLegs { .. } => pb::Refusal::TooManyLegs,
        Refusal::ZeroLeg => pb::Refusal::ZeroLeg,
        Refusal::DuplicateAccount { .. } => pb::Refusal::DuplicateAccount,
        Refusal::NotBalanced { .. } => pb::Refusal::NotBalanced,
        Refusal::WrongAccount { .. } => pb::Refusal::WrongAccount,
        Refusal::ReasonMissing => pb::Refusal::ReasonMissing,
        Refusal::ReasonTooLong { .. } => pb::Refusal::ReasonTooLong,
        Refusal::TimePassed => pb::Refusal::TimePassed,
        Refusal::AccountExists { .. } => pb::Refusal::AccountExists,
        Refusal::AccountUnknown { .. } => pb::Refusal::AccountUnknown,
        Refusal::AccountClosed { .. } => pb::Refusal::AccountClosed,
        Refusal::AccountFrozen { .. } => pb::Refusal::AccountFrozen,
        Refusal::AccountNotFrozen { .. } => pb::Refusal::AccountNotFrozen,
        Refusal::AccountNotEmpty { .. } => pb::Refusal::AccountNotEmpty,
        Refusal::HoldNotPending { .. } => pb::Refusal::HoldNotPending,
        Refusal::AdjustmentNotPending { .. } => pb::Refusal::AdjustmentNotPending,
        Refusal::SameOperator => pb::Refusal::SameOperator,
        Refusal::Excluded { .. } => pb::Refusal::Excluded,
        Refusal::ExclusionShorter { .. } => pb::Refusal::ExclusionShorter,
        Refusal::LimitReached { .. } => pb::Refusal::LimitReached,
        Refusal::HoldTooSmall { .. } => pb::Refusal::HoldTooSmall,
        Refusal::InsufficientCredits { .. } => pb::Refusal::InsufficientCredits,
        Refusal::BalanceOutOfRange { .. } => pb::Refusal::BalanceOutOfRange,
        Refusal::LinkedRefused => pb::Refusal::LinkedRefused,
        Refusal::ShareInPot { .. } => pb::Refusal::ShareInPot,
    }
}
