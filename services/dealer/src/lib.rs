//! Knows: seeds, commitments, shoes: all chance and all hidden cards, and who was shown which.
//! Does not know: rules, credits, players' names, why a table asks.
//!
//! A hand goes through Commit, Close, Seal, Perform (which also reveals cards) many times, and
//! Reveal. Close signs what the seats have committed to; before Seal nobody's entropy is known
//! here. After it everything is determined, so every call is safe to repeat and a crash loses
//! nothing: the log has the requests, and the seed gives their results.
//!
//! - [`hand`] is one hand: a fold of its stream, and the steps that may follow. Pure.
//! - `handler` handles a command: take the hand from memory or read its stream, decide, write to
//!   the log, answer. `cache` bounds the memory.
//! - [`dealer`] is the handle of callers; it outlives the loss of the log.
//! - `entropy_source` stops the making of secrets at the first fault of a generator, which
//!   `entropy_failure` puts on record. [`fixed_seeds`] is for rooms of developers.
//! - [`record`] is the events in the log; [`seeds`] is the seeds at rest; `rotation` moves those
//!   to another key.
//! - `promises` keeps the order of promises, and finds those that the log has lost.
//! - `outcome_tests` tests the outcomes of finished hands.
//! - [`api`] is the gRPC handlers, and `messages` converts their messages.
//! - [`service`] assembles and runs the service.
//!
//! The log holds enough to check every answer after the reveal and shows no card before it: card
//! reveals are recorded by handle, audience, reason and caller, never by face.
//!
//! Specification: fairness/SPEC.md §3.

pub mod api;
mod cache;
pub mod dealer;
mod entropy_failure;
mod entropy_source;
pub mod fixed_seeds;
pub mod hand;
mod handler;
mod messages;
mod outcome_tests;
mod promises;
pub mod record;
pub mod retention;
mod rotation;
pub mod seeds;
pub mod service;
mod status;

pub use dealer::{Dealer, DealerError, Dependencies, maintain_log};
