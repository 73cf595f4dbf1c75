//! Knows: what the logs of a card room must say if it was honest, and how to tell that they do not.
//! Does not know: where records come from, how a verdict is shown, clocks, networks, any secret.
//!
//! Pure: records and public keys in, verdicts out, the same for everybody who asks.
//!
//! - [`bundle`]: one hand's records with the proofs that they stand in the logs, as a file.
//! - [`hand`]: one hand, from the dealer's promise to the last credit, and the story of it.
//! - [`table`]: a table's hands beside each other, and whose fault it is where they came to nothing.
//! - [`receipt`]: a table's signed word to a client, held against its log.
//! - [`ledger`]: all credits, over the whole logs of the wallet and the tables.
//! - [`log`]: one log as it lies: numbers without gaps, unbroken chains, its root.
//!
//! A check that could not be made says so ([`Verdict::NotPossible`]) and is no pass: whoever holds
//! records back proves nothing with the rest.
//!
//! What no audit of these records can see: players sign nothing, so that a decision is theirs only
//! on the table's word; and what a dealer tells without its own log is not in its log.

pub mod bundle;
mod dealing;
pub mod hand;
pub mod ledger;
pub mod log;
pub mod receipt;
mod report;
#[cfg(any(test, feature = "specimen"))]
pub mod specimen;
pub mod stops;

pub mod table;

pub use report::{Checked, Checks, Verdict};
