//! Explanation of `electronic` and `dice`: sabacc whose cards shift.

use crate::explain::text::number;
use crate::explain::{PLAYS_ON, Section, VariantText, twenty_three};
use crate::ruleset::{RuleSet, Shift};

pub(crate) fn electronic(rules: &RuleSet) -> VariantText {
    variant_text(
        rules,
        "Then everybody who still has credits must act once more, the caller first, and may raise; bets \
         made so far stand.",
    )
}

pub(crate) fn dice(rules: &RuleSet) -> VariantText {
    variant_text(rules, "The round goes on as usual, and is the last one.")
}

fn variant_text(rules: &RuleSet, called: &str) -> VariantText {
    let first = rules.pot_building_rounds.saturating_add(1);
    let most = number(rules.max_rounds);
    let totals = if rules.declare_totals {
        "Everybody's opening total is announced."
    } else {
        "Nobody's opening total is announced."
    };
    let course = Section::new("A hand")
        .paragraph(format!("Everybody gets two cards. {totals}"))
        .paragraph(format!(
            "Then there are cycles of a play round, in which every live player has one turn, and a \
             betting round. From betting round {first} on the hand may be called; after {most} cycles it \
             is over anyway. Where it could be called and no betting round can be held, it is over too."
        ))
        .paragraph(shifts(rules))
        .paragraph(format!("Whoever calls the hand does so once, before their betting action. {called}"))
        .paragraph("In the end all live hands are shown.");
    VariantText {
        course,
        moves: moves(rules),
        ranking: ranking(rules),
        money: vec![
            twenty_three::fold_penalty(rules),
            format!(
                "{} If everybody is bombed out, all pay that, and the Hand Pot moves to the Sabacc Pot.",
                twenty_three::penalty(rules)
            ),
            twenty_three::SABACC_POT.to_owned(),
        ],
        defaults: "`check` where it is legal, else `fold`; in a play round `stand`.",
        leaving: PLAYS_ON,
    }
}

fn shifts(rules: &RuleSet) -> String {
    const WHEN: &str = "After every turn of a play round and after every betting round";
    let how = match (rules.shift, rules.shift.dice()) {
        (_, Some((1, sides))) => format!(
            "{WHEN} a die with {sides} sides is rolled; a {} is a Sabacc Shift.",
            rules.shift_number
        ),
        (_, Some((_, sides))) => {
            format!("{WHEN} two dice with {sides} sides are rolled; a pair is a Sabacc Shift.")
        }
        (Shift::Pulse, None) if rules.pulse_ppm > 0 => format!(
            "{WHEN} the droid dealer may send a pulse, with a chance of {} in a million: a Sabacc Shift.",
            rules.pulse_ppm
        ),
        (Shift::Pulse, None) => format!(
            "{WHEN} the droid dealer may send a pulse: a Sabacc Shift. In the shortest hand, of {} \
             cycles, one is expected: with four players the chance is {} in a million each time.",
            rules.pot_building_rounds.saturating_add(1),
            rules.pulse_ppm_for(4)
        ),
        (_, None) => return "The cards never shift.".to_owned(),
    };
    let safe = if rules.field { "Locked cards, discards" } else { "Discards" };
    format!(
        "{how} All unlocked cards of the live hands are shuffled into the draw pile, and everybody is \
         dealt as many as were taken from them. {safe} and folded hands stay as they are."
    )
}

fn moves(rules: &RuleSet) -> Section {
    let mut moves = Section::new("Moves");
    if rules.field {
        moves = moves
            .item("lock CARD", "lays a card face up into the Disruptor Field, where no shift takes it; at most one a turn, and not one unlocked in the same turn")
            .item("unlock CARD", "takes a card back out of the field; at most one a turn, and not one locked in the same turn");
    } else {
        moves = moves.paragraph("There is no Disruptor Field: no card can be locked.");
    }
    moves
        .item("draw", "takes a card and ends the turn")
        .item("trade CARD", "discards an unlocked card, then takes one, and ends the turn")
        .item("stand", "ends the turn without a card")
        .item("check, bet N, match, raise N, fold", "in a betting round; N of a raise is your total of the round")
        .item("call-hand", "on your turn in a betting round, before the action itself, where nobody has called yet")
}

fn ranking(rules: &RuleSet) -> Section {
    let mut ranking = twenty_three::ranking(rules);
    if rules.holdem {
        ranking = ranking.paragraph(
            "Cards in the field of any live player may be added to your hand at the reveal: your own \
             cards all count, of the others' whichever make the best hand, and the same card may serve \
             several players.",
        );
    }
    ranking.paragraph(
        "Equal hands are broken by a Sudden Demise: each of them is dealt one card, and the best hand \
         with it wins. Bombing out there costs nothing. If they are still equal, they share. If all of \
         them bomb, the next best hand that was shown wins the layer, without the Sabacc Pot; where \
         there is none, the layer goes into the Sabacc Pot.",
    )
}
