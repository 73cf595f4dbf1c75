//! Every reason a command is refused for, in order of precedence.

use primitives::{AdjustmentId, Credits, HoldId, TableId, UnixMicros};

use crate::{Account, Measure, Window};

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
    /// Seats in the settlement of a hand alone have such legs; see [`crate::Kind::admits_zero`].
    #[error("0 credits move nothing: leave it out")]
    ZeroLeg,
    #[error("{account} has more than one leg: add them up")]
    DuplicateAccount { account: Account },
    /// What the legs sum to instead of zero, in credits.
    #[error("the legs sum to {sum} credits, not to zero")]
    NotBalanced { sum: i64 },
    #[error("{account} has no place there, or not in this direction")]
    WrongAccount { account: Account },
    #[error("what an operator does needs a reason")]
    ReasonMissing,
    #[error("a reason has at most 200 characters, not {chars}")]
    ReasonTooLong { chars: usize },
    #[error("the time has passed: name one that lies ahead")]
    TimePassed,

    #[error("{account} is open already")]
    AccountExists { account: Account },
    #[error("{account} does not exist")]
    AccountUnknown { account: Account },
    #[error("{account} was closed")]
    AccountClosed { account: Account },
    #[error("{account} is frozen: nothing leaves it")]
    AccountFrozen { account: Account },
    #[error("{account} is not frozen")]
    AccountNotFrozen { account: Account },
    #[error(
        "{account} is not empty: take out its credits, those at tables too, and finish its holds \
         and adjustments"
    )]
    AccountNotEmpty { account: Account },
    #[error("no hold {hold} is pending: it was captured, released, has expired or never was")]
    HoldNotPending { hold: HoldId },
    #[error("no adjustment {adjustment} waits: it was approved, rejected or never proposed")]
    AdjustmentNotPending { adjustment: AdjustmentId },
    #[error("who proposed an adjustment cannot approve it: another operator must")]
    SameOperator,
    /// `until` none: for good.
    #[error("the player of {account} keeps himself from play")]
    Excluded { account: Account, until: Option<UnixMicros> },
    /// Until when the player is excluded now; none: for good.
    #[error("an exclusion can only be made longer")]
    ExclusionShorter { until: Option<UnixMicros> },
    /// The limit within the window and what is left of it now, in credits or seconds. `until`: when
    /// what was asked for fits again, if nothing more is used; none: not before the limit is changed.
    #[error("the {measure} within {window} is {limit}, and {left} of it are left{}", ends(*until))]
    LimitReached {
        measure: Measure,
        window: Window,
        limit: u64,
        left: u64,
        until: Option<UnixMicros>,
    },
    #[error("the hold has {left} credits left")]
    HoldTooSmall { left: Credits },
    /// How many more credits would have to be available.
    #[error("{account} is {short} credits short")]
    InsufficientCredits { account: Account, short: Credits },
    #[error("{account} would leave the range of balances, 9007199254740991 either way")]
    BalanceOutOfRange { account: Account },
    /// For whoever answers for a linked group: what its other transfers are told.
    #[error("another transfer of the linked group is refused")]
    LinkedRefused,
    #[error(
        "{account} may have a share in a pot of table {table}: wait until it is won, or close the table"
    )]
    ShareInPot { account: Account, table: TableId },
}

fn ends(until: Option<UnixMicros>) -> String {
    match until {
        Some(until) => format!("; it fits again from {until} on"),
        None => "; it fits again once the limit is another".to_owned(),
    }
}

impl Refusal {
    /// 1 for the first. Lower goes first.
    #[must_use]
    pub const fn precedence(&self) -> u8 {
        match self {
            Refusal::TooFewLegs { .. } => 1,
            Refusal::TooManyLegs { .. } => 2,
            Refusal::ZeroLeg => 3,
            Refusal::DuplicateAccount { .. } => 4,
            Refusal::NotBalanced { .. } => 5,
            Refusal::WrongAccount { .. } => 6,
            Refusal::ReasonMissing => 7,
            Refusal::ReasonTooLong { .. } => 8,
            Refusal::TimePassed => 9,
            Refusal::AccountExists { .. } => 10,
            Refusal::AccountUnknown { .. } => 11,
            Refusal::AccountClosed { .. } => 12,
            Refusal::AccountFrozen { .. } => 13,
            Refusal::AccountNotFrozen { .. } => 14,
            Refusal::AccountNotEmpty { .. } => 15,
            Refusal::HoldNotPending { .. } => 16,
            Refusal::AdjustmentNotPending { .. } => 17,
            Refusal::SameOperator => 18,
            Refusal::Excluded { .. } => 19,
            Refusal::ExclusionShorter { .. } => 20,
            Refusal::LimitReached { .. } => 21,
            Refusal::HoldTooSmall { .. } => 22,
            Refusal::InsufficientCredits { .. } => 23,
            Refusal::BalanceOutOfRange { .. } => 24,
            Refusal::LinkedRefused => 25,
            Refusal::ShareInPot { .. } => 26,
        }
    }
}
