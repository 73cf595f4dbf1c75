//! Debts: asked for, answered, tried again.

use std::time::Duration;

use chassis::clock::Clock as _;
use primitives::UnixMicros;
use tracing::Instrument as _;

use super::{Actor, Author, Ended, Returned};
use crate::debt::{self, Debt};
use crate::entropy::Now;
use crate::pay::{self, Answered};
use crate::peers::{Failure, Reply};
use crate::plan::Plan;

/// The longest pause before a debt that could not be paid is tried again.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

impl Actor {
    /// Starts what can be started; says when to look again.
    pub(super) async fn pay_debts(&mut self) -> Result<Option<UnixMicros>, Ended> {
        loop {
            if self.broken.is_some() {
                return Ok(None);
            }
            let now = self.now();
            let (debts, later) = self.debts(&now);
            let now = now.at;
            self.later.retain(|debt, _| debts.contains(debt));
            let mut wake = earliest(later, self.deadline());
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
                        self.break_down(&broken.0);
                        return Ok(None);
                    }
                };
                if matches!(payment.job, crate::peers::Job::Nothing) {
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
                // What needs nobody else is done at once, and may change what is owed.
                Some(debt) => self.paid(debt, None, Ok(Reply::Nothing)).await?,
                None => return Ok(wake),
            }
        }
    }

    /// A debt came back.
    pub(super) async fn paid(
        &mut self,
        debt: Debt,
        plan: Option<Plan>,
        reply: Result<Reply, Failure>,
    ) -> Result<(), Ended> {
        self.busy.remove(&debt);
        let now = self.now();
        if !self.debts(&now).0.contains(&debt) {
            // A hand that was aborted meanwhile needs no answer any more.
            tracing::debug!(?debt, table = %self.state.table.id, "nobody needs this any more");
            return Ok(());
        }
        let paid = match pay::answered(&self.state, (debt, plan.as_ref(), &now), reply) {
            Answered::Append(paid) => paid,
            Answered::Later(why) => {
                self.try_later(debt, &why);
                return Ok(());
            }
            Answered::Broken(broken) => {
                let why = format!("{debt:?}: {broken}");
                self.break_down(&why);
                return Ok(());
            }
        };
        if self.append(paid, Author::service()).await?.is_err() {
            self.try_later(debt, "the log takes nothing");
        } else {
            self.later.remove(&debt);
            self.answer_waiting();
        }
        Ok(())
    }

    fn now(&self) -> Now {
        Now { at: self.clock.now(), since: self.since, patience: self.patience }
    }

    fn debts(&self, now: &Now) -> (Vec<Debt>, Option<UnixMicros>) {
        debt::debts(&self.state.table, self.state.play.as_ref(), now)
    }

    fn try_later(&mut self, debt: Debt, why: &str) {
        let tries = self.later.get(&debt).map_or(0, |(_, tries)| *tries);
        let pause = Duration::from_millis(100 << tries.min(6)).min(LONGEST_PAUSE);
        tracing::warn!(?debt, table = %self.state.table.id, why, ?pause, "a debt is paid later");
        self.later.insert(debt, (self.clock.now().plus(pause), tries + 1));
    }
}

fn earliest(one: Option<UnixMicros>, other: Option<UnixMicros>) -> Option<UnixMicros> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
