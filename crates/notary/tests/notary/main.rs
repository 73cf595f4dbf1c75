//! A notary of a log in memory, on paused time: what is signed, when, and what never is.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod faults;
mod files;
mod harness;
mod proofs;
mod signing;
mod witnesses;
