//! Cards of a hand that came to nothing, which its seed gives up to the first decision.
//!
//! A dealer or an operator who aborts hands they dislike has seen something of them. The seed is
//! opened all the same, so that anybody can compare the hands that were thrown away with those that
//! were played. What a number that was burnt before its antes would have been takes the withheld
//! numbers too, which their owners may still open.
//!
//! Specification: fairness/SPEC.md §3.11.

use fairness::{Handle, Keys, Shoe};
use proto::common::v1::CardRef;
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use rules::{Chance, Destination, Next};
use wire::card_positions::handle_to_pb;
use wire::{HandReplay, TableRecord};

use crate::dealing;
use crate::hand::HandRecords;
use crate::hand::decoded_records::DecodedRecords;
use crate::hand::sentences::Sentences;
use crate::hand::{chance, commitments};
use crate::report::CheckError;

/// Most uses of chance that are listed.
const MAX_LISTED: usize = 100;

/// Returns what a hand that came to nothing held, as a sentence without its full stop, such as
/// `Its seed held, up to the first decision: seat 2: S3 F1; seat 5: C9 Q2`. `None` if the seed is not
/// open or the hand was not aborted.
#[must_use]
pub fn discarded(records: &HandRecords) -> Option<String> {
    let decoded = DecodedRecords::decode(records);
    if !decoded.is_aborted() {
        return None;
    }
    held(&decoded).ok()
}

/// Returns what a hand that came to nothing held. What a burnt number would have been takes every
/// number that its closing names: where nobody has opened one, nobody can say it.
pub(super) fn held(decoded: &DecodedRecords<'_>) -> Result<String, CheckError> {
    if decoded.sealed().is_ok() {
        let dealt = dealt(decoded, commitments::derive_keys(decoded)?)?;
        return Ok(format!("Its seed held, up to the first decision: {dealt}"));
    }
    decoded.closed()?;
    let shut = commitments::unopened_seats(decoded)?;
    if !shut.is_empty() {
        let whose: Vec<String> = shut.iter().map(|seat| format!("seat {seat}")).collect();
        let whose = whose.join(" and ");
        return Ok(format!(
            "What it would have been takes the number of {whose} too, which nobody opened"
        ));
    }
    let dealt = dealt(decoded, commitments::derive_unsealed_keys(decoded)?)?;
    Ok(format!("It would have been, up to the first decision: {dealt}"))
}

/// Returns what these keys deal up to the first decision.
fn dealt(decoded: &DecodedRecords<'_>, keys: Keys) -> Result<String, CheckError> {
    let (_, opened) = decoded.opened()?;
    let mut shoe = Shoe::new(keys);
    let broken = |_| crate::report::missing("the hand cannot be dealt");
    let mut replay = HandReplay::try_new(opened).map_err(broken)?;
    let mut lines = Vec::new();
    while let Next::Chance([due, ..]) = rules::next(&replay.hand)
        && lines.len() < MAX_LISTED
    {
        let due = due.clone();
        deal(&mut replay, &mut shoe, &due, &mut lines)
            .ok_or_else(|| crate::report::missing("the hand cannot be dealt"))?;
    }
    Ok(if lines.is_empty() { "nothing".to_owned() } else { lines.join("; ") })
}

fn deal(
    replay: &mut HandReplay,
    shoe: &mut Shoe,
    due: &Chance,
    lines: &mut Vec<String>,
) -> Option<()> {
    let Chance::Deal(dealt) = due else {
        let operation = replay.positions.clone().operation_for(due).ok()?;
        let input = perform_operation(replay, shoe, operation, false)?;
        if let (Some(rules::Event::Chance(outcome)), false) =
            (input, matches!(due, Chance::Shuffle { .. }))
        {
            let name = |_: rules::Player| String::new();
            let deck = replay.hand.rules().variant().deck;
            lines.push(format!(
                "the dealer {}",
                Sentences { deck, name: &name }.chance(due, &outcome)
            ));
        }
        return Some(());
    };
    let layout = dealing::lay_out(replay, shoe, dealt).ok()?;
    for restock in layout.restocks {
        perform_operation(replay, shoe, restock, true)?;
    }
    let deck = replay.hand.rules().variant().deck;
    let card = |handle: Handle| shoe.card_at_any(handle).ok().and_then(|id| deck.card(id));
    let codes: Vec<&str> = layout
        .positions
        .iter()
        .map(|handle| card(*handle).map(|card| deck.code(card)))
        .collect::<Option<_>>()?;
    let seat = replay.recipient(dealt.to);
    lines.push(match dealt.to {
        Destination::Player(_) => format!("seat {seat}: {}", codes.join(" ")),
        Destination::Table => format!("on the table: {}", codes.join(" ")),
    });
    let cards = layout.positions.iter().map(|handle| {
        let dealer::Handle { op, position } = handle_to_pb(*handle);
        CardRef { op, position, card: String::new(), salt: Vec::new() }
    });
    let moved = pb::CardsMoved { seat, cards: cards.collect() };
    replay.apply(&TableRecord::CardsMoved(moved), &card).ok().map(|_| ())
}

fn perform_operation(
    replay: &mut HandReplay,
    shoe: &mut Shoe,
    operation: dealer::Operation,
    restock: bool,
) -> Option<Option<rules::Event>> {
    let answer = shoe.perform(operation.index, &chance::parse_operation(&operation)?).ok()?;
    let result = Some(chance::result(operation.index, &answer, false));
    let used = pb::ChanceUsed { operation: Some(operation), result, restock };
    replay.apply(&TableRecord::ChanceUsed(used), &|_| None).ok()
}
