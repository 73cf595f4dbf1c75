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
//! operator may void its hand ([`crate::abort::may_be_void`]).

use std::collections::BTreeMap;

use primitives::{PlayerId, SeatNo, StreamId, UnixMicros};
use prost::Message as _;
use proto::common::v1::ErrorReason;
use proto::event::v1::{self as event, EffectKind, Resolution};
use proto::table::v1 as pb;
use wire::{BadField, Recorded, Refused, field, refused, status};

use crate::debt::Debt;
use crate::deeds::Verdict;
use crate::ids;
use crate::pay::Paid;
use crate::table::{Damaged, Table};
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
pub type Stops = BTreeMap<Debt, Stop>;

/// An operator's decision about stopped effects.
#[derive(Debug, Clone, PartialEq)]
pub struct Resume {
    pub reason: String,
    pub resolution: Resolution,
}

/// Batch that stops an effect.
#[must_use]
pub fn stopped(table: &Table, debt: Debt, why: String, reason: Option<ErrorReason>) -> Paid {
    let reason = reason.map_or_else(String::new, |reason| status::name(reason).to_owned());
    Paid::one(table.id, event::EffectStopped { effect: Some(effect(debt)), why, reason })
}

/// Judges an operator's command to resume stopped effects.
pub fn resume(table: &Table, resume: &Resume) -> Result<Verdict, Refused> {
    if table.stops.is_empty() {
        let message = "nothing has stopped at this table";
        return Err(refused(ErrorReason::NothingStopped, message));
    }
    let suspense = resume.resolution == Resolution::PayToSuspense;
    let (resumed, left): (Vec<_>, Vec<_>) =
        table.stops.iter().partition(|(debt, _)| !suspense || is_payable(**debt));
    if resumed.is_empty() {
        let message = "none of what has stopped is a payment to a player: let it be tried again";
        return Err(refused(ErrorReason::NothingStopped, message).field("resolution"));
    }
    let event = |(debt, stop): &(&Debt, &Stop)| -> (StreamId, Recorded) {
        let resumed = event::EffectResumed {
            effect: Some(effect(**debt)),
            resolution: resume.resolution.into(),
            reason: resume.reason.clone(),
            transfer_id: new_transfer(table, **debt, (*stop, suspense)).unwrap_or_default().into(),
        };
        (table.id.into(), resumed.into())
    };
    let answer = pb::ResumeTableResponse {
        resumed: resumed.iter().map(|(debt, _)| effect(**debt)).collect(),
        still_stopped: left.iter().map(|(debt, _)| effect(**debt)).collect(),
    };
    Ok(Verdict {
        events: resumed.iter().map(event).collect(),
        answer: answer.encode_to_vec(),
        waits_for: None,
    })
}

/// Verdict on an operator's command to read the whole table again.
#[must_use]
pub fn read_again(table: &Table, resume: &Resume) -> Verdict {
    let resumed = event::EffectResumed {
        effect: None,
        resolution: resume.resolution.into(),
        reason: resume.reason.clone(),
        transfer_id: prost::bytes::Bytes::new(),
    };
    let answer = pb::ResumeTableResponse::default().encode_to_vec();
    Verdict { events: vec![(table.id.into(), resumed.into())], answer, waits_for: None }
}

/// New transfer id, for a payment whose id was used for something else or that goes elsewhere from
/// now on.
fn new_transfer(table: &Table, debt: Debt, (stop, suspense): (&Stop, bool)) -> Option<Vec<u8>> {
    let moves = match debt {
        Debt::CashOut { .. } | Debt::PayAbsent { .. } | Debt::Refund => true,
        Debt::Fund { .. }
        | Debt::Commit { .. }
        | Debt::Start
        | Debt::CloseEntropy { .. }
        | Debt::Burn { .. }
        | Debt::Seal { .. }
        | Debt::Chance { .. }
        | Debt::Leave { .. }
        | Debt::Settle { .. }
        | Debt::Abandon { .. }
        | Debt::Post { .. }
        | Debt::Reveal { .. }
        | Debt::PayOut { .. }
        | Debt::Share
        | Debt::Close
        | Debt::CheckStanding
        | Debt::RemoveIdle { .. } => false,
    };
    let reused = stop.reason == status::name(ErrorReason::RequestIdReused);
    // Each stop is published, so the sequence tells one from the next.
    let what = format!("resumed {debt:?}");
    let id = || ids::of_table(&what, table.id, table.sequence).to_vec();
    (moves && (suspense || reused)).then(id)
}

/// Whether an effect pays a player and may be paid to `house/suspense` instead.
fn is_payable(debt: Debt) -> bool {
    matches!(debt, Debt::CashOut { .. } | Debt::PayAbsent { .. })
}

impl Table {
    pub(crate) fn effect_stopped(
        &mut self,
        stopped: &event::EffectStopped,
        at: UnixMicros,
    ) -> Result<(), Damaged> {
        let event::EffectStopped { effect, why, reason } = stopped;
        let stop = Stop { since: at, why: why.clone(), reason: reason.clone() };
        if let Some(effect) = effect {
            self.stops.insert(parse(effect)?, stop);
        }
        Ok(())
    }

    pub(crate) fn effect_resumed(&mut self, resumed: &event::EffectResumed) -> Result<(), Damaged> {
        let event::EffectResumed { effect, resolution, reason: _, transfer_id } = resumed;
        let Some(effect) = effect else { return Ok(()) };
        let debt = parse(effect)?;
        self.stops.remove(&debt);
        if transfer_id.is_empty() {
            return Ok(());
        }
        let transfer = field::exactly("transfer_id", transfer_id)?;
        let to_suspense = *resolution == i32::from(Resolution::PayToSuspense);
        self.pay_anew(debt, (transfer, to_suspense))
    }

    /// Drops the stops of effects that are no longer needed.
    pub(crate) fn forget_stops(&mut self, over: impl Fn(Debt) -> bool) {
        self.stops.retain(|debt, _| !over(*debt));
    }

    /// Stopped effects, the oldest first; `full` includes every reason.
    #[must_use]
    pub fn stopped(&self, full: bool) -> Vec<pb::StoppedEffect> {
        let mut stops: Vec<_> = self.stops.iter().collect();
        stops.sort_by_key(|(debt, stop)| (stop.since, **debt));
        let view = |(debt, stop): (&Debt, &Stop)| pb::StoppedEffect {
            effect: Some(effect(*debt)),
            what: in_words(*debt),
            since: Some(updates::timestamp(stop.since)),
            why: if full { stop.why.clone() } else { String::new() },
            payable_to_suspense: is_payable(*debt),
        };
        stops.into_iter().map(view).collect()
    }
}

/// Whether an effect belongs to the hand of this number.
#[must_use]
pub fn is_of_hand(debt: Debt, number: u64) -> bool {
    match debt {
        Debt::CloseEntropy { hand_no }
        | Debt::Burn { hand_no }
        | Debt::Seal { hand_no }
        | Debt::Chance { hand_no, .. }
        | Debt::Settle { hand_no }
        | Debt::Abandon { hand_no }
        | Debt::Post { hand_no }
        | Debt::Reveal { hand_no } => hand_no == number,
        Debt::Leave { .. } => true,
        Debt::Commit { .. }
        | Debt::Fund { .. }
        | Debt::CashOut { .. }
        | Debt::Start
        | Debt::PayOut { .. }
        | Debt::Share
        | Debt::Refund
        | Debt::PayAbsent { .. }
        | Debt::Close
        | Debt::CheckStanding
        | Debt::RemoveIdle { .. } => false,
    }
}

/// Whether the wallet has judged the transfer of a stop and refused it, so that it is certainly not
/// posted. Any other stop may hide a transfer that was posted and whose answer was lost.
#[must_use]
pub fn was_judged(stop: &Stop) -> bool {
    let judged = [
        ErrorReason::TransferRefused,
        ErrorReason::InsufficientCredits,
        ErrorReason::AccountUnknown,
    ];
    judged.iter().any(|reason| stop.reason == status::name(*reason))
}

/// Whether an effect belongs to this seat.
#[must_use]
pub fn is_of_seat(debt: Debt, number: SeatNo) -> bool {
    match debt {
        Debt::Fund { seat }
        | Debt::CashOut { seat }
        | Debt::Leave { seat }
        | Debt::PayOut { seat }
        | Debt::RemoveIdle { seat } => seat == number,
        Debt::Commit { .. }
        | Debt::Start
        | Debt::CloseEntropy { .. }
        | Debt::Burn { .. }
        | Debt::Seal { .. }
        | Debt::Chance { .. }
        | Debt::Settle { .. }
        | Debt::Abandon { .. }
        | Debt::Post { .. }
        | Debt::Reveal { .. }
        | Debt::Share
        | Debt::Refund
        | Debt::PayAbsent { .. }
        | Debt::CheckStanding
        | Debt::Close => false,
    }
}

/// Describes an effect to everybody, without its reason and amount.
fn in_words(debt: Debt) -> String {
    match debt {
        Debt::Commit { hand_no } => format!("the dealer's commitment to hand {hand_no}"),
        Debt::Fund { seat } => format!("the buy-in of seat {seat}"),
        Debt::CashOut { seat } => format!("the cash-out of seat {seat}"),
        Debt::Start => "the start of the next hand".to_owned(),
        Debt::CloseEntropy { hand_no } => format!("the closing of entropy of hand {hand_no}"),
        Debt::Burn { hand_no } => format!("the burning of hand {hand_no}"),
        Debt::Seal { hand_no } => format!("the seal of hand {hand_no}"),
        Debt::Chance { hand_no, .. } => format!("chance in hand {hand_no}"),
        Debt::Leave { seat } => format!("the leaving of seat {seat}"),
        Debt::Settle { hand_no } => format!("the settlement of hand {hand_no}"),
        Debt::Abandon { hand_no } => format!("the abort of hand {hand_no}"),
        Debt::Post { hand_no } => format!("the posting of hand {hand_no}"),
        Debt::Reveal { hand_no } => format!("the seed of hand {hand_no}"),
        Debt::PayOut { seat } => format!("the paying out of seat {seat}"),
        Debt::Share => "the sharing of the pots".to_owned(),
        Debt::Refund => "the refund of the pots".to_owned(),
        Debt::PayAbsent { .. } => "a share of the pots of a player who had left".to_owned(),
        Debt::Close => "the closing of the table".to_owned(),
        Debt::RemoveIdle { seat } => format!("the leaving of seat {seat}, which is idle"),
        Debt::CheckStanding => "the question how idle players stand".to_owned(),
    }
}

/// Converts an effect to its recorded form.
#[must_use]
pub fn effect(debt: Debt) -> event::Effect {
    let of = |kind: EffectKind| event::Effect { kind: kind.into(), ..Default::default() };
    let hand = |kind, hand_no| event::Effect { hand_no, ..of(kind) };
    let at = |kind, seat: SeatNo| event::Effect { seat: u32::from(seat.get()), ..of(kind) };
    match debt {
        Debt::Commit { hand_no } => hand(EffectKind::Commit, hand_no),
        Debt::Fund { seat } => at(EffectKind::Fund, seat),
        Debt::CashOut { seat } => at(EffectKind::CashOut, seat),
        Debt::Start => of(EffectKind::Start),
        Debt::CloseEntropy { hand_no } => hand(EffectKind::CloseEntropy, hand_no),
        Debt::Burn { hand_no } => hand(EffectKind::Burn, hand_no),
        Debt::Seal { hand_no } => hand(EffectKind::Seal, hand_no),
        Debt::Chance { hand_no, version } => {
            event::Effect { version, ..hand(EffectKind::Chance, hand_no) }
        }
        Debt::Leave { seat } => at(EffectKind::Leave, seat),
        Debt::Settle { hand_no } => hand(EffectKind::Settle, hand_no),
        Debt::Abandon { hand_no } => hand(EffectKind::Abandon, hand_no),
        Debt::Post { hand_no } => hand(EffectKind::Post, hand_no),
        Debt::Reveal { hand_no } => hand(EffectKind::Reveal, hand_no),
        Debt::PayOut { seat } => at(EffectKind::PayOut, seat),
        Debt::Share => of(EffectKind::Share),
        Debt::Refund => of(EffectKind::Refund),
        Debt::PayAbsent { player } => {
            event::Effect { player_id: player.0.to_vec().into(), ..of(EffectKind::PayAbsent) }
        }
        Debt::Close => of(EffectKind::Close),
        Debt::RemoveIdle { seat } => at(EffectKind::RemoveIdle, seat),
        Debt::CheckStanding => of(EffectKind::CheckStanding),
    }
}

/// Parses an effect from its recorded form.
fn parse(effect: &event::Effect) -> Result<Debt, BadField> {
    let event::Effect { kind: _, hand_no, seat, player_id, version } = effect;
    let (hand_no, version) = (*hand_no, *version);
    let seat = || field::seat("effect.seat", *seat);
    let player = || -> Result<PlayerId, BadField> { field::player_id(player_id) };
    Ok(match effect.kind() {
        EffectKind::Unspecified => {
            return Err(BadField::new("effect.kind", "not one that this program knows"));
        }
        EffectKind::Commit => Debt::Commit { hand_no },
        EffectKind::Fund => Debt::Fund { seat: seat()? },
        EffectKind::CashOut => Debt::CashOut { seat: seat()? },
        EffectKind::Start => Debt::Start,
        EffectKind::CloseEntropy => Debt::CloseEntropy { hand_no },
        EffectKind::Burn => Debt::Burn { hand_no },
        EffectKind::Seal => Debt::Seal { hand_no },
        EffectKind::Chance => Debt::Chance { hand_no, version },
        EffectKind::Leave => Debt::Leave { seat: seat()? },
        EffectKind::Settle => Debt::Settle { hand_no },
        EffectKind::Abandon => Debt::Abandon { hand_no },
        EffectKind::Post => Debt::Post { hand_no },
        EffectKind::Reveal => Debt::Reveal { hand_no },
        EffectKind::PayOut => Debt::PayOut { seat: seat()? },
        EffectKind::Share => Debt::Share,
        EffectKind::Refund => Debt::Refund,
        EffectKind::PayAbsent => Debt::PayAbsent { player: player()? },
        EffectKind::Close => Debt::Close,
        EffectKind::RemoveIdle => Debt::RemoveIdle { seat: seat()? },
        EffectKind::CheckStanding => Debt::CheckStanding,
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
            Debt::Commit { hand_no },
            Debt::Fund { seat },
            Debt::CashOut { seat },
            Debt::Start,
            Debt::CloseEntropy { hand_no },
            Debt::Burn { hand_no },
            Debt::Seal { hand_no },
            Debt::Chance { hand_no, version: 9 },
            Debt::Leave { seat },
            Debt::Settle { hand_no },
            Debt::Abandon { hand_no },
            Debt::Post { hand_no },
            Debt::Reveal { hand_no },
            Debt::PayOut { seat },
            Debt::Share,
            Debt::Refund,
            Debt::PayAbsent { player: PlayerId([5; 16]) },
            Debt::Close,
            Debt::RemoveIdle { seat },
            Debt::CheckStanding,
        ];
        for debt in all {
            assert_eq!(parse(&effect(debt)), Ok(debt));
            assert!(!in_words(debt).is_empty());
        }
        assert!(parse(&event::Effect::default()).is_err());
    }
}
