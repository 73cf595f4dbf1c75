//! Knows: the clock, entropy and ids that a program is given, and values that must not be seen.
//! Does not know: services, networks, games, credits or logs.
//!
//! The only crate that reads the clock and the generator of the operating system. A program takes a
//! [`clock::Clock`] and an [`entropy::Entropy`], so that tests move a clock of their own.

pub mod clock;
pub mod entropy;
pub mod ids;
pub mod secret;
