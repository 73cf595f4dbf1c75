//! Knows: accounts, balances, which transfers are lawful, and that no credit is made or lost.
//! Does not know: hands, cards, tables' rules, logs, networks, what time it is, who is asking.
//!
//! Double entry. A [`Transfer`] has legs that sum to zero. It is posted whole or refused whole.
//! The ledger is a state machine: [`decide`] reads it and returns events, [`evolve`] alone changes
//! it. The same events give the same balances wherever they are folded. [`check_conservation`]
//! checks the invariant that holds after every event.
//!
//! There is no general "move credits". Each [`Kind`] of transfer names the accounts it may touch
//! and in which direction, so a transfer between two players, or from a pot to the house, cannot be
//! expressed. Only the settlement of a hand may have legs of 0 credits, on seats: they change no
//! balance, no limit and no time at tables. Only `house/issuance` may be negative; its debt equals
//! the sum of all other balances.
//!
//! **Frozen**: only an adjustment takes credits from the player's account; credits still come in. A
//! seat is never frozen, because hands must be settled.
//!
//! **Closed**: nothing happens to the account any more. It was empty, with no hold, no credits at
//! tables, no share in a pot and no pending adjustment.
//!
//! **Excluded**: the players keep themselves from play. No buy-in, no issue and no hold until the
//! exclusion ends.
//!
//! **Limits** bound what a player brings to tables, loses there, and how long they stay, within 24
//! hours, 7 days and 30 days; see [`LimitTerms`]. Both the player and the operator set limits; in
//! each window the stricter one holds.
//!
//! Read [`Ledger::standing`] before a hand is dealt. A restriction found there moves no credits: a
//! hand in play is settled in any case.
//!
//! A **snapshot** is the whole state in a canonical byte form ([`snapshot`]). Its SHA-256 is
//! recorded in the log, so the bytes can be checked against the log before the ledger is restored
//! from them.
//!
//! **Holds** set credits of an account aside. A debit needs available credits: the balance less
//! what is held. A capture uses the credits of its hold. A hold ends by itself at its expiry: the
//! owner of the log appends the events of [`Ledger::expired`] before it decides anything at that
//! time. Every event is evolved with the time that the log records for it.
//!
//! **Adjustments** are the only way to move credits outside the other kinds: between
//! `house/issuance` and an account that belongs to no table. Two operators are needed. The transfer
//! of a capture or an adjustment names it in its [`Kind`].
//!
//! The owner of the log decides the commands of a batch one after the other on one ledger and
//! applies the events of each at once. A linked group is applied whole or not at all:
//! [`decide_linked`].
//!
//! Repeated requests are not known here: the owner of the log recognises a request that was
//! answered before and does not pass it on.
//!
//! Specification: services/wallet/README.md "State and events".

#![deny(clippy::arithmetic_side_effects)]

mod account;
mod account_state;
mod adjustment;
mod amount;
mod command;
mod decide;
mod event;
mod evolve;
mod hold;
mod invariants;
mod ledger;
mod limits;
mod play_history;
mod refusal;
pub mod snapshot;
mod standing;
mod transfer;
mod unchanged;

pub use account::{Account, AccountNameError};
pub use account_state::{AccountDetails, AccountState, Exclusion};
pub use adjustment::{Adjustment, PendingAdjustment};
pub use amount::{Amount, AmountOutOfRange};
pub use command::Command;
pub use decide::{LinkedRefusal, decide, decide_linked};
pub use event::{Event, PostedTransfer};
pub use evolve::{Replaced, Undo, evolve};
pub use hold::{EndedHold, Hold, PendingHold};
pub use invariants::{InvariantViolation, check_conservation};
pub use ledger::Ledger;
pub use limits::{
    AllLimitTerms, HourlyBuyIn, LOOSENING_DELAY, LimitSetter, LimitTerms, Limits, Measure,
    MeasureTerms, RequestedLimits, Seconds, Window,
};
pub use play_history::{HourlyPlay, PlayHistory};
pub use refusal::Refusal;
pub use standing::{LimitNotice, LimitUsage, ReachedLimit, Restriction, Standing};
pub use transfer::{
    Kind, Leg, MAX_LEGS, MAX_REASON_CHARS, MIN_LEGS, STARTING_CREDITS_REASON, Transfer,
};
