//! Explanation of `coruscant`.

use crate::explain::text::{number, signed};
use crate::explain::{PLAYS_ON, Section, VariantText};
use crate::games::coruscant::HAND_SIZE;
use crate::games::coruscant::worth::{GOLD, Target};
use crate::ruleset::RuleSet;

pub(super) fn explain(rules: &RuleSet) -> VariantText {
    let hand = number(u64::from(HAND_SIZE));
    let gold: Vec<String> = GOLD.iter().map(|&value| signed(value)).collect();
    let course = Section::new("A hand")
        .paragraph(format!(
            "Everybody gets {hand} cards. Two dice are rolled: the gold one ({}) is the target, the \
             silver one (two faces each of circle, triangle and square) is the suit.",
            gold.join(" ")
        ))
        .paragraph(format!(
            "Everybody, from the dealer's left, lays one to {hand} cards face down: their selection. Then \
             there is a betting round. The rest of each hand is discarded, and as many new cards are \
             dealt. After a second betting round everybody may add any of the new cards to their \
             selection. Then the selections of all live players are shown."
        ));
    let moves = Section::new("Moves")
        .item("select CARD …", "the selection, all at once")
        .item("add CARD …", "new cards for the selection; `add` alone adds none")
        .item(
            "check, bet N, match, raise N, fold",
            "in a betting round; N of a raise is your total of the round",
        );
    let mut ranking = Section::new("What beats what").paragraph(
        "The total closest to the target wins; then the most cards of the suit, a Sylop being of every \
         suit; then the higher total, sign and all; then the higher single card; then equal hands share. \
         In these examples the dice ask for +5 and circles.",
    );
    // The faces for +5 and circles.
    if let Some(target) = Target::of(&[3, 1]) {
        ranking = ranking.ladder(
            rules.variant().deck,
            &target,
            &[
                ("on target", "with two of the suit", "c+3 c+2"),
                ("on target", "with one of the suit", "t+3 c+2"),
                ("off by one", "with one of the suit, above the target", "c+6"),
                ("off by one", "the same below it", "c+4"),
                ("far off", "any other total", "t-4 s+1"),
            ],
        );
    }
    VariantText {
        course,
        moves,
        ranking,
        money: Vec::new(),
        defaults: "the whole hand is selected, and nothing is added; in a betting round `check` where it \
                   is legal, else `fold`.",
        leaving: PLAYS_ON,
    }
}
