//! Groups of commands on their way to the log, and their answers.
//!
//! Specification: ARCHITECTURE.md §2.5.

use std::sync::Arc;

use eventlog::AppendError;
use tokio::task::yield_now;
use tokio::time::Instant;

use super::returning_callers::ReturningCallers;
use super::{
    GroupOutcome, Owner, OwnerState, PendingReply, REPLIES_PER_YIELD, command_count, group,
};
use crate::repo::GroupRows;
use crate::wallet::WalletError;

impl Owner {
    /// Hands a group to the log. A group without entries only confirms that the log is still owned.
    pub(super) fn send(&mut self, decided: group::DecidedGroup, answers: Vec<PendingReply>) {
        let group::DecidedGroup { entries, keys, rows, states, next, snapshot } = decided;
        let OwnerState {
            log,
            groups_in_flight: flights,
            commands_in_flight: flying,
            next_position: first,
            last_time: at,
            ..
        } = &mut self.state;
        if entries.is_empty() {
            let (log, sent, mut answers) = (log.clone(), Instant::now(), answers);
            *flying += command_count(&answers);
            flights.push_back(Box::pin(async move {
                let mut outcome = log.confirm_ownership().await;
                let problem = match &outcome {
                    Err(AppendError::Unavailable { .. }) => Some(WalletError::Unavailable),
                    Err(AppendError::Clock(off)) => Some(WalletError::Clock(*off)),
                    Ok(()) | Err(_) => None,
                };
                if let Some(problem) = problem {
                    // No write was due: the state in memory stands.
                    answers.iter_mut().for_each(|answer| answer.fail(problem));
                    outcome = Ok(());
                }
                GroupOutcome { keys, command_replies: answers, ..GroupOutcome::new(outcome, sent) }
            }));
            return;
        }
        let rows: Option<Arc<dyn eventlog::ProjectionRows>> =
            self.tables.repo.is_some().then(|| Arc::new(GroupRows { rows, states }) as _);
        let group = eventlog::Group { entries, first: *first, at: *at, rows };
        *first = next;
        let (written, sent) = (log.append_group(group), Instant::now());
        *flying += command_count(&answers);
        flights.push_back(Box::pin(async move {
            let completed = GroupOutcome::new(written.await.map(drop), sent);
            GroupOutcome { keys, command_replies: answers, snapshot, ..completed }
        }));
    }

    /// Answers the callers of a group that is written.
    ///
    /// # Errors
    /// The group was not written: its callers are left unanswered.
    pub(super) async fn complete_group(
        &mut self,
        completed: GroupOutcome,
    ) -> Result<(), AppendError> {
        let GroupOutcome {
            outcome,
            keys,
            command_replies: answers,
            sent_at: sent,
            snapshot,
            query_replies: looked,
        } = completed;
        if let Err(error) = outcome {
            let unanswered = answers.len();
            tracing::warn!(runbook = "deploy/README.md, The database is away", %error, unanswered, "a group was not written");
            // The others are dropped unanswered, which their callers see as "unavailable".
            if let AppendError::Clock(off) = error {
                answers.into_iter().for_each(|mut answer| {
                    answer.fail(WalletError::Clock(off));
                    answer.send();
                });
            }
            return Err(error);
        }
        for key in keys {
            self.state.requests_in_flight.remove(&key);
        }
        if let (Some(snapshot), Some(repo)) = (snapshot, &self.tables.repo) {
            self.state.snapshots.store(repo.clone(), snapshot, self.state.log.epoch());
        }
        looked.into_iter().for_each(|reply| reply());
        self.state.commands_in_flight =
            self.state.commands_in_flight.saturating_sub(command_count(&answers));
        let asks = self.state.waiting.len() + self.batches.len() + answers.len();
        self.state.returning =
            self.state.waits.due().then(|| ReturningCallers::of(asks, sent.elapsed()));
        let mut answers = answers.into_iter();
        loop {
            answers.by_ref().take(REPLIES_PER_YIELD).for_each(PendingReply::send);
            if answers.len() == 0 {
                return Ok(());
            }
            yield_now().await;
        }
    }
}
