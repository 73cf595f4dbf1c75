//! Events of the ledger.

use primitives::{AdjustmentId, PlayerId, UnixMicros};

use crate::{Account, Adjustment, Ended, Hold, SetTerms, Setter, Transfer};

/// A change of the ledger. Only [`crate::decide`] and [`crate::Ledger::expired`] make events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// Opens the account with a balance of zero.
    Opened(Account),
    Posted(Posted),
    Frozen {
        player: PlayerId,
        reason: String,
    },
    Unfrozen {
        player: PlayerId,
        reason: String,
    },
    Closed {
        player: PlayerId,
        reason: String,
    },
    HoldPlaced(Hold),
    HoldReleased(Ended),
    HoldExpired(Ended),
    LimitsSet {
        player: PlayerId,
        by: Setter,
        /// Limits in force from now on, and the looser ones that will replace them, if any.
        terms: SetTerms,
    },
    Excluded {
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
pub struct Posted {
    pub transfer: Transfer,
    /// Operator who approved an adjustment; `None` for any other kind of transfer.
    pub approved_by: Option<Box<str>>,
}

impl From<Transfer> for Posted {
    fn from(transfer: Transfer) -> Posted {
        Posted { transfer, approved_by: None }
    }
}
