//! Log lines of a table's events that an operator should see.

use wire::TableRecord;
use wire::records::{HandEvent, TableEvent, TableSubject};

use super::Actor;

impl Actor {
    /// Logs an event that an operator should see.
    pub(super) fn log_event(&self, event: &TableRecord) {
        let (table, hand_no) = (&self.state.table.id, self.state.table.hand_no);
        match event.subject() {
            TableSubject::Hand(event) => match event {
                HandEvent::HandAborted(aborted) => {
                    let at_fault = aborted.at_fault();
                    tracing::warn!(%table, hand_no, ?at_fault, "a hand is aborted");
                }
                HandEvent::HandOpened(_)
                | HandEvent::EntropyClosed(_)
                | HandEvent::EntropyRevealed(_)
                | HandEvent::HandRevealed(_)
                | HandEvent::HandSuspended(_)
                | HandEvent::HandContinued(_)
                | HandEvent::SeedRefused(_) => {}
            },
            TableSubject::Table(event) => match event {
                TableEvent::EffectStopped(stopped) => {
                    let why = &stopped.why;
                    let message = "something has stopped at a table: see `sabacc resume`";
                    tracing::error!(%table, why, "{message}");
                }
                TableEvent::TableCreated(_)
                | TableEvent::HandCommitted(_)
                | TableEvent::EntropyCommitted(_)
                | TableEvent::HandStarted(_)
                | TableEvent::HandFinished(_)
                | TableEvent::EffectResumed(_)
                | TableEvent::CloseAsked(_)
                | TableEvent::PotRefundDue(_)
                | TableEvent::PotRefunded(_)
                | TableEvent::AbsentPaid(_)
                | TableEvent::TableClosed(_) => {}
            },
            TableSubject::Seat(_)
            | TableSubject::Play(_)
            | TableSubject::Person(_)
            | TableSubject::Clock(_) => {}
        }
    }
}
