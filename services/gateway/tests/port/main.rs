//! The public port in all its protocols, with services behind that answer everything.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod clients;
mod harness;
mod methods;
mod retry;
mod room;
