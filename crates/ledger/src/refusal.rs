//! Refusals of commands, in order of precedence.
//!
//! Specification: services/wallet/README.md "Commands".

use primitives::{AdjustmentId, Credits, HoldId, TableId, UnixMicros};

use crate::{Account, Measure, Window};

/// Refusal of a command. Nothing has changed.
///
/// If several apply, the first in this order is returned; among legs, that of the earliest. First
/// come faults of the command itself, whatever the balances are, then faults against the current
/// state. When a command is repeated, only refusals of the second group can change.
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
    /// `sum`: total of the legs in credits, instead of zero.
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
    /// `until`: `None` for good.
    #[error("the player of {account} keeps himself from play")]
    Excluded { account: Account, until: Option<UnixMicros> },
    /// `until`: end of the exclusion now in force; `None` for good.
    #[error("an exclusion can only be made longer")]
    ExclusionShorter { until: Option<UnixMicros> },
    /// `limit` and what is left of it now, in credits or seconds. `until`: time at which the
    /// request fits again if nothing more is used; `None` if not before the limit is changed.
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
    /// `short`: credits missing.
    #[error("{account} is {short} credits short")]
    InsufficientCredits { account: Account, short: Credits },
    #[error("{account} would leave the range of balances, 9007199254740991 either way")]
    BalanceOutOfRange { account: Account },
    /// Refusal of the other transfers of a linked group. Given by the caller of
    /// [`crate::decide_linked`], never by [`crate::decide`].
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
    /// Rank in the order of precedence, from 1 for the first.
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
