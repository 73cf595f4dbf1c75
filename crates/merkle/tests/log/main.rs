//! A published log: signed, in tiles, with proofs, and the same with one byte changed.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod golden;
mod naive;
mod sample;
mod signer;
mod tampered;
mod texts;
mod tiles;
mod witness;
