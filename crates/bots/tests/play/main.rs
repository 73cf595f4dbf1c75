//! Strategies in whole hands, directly on the rules: no room, no clock, chance from fixed seeds.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]

mod hands;
mod skills;
mod table;
