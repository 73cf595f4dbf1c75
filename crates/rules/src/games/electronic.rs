//! Casino sabacc: the droid dealer's random pulse shifts the cards.
//!
//! Specification: rules/SPEC.md §9.

use crate::deck::S76;
use crate::games::{GameState, shifting};
use crate::ruleset::{Field, Key};
use crate::variant::{RakeBase, Variant};

pub(crate) static VARIANT: Variant = Variant {
    id: "electronic",
    title: "Casino sabacc",
    source: "\"Star Wars Universe Overview\": the game of the novels, with the droid dealer's random pulse",
    player_counts: 2..=8,
    deck: &S76,
    piles: shifting::PILES,
    fields: &[
        Field::text(Key::BombOut, &["match_pot", "fixed", "none"]),
        Field::number(Key::BombOutAmount, 0),
        Field::flag(Key::DeclareTotals, false),
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
        Field::number(Key::PotBuildingRounds, 4),
        Field::number(Key::PulsePpm, 0),
        Field::number(Key::RakeBps, 0),
        Field::number(Key::RakeCap, 0),
        Field::text(Key::Ranking, &["signed", "absolute"]),
        Field::number(Key::SabaccAnte, 5),
        Field::text(Key::SabaccAnteWhen, &["every_hand", "when_empty"]),
        Field::text(Key::Shift, &["pulse", "none"]),
    ],
    has_sabacc_pot: true,
    has_carried_pot: false,
    call_reopens_betting: true,
    rake_base: RakeBase::ContestedLayers,
    evaluator: crate::s76::evaluator,
    open: |core| shifting::open(core, GameState::Electronic),
    explain: shifting::explain::electronic,
};
