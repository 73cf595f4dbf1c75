//! Events of three logs before they are chained.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use eventlog_core::{Event, Position, Version};
use merkle::record::chain_hash;
use primitives::{HandId, StreamId, TableId, UnixMicros};
use proto::wallet::v1::TransferKind;
use wire::Recorded;

use crate::hand::{self, HandRecords};

/// Service that owns a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogName {
    Table,
    Dealer,
    Wallet,
}

/// An event before it has a position.
#[derive(Debug, Clone)]
pub struct Entry {
    pub log: LogName,
    pub stream: StreamId,
    pub at: UnixMicros,
    pub recorded: Recorded,
}

/// Events of three logs in the order of their times.
#[derive(Debug, Clone, Default)]
pub struct Script {
    pub entries: Vec<Entry>,
}

const OPERATOR: &str = "operator:specimen";

/// Returns the actor to be recorded for an event.
fn author(recorded: &Recorded) -> Arc<str> {
    if let Recorded::TransferPosted(posted) = recorded {
        return match posted.kind() {
            TransferKind::Issue | TransferKind::Redeem => OPERATOR.into(),
            TransferKind::Adjustment => format!("operator:{}", posted.approved_by).into(),
            TransferKind::Unspecified
            | TransferKind::BuyIn
            | TransferKind::CashOut
            | TransferKind::Settlement
            | TransferKind::PotRefund
            | TransferKind::Capture => "service:table".into(),
        };
    }
    if let Recorded::AdjustmentProposed(proposed) = recorded {
        return format!("operator:{}", proposed.proposed_by).into();
    }
    if let Recorded::AdjustmentRejected(_) | Recorded::EffectResumed(_) = recorded {
        return OPERATOR.into();
    }
    if let Recorded::ClockStepped(_) = recorded {
        return "service:specimen".into();
    }
    "specimen".into()
}

impl Script {
    /// Adds an entry. Returns its position in its log.
    pub fn push(&mut self, entry: Entry) -> u64 {
        let log = entry.log;
        self.entries.push(entry);
        let count = self.entries.iter().filter(|entry| entry.log == log).count();
        u64::try_from(count - 1).unwrap_or(u64::MAX)
    }

    /// Returns the events of one log, numbered and chained.
    #[must_use]
    pub fn events(&self, log: LogName) -> Vec<Event> {
        let mut heads: BTreeMap<StreamId, (u64, [u8; 32])> = BTreeMap::new();
        let mut events = Vec::new();
        let entries = self.entries.iter().filter(|entry| entry.log == log);
        for (position, entry) in (0..).map(Position).zip(entries) {
            let (version, previous) = heads.get(&entry.stream).copied().unwrap_or_default();
            let new = entry.recorded.on(entry.stream);
            let event = Event {
                position,
                recorded_at: entry.at,
                stream: entry.stream,
                version: Version(version + 1),
                kind: new.kind,
                schema: new.schema,
                sealed: new.sealed,
                payload: Bytes::clone(&new.payload),
                request_id: None,
                actor: author(&entry.recorded),
                trace: [0; 16],
                previous,
            };
            heads.insert(entry.stream, (event.version.0, chain_hash(&event.record())));
            events.push(event);
        }
        events
    }

    /// Returns one hand's records, selected from the three logs as for an auditor.
    #[must_use]
    pub fn records(&self, table: TableId, hand_no: u64, dealer_keys: Vec<[u8; 32]>) -> HandRecords {
        let hand_id: HandId = fairness::hand_id(table, hand_no);
        let of = |log, stream: StreamId| -> Vec<Event> {
            let events = self.events(log).into_iter();
            events.filter(|event| event.stream == stream).collect()
        };
        let at_table = hand::of_table(hand_no, of(LogName::Table, table.into()));
        let wallet = hand::of_wallet(hand_id, of(LogName::Wallet, table.into()));
        let (hand, dealer) =
            (of(LogName::Table, hand_id.into()), of(LogName::Dealer, hand_id.into()));
        HandRecords { hand_id, hand, table: at_table, dealer, wallet, dealer_keys, proofs: None }
    }
}
