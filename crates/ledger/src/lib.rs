//! Knows: accounts, balances, which transfers are lawful, and that no credit is made or lost.
//! Does not know: hands, cards, tables' rules, logs, clocks, networks, who is asking.
//!
//! Double entry. A [`Transfer`] has legs that sum to zero; it is posted whole or refused whole.
//! The ledger is a state machine that is only ever looked at by [`decide`] and only ever moved by
//! [`evolve`]: commands in, events out, and the same events give the same balances wherever they
//! are folded. [`conserved`] is the law that holds after every event.
//!
//! What may happen is narrow on purpose. There is no general "move credits": each [`Kind`] of
//! transfer names the accounts it may touch and in which direction, so that a transfer between two
//! players, or from a pot into the house, cannot be asked for. Only `house/issuance` may be
//! negative, and what it is short of is exactly what all others own together.
//!
//! A log takes its time to make a decision durable. [`InFlight`] lets the next command be decided
//! meanwhile, without ever building on what may yet be lost.
//!
//! Asking twice is not this crate's business: whoever owns the log recognises a request it has
//! answered before it comes here.

#![deny(clippy::arithmetic_side_effects)]

mod account;
mod amount;
mod decide;
mod in_flight;
mod refusal;
mod state;
mod transfer;
mod verify;

pub use account::{Account, AccountNameError};
pub use amount::{Amount, AmountOutOfRange};
pub use decide::{Command, decide};
pub use in_flight::{InFlight, Verdict};
pub use refusal::Refusal;
pub use state::{Event, Ledger, evolve};
pub use transfer::{Kind, Leg, MAX_LEGS, MAX_REASON_CHARS, MIN_LEGS, Transfer};
pub use verify::{Unsound, conserved};
