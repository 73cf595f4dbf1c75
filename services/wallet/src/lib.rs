//! Knows: who may move whose credits, how the ledger's decisions become durable, and statements.
//! Does not know: hands, cards, how tables decide, how tokens are verified.
//!
//! One task owns the ledger ([`owner`]). Commands reach it by a bounded queue; it decides them in
//! memory, hands each decision to the log without waiting for those before it, and answers when the
//! log has made it durable. Thousands of transfers share one commit. Balances and statements
//! ([`books`]) move only with what is durable, and are a fold of the log and nothing else.
//!
//! Every command is named by its caller's request id, for ever: the same command again gets the
//! first answer, another command under the same id is refused. So a caller who heard nothing simply
//! asks again.
//!
//! When the log is lost, to another owner or because nobody can say what became of a write, all that
//! was in flight is answered "unavailable", memory is thrown away and the log is read again.

pub mod api;
pub mod books;
pub mod command;
pub mod owner;
pub mod record;
pub mod shell;
mod status;
mod wallet;

pub use owner::{Fault, Opener, Owner};
pub use wallet::{Done, Limits, Problem, Wallet};
