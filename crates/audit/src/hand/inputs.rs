//! Inputs of the rules in a hand, for export.

use proto::event::v1 as pb;
use rules::Event;

use crate::hand::HandRecords;
use crate::hand::decoded_records::DecodedRecords;
use crate::hand::replay::{Replay, RuleInput};
use crate::report::CheckError;

/// Returns the first event of the hand, and every input of the rules in order. Hidden cards are
/// computed from the opened seed.
///
/// # Errors
/// A message, if the seed is not open yet or the records cannot be replayed to their end.
pub fn inputs(records: &HandRecords) -> Result<(pb::HandOpened, Vec<Event>), String> {
    let decoded = DecodedRecords::decode(records);
    let replay = Replay::run(&decoded);
    let (_, opened) = decoded.opened().map_err(|trouble| {
        let (CheckError::Failed(why) | CheckError::NotPossible(why)) = trouble;
        why
    })?;
    if let Some(why) = replay.stop_reason() {
        return Err(why.to_owned());
    }
    let input = |step: &RuleInput| match step {
        RuleInput::Chance(_, outcome) => Event::Chance(outcome.clone()),
        RuleInput::Decision(player, mv, by) => {
            Event::Decided { player: *player, mv: mv.clone(), author: *by }
        }
    };
    Ok((opened.clone(), replay.inputs.values().map(input).collect()))
}
