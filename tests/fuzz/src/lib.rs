//! Knows: what to do with bytes that somebody made up: play them, read them, and say what must hold then.
//! Does not know: where the bytes come from.

mod bytes;
mod edits;
mod lines;
mod moves;

pub use edits::{edits, files};
pub use lines::lines;
pub use moves::moves;
