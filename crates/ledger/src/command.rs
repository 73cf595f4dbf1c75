//! Commands of the ledger.

use primitives::{AdjustmentId, Credits, HoldId, PlayerId, RequestId, UnixMicros};

use crate::{Adjustment, Hold, Setter, Transfer, Wanted};

/// A command; [`crate::decide`] returns its events or its refusal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// Opens a player's account. A seat is opened by its first buy-in or capture, a pot by the
    /// first settlement or capture that pays into it, `house/suspense` by the first cash-out to it.
    /// The house's other accounts always exist.
    Open(PlayerId),
    /// Posts a transfer. Not for adjustments and captures, which have commands of their own.
    Post(Transfer),
    /// Stops all debits of the account but adjustments.
    Freeze {
        player: PlayerId,
        reason: String,
    },
    Unfreeze {
        player: PlayerId,
        reason: String,
    },
    /// Closes the account for good.
    Close {
        player: PlayerId,
        reason: String,
    },
    Hold(Hold),
    /// Pays the credits of a hold, or a part of them.
    Capture {
        /// Id of the transfer.
        id: RequestId,
        hold: HoldId,
        /// At least 1, at most what the hold has left.
        amount: Credits,
        /// Whether the rest stays held; otherwise the hold ends.
        keep_rest: bool,
    },
    Release {
        hold: HoldId,
    },
    /// Sets all three windows of one measure.
    SetLimits {
        player: PlayerId,
        by: Setter,
        limits: Wanted,
    },
    Exclude {
        player: PlayerId,
        /// `None`: for good.
        until: Option<UnixMicros>,
    },
    Propose(Adjustment),
    Approve {
        /// Id of the transfer.
        id: RequestId,
        adjustment: AdjustmentId,
        /// Name of an operator.
        by: String,
    },
    Reject {
        adjustment: AdjustmentId,
        reason: String,
    },
}
