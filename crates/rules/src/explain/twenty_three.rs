//! Rules that the games to 23 share: the ladder of hands, and the penalty for bombing out.

use crate::explain::section::Section;
use crate::explain::text::credits;
use crate::ruleset::{BombOut, Ranking, RuleSet};

pub(crate) fn ranking(rules: &RuleSet) -> Section {
    let section = Section::new("What beats what").paragraph(match rules.ranking {
        Ranking::Signed => {
            "Below the special hands the higher total wins, sign and all: 1 beats -22. +23 and -23 are \
             equal."
        }
        Ranking::Absolute => {
            "Below the special hands the total further from 0 wins, whatever its sign: 22 and -22 tie. \
             +23 and -23 are equal too."
        }
    });
    section.ladder(
        rules.variant().deck,
        &rules.ranking,
        &[
            ("Idiot's Array", "an Idiot, a 2 and a 3, and no other card", "IdiotA S2 C3"),
            ("Pure Sabacc", "a total of 23", "S12 C11"),
            ("Pure Sabacc", "or of -23", "StarA EnduranceA S2"),
            ("total", "a high one", "F14 C8"),
            ("total", "a low one", "S5 C2 QueenA"),
            ("total", "a negative one", "StarA S3 EnduranceB"),
            ("bombed out", "over 23, under -23, or 0: it cannot win", "S12 C12"),
            ("bombed out", "also with a 0", "C13 DemiseA"),
        ],
    )
}

/// Text about the cost of bombing out.
pub(crate) fn penalty(rules: &RuleSet) -> String {
    match rules.bomb_out {
        BombOut::MatchPot => {
            "Whoever is bombed out at the reveal pays a penalty into the Sabacc Pot: as \
            much as the whole Hand Pot holds then, the same for everybody."
                .to_owned()
        }
        BombOut::Fixed => format!(
            "Whoever is bombed out at the reveal pays a penalty of {} into the Sabacc Pot.",
            credits(rules.bomb_out_amount)
        ),
        BombOut::None => "Bombing out costs no penalty.".to_owned(),
    }
}

pub(crate) fn fold_penalty(rules: &RuleSet) -> String {
    if rules.fold_penalty.is_zero() {
        "Folding costs nothing more.".to_owned()
    } else {
        format!("Folding costs {}, into the Sabacc Pot.", credits(rules.fold_penalty))
    }
}

/// Text about the winner of the Sabacc Pot.
pub(crate) const SABACC_POT: &str = "Whoever wins the main layer and showed an Idiot's Array or Pure \
    Sabacc takes the Sabacc Pot as well, this hand's penalties included. A layer in which everybody is \
    bombed out goes into the Sabacc Pot.";
