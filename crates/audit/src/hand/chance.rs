//! Operations of chance: their conversion for the shoe, and the comparison of the two logs that
//! record them.

use fairness::{Answer, Ask, Handle, ShuffleInput};
use proto::dealer::v1::{self as pb, operation::Kind};
use wire::Recorded;
use wire::places::handle_from_pb;

use crate::hand::Check;
use crate::hand::case::{Case, Read};
use crate::hand::walk::Walk;
use crate::report::{Trouble, failed, hold};

/// Converts an operation for the shoe. `None` if it is malformed.
pub(crate) fn ask(operation: &pb::Operation) -> Option<Ask> {
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
            Ask::Shuffle { pile: small(pile)?, input }
        }
        Kind::Roll(pb::Roll { sides }) => {
            Ask::Roll { sides: sides.iter().map(small).collect::<Option<_>>()? }
        }
        Kind::Pulse(pb::Pulse { ppm }) => Ask::Pulse { ppm: *ppm },
        Kind::Pick(pb::Pick { n }) => Ask::Pick { n: *n },
        Kind::Sample(pb::Sample { n, k }) => Ask::Sample { n: *n, k: *k },
    })
}

/// Returns the public numbers of an answer; of a shuffle the number of cards.
fn values(answer: &Answer) -> Vec<u32> {
    match answer {
        Answer::Shuffled { root: _, count } => vec![u32::from(*count)],
        Answer::Rolled(sides) => sides.iter().copied().map(u32::from).collect(),
        Answer::Pulsed(yes) => vec![u32::from(*yes)],
        Answer::Picked(one) => vec![*one],
        Answer::Sampled(some) => some.clone(),
    }
}

type Use<'a> = (Option<&'a pb::Operation>, Option<&'a pb::OperationResult>);

/// Checks that both logs record the same operations with the same results, and that the replay
/// found them due and as the seed gives them.
pub(super) fn operations<'a>(case: &'a Case<'_>, walk: &Walk) -> Result<(), Trouble> {
    let at_table = |read: &'a Read<'_>| {
        let Recorded::ChanceUsed(used) = &read.recorded else { return None };
        Some((used.operation.as_ref(), used.result.as_ref()))
    };
    let at_dealer = |read: &'a Read<'_>| {
        let Recorded::OperationPerformed(done) = &read.recorded else { return None };
        Some((done.operation.as_ref(), done.result.as_ref()))
    };
    let table: Vec<Use<'a>> = case.hand.iter().filter_map(at_table).collect();
    let dealer: Vec<Use<'a>> = case.dealer.iter().filter_map(at_dealer).collect();
    for (index, ours) in table.iter().enumerate() {
        let theirs = dealer.get(index).ok_or_else(|| {
            failed(format!("operation {index} is in the table's log and not in the dealer's"))
        })?;
        hold(ours == theirs, || {
            format!("the table's and the dealer's logs tell operation {index} differently")
        })?;
    }
    // The dealer is asked before the table records the answer. So it may have performed more
    // operations of a hand in play, and of a hand that came to nothing those that were due next.
    let over = case.settled().is_ok() || case.came_to_nothing();
    for (index, theirs) in dealer.iter().enumerate().skip(table.len()).filter(|_| over) {
        let due = walk.ahead.iter().find(|(due, _)| u32::try_from(index) == Ok(due.index));
        hold(due.is_some_and(|(due, result)| *theirs == (Some(due), Some(result))), || {
            format!("the dealer performed operation {index}, which the hand did not use")
        })?;
    }
    walk.verdict(Check::Operations)
}

/// Returns the public result of an operation. It includes a shuffle's root if `roots` is set.
pub(crate) fn result(index: u32, answer: &Answer, roots: bool) -> pb::OperationResult {
    let root = match answer {
        Answer::Shuffled { root, count: _ } if roots => root.to_vec(),
        Answer::Shuffled { .. }
        | Answer::Rolled(_)
        | Answer::Pulsed(_)
        | Answer::Picked(_)
        | Answer::Sampled(_) => Vec::new(),
    };
    pb::OperationResult { index, values: values(answer), root }
}
