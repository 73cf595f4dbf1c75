//! A hand as a history, as one viewer may see it.
//!
//! Each line is the rules' censored event for the viewer: a viewer reads what their view had while
//! the hand was played, whatever the opened seed shows since.

use history::HandHistory;
use primitives::{PlayerId, TableId};
use proto::event::v1 as pb;
use rules::{Event, Hand, Player, Viewer};
use wire::TableRecord;

use crate::hand::{HandRecords, inputs};

/// History of a hand for one viewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewerHistory {
    /// The player in whose view it is written; `None`: as everybody sees it.
    pub viewer: Option<HandPlayer>,
    pub history: HandHistory,
}

/// A player who was dealt in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandPlayer {
    pub player: PlayerId,
    pub seat: u32,
}

/// Returns the history of a hand for one viewer. `engine` names the program that played it.
///
/// # Errors
/// A message, if the seed is not open yet or the records cannot be replayed to their end.
pub fn history(records: &HandRecords, viewer: Viewer, engine: &str) -> Result<HandHistory, String> {
    let (opened, inputs) = inputs(records)?;
    censored(records, &opened, &inputs, viewer, engine)
}

/// Returns the hand as everybody sees it, then as each player who was dealt in, p1 first.
///
/// # Errors
/// As [`history()`].
pub fn histories(records: &HandRecords, engine: &str) -> Result<Vec<ViewerHistory>, String> {
    let (opened, inputs) = inputs(records)?;
    let censored = |viewer| censored(records, &opened, &inputs, viewer, engine);
    let mut histories = vec![ViewerHistory { viewer: None, history: censored(Viewer::Public)? }];
    for (index, seat) in opened.roster.iter().enumerate() {
        let number = u8::try_from(index).ok().and_then(Player::try_new);
        let number = number.ok_or("more players than a hand can have")?;
        let player = PlayerId::try_from(&seat.player_id[..]).map_err(|error| error.to_string())?;
        let viewer = Some(HandPlayer { player, seat: seat.seat });
        histories.push(ViewerHistory { viewer, history: censored(Viewer::Player(number))? });
    }
    Ok(histories)
}

fn censored(
    records: &HandRecords,
    opened: &pb::HandOpened,
    inputs: &[Event],
    viewer: Viewer,
    engine: &str,
) -> Result<HandHistory, String> {
    let setup = wire::replay::setup(opened).map_err(|error| error.to_string())?;
    let name = |seat: &pb::RosterSeat| PlayerId::try_from(&seat.player_id[..]);
    let players = opened.roster.iter().map(|seat| name(seat).map(|player| player.to_string()));
    let players = players.collect::<Result<_, _>>().map_err(|error| error.to_string())?;
    let table = TableId::try_from(&opened.table_id[..]).map_err(|error| error.to_string())?;
    let mut history = HandHistory::for_setup(&setup, players);
    history.id = Some(records.hand_id.to_string());
    history.table = Some(table.to_string());
    history.started_at = records.hand.first().map(|first| first.recorded_at.to_string());
    history.engine = Some(engine.to_owned());
    let commitment = opened.commitment.as_ref();
    history.commitment = commitment.map(|made| hexadecimal(&made.commitment));
    let mut hand = Hand::try_new(&setup).map_err(|error| error.to_string())?;
    for input in inputs {
        if let Some(seen) = rules::censor(&hand, input, viewer) {
            history.actions.push(seen.to_string());
        }
        rules::evolve(&mut hand, input);
    }
    // A hand that came to nothing ends without a settlement.
    if !is_aborted(records) {
        let end = hand.settlement().ok_or("the hand is not over")?;
        history.settle(&setup.rules, end);
    }
    Ok(history)
}

fn is_aborted(records: &HandRecords) -> bool {
    let aborted = |record| matches!(record, TableRecord::HandAborted(_));
    records.hand.iter().filter_map(|event| event.decode()).any(aborted)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
