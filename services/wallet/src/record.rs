//! The wallet's events as its log keeps them.

use ledger::Event;

/// What the log holds is not what a wallet writes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the wallet's log is corrupt at position {position}: {what}")]
pub struct Corrupt {
    pub position: u64,
    pub what: String,
}

/// The ledger's event behind a stored one; none for a step of the wallet's clock, which moves nothing.
///
/// # Errors
/// Where no wallet can have written it.
pub fn parse(stored: &eventlog::Event) -> Result<Option<Event>, Corrupt> {
    let corrupt = |what: String| Corrupt { position: stored.position.0, what };
    if wire::clock::parse(stored).map_err(|error| corrupt(error.to_string()))?.is_some() {
        return Ok(None);
    }
    wire::ledger::parse(stored).map(Some).map_err(|error| corrupt(error.to_string()))
}
