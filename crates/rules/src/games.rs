//! Registry of variants: every variant is one module and one line here.
//!
//! Specification: rules/SPEC.md §2.1.

mod action;
pub(crate) mod coruscant;
mod dice;
mod electronic;
pub(crate) mod eleven;
pub(crate) mod force;
#[cfg(test)]
mod highest;
pub(crate) mod kessel;
mod settling;
mod shifting;
pub(crate) mod spike;
mod swg;

use crate::variant::Variant;

/// All variants, sorted by id.
pub static ALL: &[&Variant] = &[
    &coruscant::VARIANT,
    &dice::VARIANT,
    &electronic::VARIANT,
    &eleven::VARIANT,
    &force::VARIANT,
    #[cfg(test)]
    &highest::VARIANT,
    &kessel::VARIANT,
    &spike::VARIANT,
    &swg::VARIANT,
];
