//! Cards of a hand that came to nothing, which its seed gives up to the first decision.
//!
//! A dealer or an operator who aborts hands they dislike has seen something of them. The seed is
//! opened all the same, so that anybody can compare the hands that were thrown away with those that
//! were played. The transcript of a hand that was never sealed is computed from the recorded
//! reveals, with the seats that withheld.

use fairness::{Handle, Shoe};
use proto::common::v1::CardRef;
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use rules::{Chance, Next, To};
use wire::places::handle_to_pb;
use wire::{HandReplay, Recorded};

use crate::dealing;
use crate::hand::HandRecords;
use crate::hand::case::Case;
use crate::hand::words::Words;
use crate::hand::{chance, promises};
use crate::report::Trouble;

/// Returns the cards in a line, such as `seat 2: S3 F1; seat 5: C9 Q2`. `None` if the seed is not
/// open or the hand was not aborted.
#[must_use]
pub fn discarded(records: &HandRecords) -> Option<String> {
    let case = Case::read(records);
    if !case.came_to_nothing() {
        return None;
    }
    outcome(&case).ok()
}

fn outcome(case: &Case<'_>) -> Result<String, Trouble> {
    let (_, opened) = case.opened()?;
    let mut shoe = Shoe::new(promises::keys(case).or_else(|_| promises::unsealed_keys(case))?);
    let broken = |_| crate::report::missing("the hand cannot be dealt");
    let mut replay = HandReplay::open(opened).map_err(broken)?;
    let mut told = Vec::new();
    while let Next::Chance([due, ..]) = rules::next(&replay.hand) {
        let due = due.clone();
        deal(&mut replay, &mut shoe, (&due, &mut told))
            .ok_or_else(|| crate::report::missing("the hand cannot be dealt"))?;
    }
    Ok(told.join("; "))
}

fn deal(
    replay: &mut HandReplay,
    shoe: &mut Shoe,
    (due, told): (&Chance, &mut Vec<String>),
) -> Option<()> {
    let Chance::Deal(dealt) = due else {
        let operation = replay.places.clone().ask(due).ok()?;
        let input = used(replay, shoe, operation, false)?;
        if let (Some(rules::Event::Chance(outcome)), false) =
            (input, matches!(due, Chance::Shuffle { .. }))
        {
            let name = |_: rules::Player| String::new();
            let deck = replay.hand.rules().variant().deck;
            told.push(format!("the dealer {}", Words { deck, name: &name }.chance(due, &outcome)));
        }
        return Some(());
    };
    let layout = dealing::lay_out(replay, shoe, dealt).ok()?;
    for restock in layout.restocks {
        used(replay, shoe, restock, true)?;
    }
    let deck = replay.hand.rules().variant().deck;
    let card = |place: Handle| shoe.reopen(place).ok().and_then(|id| deck.card(id));
    let codes: Vec<&str> = layout
        .places
        .iter()
        .map(|place| card(*place).map(|card| deck.code(card)))
        .collect::<Option<_>>()?;
    let seat = replay.recipient(dealt.to);
    told.push(match dealt.to {
        To::Player(_) => format!("seat {seat}: {}", codes.join(" ")),
        To::Table => format!("on the table: {}", codes.join(" ")),
    });
    let cards = layout.places.iter().map(|place| {
        let dealer::Handle { op, position } = handle_to_pb(*place);
        CardRef { op, position, card: String::new(), salt: Vec::new() }
    });
    let moved = pb::CardsMoved { seat, cards: cards.collect() };
    replay.apply(&Recorded::CardsMoved(moved), &card).ok().map(|_| ())
}

fn used(
    replay: &mut HandReplay,
    shoe: &mut Shoe,
    operation: dealer::Operation,
    restock: bool,
) -> Option<Option<rules::Event>> {
    let answer = shoe.perform(operation.index, &chance::ask(&operation)?).ok()?;
    let result = Some(chance::result(operation.index, &answer, false));
    let used = pb::ChanceUsed { operation: Some(operation), result, restock };
    replay.apply(&Recorded::ChanceUsed(used), &|_| None).ok()
}
