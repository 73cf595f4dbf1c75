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
//! never posted otherwise than it was played; but as long as it cannot have been posted, an
//! operator may void its hand ([`crate::abort::can_be_voided`]).
//!
//! Specification: services/table/README.md "Effects".

use std::collections::BTreeMap;

use primitives::{PlayerId, SeatNo, StreamId, UnixMicros};
use prost::Message as _;
use proto::common::v1::ErrorReason;
use proto::event::v1::{self as event, EffectKind, Resolution};
use proto::table::v1 as pb;
use wire::{ApiRefusal, BadField, Recorded, api_refusal, field, status};

use crate::commands::Verdict;
use crate::effect_calls::Batch;
use crate::effects::Effect;
use crate::ids;
use crate::table::{Corrupt, Table};
use crate::updates;

/// Time and reason of a stopped effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    pub since: UnixMicros,
    /// Full text of the reason.
    pub why: String,
    /// An `ErrorReason` without its prefix, or empty.
    pub reason: String,
}

/// All stopped effects of a table, in the order of the effects.
pub type Stops = BTreeMap<Effect, Stop>;

/// An operator's decision about stopped effects.
#[derive(Debug, Clone, PartialEq)]
pub struct Resume {
    pub reason: String,
    pub resolution: Resolution,
}

/// Batch that stops an effect.
#[must_use]
pub fn stop_effect(table: &Table, debt: Effect, why: String, reason: Option<ErrorReason>) -> Batch {
    let reason = reason.map_or_else(String::new, |reason| status::reason_name(reason).to_owned());
    Batch::single(table.id, event::EffectStopped { effect: Some(to_recorded(debt)), why, reason })
}

/// Judges an operator's command to resume stopped effects.
pub fn resume(table: &Table, resume: &Resume) -> Result<Verdict, ApiRefusal> {
    if table.stops.is_empty() {
        let message = "nothing has stopped at this table";
        return Err(api_refusal(ErrorReason::NothingStopped, message));
    }
    let suspense = resume.resolution == Resolution::PayToSuspense;
    let (resumed, left): (Vec<_>, Vec<_>) =
        table.stops.iter().partition(|(debt, _)| !suspense || is_payable(**debt));
    if resumed.is_empty() {
        let message = "none of what has stopped is a payment to a player: let it be tried again";
        return Err(api_refusal(ErrorReason::NothingStopped, message).field("resolution"));
    }
    let event = |(debt, stop): &(&Effect, &Stop)| -> (StreamId, Recorded) {
        let resumed = event::EffectResumed {
            effect: Some(to_recorded(**debt)),
            resolution: resume.resolution.into(),
            reason: resume.reason.clone(),
            transfer_id: new_transfer(table, **debt, (*stop, suspense)).unwrap_or_default().into(),
        };
        (table.id.into(), resumed.into())
    };
    let answer = pb::ResumeTableResponse {
        resumed: resumed.iter().map(|(debt, _)| to_recorded(**debt)).collect(),
        still_stopped: left.iter().map(|(debt, _)| to_recorded(**debt)).collect(),
    };
    Ok(Verdict {
        events: resumed.iter().map(event).collect(),
        answer: answer.encode_to_vec(),
        awaited_buy_in: None,
    })
}

/// Verdict on an operator's command to read the whole table again.
#[must_use]
pub fn reload_table(table: &Table, resume: &Resume) -> Verdict {
    let resumed = event::EffectResumed {
        effect: None,
        resolution: resume.resolution.into(),
        reason: resume.reason.clone(),
        transfer_id: prost::bytes::Bytes::new(),
    };
    let answer = pb::ResumeTableResponse::default().encode_to_vec();
    Verdict { events: vec![(table.id.into(), resumed.into())], answer, awaited_buy_in: None }
}

/// New transfer id, for a payment whose id was used for something else or that goes elsewhere from
/// now on.
fn new_transfer(table: &Table, effect: Effect, (stop, suspense): (&Stop, bool)) -> Option<Vec<u8>> {
    let moves = match effect {
        Effect::CashOut { .. } | Effect::PayAbsent { .. } | Effect::Refund => true,
        Effect::Fund { .. }
        | Effect::Commit { .. }
        | Effect::Start
        | Effect::CloseEntropy { .. }
        | Effect::Burn { .. }
        | Effect::Seal { .. }
        | Effect::Chance { .. }
        | Effect::Leave { .. }
        | Effect::Settle { .. }
        | Effect::Abandon { .. }
        | Effect::Post { .. }
        | Effect::Reveal { .. }
        | Effect::PayOut { .. }
        | Effect::Share
        | Effect::Close
        | Effect::CheckStanding
        | Effect::RemoveIdle { .. } => false,
    };
    let reused = stop.reason == status::reason_name(ErrorReason::RequestIdReused);
    // Each stop is published, so the sequence tells one from the next.
    let what = format!("resumed {effect:?}");
    let id = || ids::of_table(&what, table.id, table.sequence).to_vec();
    (moves && (suspense || reused)).then(id)
}

/// Whether an effect pays a player and may be paid to `house/suspense` instead.
fn is_payable(effect: Effect) -> bool {
    matches!(effect, Effect::CashOut { .. } | Effect::PayAbsent { .. })
}

impl Table {
    pub(crate) fn effect_stopped(
        &mut self,
        stopped: &event::EffectStopped,
        at: UnixMicros,
    ) -> Result<(), Corrupt> {
        let event::EffectStopped { effect, why, reason } = stopped;
        let stop = Stop { since: at, why: why.clone(), reason: reason.clone() };
        if let Some(effect) = effect {
            self.stops.insert(from_recorded(effect)?, stop);
        }
        Ok(())
    }

    pub(crate) fn effect_resumed(&mut self, resumed: &event::EffectResumed) -> Result<(), Corrupt> {
        let event::EffectResumed { effect, resolution, reason: _, transfer_id } = resumed;
        let Some(effect) = effect else { return Ok(()) };
        let debt = from_recorded(effect)?;
        self.stops.remove(&debt);
        if transfer_id.is_empty() {
            return Ok(());
        }
        let transfer = field::exactly("transfer_id", transfer_id)?;
        let to_suspense = *resolution == i32::from(Resolution::PayToSuspense);
        self.replace_transfer(debt, (transfer, to_suspense))
    }

    /// Drops the stops of effects that are no longer needed.
    pub(crate) fn forget_stops(&mut self, over: impl Fn(Effect) -> bool) {
        self.stops.retain(|debt, _| !over(*debt));
    }

    /// Stopped effects, the oldest first; `full` includes every reason.
    #[must_use]
    pub fn stopped_effects(&self, full: bool) -> Vec<pb::StoppedEffect> {
        let mut stops: Vec<_> = self.stops.iter().collect();
        stops.sort_by_key(|(debt, stop)| (stop.since, **debt));
        let view = |(debt, stop): (&Effect, &Stop)| pb::StoppedEffect {
            effect: Some(to_recorded(*debt)),
            what: describe(*debt),
            since: Some(updates::timestamp(stop.since)),
            why: if full { stop.why.clone() } else { String::new() },
            payable_to_suspense: is_payable(*debt),
        };
        stops.into_iter().map(view).collect()
    }
}

/// Whether an effect belongs to the hand of this number.
#[must_use]
pub fn is_of_hand(effect: Effect, number: u64) -> bool {
    match effect {
        Effect::CloseEntropy { hand_no }
        | Effect::Burn { hand_no }
        | Effect::Seal { hand_no }
        | Effect::Chance { hand_no, .. }
        | Effect::Settle { hand_no }
        | Effect::Abandon { hand_no }
        | Effect::Post { hand_no }
        | Effect::Reveal { hand_no } => hand_no == number,
        Effect::Leave { .. } => true,
        Effect::Commit { .. }
        | Effect::Fund { .. }
        | Effect::CashOut { .. }
        | Effect::Start
        | Effect::PayOut { .. }
        | Effect::Share
        | Effect::Refund
        | Effect::PayAbsent { .. }
        | Effect::Close
        | Effect::CheckStanding
        | Effect::RemoveIdle { .. } => false,
    }
}

/// Whether the wallet has judged the transfer of a stop and refused it, so that it is certainly not
/// posted. Any other stop may hide a transfer that was posted and whose answer was lost.
#[must_use]
pub fn was_refused_by_wallet(stop: &Stop) -> bool {
    let judged = [
        ErrorReason::TransferRefused,
        ErrorReason::InsufficientCredits,
        ErrorReason::AccountUnknown,
    ];
    judged.iter().any(|reason| stop.reason == status::reason_name(*reason))
}

/// Whether an effect belongs to this seat.
#[must_use]
pub fn is_of_seat(effect: Effect, number: SeatNo) -> bool {
    match effect {
        Effect::Fund { seat }
        | Effect::CashOut { seat }
        | Effect::Leave { seat }
        | Effect::PayOut { seat }
        | Effect::RemoveIdle { seat } => seat == number,
        Effect::Commit { .. }
        | Effect::Start
        | Effect::CloseEntropy { .. }
        | Effect::Burn { .. }
        | Effect::Seal { .. }
        | Effect::Chance { .. }
        | Effect::Settle { .. }
        | Effect::Abandon { .. }
        | Effect::Post { .. }
        | Effect::Reveal { .. }
        | Effect::Share
        | Effect::Refund
        | Effect::PayAbsent { .. }
        | Effect::CheckStanding
        | Effect::Close => false,
    }
}

/// Describes an effect to everybody, without its reason and amount.
fn describe(effect: Effect) -> String {
    match effect {
        Effect::Commit { hand_no } => format!("the dealer's commitment to hand {hand_no}"),
        Effect::Fund { seat } => format!("the buy-in of seat {seat}"),
        Effect::CashOut { seat } => format!("the cash-out of seat {seat}"),
        Effect::Start => "the start of the next hand".to_owned(),
        Effect::CloseEntropy { hand_no } => format!("the closing of entropy of hand {hand_no}"),
        Effect::Burn { hand_no } => format!("the burning of hand {hand_no}"),
        Effect::Seal { hand_no } => format!("the seal of hand {hand_no}"),
        Effect::Chance { hand_no, .. } => format!("chance in hand {hand_no}"),
        Effect::Leave { seat } => format!("the leaving of seat {seat}"),
        Effect::Settle { hand_no } => format!("the settlement of hand {hand_no}"),
        Effect::Abandon { hand_no } => format!("the abort of hand {hand_no}"),
        Effect::Post { hand_no } => format!("the posting of hand {hand_no}"),
        Effect::Reveal { hand_no } => format!("the seed of hand {hand_no}"),
        Effect::PayOut { seat } => format!("the paying out of seat {seat}"),
        Effect::Share => "the sharing of the pots".to_owned(),
        Effect::Refund => "the refund of the pots".to_owned(),
        Effect::PayAbsent { .. } => "a share of the pots of a player who had left".to_owned(),
        Effect::Close => "the closing of the table".to_owned(),
        Effect::RemoveIdle { seat } => format!("the leaving of seat {seat}, which is idle"),
        Effect::CheckStanding => "the question how idle players stand".to_owned(),
    }
}

/// Converts an effect to its recorded form.
#[must_use]
pub fn to_recorded(effect: Effect) -> event::Effect {
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
        Effect::Abandon { hand_no } => hand(EffectKind::Abandon, hand_no),
        Effect::Post { hand_no } => hand(EffectKind::Post, hand_no),
        Effect::Reveal { hand_no } => hand(EffectKind::Reveal, hand_no),
        Effect::PayOut { seat } => at(EffectKind::PayOut, seat),
        Effect::Share => of(EffectKind::Share),
        Effect::Refund => of(EffectKind::Refund),
        Effect::PayAbsent { player } => {
            event::Effect { player_id: player.0.to_vec().into(), ..of(EffectKind::PayAbsent) }
        }
        Effect::Close => of(EffectKind::Close),
        Effect::RemoveIdle { seat } => at(EffectKind::RemoveIdle, seat),
        Effect::CheckStanding => of(EffectKind::CheckStanding),
    }
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
        EffectKind::Abandon => Effect::Abandon { hand_no },
        EffectKind::Post => Effect::Post { hand_no },
        EffectKind::Reveal => Effect::Reveal { hand_no },
        EffectKind::PayOut => Effect::PayOut { seat: seat()? },
        EffectKind::Share => Effect::Share,
        EffectKind::Refund => Effect::Refund,
        EffectKind::PayAbsent => Effect::PayAbsent { player: player()? },
        EffectKind::Close => Effect::Close,
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
            Effect::Abandon { hand_no },
            Effect::Post { hand_no },
            Effect::Reveal { hand_no },
            Effect::PayOut { seat },
            Effect::Share,
            Effect::Refund,
            Effect::PayAbsent { player: PlayerId([5; 16]) },
            Effect::Close,
            Effect::RemoveIdle { seat },
            Effect::CheckStanding,
        ];
        for debt in all {
            assert_eq!(from_recorded(&to_recorded(debt)), Ok(debt));
            assert!(!describe(debt).is_empty());
        }
        assert!(from_recorded(&event::Effect::default()).is_err());
    }
}
