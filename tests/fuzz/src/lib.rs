//! Knows: how to play and read arbitrary bytes, and the properties that must hold.
//! Does not know: where the bytes come from.

mod bytes;
mod edits;
mod lines;
mod moves;

pub use edits::{edits, files};
pub use lines::lines;
pub use moves::moves;
