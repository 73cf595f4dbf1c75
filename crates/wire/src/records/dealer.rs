//! Events of the dealer's log.

super::record! {
    /// Event of the dealer's log: of a hand's stream, of the clock, or of chance as a whole.
    DealerRecord of "dealer":
        SeedCommitted CommitmentsClosed SeedSealed OperationPerformed CardsOpened SeedOpened
        ClockStepped EntropyFailed OutcomesTested BiasFound PromisesLost
}
