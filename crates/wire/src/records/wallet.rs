//! Events of the wallet's log.

super::record! {
    /// Event of the wallet's log.
    WalletRecord of "wallet":
        AccountOpened TransferPosted AccountFrozen AccountUnfrozen AccountClosed HoldPlaced
        HoldReleased HoldExpired LimitsSet PlayerExcluded AdjustmentProposed AdjustmentRejected
        SnapshotTaken ClockStepped
}
