//! Knows: seeds, commitments, shoes: all chance and all hidden cards, and who was shown which.
//! Does not know: rules, credits, players' names, why a table asks.
//!
//! A hand goes Commit, Seal, Perform (and open) many times, Reveal. Until Seal nobody's entropy
//! exists here; after it everything is determined, so every call is safe to repeat and a crash
//! loses nothing: the log says what was asked, the seed says what came of it.
//!
//! - [`hand`] is one hand: a fold of its stream, and what may be done next. Pure.
//! - `desk` takes a step: look in memory or read the stream, decide, write to the log, answer.
//!   `cache` bounds what is in memory.
//! - [`dealer`] is what callers hold; it outlives the loss of the log.
//! - `source` watches the entropy that seeds are made of.
//! - [`record`] is the events in the log, [`repo`] and [`vault`] the seeds at rest; [`rotation`]
//!   gives those another key.
//! - [`api`] is the gRPC face, `words` its messages as the dealer's own words.
//! - [`shell`] puts it together for a process.
//!
//! What the log holds is enough to check every answer after the reveal and tells no card before it:
//! openings are recorded by place, audience, reason and caller, never by face.

pub mod api;
mod cache;
pub mod dealer;
mod desk;
pub mod hand;
pub mod record;
pub mod repo;
pub mod rotation;
pub mod shell;
mod source;
mod status;
pub mod vault;
mod words;

pub use dealer::{Dealer, Parts, Problem, keep};
