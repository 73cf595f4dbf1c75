//! Events of the ledger.

use primitives::{AdjustmentId, PlayerId, UnixMicros};

use crate::{Account, Adjustment, EndedHold, Hold, LimitSetter, MeasureTerms, Transfer};

/// A change of the ledger. Only [`crate::decide`] and [`crate::Ledger::expired`] make events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// Opens the account with a balance of zero.
    AccountOpened(Account),
    TransferPosted(PostedTransfer),
    AccountFrozen {
        player: PlayerId,
        reason: String,
    },
    AccountUnfrozen {
        player: PlayerId,
        reason: String,
    },
    AccountClosed {
        player: PlayerId,
        reason: String,
    },
    HoldPlaced(Hold),
    HoldReleased(EndedHold),
    HoldExpired(EndedHold),
    LimitsSet {
        player: PlayerId,
        by: LimitSetter,
        /// Limits in force from now on, and the looser ones that will replace them, if any.
        terms: MeasureTerms,
    },
    PlayerExcluded {
        player: PlayerId,
        /// `None`: for good.
        until: Option<UnixMicros>,
    },
    AdjustmentProposed(Adjustment),
    AdjustmentRejected {
        adjustment: AdjustmentId,
        /// Account that the adjustment was proposed for.
        account: Account,
        reason: String,
    },
    /// A snapshot of the state after this event was taken: see [`crate::snapshot`]. It moves
    /// nothing; buy-ins and play older than the longest window are dropped with it.
    SnapshotTaken {
        /// SHA-256 of the snapshot.
        digest: [u8; 32],
    },
}

/// A transfer that was posted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PostedTransfer {
    pub transfer: Transfer,
    /// Operator who approved an adjustment; `None` for any other kind of transfer.
    pub approved_by: Option<Box<str>>,
}

impl From<Transfer> for PostedTransfer {
    fn from(transfer: Transfer) -> PostedTransfer {
        PostedTransfer { transfer, approved_by: None }
    }
}
