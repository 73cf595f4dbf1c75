//! Explanation of `swg`.

use crate::explain::{PLAYS_ON, Section, VariantText, twenty_three};
use crate::ruleset::RuleSet;

pub(super) fn explain(rules: &RuleSet) -> VariantText {
    let turn = if rules.draw_phase {
        "A turn is a betting action and then, unless you folded, a draw action. All-in players still \
         have their draw action, once a lap."
    } else {
        "A turn is a betting action; the two cards you are dealt are all you get."
    };
    let course = Section::new("A hand")
        .paragraph("Everybody gets two cards. Nothing ever shifts, and no card can be locked.")
        .paragraph(format!(
            "Turns go round from the dealer's left. {turn} The whole hand is one betting round."
        ))
        .paragraph(
            "The hand is called by itself when everybody has had a turn and the action is back at \
             whoever last lifted what is to be matched. Then all live hands are shown.",
        );
    let mut moves = Section::new("Moves").item(
        "check, bet N, match, raise N, fold",
        "the betting action; N of a raise is your total of the hand without antes",
    );
    if rules.draw_phase {
        moves = moves
            .item("draw", "takes a card")
            .item("trade CARD", "discards a card, then takes one")
            .item("stand", "leaves the hand as it is");
    }
    let ranking = twenty_three::ranking(rules).paragraph(
        "Equal hands are broken by a Sudden Demise: each of them is dealt one card, and the best hand \
         with it wins; who bombs out is out, without a penalty. If they are still equal, they share. If \
         all of them bomb, the one closest to 23 or -23 wins, the Sabacc Pot too where the hand that \
         was shown was special.",
    );
    VariantText {
        course,
        moves,
        ranking,
        money: vec![
            twenty_three::fold_penalty(rules),
            format!(
                "{} If everybody is bombed out, all pay that, and the Hand Pot moves to the Sabacc Pot.",
                twenty_three::penalty(rules)
            ),
            twenty_three::SABACC_POT.to_owned(),
        ],
        defaults: "`check` where it is legal, else `fold`; as a draw action `stand`.",
        leaving: PLAYS_ON,
    }
}
