//! Knows: who may move whose credits, how the ledger's decisions become durable, and statements.
//! Does not know: hands, cards, how tables decide, how tokens are verified.
//!
//! One task owns the ledger and decides ahead of its log ([`owner`]). Commands reach it through a
//! bounded queue, alone, in batches or on a stream; thousands of transfers share one commit.
//! Balances and statements are read from database tables ([`repo`]) that are written by the same
//! statement that makes a transfer durable; [`verify`] recomputes the tables from the log and
//! compares them.
//!
//! The wallet starts from its log: the events, and snapshots whose SHA-256 an event names
//! ([`owner`]). The tables are compared with that state before they are read, and entry by entry
//! while the wallet serves; the wallet ends at the first difference. A player's standing and the
//! use of their limits are read from the ledger itself ([`Wallet::player_limits`]).
//!
//! The caller's request id names a command for ever: the same command again gets its first answer
//! ([`answer`]), another command under the same id is refused. So a caller without an answer
//! repeats the request.
//!
//! If a write fails, because another process owns the log or because its outcome is unknown, all
//! commands in flight are answered "unavailable", the memory is dropped and the log is read again.
//!
//! Specification: services/wallet/README.md "State and events".

pub mod answer;
pub mod api;
pub mod command;
pub mod config;
pub mod owner;
pub mod record;
pub mod repo;
pub mod rows;
pub mod service;
mod status;
mod verify;
mod wallet;

pub use answer::{Answer, AnswerContent};
pub use owner::{Dependencies, FatalError, LoadError, Opener, Owner, newest_snapshot};
pub use verify::{Comparison, Difference, VerifyError, verify};
pub use wallet::{Author, Outcome, PlayerLimits, QueueLimits, Wallet, WalletError};
