//! Explanation of `eleven`.

use crate::explain::text::number;
use crate::explain::{PLAYS_ON, Section, VariantText};
use crate::games::eleven::FULL_HAND;
use crate::games::eleven::worth::{Announced, TARGET};
use crate::ruleset::RuleSet;

pub(super) fn explain(rules: &RuleSet) -> VariantText {
    let full = number(u64::try_from(FULL_HAND).unwrap_or(0));
    let course = Section::new("A hand")
        .paragraph(
            "First the shoe announces one face as wild and another one as clone; both copies of it are, \
             and all cards stay in the pack. Then everybody gets two cards.",
        )
        .paragraph(format!(
            "From the dealer's left each player draws or stands, lap after lap, until all have stood or \
             hold {full} cards. Standing is final. Going over {TARGET} is not announced and ends nothing."
        ))
        .paragraph("Then there is one betting round, and all live hands are shown.");
    let moves = Section::new("Moves")
        .item("draw", "takes a card")
        .item("stand", "takes no more cards in this hand")
        .item(
            "check, bet N, match, raise N, fold",
            "in the betting round; N of a raise is your total",
        );
    let faces = |code: &str| {
        let at = rules.variant().deck.faces().position(|face| face == code);
        at.and_then(|at| u32::try_from(at).ok()).unwrap_or(0)
    };
    let announced = Announced::of(&[faces("5S"), faces("1H")]);
    let mut ranking = Section::new("What beats what").paragraph(format!(
        "The total closest to {TARGET} without going over wins; of equal totals the one in fewer cards; \
         then they share. A wild counts 1 to 6, as serves best. A clone counts as much as another card \
         of the hand that is no clone, a wild's chosen value included, as serves best; without one it \
         counts 0. In these examples 5S is wild and 1H clone."
    ));
    if let Some(announced) = announced {
        ranking = ranking.ladder(
            rules.variant().deck,
            &announced,
            &[
                ("in few cards", "the wild is a six", "5S 5H"),
                ("in more cards", "the same total", "4H 5D 2S"),
                ("with a clone", "a second five", "5H 1H"),
                ("lower", "any other total", "4S 3H"),
                ("over", "it cannot win", "4S 4H 4D"),
            ],
        );
    }
    VariantText {
        course,
        moves,
        ranking,
        money: vec![format!(
            "A layer whose players are all over {TARGET} stays on the table and belongs to the main \
             layer of the next hand."
        )],
        defaults: "`stand`; in the betting round `check` where it is legal, else `fold`.",
        leaving: PLAYS_ON,
    }
}
