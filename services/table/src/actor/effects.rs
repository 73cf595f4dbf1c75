//! Pending effects: run, concluded, tried again.

use std::sync::Arc;
use std::time::Duration;

use primitives::UnixMicros;
use tokio::time::Instant;
use tracing::Instrument as _;

use super::{Actor, EffectReply, EntryAuthor, TaskEnd};
use crate::effect_calls::{self, EffectOutcome, PendingEffect};
use crate::effects::{self, Effect};
use crate::entropy::Timing;
use crate::peers::{CallFailure, Reply};
use crate::plan::Plan;
use crate::stops;

/// Longest pause before a failed effect is tried again.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(5);

/// A deadline that has passed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum PassedDeadline {
    /// End of a decision's clock, as last recorded.
    Clock(UnixMicros),
    /// Effect by which somebody's time runs out.
    Effect(Effect),
}

impl Actor {
    /// Starts the effects that can be started; returns when to look again.
    pub(super) async fn run_effects(&mut self) -> Result<Option<UnixMicros>, TaskEnd> {
        'again: loop {
            if self.halted.is_some() {
                return Ok(None);
            }
            let now = self.timing();
            let (effects, later) = self.pending_effects(&now);
            let now = now.at;
            self.retries.retain(|effect, _| effects.contains(effect));
            let deadline = self.deadline();
            self.take_first.retain(|over, _| match over {
                PassedDeadline::Clock(end) => deadline == Some(*end),
                PassedDeadline::Effect(effect) => effects.contains(effect),
            });
            let mut wake = earliest(later, self.clock_end());
            let mut local = None;
            for effect in effects {
                if self.effects_in_flight.contains(&effect) {
                    continue;
                }
                if let Some((at, _)) = self.retries.get(&effect).filter(|(at, _)| *at > now) {
                    wake = earliest(wake, Some(*at));
                    continue;
                }
                let made =
                    effect_calls::prepare(&self.state.table, self.state.play.as_ref(), effect);
                let prepared = match made {
                    Ok(prepared) => prepared,
                    Err(broken) => {
                        let stopped = stops::stop_effect(&self.state.table, effect, broken.0, None);
                        if self.append(stopped, EntryAuthor::service()).await?.is_err() {
                            self.retry_later(effect, "the log takes nothing");
                        }
                        continue 'again;
                    }
                };
                if effect.is_deadline() && self.has_earlier_messages(PassedDeadline::Effect(effect))
                {
                    // Messages that have arrived are taken before a deadline has its effect.
                    wake = earliest(wake, Some(now));
                    continue;
                }
                if matches!(prepared.call, crate::peers::PeerCall::Nothing) {
                    local = Some(effect);
                    break;
                }
                self.effects_in_flight.insert(effect);
                if matches!(effect, Effect::CloseEntropy { .. }) {
                    self.state.table.note_close_asked();
                }
                let peers = self.peers.clone();
                let span = tracing::info_span!("effect", ?effect, table = %self.state.table.id);
                let (activity, step) = (Arc::clone(&self.activity), prepared.call.step());
                let call = prepared.call.run(peers).instrument(span.clone());
                let (plan, began) = (prepared.plan, Instant::now());
                self.effect_calls.spawn(async move {
                    let reply = call.await;
                    if let Some(step) = step {
                        activity.observe(&step, began.elapsed());
                    }
                    EffectReply { effect, plan, reply, span }
                });
            }
            match local {
                // An effect that needs no other service is done at once, and may change which are
                // pending.
                Some(effect) => self.conclude_effect(effect, None, Ok(Reply::Nothing)).await?,
                None => return Ok(wake),
            }
        }
    }

    /// Concludes an effect with the reply of its call.
    pub(super) async fn conclude_effect(
        &mut self,
        effect: Effect,
        plan: Option<Plan>,
        reply: Result<Reply, CallFailure>,
    ) -> Result<(), TaskEnd> {
        self.effects_in_flight.remove(&effect);
        let now = self.timing();
        if !self.pending_effects(&now).0.contains(&effect) {
            // The hand may have been aborted meanwhile.
            tracing::debug!(effect = ?effect, table = %self.state.table.id, "nobody needs this any more");
            return Ok(());
        }
        let pending = PendingEffect { effect, plan: plan.as_ref(), timing: &now };
        let batch = match effect_calls::effect_outcome(&self.state, pending, reply) {
            EffectOutcome::Append(batch) => batch,
            EffectOutcome::Retry(reason) => {
                self.retry_later(effect, &reason);
                return Ok(());
            }
            EffectOutcome::Reload => return Err(TaskEnd::Reload),
        };
        if effect.asks_standing() {
            self.standing_checked_at = now.at;
            if batch.events.is_empty() {
                self.retries.remove(&effect);
                return Ok(());
            }
        }
        if self.append(batch, EntryAuthor::service()).await?.is_err() {
            self.retry_later(effect, "the log takes nothing");
        } else {
            self.retries.remove(&effect);
            self.answer_waiting_buy_ins();
        }
        Ok(())
    }

    fn timing(&mut self) -> Timing {
        let at = self.clock.now();
        let room = self.room_delay.state(at);
        let room_delay = room.delay.max(self.own_delay.state(at).delay);
        let table = &self.state.table;
        Timing {
            at,
            listening_since: self.listening_since,
            dealer_timeout: self.dealer_timeout,
            room_delay,
            starts_held_until: room.start_held_until(table.id, table.hand_no + 1, at),
            standing_checked_at: self.standing_checked_at,
        }
    }

    /// Whether a message that had arrived when the deadline was found to be over is still waiting.
    /// Later messages hold nothing up, however many they are.
    pub(super) fn has_earlier_messages(&mut self, over: PassedDeadline) -> bool {
        let waiting = self.messages.len() + self.deferred.len();
        let until = *self.take_first.entry(over).or_insert(self.messages_taken + waiting);
        waiting > 0 && self.messages_taken < until
    }

    fn pending_effects(&self, now: &Timing) -> (Vec<Effect>, Option<UnixMicros>) {
        effects::pending_effects(&self.state.table, self.state.play.as_ref(), now)
    }

    fn retry_later(&mut self, effect: Effect, why: &str) {
        let tries = self.retries.get(&effect).map_or(0, |(_, tries)| *tries);
        let pause = Duration::from_millis(100 << tries.min(6)).min(MAX_RETRY_PAUSE);
        // Seeds that stay closed need another runbook than a service that is away for a while.
        let runbook = effect.runbook();
        tracing::warn!(runbook, ?effect, table = %self.state.table.id, why, ?pause, "an effect is tried again later");
        self.retries.insert(effect, (self.clock.now().plus(pause), tries + 1));
    }
}

fn earliest(one: Option<UnixMicros>, other: Option<UnixMicros>) -> Option<UnixMicros> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
