//! The registry: every variant is one module and one line here.

mod action;
mod coruscant;
mod dice;
mod electronic;
mod eleven;
mod force;
mod kessel;
mod settling;
mod shifting;
mod spike;
mod swg;

use crate::variant::Variant;

/// All variants, sorted by id.
pub static ALL: &[&Variant] = &[
    &coruscant::VARIANT,
    &dice::VARIANT,
    &electronic::VARIANT,
    &eleven::VARIANT,
    &force::VARIANT,
    &kessel::VARIANT,
    &spike::VARIANT,
    &swg::VARIANT,
];
