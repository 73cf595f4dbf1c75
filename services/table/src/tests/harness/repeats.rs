//! Request ids of calls: the same for as long as their effects are pending, and after a crash.

use std::collections::BTreeMap;

use super::Harness;
use crate::effect_calls;
use crate::effects::{Effect, pending_effects};
use crate::peers::PeerCall;
use crate::state::TableState;

/// Request ids of calls, by effect.
pub(super) type RequestIds = BTreeMap<Effect, Vec<u8>>;

impl Harness {
    /// Request ids of the calls for the effects that are pending in a state.
    pub(super) fn request_ids(&self, state: &TableState) -> RequestIds {
        let (table, play) = (&state.table, state.play.as_ref());
        let (effects, _) = pending_effects(table, play, &self.timing());
        let id = |effect: Effect| {
            let prepared = effect_calls::prepare(table, play, effect).ok()?;
            Some((effect, request_id(prepared.call)?))
        };
        effects.into_iter().filter_map(id).collect()
    }

    /// Checks that effects which are still pending are asked for under the ids that they had.
    pub(super) fn check_request_ids(&self, before: &RequestIds) {
        for (effect, id) in &self.request_ids(&self.state) {
            // The id counts the events of the hand, and a void is one.
            let is_settle = matches!(effect, Effect::Settle { .. });
            let is_same = before.get(effect).is_none_or(|before| before == id);
            assert!(is_same || is_settle, "{effect:?} has another id than before");
        }
    }
}

fn request_id(call: PeerCall) -> Option<Vec<u8>> {
    Some(match call {
        PeerCall::Commit(request) => request.request_id,
        PeerCall::Close(request) => request.request_id,
        PeerCall::Seal(request) => request.request_id,
        PeerCall::Perform(request) | PeerCall::DealUntil { request, .. } => request.request_id,
        PeerCall::Reveal(request) => request.request_id,
        PeerCall::BuyIn(request) => request.request_id,
        PeerCall::CashOut(request) => request.request_id,
        PeerCall::Settle(request) => request.request_id,
        PeerCall::CheckStanding(_) | PeerCall::Nothing => return None,
    })
}
