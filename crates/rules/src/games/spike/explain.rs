//! Explanation of `spike`.

use crate::explain::text::number;
use crate::explain::{PLAYS_ON, Section, VariantText};
use crate::games::spike::ladder::Ladder;
use crate::games::spike::{MAX_CARDS, ROUNDS};
use crate::ruleset::{Preset, RuleSet};

pub(super) fn explain(rules: &RuleSet) -> VariantText {
    let rounds = number(ROUNDS);
    let after = match rules.preset {
        Preset::Casino => "then two dice are rolled, and a betting round follows",
        Preset::BlackSpire => "then two dice are rolled; there are no betting rounds",
    };
    let course = Section::new("A hand")
        .paragraph("Everybody gets two cards, and one card is turned up to start the discard pile.")
        .paragraph(format!(
            "There are {rounds} rounds. In each every live player has one action, from the dealer's \
             left; {after}. If the dice show a pair, every live player's hand goes under the discards \
             and they get as many new cards, also after the last round."
        ))
        .paragraph(format!("After round {rounds} all live hands are shown. Nobody bombs out."));
    let most = number(u64::try_from(MAX_CARDS).unwrap_or(0));
    let mut moves = Section::new("Moves")
        .item(
            "gain, gain CARD",
            format!(
                "takes the top card of the draw pile, after discarding one if you name it; nobody holds \
                 more than {most} cards"
            ),
        )
        .item("swap CARD", "discards a card and takes the one that was the top discard")
        .item("stand", "leaves the hand as it is")
        .item("junk", "gives the hand up: a fold");
    if rules.preset == Preset::Casino {
        moves = moves.item(
            "check, bet N, match, raise N, fold",
            "in a betting round; N of a raise is your total of the round",
        );
    }
    VariantText {
        course,
        moves,
        ranking: ranking(rules),
        money: vec![
            "Whoever wins the main layer with a total of 0 takes the Sabacc Pot as well; winners who \
             share the one share the other."
                .to_owned(),
        ],
        defaults: "`stand`; in a betting round `check` where it is legal, else `fold`.",
        leaving: PLAYS_ON,
    }
}

fn ranking(rules: &RuleSet) -> Section {
    Section::new("What beats what")
        .paragraph(
            "All hands but the last sum to 0, and a hand counts as the best it fits. Signs do not matter \
             unless they are named. But for the four best hands a Sylop is a plain 0, which belongs to \
             no pair, set or run.",
        )
        .ladder(
            rules.variant().deck,
            &Ladder,
            &[
                ("Pure Sabacc", "two Sylops and nothing else", "Y Y"),
                ("Full Sabacc", "a Sylop, two +10 and two -10", "Y c+10 t+10 c-10 s-10"),
                ("Fleet", "a Sylop and four of one value; lower wins", "Y c+5 t+5 c-5 s-5"),
                ("Yee-Haa", "a Sylop and a pair, three cards; lower wins", "Y c+3 t-3"),
                ("Rhylet", "three of one value and sign, two of another with the other sign; the lower three win", "c+2 t+2 s+2 c-3 t-3"),
                ("Squadron", "four of one value, four cards; lower wins", "c+4 t+4 c-4 t-4"),
                ("Gee Whiz", "1 2 3 4 of one sign and 10 of the other", "c+1 t+2 s+3 c+4 t-10"),
                ("Straight Khyron", "four values in a row, four cards; the lower start wins", "c+1 t-2 s-3 c+4"),
                ("Banthas Wild", "three of one value and any others; lower wins", "c+4 t+4 s-4 c-1 t-3"),
                ("Rule of Two", "two pairs and any others; the lower small pair wins, then the lower large one", "c+5 t-5 c+2 t-2"),
                ("Sabacc with a pair", "the lower pair wins, then as plain Sabacc", "c+6 t+6 s-9 c-3"),
                ("Sabacc", "any other 0: more cards win, then the higher sum of the positive ones, then the higher single card", "c+7 t-5 s-2"),
                ("Nulrhek", "anything but 0: closer to 0 wins, then positive, then as plain Sabacc", "c+7 t-5"),
            ],
        )
        .paragraph(
            "Hands that are still equal get a blind card each, which is compared alone: closer to 0, \
             then positive. Those still equal draw again, up to three times, then share.",
        )
}
