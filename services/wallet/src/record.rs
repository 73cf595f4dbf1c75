//! The wallet's events as its log keeps them.

use ledger::Event;

/// What the log holds is not what a wallet writes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the wallet's log is corrupt at position {position}: {what}")]
pub struct Corrupt {
    pub position: u64,
    pub what: String,
}

/// The event behind a stored one.
///
/// # Errors
/// Where no wallet can have written it.
pub fn parse(stored: &eventlog::Event) -> Result<Event, Corrupt> {
    wire::ledger::parse(stored)
        .map_err(|error| Corrupt { position: stored.position.0, what: error.to_string() })
}
