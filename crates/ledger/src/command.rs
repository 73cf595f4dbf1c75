//! What the ledger is asked to do.

use primitives::{AdjustmentId, Credits, HoldId, PlayerId, RequestId, UnixMicros};

use crate::{Adjustment, Hold, Setter, Transfer, Wanted};

/// A wish; [`crate::decide`] says what comes of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// Opens a player's account. Seats are opened by their first buy-in, pots by the first
    /// settlement that pays into them; the house's accounts are always there.
    Open(PlayerId),
    /// Never an adjustment and never a capture: those have commands of their own.
    Post(Transfer),
    /// Nothing leaves the account any more.
    Freeze {
        player: PlayerId,
        reason: String,
    },
    Unfreeze {
        player: PlayerId,
        reason: String,
    },
    /// For good.
    Close {
        player: PlayerId,
        reason: String,
    },
    Hold(Hold),
    /// Pays what is held, or a part of it.
    Capture {
        /// The transfer's id.
        id: RequestId,
        hold: HoldId,
        /// At least 1, at most what the hold has left.
        amount: Credits,
        /// What is left stays held; else it is let go.
        keep_rest: bool,
    },
    Release {
        hold: HoldId,
    },
    /// All three windows of one measure.
    SetLimits {
        player: PlayerId,
        by: Setter,
        limits: Wanted,
    },
    Exclude {
        player: PlayerId,
        /// None: for good.
        until: Option<UnixMicros>,
    },
    Propose(Adjustment),
    Approve {
        /// The transfer's id.
        id: RequestId,
        adjustment: AdjustmentId,
        /// An operator's name.
        by: String,
    },
    Reject {
        adjustment: AdjustmentId,
        reason: String,
    },
}
