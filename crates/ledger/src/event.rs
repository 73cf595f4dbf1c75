//! What happened to accounts.

use primitives::{AdjustmentId, PlayerId, UnixMicros};

use crate::{Account, Adjustment, Ended, Hold, SetTerms, Setter, Transfer};

/// What happened. Events come from [`crate::decide`] and [`crate::Ledger::expired`] alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// The account exists, with nothing on it.
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
        /// What holds from now on, and what will in its place, where a looser limit waits.
        terms: SetTerms,
    },
    Excluded {
        player: PlayerId,
        /// None: for good.
        until: Option<UnixMicros>,
    },
    AdjustmentProposed(Adjustment),
    AdjustmentRejected {
        adjustment: AdjustmentId,
        /// The account it was proposed for.
        account: Account,
        reason: String,
    },
    /// The state after this event was written down: see [`crate::snapshot`]. It changes nothing, and
    /// what has counted long enough is forgotten with it.
    SnapshotTaken {
        /// SHA-256 of the snapshot.
        digest: [u8; 32],
    },
}

/// A transfer that took place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Posted {
    pub transfer: Transfer,
    /// The operator who approved an adjustment; none in any other kind of transfer.
    pub approved_by: Option<Box<str>>,
}

impl From<Transfer> for Posted {
    fn from(transfer: Transfer) -> Posted {
        Posted { transfer, approved_by: None }
    }
}
