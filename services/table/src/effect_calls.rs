//! Calls for effects, and events from their answers. Pure on both sides of the call.
//!
//! Specification: services/table/README.md "Effects".

use primitives::{Credits, PlayerId, SeatNo, StreamId, UnixMicros};
use prost::Message;
use proto::common::v1::ErrorReason;
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use proto::wallet::v1 as wallet;
use rules::{DecisionAuthor, Move, Next};
use sha2::{Digest, Sha256};
use wire::{Recorded, status};

use crate::effects::{Effect, waits_for_seed};
use crate::entropy::{self, Timing};
use crate::hand_in_play::HandInPlay;
use crate::peers::{CallFailure, PeerCall, Reply};
use crate::plan::{self, Plan};
use crate::proof::Faces;
use crate::state::TableState;
use crate::table::{Funding, REASON_IDLE, Table};
use crate::{abort, ids, settle, standing, start, stops};

/// A call for an effect, and the plan that is needed to read its answer.
pub struct PreparedCall {
    pub call: PeerCall,
    pub plan: Option<Plan>,
}

/// Batch of events with their streams, to be appended in one go, and the faces of the cards that
/// they move.
#[derive(Default)]
pub struct Batch {
    pub events: Vec<(StreamId, Recorded)>,
    pub faces: Faces,
}

/// The state contradicts itself, or does not fit an answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Inconsistency(pub String);

/// Fault in an answer.
#[derive(Debug, thiserror::Error)]
pub enum ConcludeError {
    #[error(transparent)]
    Inconsistent(#[from] Inconsistency),
    /// The dealer contradicts itself or its commitment; holds the evidence in words. The hand is
    /// aborted and the table closes.
    #[error("{0}")]
    DealerFault(String),
}

impl From<wire::BadField> for ConcludeError {
    fn from(bad: wire::BadField) -> ConcludeError {
        Inconsistency::from(bad).into()
    }
}

macro_rules! breaks {
    ($($error:ty)*) => {
        $(impl From<$error> for Inconsistency {
            fn from(error: $error) -> Inconsistency {
                Inconsistency(error.to_string())
            }
        })*
    };
}

breaks! {
    wire::replay::ReplayError wire::card_positions::PositionError wire::BadField rules::Refusal
    primitives::CreditsOutOfRange crate::table::Corrupt
}

impl Batch {
    pub(crate) fn single(stream: impl Into<StreamId>, event: impl Into<Recorded>) -> Batch {
        Batch { events: vec![(stream.into(), event.into())], faces: Faces::new() }
    }
}

/// Prepares the call for an effect.
pub fn prepare(
    table: &Table,
    play: Option<&HandInPlay>,
    effect: Effect,
) -> Result<PreparedCall, Inconsistency> {
    let table_id = table.id.0.to_vec();
    let mut plan = None;
    let in_play =
        || play.ok_or_else(|| Inconsistency("an effect of a hand that is not in play".to_owned()));
    let call = match effect {
        Effect::Start | Effect::CheckStanding => {
            PeerCall::CheckStanding(standing::check_request(table, play))
        }
        Effect::CloseEntropy { .. }
        | Effect::Burn { .. }
        | Effect::Abandon { .. }
        | Effect::Leave { .. }
        | Effect::PayOut { .. }
        | Effect::Share
        | Effect::RemoveIdle { .. }
        | Effect::Close => PeerCall::Nothing,
        Effect::Commit { hand_no } => PeerCall::Commit(dealer::CommitRequest {
            request_id: ids::of_table("commit", table.id, hand_no).to_vec(),
            table_id,
            hand_no,
            rule_set_hash: table.config.rule_set_hash.to_vec(),
        }),
        Effect::Fund { seat } => buy_in_call(table, seat)?,
        Effect::CashOut { seat } => cash_out_call(table, seat)?,
        Effect::Seal { .. } => PeerCall::Seal(seal_request(table, in_play()?)?),
        Effect::Chance { .. } => {
            let play = in_play()?;
            let Next::Chance(due) = rules::next(&play.replay.hand) else {
                return Err(Inconsistency("chance is owed and none is due".to_owned()));
            };
            let made = plan::plan(play, due)?;
            let call = made.call.clone();
            plan = Some(made);
            call
        }
        Effect::Settle { .. } => settle::show_call(in_play()?)?,
        Effect::Post { .. } => PeerCall::Settle(settle::settlement_request(table, in_play()?)?),
        Effect::Reveal { hand_no } => PeerCall::Reveal(reveal_request(table, hand_no)?),
        Effect::Refund => PeerCall::Settle(settle::refund_request(table)?),
        Effect::PayAbsent { player } => absent_share_call(table, player)?,
    };
    Ok(PreparedCall { call, plan })
}

fn buy_in_call(table: &Table, number: SeatNo) -> Result<PeerCall, Inconsistency> {
    let seat = &table.seats[&number];
    let Funding::BuyingIn { transfer, amount } = seat.funding else {
        return Err(Inconsistency(format!("seat {number} is not buying in")));
    };
    Ok(PeerCall::BuyIn(wallet::BuyInRequest {
        request_id: transfer.to_vec(),
        table_id: table.id.0.to_vec(),
        player_id: seat.player.0.to_vec(),
        amount: amount.get(),
    }))
}

fn cash_out_call(table: &Table, number: SeatNo) -> Result<PeerCall, Inconsistency> {
    let seat = &table.seats[&number];
    let Funding::CashingOut { transfer, to_suspense } = seat.funding else {
        return Err(Inconsistency(format!("seat {number} is not cashing out")));
    };
    Ok(PeerCall::CashOut(wallet::CashOutRequest {
        request_id: transfer.to_vec(),
        table_id: table.id.0.to_vec(),
        player_id: seat.player.0.to_vec(),
        amount: seat.stack.get(),
        to_suspense,
    }))
}

fn absent_share_call(table: &Table, player: PlayerId) -> Result<PeerCall, Inconsistency> {
    let absent = table.absent_shares.get(&player);
    let absent =
        absent.ok_or_else(|| Inconsistency(format!("player {player} has no share to come")))?;
    let first = || ids::pay_absent(table.id, player, table.hand_no);
    Ok(PeerCall::CashOut(wallet::CashOutRequest {
        request_id: absent.transfer.unwrap_or_else(first).to_vec(),
        amount: absent.share.get(),
        table_id: table.id.0.to_vec(),
        player_id: player.0.to_vec(),
        to_suspense: absent.to_suspense,
    }))
}

fn seal_request(table: &Table, play: &HandInPlay) -> Result<dealer::SealRequest, Inconsistency> {
    Ok(dealer::SealRequest {
        request_id: ids::of_hand("seal", play.hand_id, 0).to_vec(),
        table_id: play.opened.table_id.to_vec(),
        hand_no: play.hand_no,
        beacon: Vec::new(),
        rows: entropy_round(table)?.rows(table.seat_commitments_of(play.hand_no)),
    })
}

fn entropy_round(table: &Table) -> Result<&entropy::EntropyRound, Inconsistency> {
    table.entropy_round().ok_or_else(|| Inconsistency("the hand is not open".to_owned()))
}

/// Records the seal. The dealer must have bound exactly the seats' entropy.
fn conclude_seal(
    table: &Table,
    play: &HandInPlay,
    transcript: Vec<u8>,
) -> Result<Batch, ConcludeError> {
    let sealing = entropy_round(table)?;
    let commitments = table.seat_commitments_of(play.hand_no);
    let hash = &table.config.rule_set_hash;
    let ours = sealing.transcript(commitments, (table.id, play.hand_no), hash)?;
    if transcript != ours.0 {
        let evidence = "the seal of the hand has another transcript than its rows give";
        return Err(ConcludeError::DealerFault(evidence.to_owned()));
    }
    let rows = sealing.rows(commitments);
    Ok(Batch::single(play.hand_id, pb::HandSealed { transcript: transcript.into(), rows }))
}

fn reveal_request(table: &Table, hand_no: u64) -> Result<dealer::RevealRequest, Inconsistency> {
    let pending = table.seeds.get(hand_no);
    let pending =
        pending.ok_or_else(|| Inconsistency(format!("the seed of hand {hand_no} is not owed")))?;
    let what = if pending.discarded { "discard" } else { "reveal" };
    Ok(dealer::RevealRequest {
        request_id: ids::of_hand(what, pending.hand, 0).to_vec(),
        table_id: table.id.0.to_vec(),
        hand_no,
        discarded: pending.discarded,
    })
}

/// Outcome of an effect.
pub enum EffectOutcome {
    Append(Batch),
    /// The outcome is unknown or the answer must wait: the same call is made again later.
    Retry(String),
}

/// Turns the reply of a call into the outcome of its effect, which is still pending. Events are
/// applied to a copy first, so that the log gets none that the rules do not accept.
pub fn effect_outcome(
    state: &TableState,
    (debt, plan, now): (Effect, Option<&Plan>, &Timing),
    reply: Result<Reply, CallFailure>,
) -> EffectOutcome {
    let (table, play) = (&state.table, state.play.as_ref());
    let batch = match reply {
        Ok(reply) => conclude(table, play, (debt, plan, now), reply)
            .and_then(|paid| check_batch(state, debt, (paid, now.at))),
        Err(CallFailure::Refused(refusal)) if is_retried(table, play, debt) => {
            return EffectOutcome::Retry(refusal.message().to_owned());
        }
        Err(CallFailure::Refused(refusal)) => conclude_refusal(table, debt, &refusal),
        Err(CallFailure::Retry(why)) => return EffectOutcome::Retry(why),
    };
    match (batch, play) {
        (Ok(paid), _) => EffectOutcome::Append(paid),
        (Err(ConcludeError::DealerFault(evidence)), Some(play)) => {
            EffectOutcome::Append(abort::dealer_contradicted(table, play, &evidence))
        }
        (Err(ConcludeError::DealerFault(evidence)), None) => {
            EffectOutcome::Append(stops::stop_effect(table, debt, evidence, None))
        }
        (Err(ConcludeError::Inconsistent(Inconsistency(why))), _) => {
            EffectOutcome::Append(stops::stop_effect(table, debt, why, None))
        }
    }
}

/// Whether a refused effect is tried again without an operator. A seed stays pending, unless the
/// settlement of its own hand waits for it. A hand waits until the wallet says who may be dealt in.
fn is_retried(table: &Table, play: Option<&HandInPlay>, effect: Effect) -> bool {
    if let Effect::Reveal { hand_no } = effect {
        let waits = |play: &HandInPlay| play.hand_no == hand_no && waits_for_seed(table, play);
        return !play.is_some_and(waits);
    }
    matches!(effect, Effect::Start | Effect::CheckStanding)
}

/// Starts a hand if the wallet bars nobody; where it bars somebody, records that first.
fn conclude_start(
    table: &Table,
    play: Option<&HandInPlay>,
    answer: &wallet::CheckStandingResponse,
    at: UnixMicros,
) -> Result<Batch, Inconsistency> {
    let found = standing::conclude_check(table, play, answer)?;
    let mut batch = Batch { events: found.events, faces: Faces::new() };
    // Otherwise the wallet is asked again: the seats to deal in have changed, or somebody has sat
    // down since the question.
    if !found.has_barred && standing::covers_ready(table, answer) {
        batch.events.extend(start::start_hand(table, at).events);
    }
    Ok(batch)
}

/// Checks a batch against the state. Results of chance that the rules do not accept are the
/// dealer's fault.
fn check_batch(
    state: &TableState,
    effect: Effect,
    (paid, at): (Batch, UnixMicros),
) -> Result<Batch, ConcludeError> {
    match state.check(&paid, at) {
        Ok(()) => Ok(paid),
        Err(_) if matches!(effect, Effect::Chance { .. }) => {
            Err(ConcludeError::DealerFault(plan::MISMATCH.to_owned()))
        }
        Err(broken) => Err(broken.into()),
    }
}

/// Batch that records a dealer's commitment, which must have the shape that hands are bound to.
fn conclude_commit(
    table: &Table,
    hand_no: u64,
    commitment: dealer::Commitment,
) -> Result<Batch, Inconsistency> {
    let hash = &table.config.rule_set_hash;
    entropy::bound_commitment(&commitment, (table.id, hand_no), hash)?;
    Ok(Batch::single(table.id, pb::HandCommitted { hand_no, commitment: Some(commitment) }))
}

/// Turns an answer into the batch of events that it gives.
pub fn conclude(
    table: &Table,
    play: Option<&HandInPlay>,
    (effect, plan, now): (Effect, Option<&Plan>, &Timing),
    reply: Reply,
) -> Result<Batch, ConcludeError> {
    let in_play =
        || play.ok_or_else(|| Inconsistency("an effect of a hand that is not in play".to_owned()));
    let seat_of = |seat: SeatNo| u32::from(seat.get());
    Ok(match (effect, reply) {
        (Effect::Start, Reply::Standing(answer)) => conclude_start(table, play, &answer, now.at)?,
        (Effect::CheckStanding, Reply::Standing(answer)) => {
            let found = standing::conclude_check(table, play, &answer)?;
            Batch { events: found.events, faces: Faces::new() }
        }
        (Effect::CloseEntropy { .. }, _) => {
            start::close_entropy(entropy_round(table)?, table, (in_play()?, now.at))
        }
        (Effect::Burn { .. }, _) => abort::burn_hand(table, in_play()?, now)?,
        (Effect::Abandon { .. }, _) => abort::abandon_hand(table, in_play()?, now)?,
        (Effect::Leave { seat }, _) => {
            let play = in_play()?;
            let player = play.replay.player_of(seat_of(seat)).map_err(Inconsistency::from)?;
            let by = (DecisionAuthor::Player, now.at);
            let decided = play.decide(&table.config, player, &Move::Leave, by);
            Batch::single(play.hand_id, decided.map_err(Inconsistency::from)?)
        }
        (Effect::PayOut { seat }, _) => pay_out_seat(table, seat),
        (Effect::RemoveIdle { seat }, _) => {
            let leave = pb::LeaveAsked { seat: seat_of(seat), why: REASON_IDLE.to_owned() };
            Batch::single(table.id, leave)
        }
        (Effect::Share, _) => settle::share_pots(table)?,
        (Effect::Close, _) => Batch::single(table.id, pb::TableClosed {}),
        (Effect::Commit { hand_no }, Reply::Committed(made)) => {
            conclude_commit(table, hand_no, made.commitment.unwrap_or_default())?
        }
        (Effect::Fund { seat }, Reply::Posted(_)) => {
            Batch::single(table.id, pb::SeatFunded { seat: seat_of(seat) })
        }
        (Effect::CashOut { seat }, Reply::Posted(_)) => {
            Batch::single(table.id, pb::SeatVacated { seat: seat_of(seat) })
        }
        (Effect::Seal { .. }, Reply::Sealed(answer)) => {
            conclude_seal(table, in_play()?, answer.transcript)?
        }
        (Effect::Chance { .. }, Reply::Performed(answer)) => {
            let play = in_play()?;
            let plan =
                plan.ok_or_else(|| Inconsistency("chance came back without a plan".to_owned()))?;
            let (events, faces) = plan.conclude(play, answer).map_err(dealer_fault)?;
            Batch { events: on_stream(play.hand_id.into(), events), faces }
        }
        (Effect::Settle { .. }, Reply::Performed(answer)) => {
            let play = in_play()?;
            settle::check_shown(play, &answer).map_err(dealer_fault)?;
            settle::conclude_settle(play)?
        }
        (Effect::Settle { .. }, Reply::Nothing) => settle::conclude_settle(in_play()?)?,
        (Effect::Post { .. }, Reply::Posted(position)) => {
            settle::conclude_post(table, in_play()?, position)?
        }
        (Effect::Reveal { hand_no }, Reply::Revealed(opened)) => {
            settle::conclude_reveal(table, play, hand_no, opened.seed)?
        }
        (Effect::Refund, Reply::Posted(_)) => Batch::single(table.id, pb::PotRefunded {}),
        (Effect::PayAbsent { player }, Reply::Posted(_)) => {
            Batch::single(table.id, pb::AbsentPaid { player_id: player.0.to_vec().into() })
        }
        (effect, _) => {
            return Err(
                Inconsistency(format!("another answer came back than to {effect:?}")).into()
            );
        }
    })
}

/// Turns an answer that does not fit its question into the dealer's fault.
fn dealer_fault(why: wire::replay::ReplayError) -> ConcludeError {
    // Refusals of the rules name cards, so their text is left out.
    ConcludeError::DealerFault(match why {
        wire::replay::ReplayError::Corrupt(text) => text,
        wire::replay::ReplayError::Setup(_)
        | wire::replay::ReplayError::Refused(_)
        | wire::replay::ReplayError::Position(_)
        | wire::replay::ReplayError::Unexpected(_)
        | wire::replay::ReplayError::FaceUnknown => plan::MISMATCH.to_owned(),
    })
}

fn on_stream(stream: StreamId, events: Vec<Recorded>) -> Vec<(StreamId, Recorded)> {
    events.into_iter().map(|event| (stream, event)).collect()
}

/// Turns a permanent refusal into events. A refused buy-in frees the seat. A dealer that refuses
/// what it has committed to is at fault. Any other refusal stops the effect until an operator
/// resumes it.
pub fn conclude_refusal(
    table: &Table,
    effect: Effect,
    refusal: &tonic::Status,
) -> Result<Batch, ConcludeError> {
    let reason = status::reason_of(refusal);
    if let (Effect::Fund { seat }, Some(reason)) = (effect, reason) {
        let words = reason == ErrorReason::TransferRefused;
        let text =
            if words { refusal.message().chars().take(300).collect() } else { String::new() };
        let (seat, reason) = (u32::from(seat.get()), status::reason_name(reason).to_owned());
        return Ok(Batch::single(table.id, pb::SeatRefused { seat, reason, text }));
    }
    let of_the_hand =
        matches!(effect, Effect::Seal { .. } | Effect::Chance { .. } | Effect::Settle { .. });
    let for_good = matches!(
        reason,
        Some(
            ErrorReason::ChanceRefused
                | ErrorReason::HandUnknown
                | ErrorReason::RequestIdReused
                | ErrorReason::Corrupt
        )
    );
    let what = if let Effect::Seal { .. } = effect {
        "the seal of the hand"
    } else if let Effect::Settle { .. } = effect {
        "the opening of the hands shown at the end"
    } else if let Effect::Chance { .. } = effect {
        "the use of chance that was due"
    } else if let Effect::Reveal { .. } = effect {
        "the opening of the seed"
    } else {
        "a debt"
    };
    let text = format!("{what} was refused: {}", refusal.message());
    if of_the_hand && for_good {
        return Err(ConcludeError::DealerFault(text));
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
    let transfer =
        ids::of_table("cash-out", table.id, table.sequence << 8 | u64::from(number.get()));
    let due = pb::CashOutDue {
        seat: seat_no,
        amount: seat.stack.get(),
        transfer_id: transfer.to_vec().into(),
    };
    Batch::single(table.id, due)
}

/// Digest that tells a repeated request from another one under the same id.
#[must_use]
pub fn request_digest(method: &str, actor: &str, request: &impl Message) -> [u8; 32] {
    Sha256::new()
        .chain_update(method)
        .chain_update([0])
        .chain_update(actor)
        .chain_update([0])
        .chain_update(request.encode_to_vec())
        .finalize()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digest_depends_on_who_and_what() {
        let request = proto::table::v1::StandUpRequest::default();
        let one = request_digest("StandUp", "player:a", &request);
        assert_ne!(one, request_digest("StandUp", "player:b", &request));
        assert_ne!(one, request_digest("SitOut", "player:a", &request));
        assert_eq!(one, request_digest("StandUp", "player:a", &request));
    }
}
