//! Knows: who may move whose credits, how the ledger's decisions become durable, and statements.
//! Does not know: hands, cards, how tables decide, how tokens are verified.
//!
//! One task owns the ledger and decides ahead of its log ([`owner`]). Commands reach it by a bounded
//! queue, alone, in batches or on a stream; thousands of transfers share one commit. Balances and
//! statements are read from the database ([`repo`]), where they move in the very statement that makes
//! a transfer durable; [`verify`] recomputes them from the log and compares.
//!
//! The wallet starts from what its log vouches for: the events, and snapshots whose SHA-256 an event has
//! ([`owner`]). Its own tables are compared with that before anybody reads them, and entry by entry while
//! it serves; where they say something else it ends. How players stand, what they have used of their
//! limits and whether they may be dealt in is asked of the ledger itself ([`Wallet::look`]).
//!
//! Every command is named by its caller's request id, for ever: the same command again gets the
//! first answer ([`answer`]), another command under the same id is refused. So a caller who heard
//! nothing simply asks again.
//!
//! When a write fails, to another owner or because nobody can say what became of it, all that was on
//! its way is answered "unavailable", memory is thrown away and the log is read again.

pub mod answer;
pub mod api;
pub mod command;
pub mod owner;
pub mod record;
pub mod repo;
pub mod rows;
pub mod shell;
mod status;
mod verify;
mod wallet;

pub use answer::{Done, Told};
pub use owner::{Fault, Ground, LoadError, Opener, Owner, newest_snapshot};
pub use verify::{Compared, Difference, VerifyError, verify};
pub use wallet::{By, Limits, Outcome, Problem, Seen, Wallet};
