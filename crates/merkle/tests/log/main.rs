//! A log as others see it: signed, in tiles, with proofs; and what becomes of it when a byte changes.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod golden;
mod naive;
mod sample;
mod signer;
mod tampered;
mod texts;
mod tiles;
mod witness;
