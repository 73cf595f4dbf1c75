//! Events of a log as a reader has them: whole, or without their payload.

use std::ops::{Deref, DerefMut};

use eventlog_core::Event;
use merkle::record::{LeafRecord, RECORD_LEN};
use proto::common::v1::MoveKind;
use proto::dealer::v1::Operation;
use proto::dealer::v1::operation::Kind;
use proto::event::v1::EventType;
use wire::records::{DealerRecord, Record, TableRecord};

/// Event of a log. Without its payload it still proves that a record of this type stands at its
/// place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEvent {
    /// The event. Payload and salt are empty if they are withheld.
    pub event: Event,
    pub withheld: Option<WithheldPayload>,
}

/// Hash and length of a payload that is withheld, from its leaf record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WithheldPayload {
    /// SHA-256 of salt and payload.
    pub hash: [u8; 32],
    pub length: u32,
}

impl LogEvent {
    /// The leaf record.
    #[must_use]
    pub fn record(&self) -> [u8; RECORD_LEN] {
        let whole = self.event.record();
        let Some(WithheldPayload { hash, length }) = self.withheld else { return whole };
        let leaf = LeafRecord::parse(&whole).expect("a leaf record was just written");
        LeafRecord { payload_hash: hash, payload_len: length, ..leaf }.to_bytes()
    }

    /// The decoded event; `None` if its payload is withheld or is not of the service's log.
    #[must_use]
    pub fn decode<R: Record>(&self) -> Option<R> {
        if self.withheld.is_some() {
            return None;
        }
        R::try_from_event(&self.event).ok()
    }

    /// The event without its payload.
    #[must_use]
    pub fn leaf_only(event: Event) -> LogEvent {
        let leaf = LeafRecord::parse(&event.record()).expect("a leaf record was just written");
        let LeafRecord { payload_hash, payload_len, .. } = leaf;
        let withheld = Some(WithheldPayload { hash: payload_hash, length: payload_len });
        LogEvent { event: Event { payload: Vec::new().into(), salt: [0; 16], ..event }, withheld }
    }

    /// The event as bundles have it: without its payload where that concerns one player and the
    /// operators alone.
    #[must_use]
    pub fn for_bundle(event: Event) -> LogEvent {
        if event.sealed || is_always_withheld(event.kind) {
            LogEvent::leaf_only(event)
        } else {
            LogEvent::from(event)
        }
    }
}

/// Whether events of this type are in no bundle with their payload.
#[must_use]
pub fn is_always_withheld(kind: u16) -> bool {
    [
        EventType::SeatRefused,
        EventType::StandingFound,
        EventType::EffectStopped,
        EventType::EffectResumed,
    ]
    .into_iter()
    .any(|always| i32::from(kind) == i32::from(always))
}

/// Whether an event of the table's log holds a secret of a hand until its seed is open: a choice
/// that is secret when it is made, with its signature, or sampled numbers.
#[must_use]
pub fn is_secret_at_table(recorded: &TableRecord) -> bool {
    if let TableRecord::MoveDecided(decided) = recorded {
        let kind = decided.r#move.as_ref().map(|mv| mv.kind());
        return matches!(kind, Some(MoveKind::Choose | MoveKind::Impostor));
    }
    let TableRecord::ChanceUsed(used) = recorded else { return false };
    used.operation.as_ref().is_some_and(is_sample)
}

/// Whether an event of the dealer's log holds a secret of a hand until its seed is open: sampled
/// numbers.
#[must_use]
pub fn is_secret_at_dealer(recorded: &DealerRecord) -> bool {
    let DealerRecord::OperationPerformed(performed) = recorded else { return false };
    performed.operation.as_ref().is_some_and(is_sample)
}

fn is_sample(operation: &Operation) -> bool {
    matches!(operation.kind, Some(Kind::Sample(_)))
}

/// Whether events of this type may hold a secret of a hand in its stream of the table's log, until its
/// seed is open.
#[must_use]
pub fn may_be_secret_at_table(kind: u16) -> bool {
    [EventType::MoveDecided, EventType::ChanceUsed]
        .into_iter()
        .any(|secret| i32::from(kind) == i32::from(secret))
}

/// Whether events of this type may hold a secret of a hand in its stream of the dealer's log, until
/// its seed is open.
#[must_use]
pub fn may_be_secret_at_dealer(kind: u16) -> bool {
    i32::from(kind) == i32::from(EventType::OperationPerformed)
}

impl From<Event> for LogEvent {
    fn from(event: Event) -> LogEvent {
        LogEvent { event, withheld: None }
    }
}

impl Deref for LogEvent {
    type Target = Event;

    fn deref(&self) -> &Event {
        &self.event
    }
}

impl DerefMut for LogEvent {
    fn deref_mut(&mut self) -> &mut Event {
        &mut self.event
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::{LogName, TableFixture};

    /// fairness/SPEC.md §15.2.
    #[test]
    fn a_leaf_without_its_payload_is_the_same_leaf() {
        let table = TableFixture::seated(1, "dice", 2);
        for event in table.script.events(LogName::Table) {
            let leaf = LogEvent::leaf_only(event.clone());
            assert!(leaf.payload.is_empty() && leaf.salt == [0; 16]);
            assert_eq!(leaf.record(), event.record());
            assert_eq!(LogEvent::from(event.clone()).record(), event.record());
        }
    }
}
