//! Stopped effects: one that was refused, or that contradicts the table's own state, waits for an
//! operator.
//!
//! Each effect stops alone, and what does not need it goes on: players watch, decide and leave, and
//! hands start as long as nothing that they need has stopped. No extra rule holds a hand back. A
//! settlement that is not posted keeps its hand from ending, and a commitment that is not made
//! keeps the next hand from starting. So stacks never differ from the wallet's balances.
//!
//! An operator resumes them ([`resume`]), on record and with a reason. They are tried again under
//! the same request id, unless that was refused as used. A payment to a player can be paid to
//! `house/suspense` instead, from where two operators move it by an adjustment. A settlement is
//! never posted otherwise than it was played, and never undone.
//!
//! Specification: services/table/README.md "Effects".

use std::collections::BTreeMap;

use primitives::{PlayerId, SeatNo, StreamId, UnixMicros};
use proto::common::v1::{EffectKind, ErrorReason, Resolution};
use proto::event::v1 as event;
use proto::table::v1 as pb;
use serde::{Deserialize, Serialize};
use wire::{ApiRefusal, BadField, TableRecord, api_refusal, field, status};

use crate::batch::Batch;
use crate::commands::Verdict;
use crate::effects::Effect;
use crate::ids;
use crate::record_padding;
use crate::table::{Corrupt, Table};

/// Time and reason of a stopped effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stop {
    pub since: UnixMicros,
    /// Full text of the reason.
    pub why: String,
    /// Reason of the refusal that stopped it; `None` where nothing refused it, or for a reason that
    /// this program does not know.
    #[serde(with = "crate::stored::optional_enum")]
    pub reason: Option<ErrorReason>,
}

/// All stopped effects of a table, in the order of the effects.
pub(crate) type Stops = BTreeMap<Effect, Stop>;

/// An operator's decision about stopped effects.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Resume {
    pub reason: String,
    pub resolution: Resolution,
}

/// Batch that stops an effect.
#[must_use]
pub(crate) fn stop_effect(
    table: &Table,
    effect: Effect,
    why: String,
    reason: Option<ErrorReason>,
) -> Batch {
    let reason = reason.map_or_else(String::new, |reason| status::reason_name(reason).to_owned());
    let effect = Some(to_recorded(effect));
    let mut stopped =
        event::EffectStopped { effect, why, reason, ..event::EffectStopped::default() };
    stopped.padding = record_padding::zeros(&stopped, record_padding::STEP);
    Batch::single(table.id, stopped)
}

/// Record that lets stopped effects go on, or the table as a whole.
#[must_use]
pub(crate) fn resumed_event(
    effect: Option<event::Effect>,
    resolution: Resolution,
    reason: String,
    transfer_id: Vec<u8>,
) -> event::EffectResumed {
    let (resolution, transfer_id) = (resolution.into(), transfer_id.into());
    let mut resumed = event::EffectResumed {
        effect,
        resolution,
        reason,
        transfer_id,
        ..event::EffectResumed::default()
    };
    resumed.padding = record_padding::zeros(&resumed, record_padding::STEP);
    resumed
}

/// Judges an operator's command to resume stopped effects.
pub(crate) fn resume(table: &Table, resume: &Resume) -> Result<Verdict, ApiRefusal> {
    if table.stops.is_empty() {
        let message = "nothing has stopped at this table";
        return Err(api_refusal(ErrorReason::NothingStopped, message));
    }
    let suspense = resume.resolution == Resolution::PayToSuspense;
    let resumes = |effect: Effect| !suspense || effect.is_payable_to_suspense();
    let stops = || table.stops.iter().map(|(effect, stop)| (*effect, stop));
    let resumed: Vec<_> = stops().filter(|(effect, _)| resumes(*effect)).collect();
    let left = stops().filter(|(effect, _)| !resumes(*effect));
    if resumed.is_empty() {
        let message = "none of what has stopped is a payment to a player: let it be tried again";
        return Err(api_refusal(ErrorReason::NothingStopped, message).field("resolution"));
    }
    let event = |effect: Effect, stop: &Stop| -> (StreamId, TableRecord) {
        let transfer = new_transfer(table, effect, stop, suspense).unwrap_or_default();
        let effect = Some(to_recorded(effect));
        let resumed = resumed_event(effect, resume.resolution, resume.reason.clone(), transfer);
        (table.id.into(), resumed.into())
    };
    let events: Vec<_> = resumed.iter().map(|(effect, stop)| event(*effect, stop)).collect();
    let answer = pb::ResumeTableResponse {
        resumed: resumed.iter().map(|(effect, _)| to_public(*effect)).collect(),
        still_stopped: left.map(|(effect, _)| to_public(effect)).collect(),
    };
    Ok(Verdict::new(events, &answer))
}

/// Verdict on an operator's command to read the whole table again.
#[must_use]
pub(crate) fn reload_table(table: &Table, resume: &Resume) -> Verdict {
    let resumed = resumed_event(None, resume.resolution, resume.reason.clone(), Vec::new());
    Verdict::new(Batch::single(table.id, resumed), &pb::ResumeTableResponse::default())
}

/// New transfer id, for a payment whose id was used for something else or that goes elsewhere from
/// now on.
fn new_transfer(table: &Table, effect: Effect, stop: &Stop, suspense: bool) -> Option<Vec<u8>> {
    let reused = stop.reason == Some(ErrorReason::RequestIdReused);
    // Each stop is published, so the sequence tells one from the next.
    let what = format!("resumed {effect:?}");
    let id = || ids::of_table(&what, stop.since, table.id, table.sequence).to_vec();
    (effect.is_payment() && (suspense || reused)).then(id)
}

impl Table {
    pub(crate) fn effect_stopped(
        &mut self,
        stopped: &event::EffectStopped,
        at: UnixMicros,
    ) -> Result<(), Corrupt> {
        let event::EffectStopped { effect, why, reason, padding: _ } = stopped;
        let stop = Stop { since: at, why: why.clone(), reason: parse_reason(reason) };
        if let Some(effect) = effect {
            self.stops.insert(from_recorded(effect)?, stop);
        }
        Ok(())
    }

    pub(crate) fn effect_resumed(&mut self, resumed: &event::EffectResumed) -> Result<(), Corrupt> {
        let event::EffectResumed { effect, resolution, reason: _, transfer_id, padding: _ } =
            resumed;
        let Some(effect) = effect else { return Ok(()) };
        let effect = from_recorded(effect)?;
        self.stops.remove(&effect);
        if transfer_id.is_empty() {
            return Ok(());
        }
        let transfer = field::exactly("transfer_id", transfer_id)?;
        let to_suspense = *resolution == i32::from(Resolution::PayToSuspense);
        self.replace_transfer(effect, transfer, to_suspense)
    }

    /// Drops the stops of effects that are no longer needed.
    pub(crate) fn forget_stops(&mut self, over: impl Fn(Effect) -> bool) {
        self.stops.retain(|effect, _| !over(*effect));
    }

    /// Stopped effects, the oldest first; `full` includes every reason.
    #[must_use]
    pub(crate) fn stopped_effects(&self, full: bool) -> Vec<pb::StoppedEffect> {
        let mut stops: Vec<_> = self.stops.iter().collect();
        stops.sort_by_key(|(effect, stop)| (stop.since, **effect));
        let view = |effect: Effect, stop: &Stop| pb::StoppedEffect {
            effect: Some(to_public(effect)),
            what: effect.describe(),
            stop_time: Some(wire::time::timestamp(stop.since)),
            why: if full { stop.why.clone() } else { String::new() },
            payable_to_suspense: effect.is_payable_to_suspense(),
        };
        stops.into_iter().map(|(effect, stop)| view(*effect, stop)).collect()
    }
}

/// Parses the recorded name of a refusal's reason.
pub(crate) fn parse_reason(name: &str) -> Option<ErrorReason> {
    ErrorReason::from_str_name(&format!("ERROR_REASON_{name}"))
}

/// Converts an effect to its recorded form.
#[must_use]
pub(crate) fn to_recorded(effect: Effect) -> event::Effect {
    let of = |kind: EffectKind| event::Effect { kind: kind.into(), ..Default::default() };
    let hand = |kind, hand_no| event::Effect { hand_no, ..of(kind) };
    let at = |kind, seat: SeatNo| event::Effect { seat: u32::from(seat.get()), ..of(kind) };
    match effect {
        Effect::Commit { hand_no } => hand(EffectKind::Commit, hand_no),
        Effect::Fund { seat } => at(EffectKind::Fund, seat),
        Effect::CashOut { seat } => at(EffectKind::CashOut, seat),
        Effect::Start => of(EffectKind::Start),
        Effect::CloseEntropy { hand_no } => hand(EffectKind::CloseEntropy, hand_no),
        Effect::Burn { hand_no } => hand(EffectKind::Burn, hand_no),
        Effect::Seal { hand_no } => hand(EffectKind::Seal, hand_no),
        Effect::Chance { hand_no, version } => {
            event::Effect { version, ..hand(EffectKind::Chance, hand_no) }
        }
        Effect::Leave { seat } => at(EffectKind::Leave, seat),
        Effect::Settle { hand_no } => hand(EffectKind::Settle, hand_no),
        Effect::RecoverCards { hand_no } => hand(EffectKind::RecoverCards, hand_no),
        Effect::Suspend { hand_no } => hand(EffectKind::Suspend, hand_no),
        Effect::EndSuspended { hand_no } => hand(EffectKind::EndSuspended, hand_no),
        Effect::Return { seat } => at(EffectKind::Return, seat),
        Effect::Post { hand_no } => hand(EffectKind::Post, hand_no),
        Effect::Reveal { hand_no } => hand(EffectKind::Reveal, hand_no),
        Effect::PayOut { seat } => at(EffectKind::PayOut, seat),
        Effect::Share => of(EffectKind::Share),
        Effect::Refund => of(EffectKind::Refund),
        Effect::PayAbsent { player } => {
            event::Effect { player_id: player.0.to_vec().into(), ..of(EffectKind::PayAbsent) }
        }
        Effect::Close => of(EffectKind::Close),
        Effect::CloseSpent => of(EffectKind::CloseSpent),
        Effect::FollowGame => of(EffectKind::FollowGame),
        Effect::RemoveIdle { seat } => at(EffectKind::RemoveIdle, seat),
        Effect::CheckStanding => of(EffectKind::CheckStanding),
    }
}

/// Converts an effect to the public API's form.
fn to_public(effect: Effect) -> pb::Effect {
    wire::public::effect(&to_recorded(effect))
}

/// Parses an effect from its recorded form.
fn from_recorded(effect: &event::Effect) -> Result<Effect, BadField> {
    let event::Effect { kind: _, hand_no, seat, player_id, version } = effect;
    let (hand_no, version) = (*hand_no, *version);
    let seat = || field::seat("effect.seat", *seat);
    let player = || -> Result<PlayerId, BadField> { field::player_id(player_id) };
    Ok(match effect.kind() {
        EffectKind::Unspecified => {
            return Err(BadField::new("effect.kind", "not one that this program knows"));
        }
        EffectKind::Commit => Effect::Commit { hand_no },
        EffectKind::Fund => Effect::Fund { seat: seat()? },
        EffectKind::CashOut => Effect::CashOut { seat: seat()? },
        EffectKind::Start => Effect::Start,
        EffectKind::CloseEntropy => Effect::CloseEntropy { hand_no },
        EffectKind::Burn => Effect::Burn { hand_no },
        EffectKind::Seal => Effect::Seal { hand_no },
        EffectKind::Chance => Effect::Chance { hand_no, version },
        EffectKind::Leave => Effect::Leave { seat: seat()? },
        EffectKind::Settle => Effect::Settle { hand_no },
        EffectKind::RecoverCards => Effect::RecoverCards { hand_no },
        EffectKind::Suspend => Effect::Suspend { hand_no },
        EffectKind::EndSuspended => Effect::EndSuspended { hand_no },
        EffectKind::Return => Effect::Return { seat: seat()? },
        EffectKind::Post => Effect::Post { hand_no },
        EffectKind::Reveal => Effect::Reveal { hand_no },
        EffectKind::PayOut => Effect::PayOut { seat: seat()? },
        EffectKind::Share => Effect::Share,
        EffectKind::Refund => Effect::Refund,
        EffectKind::PayAbsent => Effect::PayAbsent { player: player()? },
        EffectKind::Close => Effect::Close,
        EffectKind::CloseSpent => Effect::CloseSpent,
        EffectKind::FollowGame => Effect::FollowGame,
        EffectKind::RemoveIdle => Effect::RemoveIdle { seat: seat()? },
        EffectKind::CheckStanding => Effect::CheckStanding,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_effect_is_read_as_it_was_written() {
        let seat = SeatNo::try_new(3).unwrap();
        let hand_no = 7;
        let all = [
            Effect::Commit { hand_no },
            Effect::Fund { seat },
            Effect::CashOut { seat },
            Effect::Start,
            Effect::CloseEntropy { hand_no },
            Effect::Burn { hand_no },
            Effect::Seal { hand_no },
            Effect::Chance { hand_no, version: 9 },
            Effect::Leave { seat },
            Effect::Settle { hand_no },
            Effect::RecoverCards { hand_no },
            Effect::Suspend { hand_no },
            Effect::EndSuspended { hand_no },
            Effect::Return { seat },
            Effect::Post { hand_no },
            Effect::Reveal { hand_no },
            Effect::PayOut { seat },
            Effect::Share,
            Effect::Refund,
            Effect::PayAbsent { player: PlayerId([5; 16]) },
            Effect::Close,
            Effect::CloseSpent,
            Effect::FollowGame,
            Effect::RemoveIdle { seat },
            Effect::CheckStanding,
        ];
        for effect in all {
            assert_eq!(from_recorded(&to_recorded(effect)), Ok(effect));
            assert!(!effect.describe().is_empty());
        }
        assert!(from_recorded(&event::Effect::default()).is_err());
    }
}
