//! Decision clocks: they run out, get lost time back, and go on after a restart.
//!
//! Specification: rules/SPEC.md §6.2.

use std::time::Duration;

use primitives::UnixMicros;
use proto::event::v1::ClockResumed;
use rules::Next;

use super::effects::PassedDeadline;
use super::{Actor, EntryAuthor, TaskEnd};
use crate::batch::Batch;
use crate::decisions;
use crate::effects::Effect;
use crate::suspension;

/// Pause after an append that the log did not take.
const RETRY_PAUSE: Duration = Duration::from_millis(200);

impl Actor {
    /// End of the running decision clock, as last recorded. `None` where no decision is due, or
    /// where the table contradicts its log.
    pub(super) fn deadline(&self) -> Option<UnixMicros> {
        if self.halted.is_some() {
            return None;
        }
        let play = self.state.play.as_ref()?;
        let (deadline, _) = play.deadline(&self.state.table.config)?;
        Some(deadline)
    }

    /// End of the running decision clock in the current time of the clock, extended by the room's
    /// delay.
    pub(super) fn clock_end(&mut self) -> Option<UnixMicros> {
        let late = self.deadline_extension();
        Some(shifted(self.deadline()?, self.unrecorded_steps).plus(late))
    }

    /// Delay by which deadlines are extended.
    fn deadline_extension(&mut self) -> Duration {
        let now = self.clock.now();
        self.room_delay.state(now).delay.max(self.own_delay.state(now).delay)
    }

    /// Whether the clock of a decision has run out and every message that had arrived by then was
    /// taken.
    pub(super) fn clock_has_run_out(&mut self) -> bool {
        let now = self.clock.now();
        let over = self.clock_end().is_some_and(|end| end <= now);
        let Some(deadline) = self.deadline().filter(|_| over) else { return false };
        !self.has_earlier_messages(PassedDeadline::Clock(deadline))
    }

    /// Current time, without the clock's steps since the last record about the running clock.
    pub(super) fn time_before_steps(&self) -> UnixMicros {
        shifted(self.clock.now(), self.unrecorded_steps.saturating_neg())
    }

    /// Follows a step of the clock. Timers of this table move along. The running clock keeps what
    /// was left of it, on record.
    pub(super) async fn follow_clock(&mut self) -> Result<(), TaskEnd> {
        let now = self.clock.now();
        let by = self.clock.total_step_micros().saturating_sub(self.followed_steps);
        if by == 0 {
            return Ok(());
        }
        self.followed_steps = self.followed_steps.saturating_add(by);
        self.unrecorded_steps = self.unrecorded_steps.saturating_add(by);
        // Waits for others begin anew, so that nobody is charged with the step.
        self.listening_since = now;
        for (at, _) in self.retries.values_mut() {
            *at = shifted(*at, by);
        }
        match self.deadline().map(|deadline| shifted(deadline, self.unrecorded_steps)) {
            // In an outage the clock is moved at its end. A clock that was set back records nothing
            // earlier.
            Some(deadline) if self.unrecorded_steps > 0 && self.outage_since.is_none() => {
                self.move_clock(deadline).await.map(drop)
            }
            Some(_) => Ok(()),
            None => {
                self.unrecorded_steps = 0;
                Ok(())
            }
        }
    }

    /// Makes the default move of a player whose clock has run out.
    pub(super) async fn decide_by_clock(&mut self) -> Result<(), TaskEnd> {
        self.follow_clock().await?;
        let now = self.clock.now();
        if self.clock_end().is_none_or(|end| end > now) {
            return Ok(());
        }
        let Some(deadline) = self.deadline() else { return Ok(()) };
        if let Some(since) = self.outage_since {
            // Nobody could decide while nothing could be written.
            let left = deadline.since(since).max(Duration::from_secs(1));
            return self.move_clock(now.plus(left)).await.map(drop);
        }
        let Some(play) = &self.state.play else { return Ok(()) };
        if let Some(seat) = decisions::due_leave(&self.state.table, play) {
            // The leave comes first. Where the log has not taken it, it is tried again.
            if self.retries.contains_key(&Effect::Leave { seat }) {
                self.clock.sleep(RETRY_PAUSE).await;
            }
            return Ok(());
        }
        let Next::Decision(decision) = rules::next(&play.replay.hand) else { return Ok(()) };
        let config = &self.state.table.config;
        match play.decide_by_clock(config, decision, now) {
            Ok(batch) => {
                let _ = self.append(batch, EntryAuthor::clock()).await?;
            }
            Err(refusal) => self.halt(&format!("the clock's move was refused: {refusal}")),
        }
        Ok(())
    }

    /// Gives the running clock the time back that was lost while the log took nothing.
    pub(super) async fn restore_lost_time(&mut self) -> Result<(), TaskEnd> {
        let Some(since) = self.lost_since.take() else { return Ok(()) };
        let lost = self.time_before_steps().since(since);
        let set_by = std::mem::take(&mut self.unrecorded_steps);
        let waited = self.state.play.as_ref().is_some_and(|play| play.due_at < since);
        let Some(deadline) = self.deadline().filter(|_| waited) else { return Ok(()) };
        self.move_clock(shifted(deadline, set_by).plus(lost)).await.map(drop)
    }

    /// Lets the clock of the pending decision go on after a restart with what was left of it.
    pub(super) async fn resume_clock(&mut self) -> Result<(), TaskEnd> {
        let suspended = self.state.play.as_ref().is_some_and(|play| play.suspension.is_some());
        if self.dealer_answered && suspended {
            return self.continue_suspended().await;
        }
        let Some(alive) = self.log.last_alive() else { return Ok(()) };
        let Some(play) = &self.state.play else { return Ok(()) };
        let Some((deadline, _)) = play.deadline(&self.state.table.config) else { return Ok(()) };
        let last = alive.max(play.due_at);
        let left = deadline.since(last).max(Duration::from_secs(1));
        // Repeated until it is recorded: the clock must not run out because the log was away.
        while !self.move_clock(self.clock.now().plus(left)).await? {}
        Ok(())
    }

    /// Lets a suspended hand go on whose cards the dealer has opened again, with what was left of the
    /// clock of the pending decision.
    async fn continue_suspended(&mut self) -> Result<(), TaskEnd> {
        loop {
            let (table, play) = (&self.state.table, self.state.play.as_ref());
            let Some(play) = play else { return Ok(()) };
            let batch = suspension::continue_after_recovery(table, play, self.clock.now());
            if self.append(batch, EntryAuthor::service()).await?.is_ok() {
                return Ok(());
            }
            self.clock.sleep(RETRY_PAUSE).await;
        }
    }

    /// Moves the end of the running clock to `deadline`: never earlier than it is, and never with
    /// more left than a whole clock. Returns whether nothing is left to be written.
    async fn move_clock(&mut self, deadline: UnixMicros) -> Result<bool, TaskEnd> {
        let Some(play) = &self.state.play else { return Ok(true) };
        let config = &self.state.table.config;
        let Some((before, bank)) = play.deadline(config) else { return Ok(true) };
        let action = config.settings.action_time();
        let most = self.clock.now().plus(action).plus(bank);
        let deadline = deadline.min(most).max(before);
        let resumed = ClockResumed { turn: play.turn, deadline_micros: deadline.0 };
        let batch = Batch::single(play.hand_id, resumed);
        if self.append(batch, EntryAuthor::service()).await?.is_ok() {
            self.lost_since = None;
            self.unrecorded_steps = 0;
            return Ok(true);
        }
        // A pause, since the log has just waited as long as it can.
        self.clock.sleep(RETRY_PAUSE).await;
        Ok(false)
    }
}

fn shifted(at: UnixMicros, by: i64) -> UnixMicros {
    UnixMicros(at.0.saturating_add_signed(by))
}
