//! Inputs of the rules in a hand, for export.

use proto::event::v1 as pb;
use rules::Event;

use crate::hand::HandRecords;
use crate::hand::case::Case;
use crate::hand::walk::{Step, Walk};
use crate::report::Trouble;

/// Returns the first event of the hand, and every input of the rules in order. Hidden cards are
/// computed from the opened seed.
///
/// # Errors
/// A message, if the seed is not open yet or the records cannot be replayed to their end.
pub fn inputs(records: &HandRecords) -> Result<(pb::HandOpened, Vec<Event>), String> {
    let case = Case::read(records);
    let walk = Walk::of(&case);
    let (_, opened) = case.opened().map_err(|trouble| {
        let (Trouble::Failed(why) | Trouble::NotPossible(why)) = trouble;
        why
    })?;
    if let Some(why) = walk.stopped() {
        return Err(why.to_owned());
    }
    let input = |step: &Step| match step {
        Step::Chance(_, outcome) => Event::Chance(outcome.clone()),
        Step::Decision(player, mv, by) => {
            Event::Decided { player: *player, mv: mv.clone(), by: *by }
        }
    };
    Ok((opened.clone(), walk.steps.values().map(input).collect()))
}
