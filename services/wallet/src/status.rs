//! Maps problems and refusals of the wallet to gRPC statuses.

use ledger::{Account, Measure, Refusal, Window};
use proto::common::v1::ErrorReason;
use proto::wallet::v1 as pb;
use tonic::Status;
use wire::{Refused, refused};

use crate::wallet::Problem;

impl From<Problem> for Status {
    fn from(problem: Problem) -> Status {
        match problem {
            Problem::Refused(refusal) => from_refusal(&refusal).into(),
            Problem::Reused => wire::status::request_id_reused().into(),
            Problem::Unavailable => {
                wire::status::unavailable("the wallet's log is out of reach").into()
            }
            Problem::Clock(off) => wire::status::unavailable(&off.to_string()).into(),
            Problem::DerivedId => wire::status::derived_request_id().into(),
            Problem::IdAhead(ahead) => wire::status::request_id_of_the_future(ahead).into(),
            Problem::OddId(wait) => wire::status::odd_request_id(wait).into(),
            Problem::DaySpent(wait) => wire::status::records_of_the_day_spent(wait).into(),
            Problem::Overloaded | Problem::Corrupt => {
                refused(reason(&problem), problem.to_string()).into()
            }
        }
    }
}

/// Maps a problem to the result of one transfer of a batch.
pub(crate) fn one_of_many(problem: &Problem) -> pb::Refused {
    let refusal = match problem {
        Problem::Refused(refusal) => name(refusal),
        Problem::Reused
        | Problem::Overloaded
        | Problem::Unavailable
        | Problem::Clock(_)
        | Problem::DerivedId
        | Problem::IdAhead(_)
        | Problem::OddId(_)
        | Problem::DaySpent(_)
        | Problem::Corrupt => pb::Refusal::Unspecified,
    };
    pb::Refused {
        // In a batch, every refusal has the reason of the ledger's refusals; `refusal` names it.
        reason: match problem {
            Problem::Refused(_) => ErrorReason::TransferRefused,
            Problem::Reused
            | Problem::Overloaded
            | Problem::Unavailable
            | Problem::Clock(_)
            | Problem::DerivedId
            | Problem::IdAhead(_)
            | Problem::OddId(_)
            | Problem::DaySpent(_)
            | Problem::Corrupt => reason(problem),
        }
        .into(),
        refusal: refusal.into(),
        text: problem.to_string(),
    }
}

fn reason(problem: &Problem) -> ErrorReason {
    match problem {
        Problem::Refused(Refusal::AccountExists { .. }) => ErrorReason::AlreadyExists,
        Problem::Refused(Refusal::AccountUnknown { .. }) => ErrorReason::AccountUnknown,
        Problem::Refused(Refusal::InsufficientCredits { .. }) => ErrorReason::InsufficientCredits,
        Problem::Refused(_) => ErrorReason::TransferRefused,
        Problem::Reused => ErrorReason::RequestIdReused,
        Problem::Overloaded | Problem::OddId(_) => ErrorReason::Overloaded,
        Problem::DerivedId | Problem::IdAhead(_) => ErrorReason::BadField,
        Problem::DaySpent(_) => ErrorReason::RecordsSpent,
        Problem::Unavailable | Problem::Clock(_) => ErrorReason::Unavailable,
        Problem::Corrupt => ErrorReason::Corrupt,
    }
}

/// Status of a refusal: a name for programs, a text for people.
fn from_refusal(refusal: &Refusal) -> Refused {
    let name = name(refusal).as_str_name().trim_start_matches("REFUSAL_");
    let said = refused(reason(&Problem::Refused(*refusal)), refusal.to_string());
    let said = said.with("refusal", name);
    let of = |said: Refused, account: &Account| said.with("account", account.to_string());
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
            until.map_or(said.clone(), |until| said.with("until", until.0.to_string()))
        }
        Refusal::ExclusionShorter { until } => match until {
            Some(until) => said.with("until", until.0.to_string()),
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
            until.map_or(said.clone(), |until| said.with("until", until.0.to_string()))
        }
        Refusal::HoldTooSmall { left } => said.with("left", left.to_string()),
        Refusal::InsufficientCredits { account, short } => {
            of(said, account).with("short", short.to_string())
        }
    }
}

/// Name of a refusal in the API.
fn name(refusal: &Refusal) -> pb::Refusal {
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
