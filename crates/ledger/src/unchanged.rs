//! Events that would change nothing.

use primitives::UnixMicros;

use crate::account_state::Exclusion;
use crate::{Account, Event, Ledger};

impl Ledger {
    /// Whether the limits or the exclusion already are as the event would make them, so that there
    /// is nothing to record.
    #[must_use]
    pub fn is_unchanged_by(&self, event: &Event, now: UnixMicros) -> bool {
        match event {
            Event::LimitsSet { player, by, terms } => {
                let state = self.account(&Account::Player(*player));
                state.is_some_and(|state| state.terms_set_by(*by).is_requested(terms))
            }
            Event::PlayerExcluded { player, until } => {
                let state = self.account(&Account::Player(*player));
                state.is_some_and(|state| state.exclusion_at(now) == Some(Exclusion::from(*until)))
            }
            Event::AccountOpened(_)
            | Event::TransferPosted(_)
            | Event::AccountFrozen { .. }
            | Event::AccountUnfrozen { .. }
            | Event::AccountClosed { .. }
            | Event::HoldPlaced(_)
            | Event::HoldReleased(_)
            | Event::HoldExpired(_)
            | Event::AdjustmentProposed(_)
            | Event::AdjustmentRejected { .. }
            | Event::SnapshotTaken { .. } => false,
        }
    }
}
