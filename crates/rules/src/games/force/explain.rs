//! Explanation of `force`.

use crate::explain::text::number;
use crate::explain::{PLAYS_ON, Section, VariantText};
use crate::games::force::FIRST_CALL_CYCLE;
use crate::moves::Side;
use crate::ruleset::{Alignment, RuleSet};

pub(super) fn explain(rules: &RuleSet) -> VariantText {
    VariantText {
        course: course(rules),
        moves: moves(rules),
        ranking: ranking(rules),
        money: vec![
            "Bombing out costs nothing. A layer whose players are all out stays on the table and belongs \
             to the main layer of the next hand."
                .to_owned(),
        ],
        defaults: "`check` where it is legal, else `fold`; `stand` as an action; light as a side; and an \
                   extra card is dropped.",
        leaving: PLAYS_ON,
    }
}

fn course(rules: &RuleSet) -> Section {
    let (sides, flip) = match rules.alignment {
        Alignment::Choose => (
            "Everybody gets one card and, from the dealer's left, declares for the light or the dark side.",
            "if it is positive and your total before it was negative, or the other way round",
        ),
        Alignment::Naboo => (
            "Cards are dealt to each player, face up, until they have a face card, an Idiot counting as \
             one. They keep it, and its copy is their side: A is white and light, B is black and dark. \
             Everything else is shuffled back.",
            "if it is a face card of the other shade",
        ),
    };
    Section::new("A hand")
        .paragraph(sides)
        .paragraph(format!(
            "Everybody gets a second card. Then there are cycles of an action each and a betting round. \
             From cycle {FIRST_CALL_CYCLE} on you may call the hand in place of your action: the showdown begins \
             at once. After {} cycles it begins by itself. Cards never shift.",
            number(rules.max_rounds)
        ))
        .paragraph(format!(
            "In the showdown one live player after the other shows their hand and gets an extra card, \
             which they may keep or drop, or keep and drop another one for it. A kept extra card that is \
             upside down turns you to the other side: {flip}. Then a total over 23, under -23 or of 0 is \
             bombed out."
        ))
}

fn moves(rules: &RuleSet) -> Section {
    let mut moves = Section::new("Moves");
    if rules.alignment == Alignment::Choose {
        moves = moves.item("align light, align dark", "declares your side");
    }
    moves
        .item("draw", "takes a card")
        .item("trade CARD", "discards a card, then takes one")
        .item("stand", "leaves the hand as it is")
        .item("call-hand", "in place of an action: the showdown begins")
        .item(
            "check, bet N, match, raise N, fold",
            "in a betting round; N of a raise is your total of the round",
        )
        .item("keep, drop CARD", "in the showdown, about the extra card or another one")
}

fn ranking(rules: &RuleSet) -> Section {
    let deck = rules.variant().deck;
    Section::new("What beats what")
        .paragraph(
            "Each layer is judged among its own players. An Idiot's Array wins, then a Natural. Else the \
             sides are compared: every total counts as it is for the light side and with its sign turned \
             for the dark side, and the side with the higher sum wins. If the sums are equal, it is the \
             side that alone has the highest total, signs aside, else the dark one. Within the side the \
             total furthest from 0 wins, and a negative one beats the positive one.",
        )
        .paragraph(
            "Hands that are still equal get one card each, at most one a hand, and the best with it \
             wins; if all of them bomb, the next kind of hand is looked at, then the next best of the side, \
             then the other side.",
        )
        .ladder(
            deck,
            &Side::Dark,
            &[
                ("Idiot's Array", "an Idiot, a 2 and a 3, and no other card", "IdiotA S2 C3"),
                ("Natural", "a total of -23 or 23", "StarA EnduranceA S2"),
                ("within a side", "the total furthest from 0", "StarB S12 EvilA"),
                ("within a side", "the negative one of two such", "StarA QueenA"),
                ("within a side", "then the positive one", "F12 C7"),
                ("bombed out", "over 23, under -23, or 0", "S12 C12"),
            ],
        )
}
