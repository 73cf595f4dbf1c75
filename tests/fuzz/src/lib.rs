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

pub use bundles::{bundle_file, bundles};
pub use edits::{edits, files};
pub use evidence::{evidence, evidence_file};
pub use lines::lines;
pub use moves::moves;
pub use signed::{checkpoints, keys, keys_file, note_file};
pub use tiles::tiles;
