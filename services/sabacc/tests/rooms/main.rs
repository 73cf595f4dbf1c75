//! Whole card rooms, as programs, under what happens to them: kills, stops, bad input, curious eyes.
//!
//! Each file is one promise. `place` starts rooms and ends them, `people` plays in them, `records`
//! reads what they have written down.

mod apart;
mod bad_input;
mod kill;
mod matrix;
mod people;
mod place;
mod records;
mod resume;
mod secrecy;
mod trace;
mod trouble;
