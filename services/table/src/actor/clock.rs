//! The clock of the decision that is due: it runs out, it is made up for, it goes on after a restart.

use std::time::Duration;

use chassis::clock::Clock as _;
use primitives::UnixMicros;
use proto::event::v1::ClockResumed;
use rules::{By, Next};

use super::{Actor, Author, Ended};
use crate::pay::Paid;
use crate::proof::Faces;

impl Actor {
    pub(super) fn deadline(&self) -> Option<UnixMicros> {
        let play = self.state.play.as_ref()?;
        let (deadline, _) = play.deadline(&self.state.table.config)?;
        Some(deadline)
    }

    /// The clock of a decision has run out, or it is time to try something again.
    pub(super) async fn tick(&mut self) -> Result<(), Ended> {
        let now = self.clock.now();
        let Some(play) = &self.state.play else { return Ok(()) };
        let due = play.deadline(&self.state.table.config);
        let Some((deadline, _)) = due.filter(|(deadline, _)| *deadline <= now) else {
            return Ok(());
        };
        if let Some(since) = self.outage {
            // Nobody could decide while nothing could be written.
            let left = deadline.since(since).max(Duration::from_secs(1));
            return self.move_clock(now.plus(left)).await;
        }
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
        let Some(play) = self.state.play.as_ref().filter(|play| play.due_at < since) else {
            return Ok(());
        };
        let Some((deadline, _)) = play.deadline(&self.state.table.config) else { return Ok(()) };
        let lost = self.clock.now().since(since);
        self.move_clock(deadline.plus(lost)).await
    }

    /// After a restart: the clock of the decision that is due goes on with what was left of it.
    pub(super) async fn resume_clock(&mut self) -> Result<(), Ended> {
        let Some(alive) = self.log.last_alive() else { return Ok(()) };
        let Some(play) = &self.state.play else { return Ok(()) };
        let Some((deadline, _)) = play.deadline(&self.state.table.config) else { return Ok(()) };
        let last = alive.max(play.due_at);
        let left = deadline.since(last).max(Duration::from_secs(1));
        self.move_clock(self.clock.now().plus(left)).await
    }

    async fn move_clock(&mut self, deadline: UnixMicros) -> Result<(), Ended> {
        let Some(play) = &self.state.play else { return Ok(()) };
        let resumed = ClockResumed { turn: play.turn, deadline_micros: deadline.0 };
        let paid =
            Paid { events: vec![(play.hand_id.into(), resumed.into())], faces: Faces::new() };
        if self.append(paid, Author::service()).await?.is_ok() {
            self.lost_time = None;
        } else {
            // Not at once again: the log has just waited as long as it would.
            self.clock.sleep(Duration::from_millis(200)).await;
        }
        Ok(())
    }
}
