//! Events of the wallet as its log stores them.

use ledger::Event;

/// Error of a record that no wallet writes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the wallet's log is corrupt at position {position}: {reason}")]
pub struct Corrupt {
    pub position: u64,
    pub reason: String,
}

/// Parses a stored event into one of the ledger; none for a step of the wallet's clock.
///
/// # Errors
/// [`Corrupt`] if no wallet can have written it.
pub fn parse(stored: &eventlog::Event) -> Result<Option<Event>, Corrupt> {
    let corrupt = |what: String| Corrupt { position: stored.position.0, reason: what };
    if wire::clock::parse(stored).map_err(|error| corrupt(error.to_string()))?.is_some() {
        return Ok(None);
    }
    wire::ledger::parse(stored).map(Some).map_err(|error| corrupt(error.to_string()))
}
