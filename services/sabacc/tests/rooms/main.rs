//! Whole card rooms as programs, under kills, stops, bad input and attempts to see hidden data.
//!
//! Each file tests one promise. `harness` starts and stops rooms, `people` plays in them,
//! `records` reads their logs.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]
#![expect(clippy::wildcard_enum_match_arm, reason = "a test looks for a few events among all")]

mod archive;
mod auditing;
mod backup;
mod bad_input;
mod chance;
mod contract;
mod database;
mod demo;
mod developing;
mod edge;
mod entropy;
mod excluded;
mod forked;
mod guests;
mod harness;
mod hostile;
mod ids;
mod kill;
mod log_is_authority;
mod logs;
mod malformed;
mod matrix;
mod memory;
mod mistyped;
mod monitor;
mod operating;
mod outages;
mod own_hands;
mod people;
mod personal;
mod players;
mod playing;
mod readiness;
mod records;
mod resume;
mod rewritten;
mod rotation;
mod second_room;
mod secrecy;
mod separate;
mod standby;
mod stopped_effects;
mod suspended;
mod tls;
mod trace;
mod walk;
mod witnessed;
