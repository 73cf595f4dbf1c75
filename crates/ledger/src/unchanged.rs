//! Events that would change nothing.

use primitives::UnixMicros;

use crate::state::Exclusion;
use crate::{Account, Event, Ledger};

impl Ledger {
    /// Whether the limits or the exclusion already are as the event would make them, so that there
    /// is nothing to record.
    #[must_use]
    pub fn has(&self, event: &Event, now: UnixMicros) -> bool {
        match event {
            Event::LimitsSet { player, by, terms } => {
                let state = self.account(&Account::Player(*player));
                state.is_some_and(|state| state.set_by(*by).wants(terms))
            }
            Event::Excluded { player, until } => {
                let state = self.account(&Account::Player(*player));
                state.is_some_and(|state| state.excluded(now) == Some(Exclusion::from(*until)))
            }
            Event::Opened(_)
            | Event::Posted(_)
            | Event::Frozen { .. }
            | Event::Unfrozen { .. }
            | Event::Closed { .. }
            | Event::HoldPlaced(_)
            | Event::HoldReleased(_)
            | Event::HoldExpired(_)
            | Event::AdjustmentProposed(_)
            | Event::AdjustmentRejected { .. }
            | Event::SnapshotTaken { .. } => false,
        }
    }
}
