//! Operations of chance: their conversion for the shoe, and the comparison of the two logs that
//! record them.
//!
//! Specification: fairness/SPEC.md §10.5.

use fairness::{Handle, OperationRequest, PublicOutcome, ShuffleInput};
use proto::dealer::v1::{self as pb, operation::Kind};
use wire::card_positions::handle_from_pb;
use wire::{DealerRecord, TableRecord};

use crate::hand::Check;
use crate::hand::decoded_records::{DecodedEvent, DecodedRecords};
use crate::hand::replay::Replay;
use crate::report::{CheckError, ensure, failed};

/// Converts an operation for the shoe. `None` if it is malformed.
pub(crate) fn parse_operation(operation: &pb::Operation) -> Option<OperationRequest> {
    let small = |number: &u32| u8::try_from(*number).ok();
    Some(match operation.kind.as_ref()? {
        Kind::Shuffle(pb::Shuffle { pile, fresh, first_fresh, cards }) => {
            let input = if cards.is_empty() {
                let count = u16::try_from(*fresh).ok()?;
                ShuffleInput::Fresh { first: small(first_fresh)?, count }
            } else if *fresh == 0 && *first_fresh == 0 {
                let handles = cards.iter().map(|card| handle_from_pb(card).ok());
                ShuffleInput::Cards(handles.collect::<Option<Vec<Handle>>>()?)
            } else {
                return None;
            };
            OperationRequest::Shuffle { pile: small(pile)?, input }
        }
        Kind::Roll(pb::Roll { sides }) => {
            OperationRequest::Roll { sides: sides.iter().map(small).collect::<Option<_>>()? }
        }
        Kind::Pulse(pb::Pulse { ppm }) => OperationRequest::Pulse { ppm: *ppm },
        Kind::Pick(pb::Pick { n }) => OperationRequest::Pick { n: *n },
        Kind::Sample(pb::Sample { n, k }) => OperationRequest::Sample { n: *n, k: *k },
    })
}

/// Returns the public numbers of an answer; of a shuffle the number of cards.
fn public_values(answer: &PublicOutcome) -> Vec<u32> {
    match answer {
        PublicOutcome::Shuffled { root: _, count } => vec![u32::from(*count)],
        PublicOutcome::Rolled(sides) => sides.iter().copied().map(u32::from).collect(),
        PublicOutcome::Pulsed(yes) => vec![u32::from(*yes)],
        PublicOutcome::Picked(one) => vec![*one],
        PublicOutcome::Sampled(some) => some.clone(),
    }
}

/// Returns the number of cards, dice or numbers of an answer.
pub(super) fn size(answer: &PublicOutcome) -> u64 {
    let length = |some: usize| u64::try_from(some).unwrap_or(u64::MAX);
    match answer {
        PublicOutcome::Shuffled { root: _, count } => u64::from(*count),
        PublicOutcome::Rolled(sides) => length(sides.len()),
        PublicOutcome::Pulsed(_) | PublicOutcome::Picked(_) => 1,
        PublicOutcome::Sampled(some) => length(some.len()),
    }
}

type OperationRecord<'a> = (Option<&'a pb::Operation>, Option<&'a pb::OperationResult>);

/// Checks that both logs record the same operations with the same results, and that the replay
/// found them due and as the seed gives them.
pub(super) fn check_operations<'a>(
    decoded: &'a DecodedRecords<'_>,
    replay: &Replay,
) -> Result<(), CheckError> {
    let at_table = |read: &'a DecodedEvent<'_, TableRecord>| {
        let TableRecord::ChanceUsed(used) = &read.recorded else { return None };
        Some((used.operation.as_ref(), used.result.as_ref()))
    };
    let at_dealer = |read: &'a DecodedEvent<'_, DealerRecord>| {
        let DealerRecord::OperationPerformed(done) = &read.recorded else { return None };
        Some((done.operation.as_ref(), done.result.as_ref()))
    };
    let table: Vec<OperationRecord<'a>> = decoded.hand.iter().filter_map(at_table).collect();
    let dealer: Vec<OperationRecord<'a>> = decoded.dealer.iter().filter_map(at_dealer).collect();
    for (index, ours) in table.iter().enumerate() {
        let theirs = dealer.get(index).ok_or_else(|| {
            failed(format!("operation {index} is in the table's log and not in the dealer's"))
        })?;
        ensure(ours == theirs, || {
            format!("the table's and the dealer's logs tell operation {index} differently")
        })?;
    }
    // The dealer is asked before the table records the answer. So it may have performed more
    // operations of a hand in play, and of a hand that came to nothing those that were due next.
    let over = decoded.settled().is_ok() || decoded.is_aborted();
    for (index, theirs) in dealer.iter().enumerate().skip(table.len()).filter(|_| over) {
        let due = replay.due_at_abort.iter().find(|(due, _)| u32::try_from(index) == Ok(due.index));
        ensure(due.is_some_and(|(due, result)| *theirs == (Some(due), Some(result))), || {
            format!("the dealer performed operation {index}, which the hand did not use")
        })?;
    }
    replay.verdict(Check::Operations)
}

/// Returns the public result of an operation. It includes a shuffle's root if `roots` is set.
pub(crate) fn result(index: u32, answer: &PublicOutcome, roots: bool) -> pb::OperationResult {
    let root = match answer {
        PublicOutcome::Shuffled { root, count: _ } if roots => root.to_vec(),
        PublicOutcome::Shuffled { .. }
        | PublicOutcome::Rolled(_)
        | PublicOutcome::Pulsed(_)
        | PublicOutcome::Picked(_)
        | PublicOutcome::Sampled(_) => Vec::new(),
    };
    pb::OperationResult { index, values: public_values(answer), root }
}
