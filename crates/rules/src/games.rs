//! Registry of variants: every variant is one module, and one line in each of the two lists here.
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
pub(crate) mod shifting;
pub(crate) mod spike;
pub(crate) mod swg;

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

/// State of a game as one viewer may know it, apart from what every game has: cards, credits,
/// phase, turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GameState {
    Coruscant(coruscant::CoruscantState),
    Dice(shifting::ShiftingState),
    Electronic(shifting::ShiftingState),
    Eleven(eleven::ElevenState),
    Force(force::ForceState),
    #[cfg(test)]
    Highest,
    Kessel(kessel::KesselState),
    Spike(spike::SpikeState),
    Swg(swg::SwgState),
}
