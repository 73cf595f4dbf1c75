//! Records of a room, read from its database.

use std::collections::BTreeMap;
use std::process::Command;

use eventlog::{Event, PgStore, PoolSizes, Position, Reader};
use primitives::HandId;
use wire::TableRecord;

use crate::harness::RoomHarness;

/// Opens a service's log.
pub(crate) async fn log(database: &str, service: &str) -> Reader {
    let store = PgStore::connect(database, service, PoolSizes::default()).await.unwrap();
    Reader::new(store, format!("{service}/0"))
}

/// Returns all events of a service's log.
pub(crate) async fn events(database: &str, service: &str) -> Vec<Event> {
    let reader = log(database, service).await;
    let mut events: Vec<Event> = Vec::new();
    loop {
        let next = events.last().map_or(0, |last| last.position.0 + 1);
        let page = reader.read(Position(next), 1000).await.unwrap();
        if page.is_empty() {
            return events;
        }
        events.extend(page);
    }
}

/// Returns the hands whose records are complete: settled and posted or aborted, with their seeds
/// open.
pub(crate) async fn finished(database: &str) -> Vec<HandId> {
    let mut ends: BTreeMap<HandId, (bool, bool)> = BTreeMap::new();
    for event in events(database, "table").await {
        let end = ends.entry(HandId(event.stream.0)).or_default();
        match TableRecord::try_from(&event).unwrap() {
            TableRecord::SettlementPosted(_) | TableRecord::HandAborted(_) => end.0 = true,
            TableRecord::HandRevealed(_) => end.1 = true,
            _ => {}
        }
    }
    ends.into_iter().filter(|(_, end)| *end == (true, true)).map(|(hand, _)| hand).collect()
}

/// Audits the ledger and every hand, two at a time, while the room runs.
pub(crate) async fn audit(harness: &RoomHarness, hands: &[HandId]) {
    let (status, said) = harness.run(harness.sabacc(&["audit", "ledger"])).await;
    assert!(status.success(), "the ledger:\n{said}");
    let audit = |hand: &HandId| -> (HandId, Command) {
        (*hand, harness.sabacc(&["audit", "hand", &hand.to_string()]))
    };
    for pair in hands.chunks(2) {
        let pair = pair.iter().map(audit);
        let checked = pair.map(|(hand, command)| async move {
            let (status, said) = harness.run(command).await;
            assert!(status.success(), "hand {hand}:\n{said}");
        });
        futures_util::future::join_all(checked).await;
    }
}
