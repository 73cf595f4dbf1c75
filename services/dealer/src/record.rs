//! Conversion of the dealer's events to and from log records: all events of a hand are in its
//! stream.

use std::sync::Arc;

use eventlog::NewEvent;
use fairness::{Commitment, Seed, Transcript};
use primitives::HandId;
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use wire::field::exactly;
use wire::{BadField, Recorded};
use zeroize::Zeroizing;

use crate::hand::{Committed, Event};
use crate::words;

/// A log record that no dealer can have written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the dealer's log is corrupt at position {position}: {what}")]
pub struct Corrupt {
    pub position: u64,
    pub what: String,
}

/// Makes the log record of an event.
#[must_use]
pub fn new_event(hand: HandId, event: &Event) -> NewEvent {
    let recorded: Recorded = match event {
        Event::Committed(committed) => pb::SeedCommitted {
            table_id: committed.hand.table.0.to_vec().into(),
            hand_no: committed.hand.number,
            rule_set_hash: committed.rule_set_hash.to_vec().into(),
            commitment: Some(words::commitment_to_pb(committed)),
        }
        .into(),
        Event::Sealed { transcript, sealing } => pb::SeedSealed {
            transcript: transcript.0.to_vec().into(),
            beacon: words::beacon_to_pb(sealing.beacon).into(),
            rows: sealing.rows.iter().map(words::row_to_pb).collect(),
        }
        .into(),
        Event::Performed { operation, done } => pb::OperationPerformed {
            operation: Some(words::operation_to_pb(operation)),
            result: Some(words::result_to_pb(done)),
        }
        .into(),
        Event::Opened { opening, caller } => pb::CardsOpened {
            opening: Some(words::opening_to_pb(opening)),
            caller: caller.to_string(),
        }
        .into(),
        Event::Revealed { seed, discarded } => {
            pb::SeedOpened { seed: seed.expose().to_vec().into(), discarded: *discarded }.into()
        }
    };
    recorded.on(hand)
}

/// Reads the event of a log record.
///
/// # Errors
/// If no dealer can have written it.
pub fn parse(stored: &eventlog::Event) -> Result<Event, Corrupt> {
    let corrupt = |what: String| Corrupt { position: stored.position.0, what };
    let recorded = Recorded::try_from(stored).map_err(|error| corrupt(error.to_string()))?;
    event(recorded).map_err(|Wrong(what)| corrupt(what))
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a dealer writes these five and no more")]
fn event(recorded: Recorded) -> Result<Event, Wrong> {
    match recorded {
        Recorded::SeedCommitted(message) => committed(message),
        Recorded::SeedSealed(message) => sealed(message),
        Recorded::OperationPerformed(message) => performed(message),
        Recorded::CardsOpened(message) => opened(message),
        Recorded::SeedOpened(message) => revealed(&message),
        other => Err(Wrong(format!("no dealer writes {}", other.name()))),
    }
}

/// Fault of a payload.
struct Wrong(String);

impl From<BadField> for Wrong {
    fn from(bad: BadField) -> Wrong {
        Wrong(bad.to_string())
    }
}

fn there<T>(field: &str, value: Option<T>) -> Result<T, Wrong> {
    value.ok_or_else(|| Wrong(format!("{field} is missing")))
}

fn committed(message: pb::SeedCommitted) -> Result<Event, Wrong> {
    let pb::SeedCommitted { table_id, hand_no, rule_set_hash, commitment } = message;
    let dealer::Commitment { commitment, key_id, signature, origin } =
        there("commitment", commitment)?;
    Ok(Event::Committed(Committed {
        hand: words::hand_name(&table_id, hand_no)?,
        rule_set_hash: exactly("rule_set_hash", &rule_set_hash)?,
        commitment: Commitment(exactly("commitment", &commitment)?),
        key_id: exactly("key_id", &key_id)?,
        signature: exactly("signature", &signature)?,
        origin: Arc::from(origin),
    }))
}

fn sealed(message: pb::SeedSealed) -> Result<Event, Wrong> {
    let pb::SeedSealed { transcript, beacon, rows } = message;
    let transcript = Transcript(exactly("transcript", &transcript)?);
    Ok(Event::Sealed { transcript, sealing: words::sealing(&beacon, rows)? })
}

fn performed(message: pb::OperationPerformed) -> Result<Event, Wrong> {
    let pb::OperationPerformed { operation, result } = message;
    let done = words::result(there("result", result)?)?;
    Ok(Event::Performed { operation: words::operation(there("operation", operation)?)?, done })
}

fn opened(message: pb::CardsOpened) -> Result<Event, Wrong> {
    let pb::CardsOpened { opening, caller } = message;
    let opening = words::opening(there("opening", opening)?)?;
    Ok(Event::Opened { opening, caller: Arc::from(caller) })
}

fn revealed(message: &pb::SeedOpened) -> Result<Event, Wrong> {
    let pb::SeedOpened { seed, discarded } = message;
    let seed = Seed::new(Zeroizing::new(exactly("seed", seed)?));
    Ok(Event::Revealed { seed, discarded: *discarded })
}

#[cfg(test)]
mod tests;
