//! Log lines of a table's events that an operator should see.

use wire::Recorded;

use super::Actor;
use crate::events::{HandEvent, LogEvent, TableEvent};

impl Actor {
    /// Logs an event that an operator should see.
    pub(super) fn log_event(&self, event: &Recorded) {
        let (table, hand_no) = (&self.state.table.id, self.state.table.hand_no);
        match LogEvent::of(event) {
            LogEvent::Hand(event) => match event {
                HandEvent::Aborted(aborted) => {
                    let at_fault = aborted.at_fault();
                    tracing::warn!(%table, hand_no, ?at_fault, "a hand is aborted");
                }
                HandEvent::Opened(_)
                | HandEvent::EntropyClosed(_)
                | HandEvent::EntropyRevealed(_)
                | HandEvent::Sealed(_)
                | HandEvent::ChanceUsed(_)
                | HandEvent::CardsMoved(_)
                | HandEvent::MoveDecided(_)
                | HandEvent::CardsShown
                | HandEvent::Settled(_)
                | HandEvent::SettlementPosted
                | HandEvent::ClockResumed(_)
                | HandEvent::SeedRevealed(_)
                | HandEvent::SeedRefused(_) => {}
            },
            LogEvent::Table(event) => match event {
                TableEvent::EffectStopped(stopped) => {
                    let why = &stopped.why;
                    let message = "something has stopped at a table: see `sabacc resume`";
                    tracing::error!(%table, why, "{message}");
                }
                TableEvent::Created(_)
                | TableEvent::HandCommitted(_)
                | TableEvent::EntropyCommitted(_)
                | TableEvent::HandStarted(_)
                | TableEvent::HandFinished(_)
                | TableEvent::Paused(_)
                | TableEvent::EffectResumed(_)
                | TableEvent::CloseAsked
                | TableEvent::PotRefundDue(_)
                | TableEvent::PotRefunded
                | TableEvent::AbsentPaid(_)
                | TableEvent::Closed => {}
            },
            LogEvent::Seat(_) | LogEvent::Person(_) | LogEvent::Other => {}
        }
    }
}
