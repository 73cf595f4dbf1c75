//! The clock of the decision that is due: it runs out, it is made up for, it goes on after a restart.

use std::time::Duration;

use primitives::UnixMicros;
use proto::event::v1::ClockResumed;
use rules::{By, Next};

use super::paying::Over;
use super::{Actor, Author, Ended};
use crate::pay::Paid;
use crate::proof::Faces;

impl Actor {
    /// When the clock of the decision that is due ends, as the log last told of it. Nobody's runs at a table
    /// that contradicts its log.
    pub(super) fn deadline(&self) -> Option<UnixMicros> {
        if self.broken.is_some() {
            return None;
        }
        let play = self.state.play.as_ref()?;
        let (deadline, _) = play.deadline(&self.state.table.config)?;
        Some(deadline)
    }

    /// When the clock that runs ends, by the clock as it is now; the room's own delay is not charged to it.
    pub(super) fn clock_runs_out(&mut self) -> Option<UnixMicros> {
        let late = self.late();
        Some(moved(self.deadline()?, self.set_by).plus(late))
    }

    /// Delay that deadlines are honoured later by.
    fn late(&mut self) -> Duration {
        let now = self.clock.now();
        self.lateness.standing(now).late.max(self.own.standing(now).late)
    }

    /// Whether the clock of a decision has run out, and everything that had come by then is judged.
    pub(super) fn has_run_out(&mut self) -> bool {
        let now = self.clock.now();
        let over = self.clock_runs_out().is_some_and(|end| end <= now);
        let Some(deadline) = self.deadline().filter(|_| over) else { return false };
        !self.has_unjudged(Over::Clock(deadline))
    }

    /// The time by the clock as it was when the log last told of the clock that runs.
    pub(super) fn time(&self) -> UnixMicros {
        moved(self.clock.now(), self.set_by.saturating_neg())
    }

    /// Where the clock was set, everything that is timed by it here moves along, and the clock that runs
    /// goes on with what is left of it, in the log.
    pub(super) async fn follow_clock(&mut self) -> Result<(), Ended> {
        let now = self.clock.now();
        let by = self.clock.stepped().saturating_sub(self.stepped);
        if by == 0 {
            return Ok(());
        }
        self.stepped = self.stepped.saturating_add(by);
        self.set_by = self.set_by.saturating_add(by);
        // What is owed to others since before begins anew: nobody is charged with the step.
        self.since = now;
        for (at, _) in self.later.values_mut() {
            *at = moved(*at, by);
        }
        match self.deadline().map(|deadline| moved(deadline, self.set_by)) {
            // In an outage it is made up for at its end. A clock that was set back records nothing earlier.
            Some(deadline) if self.set_by > 0 && self.outage.is_none() => {
                self.move_clock(deadline).await.map(drop)
            }
            Some(_) => Ok(()),
            None => {
                self.set_by = 0;
                Ok(())
            }
        }
    }

    /// The clock of a decision has run out.
    pub(super) async fn tick(&mut self) -> Result<(), Ended> {
        self.follow_clock().await?;
        let now = self.clock.now();
        if self.clock_runs_out().is_none_or(|end| end > now) {
            return Ok(());
        }
        let Some(deadline) = self.deadline() else { return Ok(()) };
        if let Some(since) = self.outage {
            // Nobody could decide while nothing could be written.
            let left = deadline.since(since).max(Duration::from_secs(1));
            return self.move_clock(now.plus(left)).await.map(drop);
        }
        let Some(play) = &self.state.play else { return Ok(()) };
        let Next::Decision(decision) = rules::next(&play.replay.hand) else { return Ok(()) };
        let config = &self.state.table.config;
        let decided = play.decide(config, decision.player, &decision.default, (By::Clock, now));
        match decided {
            Ok(decided) => {
                let paid = Paid {
                    events: vec![(play.hand_id.into(), decided.into())],
                    faces: Faces::new(),
                };
                let _ = self.append(paid, Author::clock()).await?;
            }
            Err(refusal) => self.break_down(&format!("the clock's move was refused: {refusal}")),
        }
        Ok(())
    }

    /// The log takes events again: a clock that ran all the while gets back what it lost.
    pub(super) async fn make_up_lost_time(&mut self) -> Result<(), Ended> {
        let Some(since) = self.lost_time.take() else { return Ok(()) };
        let lost = self.time().since(since);
        let set_by = std::mem::take(&mut self.set_by);
        let waited = self.state.play.as_ref().is_some_and(|play| play.due_at < since);
        let Some(deadline) = self.deadline().filter(|_| waited) else { return Ok(()) };
        self.move_clock(moved(deadline, set_by).plus(lost)).await.map(drop)
    }

    /// After a restart: the clock of the decision that is due goes on with what was left of it.
    pub(super) async fn resume_clock(&mut self) -> Result<(), Ended> {
        let Some(alive) = self.log.last_alive() else { return Ok(()) };
        let Some(play) = &self.state.play else { return Ok(()) };
        let Some((deadline, _)) = play.deadline(&self.state.table.config) else { return Ok(()) };
        let last = alive.max(play.due_at);
        let left = deadline.since(last).max(Duration::from_secs(1));
        // Until it is on record: the clock must not pass for want of a log.
        while !self.move_clock(self.clock.now().plus(left)).await? {}
        Ok(())
    }

    /// The clock that runs ends at `deadline` from now on: never earlier than it would, and never with more
    /// left than a whole one. Whether nothing of that is left to be written.
    async fn move_clock(&mut self, deadline: UnixMicros) -> Result<bool, Ended> {
        let Some(play) = &self.state.play else { return Ok(true) };
        let config = &self.state.table.config;
        let Some((before, bank)) = play.deadline(config) else { return Ok(true) };
        let action = Duration::from_secs(u64::from(config.action_seconds));
        let most = self.clock.now().plus(action).plus(bank);
        let deadline = deadline.min(most).max(before);
        let resumed = ClockResumed { turn: play.turn, deadline_micros: deadline.0 };
        let paid =
            Paid { events: vec![(play.hand_id.into(), resumed.into())], faces: Faces::new() };
        if self.append(paid, Author::service()).await?.is_ok() {
            self.lost_time = None;
            self.set_by = 0;
            return Ok(true);
        }
        // Not at once again: the log has just waited as long as it would.
        self.clock.sleep(Duration::from_millis(200)).await;
        Ok(false)
    }
}

fn moved(at: UnixMicros, by: i64) -> UnixMicros {
    UnixMicros(at.0.saturating_add_signed(by))
}
