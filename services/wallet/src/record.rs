//! Events of the wallet as its log stores them.

use ledger::Event;

/// Error of a record that no wallet writes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the wallet's log is corrupt at position {position}: {what}")]
pub struct Corrupt {
    pub position: u64,
    pub what: String,
}

/// Parses a stored event.
///
/// # Errors
/// [`Corrupt`] if no wallet can have written it.
pub fn parse(stored: &eventlog::Event) -> Result<Event, Corrupt> {
    wire::ledger::parse(stored)
        .map_err(|error| Corrupt { position: stored.position.0, what: error.to_string() })
}
