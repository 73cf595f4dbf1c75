//! Knows: how a log shows itself while it grows: what is signed and when, tiles, proofs, witnesses.
//! Does not know: what an event means; how it came into the log.
//!
//! A [`Notary`] stands beside the one writer of a log and takes nothing from it: it is told that the
//! log has grown, reads from the store what is stored there, and keeps the right edge of the tree
//! over what it read. Where its root is the writer's, and follows from the tree signed before, it
//! signs. So a signature says three things: these records are durable, they are what was
//! acknowledged, and nothing that was signed before was taken back. Where one of them does not hold
//! ([`Fault`]) the notary says so and never signs again in this process: what has gone wrong is not
//! mended by trying.
//!
//! A signed checkpoint is in the store before anybody sees it, under a number that is given once
//! ([`eventlog::Shelf`]): after a crash, and with two processes on one log, there is one chain.
//! What a whole older state of the database has forgotten, this does not remember; a file beside the
//! database ([`Memory`]) does, and so do witnesses ([`witness`]) and players.
//!
//! - `notary` is the handle, `follow` its task, `resume` where it begins, `scrub` looks at what is
//!   old once more.
//! - `trees` finds hashes for proofs, `records` finds records, `api` answers calls, `files` serves
//!   what C2SP `tlog-tiles` says.

pub mod api;
mod fault;
mod files;
mod follow;
mod memory;
mod notary;
mod owned;
mod records;
mod resume;
mod scrub;
mod trees;
pub mod witness;

pub use fault::Fault;
pub use files::{Files, LOGS};
pub use memory::Memory;
pub use merkle::note::KeyError;
pub use notary::{Notary, Parts, Shown, Standing};
