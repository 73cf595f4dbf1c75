//! Events from the answers to effects, and from their refusals.

use primitives::{Credits, SeatNo, UnixMicros};
use proto::common::v1::{self as common, ErrorReason};
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use proto::wallet::v1 as wallet;
use wire::status;

use super::{ConcludeError, Inconsistency, bound_commitment, entropy_round, in_play};
use crate::batch::Batch;
use crate::effects::Effect;
use crate::entropy::{BoundCommitment, Timing};
use crate::hand_in_play::HandInPlay;
use crate::peers::{CallFailure, Reply};
use crate::plan::{self, Plan};
use crate::reasons::{LeaveReason, SitOutReason};
use crate::state::TableState;
use crate::table::Table;
use crate::{abort, decisions, ids, record_padding, settle, standing, start, stops, suspension};

/// A pending effect, the plan of its call where it has one, and the time at which it is concluded.
#[derive(Clone, Copy)]
pub(crate) struct PendingEffect<'a> {
    pub effect: Effect,
    pub plan: Option<&'a Plan>,
    pub timing: &'a Timing,
}

/// Outcome of an effect.
pub(crate) enum EffectOutcome {
    Append(Batch),
    /// The outcome is unknown, or what came is no answer: the same call is made again later.
    Retry(String),
    /// The dealer has opened the lost cards again: the table is read again, and has them.
    Reload,
}

/// Turns the reply of a call into the outcome of its effect, which is still pending. The log gets no
/// events that the rules or the table do not accept: results of chance and decisions are judged on
/// the hand, all others are applied to a copy of the state first.
pub(crate) fn effect_outcome(
    state: &TableState,
    pending: PendingEffect<'_>,
    reply: Result<Reply, CallFailure>,
) -> EffectOutcome {
    let (table, play) = (&state.table, state.play.as_ref());
    let PendingEffect { effect, plan: _, timing } = pending;
    let batch = match reply {
        Ok(Reply::Performed(answer)) if matches!(effect, Effect::RecoverCards { .. }) => {
            return recovered_cards(play, &answer);
        }
        Ok(reply) => conclude(table, play, pending, reply).and_then(|batch| {
            // The dealer is back.
            let is_back = effect.is_bound_by_dealer();
            let batch = if is_back { suspension::continued(play, batch) } else { batch };
            if batch.inputs.judged.is_none() {
                state.check(&batch, timing.at)?;
            }
            Ok(batch)
        }),
        Err(CallFailure::Refused(refusal)) if is_retried(effect) => {
            return EffectOutcome::Retry(refusal.message().to_owned());
        }
        Err(CallFailure::Refused(refusal)) => conclude_refusal(table, effect, &refusal),
        Err(CallFailure::Retry(why)) => return EffectOutcome::Retry(why),
    };
    match batch {
        Ok(batch) => EffectOutcome::Append(batch),
        Err(ConcludeError::NoAnswer(why)) => EffectOutcome::Retry(why),
        Err(ConcludeError::Inconsistent(Inconsistency(why))) => {
            EffectOutcome::Append(stops::stop_effect(table, effect, why, None))
        }
    }
}

/// Checks the lost cards that the dealer has opened again.
fn recovered_cards(play: Option<&HandInPlay>, answer: &dealer::PerformResponse) -> EffectOutcome {
    let Some(lost) = play.and_then(|play| play.lost_cards.as_deref()) else {
        return EffectOutcome::Retry("no cards are lost".to_owned());
    };
    lost.faces(answer).map_or_else(EffectOutcome::Retry, |_| EffectOutcome::Reload)
}

/// Whether a refused effect is tried again without an operator. A seed stays pending, and so do the
/// cards of a hand in play. A hand waits until the wallet says who may be dealt in.
fn is_retried(effect: Effect) -> bool {
    match effect {
        Effect::Reveal { .. }
        | Effect::RecoverCards { .. }
        | Effect::Start
        | Effect::CheckStanding => true,
        Effect::Commit { .. }
        | Effect::Fund { .. }
        | Effect::CashOut { .. }
        | Effect::CloseEntropy { .. }
        | Effect::Burn { .. }
        | Effect::Seal { .. }
        | Effect::Chance { .. }
        | Effect::Leave { .. }
        | Effect::Settle { .. }
        | Effect::Suspend { .. }
        | Effect::EndSuspended { .. }
        | Effect::Post { .. }
        | Effect::PayOut { .. }
        | Effect::Share
        | Effect::Refund
        | Effect::PayAbsent { .. }
        | Effect::Close
        | Effect::CloseSpent
        | Effect::FollowGame
        | Effect::RemoveIdle { .. }
        | Effect::Return { .. } => false,
    }
}

/// Starts a hand if the wallet bars nobody; where it bars somebody, records that first.
fn conclude_start(
    table: &Table,
    answer: &wallet::CheckStandingResponse,
    now: UnixMicros,
) -> Result<Batch, Inconsistency> {
    let found = standing::conclude_check(table, None, answer)?;
    let mut batch = Batch::from(found.events);
    // Otherwise the wallet is asked again: the seats to deal in have changed, or somebody has sat
    // down since the question.
    if !found.has_barred && standing::covers_dealt_in(table, answer, now) {
        batch.events.extend(start::start_hand(table, now).events);
    }
    Ok(batch)
}

/// Batch that records a dealer's commitment, which must have the shape that hands are bound to.
fn conclude_commit(
    table: &Table,
    hand_no: u64,
    commitment: common::Commitment,
) -> Result<Batch, Inconsistency> {
    BoundCommitment::try_new(&commitment, table.id, hand_no, &table.config.rules_hash)?;
    Ok(Batch::single(table.id, pb::HandCommitted { hand_no, commitment: Some(commitment) }))
}

/// Turns an answer into the batch of events that it gives.
fn conclude(
    table: &Table,
    play: Option<&HandInPlay>,
    PendingEffect { effect, plan, timing }: PendingEffect<'_>,
    reply: Reply,
) -> Result<Batch, ConcludeError> {
    Ok(match (effect, reply) {
        (
            Effect::Burn { .. }
            | Effect::Suspend { .. }
            | Effect::EndSuspended { .. }
            | Effect::Leave { .. }
            | Effect::PayOut { .. }
            | Effect::RemoveIdle { .. }
            | Effect::Return { .. }
            | Effect::Share
            | Effect::Close
            | Effect::CloseSpent
            | Effect::FollowGame,
            _,
        ) => conclude_local(table, play, effect, timing)?,
        (Effect::Start, Reply::Standing(answer)) => conclude_start(table, &answer, timing.at)?,
        (Effect::CheckStanding, Reply::Standing(answer)) => {
            standing::conclude_check(table, play, &answer)?.events.into()
        }
        (Effect::Commit { hand_no }, Reply::Committed(answer)) => {
            conclude_commit(table, hand_no, answer.commitment.unwrap_or_default())?
        }
        (Effect::Fund { seat }, Reply::Posted(_)) => {
            Batch::single(table.id, pb::SeatFunded { seat: u32::from(seat.get()) })
        }
        (Effect::CashOut { seat }, Reply::Posted(_)) => {
            Batch::single(table.id, pb::SeatVacated { seat: u32::from(seat.get()) })
        }
        (Effect::CloseEntropy { .. }, Reply::Closed(answer)) => {
            conclude_close(table, in_play(play)?, answer.closing.unwrap_or_default())?
        }
        (Effect::Seal { .. }, Reply::Sealed(answer)) => {
            conclude_seal(table, in_play(play)?, answer.transcript)?
        }
        (Effect::Chance { .. }, Reply::Performed(answer)) => {
            conclude_chance(in_play(play)?, plan, answer)?
        }
        (Effect::Settle { .. }, Reply::Performed(answer)) => {
            settle::check_shown(in_play(play)?, &answer).map_err(no_answer)?;
            settle::conclude_settle(in_play(play)?)?
        }
        (Effect::Settle { .. }, Reply::Nothing) => settle::conclude_settle(in_play(play)?)?,
        (Effect::Post { .. }, Reply::Posted(position)) => {
            settle::conclude_post(table, in_play(play)?, position)?
        }
        (Effect::Reveal { hand_no }, Reply::Revealed(answer)) => {
            settle::conclude_reveal(table, hand_no, answer.seed)?
        }
        (Effect::Refund, Reply::Posted(_)) => Batch::single(table.id, pb::PotRefunded {}),
        (Effect::PayAbsent { player }, Reply::Posted(_)) => {
            Batch::single(table.id, pb::AbsentPaid { player_id: player.0.to_vec().into() })
        }
        (
            Effect::Start
            | Effect::CheckStanding
            | Effect::Commit { .. }
            | Effect::Fund { .. }
            | Effect::CashOut { .. }
            | Effect::CloseEntropy { .. }
            | Effect::Seal { .. }
            | Effect::Chance { .. }
            | Effect::Settle { .. }
            | Effect::Post { .. }
            | Effect::Reveal { .. }
            | Effect::RecoverCards { .. }
            | Effect::Refund
            | Effect::PayAbsent { .. },
            _,
        ) => return Err(mismatch(effect).into()),
    })
}

/// Batch of an effect that needs no other service.
fn conclude_local(
    table: &Table,
    play: Option<&HandInPlay>,
    effect: Effect,
    timing: &Timing,
) -> Result<Batch, Inconsistency> {
    match effect {
        Effect::Burn { .. } => abort::burn_hand(table, in_play(play)?, timing),
        Effect::Suspend { .. } => suspension::suspend(table, in_play(play)?, timing),
        Effect::EndSuspended { .. } => suspension::end(table, in_play(play)?, timing),
        Effect::Leave { seat } => decisions::take_leave(table, in_play(play)?, seat),
        Effect::PayOut { seat } => Ok(pay_out_seat(table, seat)),
        Effect::RemoveIdle { seat } => Ok(Batch::single(table.id, LeaveReason::Idle.event(seat))),
        Effect::Return { seat } => {
            Ok(Batch::single(table.id, SitOutReason::Excluded.event(seat, false)))
        }
        Effect::Share => settle::share_pots(table),
        Effect::Close => Ok(Batch::single(table.id, pb::TableClosed {})),
        Effect::CloseSpent => Ok(Batch::single(table.id, pb::CloseAsked {})),
        Effect::FollowGame => {
            let record = table.pending_game_record().ok_or_else(|| mismatch(effect))?;
            Ok(Batch::single(table.id, record))
        }
        Effect::Start
        | Effect::CheckStanding
        | Effect::Commit { .. }
        | Effect::Fund { .. }
        | Effect::CashOut { .. }
        | Effect::CloseEntropy { .. }
        | Effect::Seal { .. }
        | Effect::Chance { .. }
        | Effect::Settle { .. }
        | Effect::Post { .. }
        | Effect::Reveal { .. }
        | Effect::RecoverCards { .. }
        | Effect::Refund
        | Effect::PayAbsent { .. } => Err(mismatch(effect)),
    }
}

fn mismatch(effect: Effect) -> Inconsistency {
    Inconsistency(format!("another answer came back than to {effect:?}"))
}

/// Records the results of chance that the dealer gave. Results that the rules do not accept are no
/// answer.
fn conclude_chance(
    play: &HandInPlay,
    plan: Option<&Plan>,
    answer: dealer::PerformResponse,
) -> Result<Batch, ConcludeError> {
    let plan = plan.ok_or_else(|| Inconsistency("chance came back without a plan".to_owned()))?;
    let (events, faces) = plan.conclude(play, answer).map_err(no_answer)?;
    let judged = play.judge_chance(events, faces);
    judged.map_err(|_| ConcludeError::NoAnswer(plan::MISMATCH.to_owned()))
}

/// Turns an answer that does not fit its question into no answer.
fn no_answer(why: wire::replay::ReplayError) -> ConcludeError {
    // Refusals of the rules name cards, so their text is left out.
    ConcludeError::NoAnswer(match why {
        wire::replay::ReplayError::Corrupt(text) => text,
        wire::replay::ReplayError::Setup(_)
        | wire::replay::ReplayError::Refused(_)
        | wire::replay::ReplayError::Position(_)
        | wire::replay::ReplayError::Unexpected(_)
        | wire::replay::ReplayError::FaceUnknown => plan::MISMATCH.to_owned(),
    })
}

/// Turns a permanent refusal into events. A refused buy-in frees the seat. A dealer that refuses
/// what it has committed to has given no answer. Any other refusal stops the effect until an
/// operator resumes it.
fn conclude_refusal(
    table: &Table,
    effect: Effect,
    refusal: &tonic::Status,
) -> Result<Batch, ConcludeError> {
    let reason = status::reason_of(refusal);
    if let (Effect::Fund { seat }, Some(reason)) = (effect, reason) {
        let has_text = reason == ErrorReason::TransferRefused;
        let text =
            if has_text { refusal.message().chars().take(300).collect() } else { String::new() };
        let (seat, reason) = (u32::from(seat.get()), status::reason_name(reason).to_owned());
        let mut refused = pb::SeatRefused { seat, reason, text, ..pb::SeatRefused::default() };
        refused.padding = record_padding::zeros(&refused, record_padding::STEP);
        return Ok(Batch::single(table.id, refused));
    }
    let for_good = matches!(
        reason,
        Some(
            ErrorReason::ChanceRefused
                | ErrorReason::HandUnknown
                | ErrorReason::RequestIdReused
                | ErrorReason::Corrupt
        )
    );
    let subject = effect.refused_subject();
    let text = format!("{subject} was refused: {}", refusal.message());
    if effect.is_bound_by_dealer() && for_good {
        return Err(ConcludeError::NoAnswer(text));
    }
    Ok(stops::stop_effect(table, effect, text, reason))
}

fn pay_out_seat(table: &Table, number: SeatNo) -> Batch {
    let seat = &table.seats[&number];
    let seat_no = u32::from(number.get());
    if seat.stack == Credits::ZERO {
        return Batch::single(table.id, pb::SeatVacated { seat: seat_no });
    }
    // A seat is taken anew at most once between two updates, so the sequence names this cash-out.
    let which = table.sequence << 8 | u64::from(number.get());
    let at = seat.ready_at.max(table.last_started_at);
    let transfer = ids::of_table("cash-out", at, table.id, which);
    let due = pb::CashOutDue {
        seat: seat_no,
        amount: seat.stack.get(),
        transfer_id: transfer.to_vec().into(),
    };
    Batch::single(table.id, due)
}

/// Records the closing. The dealer must have signed exactly what the seats have committed to.
fn conclude_close(
    table: &Table,
    play: &HandInPlay,
    closing: dealer::Closing,
) -> Result<Batch, ConcludeError> {
    let round = entropy_round(table)?;
    let bound = bound_commitment(table, play.hand_no)?;
    let commitments = table.seat_commitments_of(play.hand_no);
    round
        .check_closing(&closing, commitments, &bound)
        .map_err(|bad| ConcludeError::NoAnswer(bad.to_string()))?;
    Ok(Batch::single(play.hand_id, pb::EntropyClosed { closing: Some(closing) }))
}

/// Records the seal. The dealer must have bound exactly the seats' entropy.
fn conclude_seal(
    table: &Table,
    play: &HandInPlay,
    transcript: Vec<u8>,
) -> Result<Batch, ConcludeError> {
    let round = entropy_round(table)?;
    let commitments = table.seat_commitments_of(play.hand_no);
    let ours = round.transcript(commitments, &bound_commitment(table, play.hand_no)?)?;
    if transcript != ours.0 {
        let evidence = "the seal of the hand has another transcript than its rows give";
        return Err(ConcludeError::NoAnswer(evidence.to_owned()));
    }
    let rows = round.rows(commitments);
    Ok(Batch::single(play.hand_id, pb::HandSealed { transcript: transcript.into(), rows }))
}
