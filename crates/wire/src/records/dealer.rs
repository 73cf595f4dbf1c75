//! Events of the dealer's log.

super::record! {
    /// Event of the dealer's log: of a hand's stream, or of the clock.
    DealerRecord of "dealer":
        SeedCommitted CommitmentsClosed SeedSealed OperationPerformed CardsOpened SeedOpened ClockStepped
}
