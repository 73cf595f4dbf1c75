//! The adaptation for a paper deck and real dice, with all its options.
//!
//! Specification: rules/SPEC.md §9.

use crate::deck::S76;
use crate::games::{GameState, shifting};
use crate::ruleset::{Field, Key};
use crate::variant::{RakeBase, Variant};

pub(crate) static VARIANT: Variant = Variant {
    id: "dice",
    title: "Sabacc with dice",
    source: "\"Star Wars Universe Overview\": Ryan B.'s adaptation with all its optional changes",
    player_counts: 2..=8,
    deck: &S76,
    piles: shifting::PILES,
    fields: &[
        Field::text(Key::BombOut, &["match_pot", "fixed", "none"]),
        Field::number(Key::BombOutAmount, 0),
        Field::flag(Key::DeclareTotals, true),
        Field::flag(Key::Field, true),
        Field::number(Key::FoldPenalty, 0),
        Field::number(Key::HandAnte, 5),
        Field::flag(Key::Holdem, false),
        Field::number(Key::MaxHandTotal, 0),
        Field::number(Key::MaxPot, 0),
        Field::number(Key::MaxRaise, 0),
        Field::number(Key::MaxRoundTotal, 0),
        Field::number(Key::MaxRounds, 12),
        Field::number(Key::MinBet, 0),
        Field::number(Key::PotBuildingRounds, 3),
        Field::number(Key::RakeBps, 0),
        Field::number(Key::RakeCap, 0),
        Field::text(Key::Ranking, &["signed", "absolute"]),
        Field::number(Key::SabaccAnte, 5),
        Field::text(Key::SabaccAnteWhen, &["every_hand", "when_empty"]),
        Field::text(Key::Shift, &["2d6", "2d10", "2d12", "1d6", "1d10", "1d12", "none"]),
        Field::number(Key::ShiftNumber, 1),
    ],
    has_sabacc_pot: true,
    has_carried_pot: false,
    call_reopens_betting: false,
    rake_base: RakeBase::ContestedLayers,
    evaluator: crate::s76::evaluator,
    open: |core| shifting::open(core, GameState::Dice),
    explain: shifting::explain::dice,
};
