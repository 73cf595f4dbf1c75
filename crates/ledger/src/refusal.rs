//! Every reason a command is refused for, in order of precedence.

use primitives::Credits;

use crate::{Account, Kind};

/// A no from the ledger. Nothing has changed.
///
/// Where several apply, the first in this order is the answer, and within one the earliest leg:
/// first what is wrong with the command whatever the balances are, then what is wrong with it now.
/// A caller who repeats a command may see another refusal only from the second group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("a transfer has at least 2 legs, not {legs}")]
    TooFewLegs { legs: usize },
    #[error("a transfer has at most 64 legs, not {legs}")]
    TooManyLegs { legs: usize },
    #[error("the leg of {account} moves nothing: leave it out")]
    ZeroLeg { account: Account },
    #[error("{account} has more than one leg: add them up")]
    DuplicateAccount { account: Account },
    /// What the legs sum to instead of zero, in credits.
    #[error("the legs sum to {sum} credits, not to zero")]
    NotBalanced { sum: i64 },
    #[error("a transfer of kind {kind} has no such leg of {account}")]
    WrongAccount { kind: Kind, account: Account },
    #[error("a transfer of kind {kind} needs a reason")]
    ReasonMissing { kind: Kind },
    #[error("a reason has at most 200 characters, not {chars}")]
    ReasonTooLong { chars: usize },

    #[error("{account} is open already")]
    AccountExists { account: Account },
    #[error("{account} does not exist")]
    UnknownAccount { account: Account },
    /// How many more credits the account would need.
    #[error("{account} is {short} credits short")]
    InsufficientCredits { account: Account, short: Credits },
    #[error("{account} would leave the range of balances, 9007199254740991 either way")]
    BalanceOutOfRange { account: Account },
}

impl Refusal {
    /// Lower goes first.
    #[must_use]
    pub(crate) const fn precedence(&self) -> u8 {
        match self {
            Refusal::TooFewLegs { .. } => 0,
            Refusal::TooManyLegs { .. } => 1,
            Refusal::ZeroLeg { .. } => 2,
            Refusal::DuplicateAccount { .. } => 3,
            Refusal::NotBalanced { .. } => 4,
            Refusal::WrongAccount { .. } => 5,
            Refusal::ReasonMissing { .. } => 6,
            Refusal::ReasonTooLong { .. } => 7,
            Refusal::AccountExists { .. } => 8,
            Refusal::UnknownAccount { .. } => 9,
            Refusal::InsufficientCredits { .. } => 10,
            Refusal::BalanceOutOfRange { .. } => 11,
        }
    }

    /// The account whose state is the reason; none where the command itself is, on any balances.
    #[must_use]
    pub const fn account_at_fault(&self) -> Option<Account> {
        match self {
            Refusal::TooFewLegs { .. }
            | Refusal::TooManyLegs { .. }
            | Refusal::ZeroLeg { .. }
            | Refusal::DuplicateAccount { .. }
            | Refusal::NotBalanced { .. }
            | Refusal::WrongAccount { .. }
            | Refusal::ReasonMissing { .. }
            | Refusal::ReasonTooLong { .. } => None,
            Refusal::AccountExists { account }
            | Refusal::UnknownAccount { account }
            | Refusal::InsufficientCredits { account, short: _ }
            | Refusal::BalanceOutOfRange { account } => Some(*account),
        }
    }
}
