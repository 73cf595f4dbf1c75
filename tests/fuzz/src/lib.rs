//! Knows: how to play and read arbitrary bytes, and the properties that must hold.
//! Does not know: where the bytes come from.

mod bundles;
mod bytes;
mod edits;
mod evidence;
mod lines;
mod moves;
mod mutate;
mod signed;
mod tiles;

pub use bundles::bundles;
pub use edits::{edits, files};
pub use evidence::evidence;
pub use lines::lines;
pub use moves::moves;
pub use signed::{checkpoints, keys};
pub use tiles::tiles;
