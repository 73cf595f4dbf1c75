//! The client, and bots, against a server that does as each test says.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod bots;
mod calls;
mod chance;
mod fake;
mod following;
mod house;
mod playing;
