//! Pending effects: run, concluded, tried again.

use std::time::Duration;

use primitives::UnixMicros;
use tracing::Instrument as _;

use super::{Actor, Author, Ended, Returned};
use crate::debt::{self, Debt};
use crate::entropy::Now;
use crate::pay::{self, Answered};
use crate::peers::{Failure, Reply};
use crate::plan::Plan;
use crate::stops;

/// Longest pause before a failed effect is tried again.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// A deadline that has passed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Over {
    /// End of a decision's clock, as last recorded.
    Clock(UnixMicros),
    /// Effect by which somebody's time runs out.
    Debt(Debt),
}

impl Actor {
    /// Starts the effects that can be started; returns when to look again.
    pub(super) async fn pay_debts(&mut self) -> Result<Option<UnixMicros>, Ended> {
        'again: loop {
            if self.broken.is_some() {
                return Ok(None);
            }
            let now = self.now();
            let (debts, later) = self.debts(&now);
            let now = now.at;
            self.later.retain(|debt, _| debts.contains(debt));
            let deadline = self.deadline();
            self.judged_first.retain(|over, _| match over {
                Over::Clock(end) => deadline == Some(*end),
                Over::Debt(debt) => debts.contains(debt),
            });
            let mut wake = earliest(later, self.clock_runs_out());
            let mut local = None;
            for debt in debts {
                if self.busy.contains(&debt) {
                    continue;
                }
                if let Some((at, _)) = self.later.get(&debt).filter(|(at, _)| *at > now) {
                    wake = earliest(wake, Some(*at));
                    continue;
                }
                let made = pay::prepare(&self.state.table, self.state.play.as_ref(), debt);
                let payment = match made {
                    Ok(payment) => payment,
                    Err(broken) => {
                        let stopped = stops::stopped(&self.state.table, debt, broken.0, None);
                        if self.append(stopped, Author::service()).await?.is_err() {
                            self.try_later(debt, "the log takes nothing");
                        }
                        continue 'again;
                    }
                };
                if matches!(payment.job, crate::peers::Job::Nothing) {
                    if lets_pass(debt) && self.has_unjudged(Over::Debt(debt)) {
                        // Messages that have arrived are taken before a deadline has its effect.
                        wake = earliest(wake, Some(now));
                        continue;
                    }
                    local = Some(debt);
                    break;
                }
                self.busy.insert(debt);
                let peers = self.peers.clone();
                let span = tracing::info_span!("debt", ?debt, table = %self.state.table.id);
                let job = payment.job.run(peers).instrument(span.clone());
                let plan = payment.plan;
                self.paying.spawn(async move { Returned { debt, plan, reply: job.await, span } });
            }
            match local {
                // An effect that needs no other service is done at once, and may change which are
                // pending.
                Some(debt) => self.paid(debt, None, Ok(Reply::Nothing)).await?,
                None => return Ok(wake),
            }
        }
    }

    /// Concludes an effect with the reply of its call.
    pub(super) async fn paid(
        &mut self,
        debt: Debt,
        plan: Option<Plan>,
        reply: Result<Reply, Failure>,
    ) -> Result<(), Ended> {
        self.busy.remove(&debt);
        let now = self.now();
        if !self.debts(&now).0.contains(&debt) {
            // The hand may have been aborted meanwhile.
            tracing::debug!(?debt, table = %self.state.table.id, "nobody needs this any more");
            return Ok(());
        }
        let paid = match pay::answered(&self.state, (debt, plan.as_ref(), &now), reply) {
            Answered::Append(paid) => paid,
            Answered::Later(why) => {
                self.try_later(debt, &why);
                return Ok(());
            }
        };
        if let Debt::Start | Debt::CheckStanding = debt {
            self.checked = now.at;
            if paid.events.is_empty() {
                self.later.remove(&debt);
                return Ok(());
            }
        }
        if self.append(paid, Author::service()).await?.is_err() {
            self.try_later(debt, "the log takes nothing");
        } else {
            self.later.remove(&debt);
            self.answer_waiting();
        }
        Ok(())
    }

    fn now(&mut self) -> Now {
        let at = self.clock.now();
        let standing = self.lateness.standing(at);
        let late = standing.late.max(self.own.standing(at).late);
        let next = (self.state.table.id, self.state.table.hand_no + 1);
        Now {
            at,
            since: self.since,
            patience: self.patience,
            late,
            hold: standing.hold(next, at),
            checked: self.checked,
        }
    }

    /// Whether a message that had arrived when the deadline was found to be over is still waiting.
    /// Later messages hold nothing up, however many they are.
    pub(super) fn has_unjudged(&mut self, over: Over) -> bool {
        let waiting = self.commands.len() + self.deferred.len();
        let until = *self.judged_first.entry(over).or_insert(self.judged + waiting);
        waiting > 0 && self.judged < until
    }

    fn debts(&self, now: &Now) -> (Vec<Debt>, Option<UnixMicros>) {
        debt::debts(&self.state.table, self.state.play.as_ref(), now)
    }

    fn try_later(&mut self, debt: Debt, why: &str) {
        let tries = self.later.get(&debt).map_or(0, |(_, tries)| *tries);
        let pause = Duration::from_millis(100 << tries.min(6)).min(LONGEST_PAUSE);
        // Seeds that stay closed need another runbook than a service that is away for a while.
        let runbook = if matches!(debt, Debt::Reveal { .. }) {
            "deploy/README.md, A seed is not opened"
        } else {
            "deploy/README.md, A service does not answer"
        };
        tracing::warn!(runbook, ?debt, table = %self.state.table.id, why, ?pause, "a debt is paid later");
        self.later.insert(debt, (self.clock.now().plus(pause), tries + 1));
    }
}

/// Whether somebody's time runs out by this effect.
fn lets_pass(debt: Debt) -> bool {
    matches!(debt, Debt::CloseEntropy { .. } | Debt::Burn { .. } | Debt::RemoveIdle { .. })
}

fn earliest(one: Option<UnixMicros>, other: Option<UnixMicros>) -> Option<UnixMicros> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
