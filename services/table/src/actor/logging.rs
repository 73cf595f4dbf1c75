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
                    let cause = aborted.cause();
                    tracing::warn!(%table, hand_no, ?cause, ?at_fault, "a hand is aborted");
                }
                HandEvent::HandSuspended(_) => {
                    tracing::error!(runbook = "deploy/README.md, A hand is suspended", %table, hand_no, "the dealer is silent: a hand is suspended");
                }
                HandEvent::HandContinued(_) => {
                    tracing::warn!(%table, hand_no, "the dealer is back: a suspended hand goes on");
                }
                HandEvent::SeedRefused(_) => {
                    tracing::error!(runbook = "deploy/README.md, A seed is not opened", %table, hand_no, "the dealer has opened another seed than it had promised: the table closes");
                }
                HandEvent::HandOpened(_)
                | HandEvent::EntropyClosed(_)
                | HandEvent::EntropyRevealed(_)
                | HandEvent::HandRevealed(_) => {}
            },
            TableSubject::Table(event) => match event {
                TableEvent::EffectStopped(stopped) => {
                    let why = &stopped.why;
                    let message = "something has stopped at a table: see `sabacc table resume`";
                    tracing::error!(%table, why, "{message}");
                }
                TableEvent::TableDisabled(event) => {
                    let (why, with_game) = (&event.reason, event.with_game);
                    tracing::warn!(%table, hand_no, why, with_game, "a table is disabled");
                }
                TableEvent::TableEnabled(event) => {
                    let (why, with_game) = (&event.reason, event.with_game);
                    tracing::warn!(%table, hand_no, why, with_game, "a table is enabled again");
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
            | TableSubject::Room(_)
            | TableSubject::Clock(_) => {}
        }
    }
}
