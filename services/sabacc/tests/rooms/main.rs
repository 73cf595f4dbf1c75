//! Whole card rooms, as programs, under what happens to them: kills, stops, bad input, curious eyes.
//!
//! Each file is one promise. `place` starts rooms and ends them, `people` plays in them, `records`
//! reads what they have written down.

#![expect(clippy::unwrap_used, reason = "a test that panics has failed")]
#![expect(clippy::wildcard_enum_match_arm, reason = "a test looks for a few events among all")]

mod apart;
mod archive;
mod auditing;
mod bad_input;
mod chance;
mod entropy;
mod kill;
mod logs;
mod matrix;
mod people;
mod personal;
mod place;
mod playing;
mod records;
mod resume;
mod rotation;
mod secrecy;
mod trace;
mod trouble;
