//! The client and bots against a scripted server.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod bots;
mod calls;
mod chance;
mod fake;
mod following;
mod hand_fixture;
mod hostile_house;
mod playing;
