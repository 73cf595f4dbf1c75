//! Conversion of the dealer's events to and from log records: all events of a hand are in its
//! stream.
//!
//! Specification: services/dealer/README.md "State and events".

use proto::common::v1 as common;
use std::sync::Arc;

use eventlog::NewEvent;
use fairness::{Commitment, Seed, Transcript};
use primitives::HandId;
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use wire::BadField;
use wire::field::exactly;
use wire::records::{DealerRecord, Record as _};
use zeroize::Zeroizing;

use crate::hand::{Committed, Event};
use crate::messages;

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
    let recorded: DealerRecord = match event {
        Event::SeedCommitted(committed) => pb::SeedCommitted {
            table_id: committed.hand.table.0.to_vec().into(),
            hand_no: committed.hand.number,
            rules_hash: committed.rules_hash.to_vec().into(),
            commitment: Some(messages::commitment_to_pb(committed)),
            build: Some(running_build()),
        }
        .into(),
        Event::CommitmentsClosed(closed) => {
            pb::CommitmentsClosed { closing: Some(messages::closing_to_pb(closed)) }.into()
        }
        Event::SeedSealed { transcript, seal_input: sealing } => pb::SeedSealed {
            transcript: transcript.0.to_vec().into(),
            beacon: bytes::Bytes::new(),
            rows: sealing.rows.iter().map(messages::row_to_pb).collect(),
        }
        .into(),
        Event::OperationPerformed { operation, result: done } => pb::OperationPerformed {
            operation: Some(messages::operation_to_pb(operation)),
            result: Some(messages::result_to_pb(done)),
        }
        .into(),
        Event::CardsOpened { card_reveal: opening, caller } => pb::CardsOpened {
            opening: Some(messages::card_reveal_to_pb(opening)),
            caller: caller.to_string(),
        }
        .into(),
        Event::SeedOpened { seed, discarded } => {
            pb::SeedOpened { seed: seed.expose().to_vec().into(), discarded: *discarded }.into()
        }
    };
    recorded.on_stream(hand)
}

/// Build of the program that commits.
fn running_build() -> dealer::Build {
    let chassis::build::Build { version, commit: _, sha256 } = chassis::build::running();
    dealer::Build { version: (*version).to_owned(), sha256: sha256.clone() }
}

/// Reads the event of a log record.
///
/// # Errors
/// If no dealer can have written it.
pub fn parse(stored: &eventlog::Event) -> Result<Event, Corrupt> {
    let corrupt = |what: String| Corrupt { position: stored.position.0, what };
    let recorded = DealerRecord::try_from(stored).map_err(|error| corrupt(error.to_string()))?;
    parse_recorded(recorded).map_err(|BadPayload(what)| corrupt(what))
}

fn parse_recorded(recorded: DealerRecord) -> Result<Event, BadPayload> {
    match recorded {
        DealerRecord::SeedCommitted(message) => committed(message),
        DealerRecord::CommitmentsClosed(pb::CommitmentsClosed { closing }) => {
            let closing = required("closing", closing)?;
            Ok(Event::CommitmentsClosed(messages::parse_closing(closing)?))
        }
        DealerRecord::SeedSealed(message) => sealed(message),
        DealerRecord::OperationPerformed(message) => performed(message),
        DealerRecord::CardsOpened(message) => opened(message),
        DealerRecord::SeedOpened(message) => revealed(&message),
        other @ (DealerRecord::ClockStepped(_)
        | DealerRecord::EntropyFailed(_)
        | DealerRecord::OutcomesTested(_)
        | DealerRecord::BiasFound(_)
        | DealerRecord::PromisesLost(_)) => {
            Err(BadPayload(format!("{} is no event of a hand", other.name())))
        }
    }
}

/// Fault of a payload.
struct BadPayload(String);

impl From<BadField> for BadPayload {
    fn from(bad: BadField) -> BadPayload {
        BadPayload(bad.to_string())
    }
}

fn required<T>(field: &str, value: Option<T>) -> Result<T, BadPayload> {
    value.ok_or_else(|| BadPayload(format!("{field} is missing")))
}

fn committed(message: pb::SeedCommitted) -> Result<Event, BadPayload> {
    let pb::SeedCommitted { table_id, hand_no, rules_hash, commitment, build: _ } = message;
    let common::Commitment { commitment, key_id, signature, origin } =
        required("commitment", commitment)?;
    Ok(Event::SeedCommitted(Committed {
        hand: messages::parse_hand_name(&table_id, hand_no)?,
        rules_hash: exactly("rules_hash", &rules_hash)?,
        commitment: Commitment(exactly("commitment", &commitment)?),
        key_id: exactly("key_id", &key_id)?,
        signature: exactly("signature", &signature)?,
        origin: Arc::from(origin),
    }))
}

fn sealed(message: pb::SeedSealed) -> Result<Event, BadPayload> {
    let pb::SeedSealed { transcript, beacon, rows } = message;
    let transcript = Transcript(exactly("transcript", &transcript)?);
    Ok(Event::SeedSealed { transcript, seal_input: messages::parse_seal_input(&beacon, rows)? })
}

fn performed(message: pb::OperationPerformed) -> Result<Event, BadPayload> {
    let pb::OperationPerformed { operation, result } = message;
    let done = messages::parse_result(required("result", result)?)?;
    Ok(Event::OperationPerformed {
        operation: messages::parse_operation(required("operation", operation)?)?,
        result: done,
    })
}

fn opened(message: pb::CardsOpened) -> Result<Event, BadPayload> {
    let pb::CardsOpened { opening, caller } = message;
    let opening = messages::parse_card_reveal(required("opening", opening)?)?;
    Ok(Event::CardsOpened { card_reveal: opening, caller: Arc::from(caller) })
}

fn revealed(message: &pb::SeedOpened) -> Result<Event, BadPayload> {
    let pb::SeedOpened { seed, discarded } = message;
    let seed = Seed::new(Zeroizing::new(exactly("seed", seed)?));
    Ok(Event::SeedOpened { seed, discarded: *discarded })
}

#[cfg(test)]
mod tests;
