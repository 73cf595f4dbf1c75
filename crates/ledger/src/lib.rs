//! Knows: accounts, balances, which transfers are lawful, and that no credit is made or lost.
//! Does not know: hands, cards, tables' rules, logs, networks, what time it is, who is asking.
//!
//! Double entry. A [`Transfer`] has legs that sum to zero; it is posted whole or refused whole.
//! The ledger is a state machine that is only ever looked at by [`decide`] and only ever moved by
//! [`evolve`]: commands in, events out, and the same events give the same balances wherever they
//! are folded. [`conserved`] is the law that holds after every event.
//!
//! What may happen is narrow on purpose. There is no general "move credits": each [`Kind`] of
//! transfer names the accounts it may touch and in which direction, so that a transfer between two
//! players, or from a pot into the house, cannot be asked for. A leg moves something, but for one: in
//! the settlement of a hand a seat may have a leg of 0 credits. It changes no balance, no limit and no
//! time at tables, and needs nothing but that the seat's account is open. Only `house/issuance` may be
//! negative, and what it is short of is exactly what all others own together.
//!
//! **Frozen**: nothing leaves a player's account but by an adjustment; credits still come in. A seat
//! is never frozen: hands must be settled. **Closed**: nothing happens to the account any more; it was
//! empty, with nothing held of it, nothing at tables, no share in a pot and no adjustment waiting.
//! **Excluded**: players keep themselves from play; no buy-in, no issue and no hold until the time is over. **Limits** bound
//! what they bring to tables, what they lose there and how long they are there, within 24 hours, 7 and
//! 30 days; of their own and the operator's the stricter holds, window by window; see [`Terms`]. Whoever
//! deals hands asks [`Ledger::standing`] first: what stands against a player there moves no credits, so
//! hands that are in play are settled whatever it says.
//!
//! A **snapshot** is the whole state in bytes of one form only ([`snapshot`]): its SHA-256 stands in the
//! log, so that whoever has the bytes starts from them and whoever has the log checks them.
//!
//! **Holds** set credits of an account aside: a debit needs what is available, the balance without
//! what is held; a capture uses what its hold holds. A hold is over by itself at its end: whoever owns
//! the log writes [`Ledger::expired`] before he decides anything at that time, and an event is evolved
//! with the very time that the log records for it. **Adjustments** are the only way to move credits
//! against the kinds, between an account that is no table's and `house/issuance`; two operators are needed. The
//! transfer of a capture or an adjustment says so in its [`Kind`].
//!
//! Who owns the log decides a batch one after the other on one ledger, each decision's events applied
//! at once. A linked group is applied whole or not at all: [`decide_linked`].
//!
//! Asking twice is not this crate's business: whoever owns the log recognises a request it has
//! answered before it comes here.

#![deny(clippy::arithmetic_side_effects)]

mod account;
mod adjustment;
mod amount;
mod command;
mod decide;
mod event;
mod evolve;
mod hold;
mod ledger;
mod limits;
mod played;
mod refusal;
pub mod snapshot;
mod standing;
mod state;
mod transfer;
mod unchanged;
mod verify;

pub use account::{Account, AccountNameError};
pub use adjustment::{Adjustment, Proposed};
pub use amount::{Amount, AmountOutOfRange};
pub use command::Command;
pub use decide::{Unlinked, decide, decide_linked};
pub use event::{Event, Posted};
pub use evolve::{Undo, evolve, evolve_undoable};
pub use hold::{Ended, Hold, Pending};
pub use ledger::Ledger;
pub use limits::{
    AllTerms, Brought, LOOSER_AFTER, Limits, Measure, Seconds, SetTerms, Setter, Terms, Wanted,
    Window,
};
pub use played::{Hour, Played};
pub use refusal::Refusal;
pub use standing::{Bar, Notice, Reached, Standing, Used};
pub use state::{Exclusion, Extra, State};
pub use transfer::{Kind, Leg, MAX_LEGS, MAX_REASON_CHARS, MIN_LEGS, Transfer};
pub use verify::{Unsound, conserved};
