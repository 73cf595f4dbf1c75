//! The client against a scripted server, and its strategies on the rules.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod bots;
mod calls;
mod chance;
mod fake;
mod following;
mod hands;
mod house;
mod playing;
