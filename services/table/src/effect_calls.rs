//! Calls for effects, and events from their answers. Pure on both sides of the call.
//!
//! Specification: services/table/README.md "Effects".

use primitives::{PlayerId, SeatNo};
use proto::dealer::v1 as dealer;
use proto::wallet::v1 as wallet;
use rules::Next;

use crate::effects::Effect;
use crate::entropy::{self, BoundCommitment};
use crate::hand_in_play::HandInPlay;
use crate::peers::PeerCall;
use crate::plan::{self, Plan};
use crate::table::{Funding, Table};
use crate::{ids, settle, standing};

mod conclude;

pub(crate) use conclude::{EffectOutcome, PendingEffect, effect_outcome};

/// A call for an effect, and the plan that is needed to read its answer.
pub(crate) struct PreparedCall {
    pub call: PeerCall,
    pub plan: Option<Plan>,
}

/// The state contradicts itself, or does not fit an answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Inconsistency(pub String);

/// Fault in an answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConcludeError {
    #[error(transparent)]
    Inconsistent(#[from] Inconsistency),
    /// The dealer's answer does not check; says why, in words that name no card. It is no answer, and
    /// the dealer is asked again.
    #[error("{0}")]
    NoAnswer(String),
}

impl From<wire::BadField> for ConcludeError {
    fn from(bad: wire::BadField) -> ConcludeError {
        Inconsistency::from(bad).into()
    }
}

impl From<Inconsistency> for wire::ApiRefusal {
    fn from(Inconsistency(why): Inconsistency) -> wire::ApiRefusal {
        wire::api_refusal(proto::common::v1::ErrorReason::Corrupt, why)
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

fn in_play(play: Option<&HandInPlay>) -> Result<&HandInPlay, Inconsistency> {
    play.ok_or_else(|| Inconsistency("an effect of a hand that is not in play".to_owned()))
}

/// Prepares the call for an effect.
pub(crate) fn prepare(
    table: &Table,
    play: Option<&HandInPlay>,
    effect: Effect,
) -> Result<PreparedCall, Inconsistency> {
    let table_id = table.id.0.to_vec();
    let mut plan = None;
    let call = match effect {
        Effect::Start | Effect::CheckStanding => {
            PeerCall::CheckStanding(standing::check_request(table, play))
        }
        Effect::Burn { .. }
        | Effect::Suspend { .. }
        | Effect::EndSuspended { .. }
        | Effect::Return { .. }
        | Effect::Leave { .. }
        | Effect::PayOut { .. }
        | Effect::Share
        | Effect::RemoveIdle { .. }
        | Effect::Close
        | Effect::CloseSpent
        | Effect::FollowGame => PeerCall::Nothing,
        Effect::Commit { hand_no } => PeerCall::Commit(dealer::CommitRequest {
            request_id: ids::of_table("commit", table.last_started_at, table.id, hand_no).to_vec(),
            table_id,
            hand_no,
            rules_hash: table.config.rules_hash.to_vec(),
            before: table.last_promise.as_deref().map(|promised| dealer::Promise {
                rules_hash: table.config.rules_hash.to_vec(),
                commitment: Some(promised.clone()),
            }),
        }),
        Effect::CloseEntropy { .. } => PeerCall::Close(close_request(table, in_play(play)?)?),
        Effect::Fund { seat } => buy_in_call(table, seat)?,
        Effect::CashOut { seat } => cash_out_call(table, seat)?,
        Effect::Seal { .. } => PeerCall::Seal(seal_request(table, in_play(play)?)?),
        Effect::Chance { .. } => {
            let play = in_play(play)?;
            let Next::Chance(due) = rules::next(&play.replay.hand) else {
                return Err(Inconsistency("chance is owed and none is due".to_owned()));
            };
            let made = plan::plan(play, due)?;
            let call = made.call.clone();
            plan = Some(made);
            call
        }
        Effect::Settle { .. } => settle::show_call(in_play(play)?)?,
        Effect::RecoverCards { .. } => {
            let lost = in_play(play)?.lost_cards.as_deref();
            let lost = lost.ok_or_else(|| Inconsistency("no cards are lost".to_owned()))?;
            PeerCall::Perform(lost.request.clone())
        }
        Effect::Post { .. } => PeerCall::Settle(settle::settlement_request(table, in_play(play)?)?),
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
    let first = || ids::pay_absent(table.last_started_at, table.id, player, table.hand_no);
    Ok(PeerCall::CashOut(wallet::CashOutRequest {
        request_id: absent.transfer.unwrap_or_else(first).to_vec(),
        amount: absent.share.get(),
        table_id: table.id.0.to_vec(),
        player_id: player.0.to_vec(),
        to_suspense: absent.to_suspense,
    }))
}

fn close_request(table: &Table, play: &HandInPlay) -> Result<dealer::CloseRequest, Inconsistency> {
    Ok(dealer::CloseRequest {
        request_id: ids::of_hand("close", play.opened_at, play.hand_id, 0).to_vec(),
        table_id: play.opened.table_id.to_vec(),
        hand_no: play.hand_no,
        rows: entropy_round(table)?.closing_rows(table.seat_commitments_of(play.hand_no)),
    })
}

/// The dealer's commitment to the open hand, with the context that it is bound to.
fn bound_commitment(table: &Table, hand_no: u64) -> Result<BoundCommitment, Inconsistency> {
    let commitment = &entropy_round(table)?.commitment;
    Ok(BoundCommitment::try_new(commitment, table.id, hand_no, &table.config.rules_hash)?)
}

fn seal_request(table: &Table, play: &HandInPlay) -> Result<dealer::SealRequest, Inconsistency> {
    Ok(dealer::SealRequest {
        request_id: ids::of_hand("seal", play.opened_at, play.hand_id, 0).to_vec(),
        table_id: play.opened.table_id.to_vec(),
        hand_no: play.hand_no,
        beacon: Vec::new(),
        rows: entropy_round(table)?.rows(table.seat_commitments_of(play.hand_no)),
    })
}

fn entropy_round(table: &Table) -> Result<&entropy::EntropyRound, Inconsistency> {
    table.entropy_round().ok_or_else(|| Inconsistency("the hand is not open".to_owned()))
}

fn reveal_request(table: &Table, hand_no: u64) -> Result<dealer::RevealRequest, Inconsistency> {
    let pending = table.seeds.get(hand_no);
    let pending =
        pending.ok_or_else(|| Inconsistency(format!("the seed of hand {hand_no} is not owed")))?;
    let what = if pending.discarded { "discard" } else { "reveal" };
    let at = pending.due.unwrap_or_default();
    Ok(dealer::RevealRequest {
        request_id: ids::of_hand(what, at, pending.hand, 0).to_vec(),
        table_id: table.id.0.to_vec(),
        hand_no,
        discarded: pending.discarded,
    })
}
