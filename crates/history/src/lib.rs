//! Knows: hand histories: their text and JSON forms, how to replay them, and how to make random
//! ones.
//! Does not know: files, protobuf, tables in play, who asks.
//!
//! A [`HandHistory`] holds what the rules and the earlier lines do not determine: chance and
//! decisions. [`read`] and [`write()`] are its text form (`.shh`, TOML), [`json`] its JSON form.
//! [`replay`] plays it on the rules, line by line, and checks its end. [`report()`] summarizes the
//! outcome. [`simulate`] makes hands that others can check their own programs against.
//!
//! Specification: history/SPEC.md §1.

pub mod json;
mod model;
mod read;
mod replay;
mod report;
pub mod simulate;
mod write;

pub use model::HandHistory;
pub use read::{FormatError, read};
pub use replay::{InvalidHand, Replay, replay};
pub use report::{FinalHand, NextLine, Report, report};
pub use write::{HEADER, write, write_hand};
