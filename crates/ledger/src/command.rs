//! Commands of the ledger.

use primitives::{AdjustmentId, Credits, HoldId, PlayerId, RequestId, UnixMicros};

use crate::{Adjustment, Hold, LimitSetter, RequestedLimits, Transfer};

/// A command; [`crate::decide`] returns its events or its refusal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// Opens a player's account. A seat is opened by its first buy-in or capture, a pot by the
    /// first settlement or capture that pays into it, `house/suspense` by the first cash-out to it.
    /// The house's other accounts always exist.
    OpenAccount(PlayerId),
    /// Posts a transfer. Not for adjustments and captures, which have commands of their own.
    PostTransfer(Transfer),
    /// Stops all debits of the account but adjustments.
    FreezeAccount {
        player: PlayerId,
        reason: String,
    },
    UnfreezeAccount {
        player: PlayerId,
        reason: String,
    },
    /// Closes the account for good.
    CloseAccount {
        player: PlayerId,
        reason: String,
    },
    PlaceHold(Hold),
    /// Pays the credits of a hold, or a part of them.
    CaptureHold {
        /// Id of the transfer.
        id: RequestId,
        hold: HoldId,
        /// At least 1, at most what the hold has left.
        amount: Credits,
        /// Whether the rest stays held; otherwise the hold ends.
        keep_rest: bool,
    },
    ReleaseHold {
        hold: HoldId,
    },
    /// Sets all three windows of one measure.
    SetLimits {
        player: PlayerId,
        by: LimitSetter,
        limits: RequestedLimits,
    },
    Exclude {
        player: PlayerId,
        /// `None`: for good.
        until: Option<UnixMicros>,
    },
    ProposeAdjustment(Adjustment),
    ApproveAdjustment {
        /// Id of the transfer.
        id: RequestId,
        adjustment: AdjustmentId,
        /// Name of an operator.
        by: String,
    },
    RejectAdjustment {
        adjustment: AdjustmentId,
        reason: String,
    },
}
