//! The registry: every variant is one module and one line here.

mod dice;
mod electronic;
mod shifting;

use crate::variant::Variant;

/// All variants, sorted by id.
pub static ALL: &[&Variant] = &[&dice::VARIANT, &electronic::VARIANT];
