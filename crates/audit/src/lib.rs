//! Knows: what the logs of an honest card room say, and how to detect that they do not.
//! Does not know: where records come from, how a verdict is shown, clocks, networks, any secret.
//!
//! Pure: records and public keys in, verdicts out. Everybody who asks gets the same verdicts.
//!
//! - [`bundle`]: the records of one hand with the proofs that they are in the logs, as a file.
//! - [`hand`]: one hand, from the dealer's commitment to the last credit, its story, and what a
//!   player's evidence says of it.
//! - [`joint`]: several bundles in the light of each other.
//! - [`table`]: the hands of a table together, and who is at fault for those that came to nothing.
//! - [`ledger`]: all credits, over the whole logs of the wallet and the tables.
//! - [`log`]: one whole log: numbers without gaps, unbroken chains, its root.
//! - [`monitor`]: the public leaf records of a room: what anybody can check without a payload.
//!
//! A check that cannot be made says so ([`Verdict::NotPossible`]) and does not pass, so that
//! withholding records proves nothing.
//!
//! What the dealer tells somebody without recording it is not in its log, and no audit can see it.

pub mod bundle;
mod dealing;
pub mod hand;
pub mod joint;
pub mod ledger;
pub mod log;
pub mod log_event;
pub mod monitor;
mod report;
pub mod stops;
pub mod table;
#[cfg(test)]
mod tests;
mod work;

pub use fairness::evidence;
pub use report::{Checked, Checks, Verdict};

/// Verifier of bundles as one page for a browser. It shares no code with this crate and fetches
/// nothing.
pub const VERIFIER_PAGE: &str = include_str!("../verify.html");
