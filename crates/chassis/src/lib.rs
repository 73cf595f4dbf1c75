//! Knows: nothing yet.
//! Does not know: anything.

pub mod entropy;
pub mod postgres;
