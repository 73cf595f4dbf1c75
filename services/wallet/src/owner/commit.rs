//! Groups of commands on their way to the log, and their answers.
//!
//! Specification: ARCHITECTURE.md §2.5.

use std::sync::Arc;

use eventlog::AppendError;
use tokio::time::Instant;

use super::returning_callers::ReturningCallers;
use super::{GroupOutcome, Owner, OwnerState, PendingReply, command_count, group};
use crate::repo::GroupRows;
use crate::wallet::WalletError;

impl Owner {
    /// Hands a group to the log. A group without entries only confirms that the log is still owned.
    pub(super) fn send(&mut self, group: group::DecidedGroup, mut replies: Vec<PendingReply>) {
        let group::DecidedGroup { entries, keys, rows, states, next, snapshot } = group;
        let OwnerState {
            log,
            groups_in_flight,
            commands_in_flight,
            next_position,
            last_time: at,
            ..
        } = &mut self.state;
        *commands_in_flight += command_count(&replies);
        let sent_at = Instant::now();
        if entries.is_empty() {
            let log = log.clone();
            groups_in_flight.push_back(Box::pin(async move {
                let mut outcome = log.confirm_ownership().await;
                let problem = match &outcome {
                    Err(AppendError::Unavailable { .. }) => Some(WalletError::Unavailable),
                    Err(AppendError::Clock(off)) => Some(WalletError::Clock(*off)),
                    Ok(()) | Err(_) => None,
                };
                if let Some(problem) = problem {
                    // No write was due: the state in memory stands.
                    replies.iter_mut().for_each(|reply| reply.fail(problem));
                    outcome = Ok(());
                }
                let outcome = GroupOutcome::new(outcome, sent_at);
                GroupOutcome { keys, command_replies: replies, ..outcome }
            }));
            return;
        }
        let rows: Option<Arc<dyn eventlog::ProjectionRows>> =
            self.tables.repo.is_some().then(|| Arc::new(GroupRows { rows, states }) as _);
        let first = std::mem::replace(next_position, next);
        let written = log.append_group(eventlog::Group { entries, first, at: *at, rows });
        groups_in_flight.push_back(Box::pin(async move {
            let outcome = GroupOutcome::new(written.await.map(drop), sent_at);
            GroupOutcome { keys, command_replies: replies, snapshot, ..outcome }
        }));
    }

    /// Answers the callers of a group that is written.
    ///
    /// # Errors
    /// The group was not written: its callers are left unanswered.
    pub(super) fn complete_group(&mut self, group: GroupOutcome) -> Result<(), AppendError> {
        let GroupOutcome {
            outcome,
            keys,
            command_replies: replies,
            sent_at,
            snapshot,
            query_replies,
        } = group;
        if let Err(error) = outcome {
            let unanswered = replies.len();
            tracing::warn!(runbook = "deploy/README.md, The database is away", %error, unanswered, "a group was not written");
            // The others are dropped unanswered, which their callers see as "unavailable".
            if let AppendError::Clock(off) = error {
                replies.into_iter().for_each(|mut reply| {
                    reply.fail(WalletError::Clock(off));
                    reply.send();
                });
            }
            return Err(error);
        }
        for key in keys {
            self.state.requests_in_flight.remove(&key);
        }
        if let (Some(snapshot), Some(repo)) = (snapshot, &self.tables.repo) {
            self.state.snapshots.store(repo.clone(), snapshot);
        }
        query_replies.into_iter().for_each(|reply| reply());
        self.state.commands_in_flight =
            self.state.commands_in_flight.saturating_sub(command_count(&replies));
        let batches = self.state.waiting.len() + self.batches.len() + replies.len();
        self.state.returning = Some(ReturningCallers::of(batches, sent_at.elapsed()));
        replies.into_iter().for_each(PendingReply::send);
        Ok(())
    }
}
