//! Calls for effects, and events from their answers. Pure on both sides of the call.

use primitives::{Credits, PlayerId, SeatNo, StreamId, UnixMicros};
use prost::Message;
use proto::common::v1::ErrorReason;
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use proto::wallet::v1 as wallet;
use rules::{By, Move, Next};
use sha2::{Digest, Sha256};
use wire::{Recorded, status};

use crate::debt::{Debt, waits_for_seed};
use crate::entropy::{self, Now};
use crate::peers::{Failure, Job, Reply};
use crate::plan::{self, Plan};
use crate::play::Play;
use crate::proof::Faces;
use crate::state::State;
use crate::table::{Funding, IDLE, Table};
use crate::{abort, ids, settle, standing, start, stops};

/// A call for an effect, and the plan that is needed to read its answer.
pub struct Payment {
    pub job: Job,
    pub plan: Option<Plan>,
}

/// Batch of events with their streams, to be appended in one go, and the faces of the cards that
/// they move.
#[derive(Default)]
pub struct Paid {
    pub events: Vec<(StreamId, Recorded)>,
    pub faces: Faces,
}

/// The state contradicts itself, or does not fit an answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Broken(pub String);

/// Fault in an answer.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    #[error(transparent)]
    Broken(#[from] Broken),
    /// The dealer contradicts itself or its commitment; holds the evidence in words. The hand is
    /// aborted and the table closes.
    #[error("{0}")]
    Dealer(String),
}

impl From<wire::BadField> for Trouble {
    fn from(bad: wire::BadField) -> Trouble {
        Broken::from(bad).into()
    }
}

macro_rules! breaks {
    ($($error:ty)*) => {
        $(impl From<$error> for Broken {
            fn from(error: $error) -> Broken {
                Broken(error.to_string())
            }
        })*
    };
}

breaks! {
    wire::replay::Unplayable wire::places::Misplaced wire::BadField rules::Refusal
    primitives::CreditsOutOfRange crate::table::Damaged
}

impl Paid {
    pub(crate) fn one(stream: impl Into<StreamId>, event: impl Into<Recorded>) -> Paid {
        Paid { events: vec![(stream.into(), event.into())], faces: Faces::new() }
    }
}

/// Prepares the call for an effect.
pub fn prepare(table: &Table, play: Option<&Play>, debt: Debt) -> Result<Payment, Broken> {
    let table_id = table.id.0.to_vec();
    let mut plan = None;
    let in_play = || play.ok_or_else(|| Broken("a debt of a hand that is not in play".to_owned()));
    let job = match debt {
        Debt::Start | Debt::CheckStanding => Job::CheckStanding(standing::request(table, play)),
        Debt::CloseEntropy { .. }
        | Debt::Burn { .. }
        | Debt::Abandon { .. }
        | Debt::Leave { .. }
        | Debt::PayOut { .. }
        | Debt::Share
        | Debt::RemoveIdle { .. }
        | Debt::Close => Job::Nothing,
        Debt::Commit { hand_no } => Job::Commit(dealer::CommitRequest {
            request_id: ids::of_table("commit", table.id, hand_no).to_vec(),
            table_id,
            hand_no,
            rule_set_hash: table.config.rule_set_hash.to_vec(),
        }),
        Debt::Fund { seat } => fund(table, seat)?,
        Debt::CashOut { seat } => cash_out(table, seat)?,
        Debt::Seal { .. } => Job::Seal(seal(table, in_play()?)?),
        Debt::Chance { .. } => {
            let play = in_play()?;
            let Next::Chance(due) = rules::next(&play.replay.hand) else {
                return Err(Broken("chance is owed and none is due".to_owned()));
            };
            let made = plan::plan(play, due)?;
            let job = made.job.clone();
            plan = Some(made);
            job
        }
        Debt::Settle { .. } => settle::show(in_play()?)?,
        Debt::Post { .. } => Job::Settle(settle::transfer(table, in_play()?)?),
        Debt::Reveal { hand_no } => Job::Reveal(reveal(table, hand_no)?),
        Debt::Refund => Job::Settle(settle::refund(table)?),
        Debt::PayAbsent { player } => pay_absent(table, player)?,
    };
    Ok(Payment { job, plan })
}

fn fund(table: &Table, number: SeatNo) -> Result<Job, Broken> {
    let seat = &table.seats[&number];
    let Funding::BuyingIn { transfer, amount } = seat.funding else {
        return Err(Broken(format!("seat {number} is not buying in")));
    };
    Ok(Job::BuyIn(wallet::BuyInRequest {
        request_id: transfer.to_vec(),
        table_id: table.id.0.to_vec(),
        player_id: seat.player.0.to_vec(),
        amount: amount.get(),
    }))
}

fn cash_out(table: &Table, number: SeatNo) -> Result<Job, Broken> {
    let seat = &table.seats[&number];
    let Funding::CashingOut { transfer, to_suspense } = seat.funding else {
        return Err(Broken(format!("seat {number} is not cashing out")));
    };
    Ok(Job::CashOut(wallet::CashOutRequest {
        request_id: transfer.to_vec(),
        table_id: table.id.0.to_vec(),
        player_id: seat.player.0.to_vec(),
        amount: seat.stack.get(),
        to_suspense,
    }))
}

fn pay_absent(table: &Table, player: PlayerId) -> Result<Job, Broken> {
    let absent = table.absent.get(&player);
    let absent = absent.ok_or_else(|| Broken(format!("player {player} has no share to come")))?;
    let first = || ids::pay_absent(table.id, player, table.hand_no);
    Ok(Job::CashOut(wallet::CashOutRequest {
        request_id: absent.transfer.unwrap_or_else(first).to_vec(),
        amount: absent.share.get(),
        table_id: table.id.0.to_vec(),
        player_id: player.0.to_vec(),
        to_suspense: absent.to_suspense,
    }))
}

fn seal(table: &Table, play: &Play) -> Result<dealer::SealRequest, Broken> {
    Ok(dealer::SealRequest {
        request_id: ids::of_hand("seal", play.hand_id, 0).to_vec(),
        table_id: play.opened.table_id.to_vec(),
        hand_no: play.hand_no,
        beacon: Vec::new(),
        rows: unsealed(table)?.rows(table.promises_of(play.hand_no)),
    })
}

fn unsealed(table: &Table) -> Result<&entropy::Sealing, Broken> {
    table.sealing().ok_or_else(|| Broken("the hand is not open".to_owned()))
}

/// Records the seal. The dealer must have bound exactly the seats' entropy.
fn sealed(table: &Table, play: &Play, transcript: Vec<u8>) -> Result<Paid, Trouble> {
    let sealing = unsealed(table)?;
    let promises = table.promises_of(play.hand_no);
    let hash = &table.config.rule_set_hash;
    let ours = sealing.transcript(promises, (table.id, play.hand_no), hash)?;
    if transcript != ours.0 {
        let evidence = "the seal of the hand has another transcript than its rows give";
        return Err(Trouble::Dealer(evidence.to_owned()));
    }
    let rows = sealing.rows(promises);
    Ok(Paid::one(play.hand_id, pb::HandSealed { transcript: transcript.into(), rows }))
}

fn reveal(table: &Table, hand_no: u64) -> Result<dealer::RevealRequest, Broken> {
    let owed = table.seeds.get(hand_no);
    let owed = owed.ok_or_else(|| Broken(format!("the seed of hand {hand_no} is not owed")))?;
    let what = if owed.discarded { "discard" } else { "reveal" };
    Ok(dealer::RevealRequest {
        request_id: ids::of_hand(what, owed.hand, 0).to_vec(),
        table_id: table.id.0.to_vec(),
        hand_no,
        discarded: owed.discarded,
    })
}

/// Outcome of an effect.
pub enum Answered {
    Append(Paid),
    /// The outcome is unknown or the answer must wait: the same call is made again later.
    Later(String),
}

/// Turns the reply of a call into the outcome of its effect, which is still pending. Events are
/// applied to a copy first, so that the log gets none that the rules do not accept.
pub fn answered(
    state: &State,
    (debt, plan, now): (Debt, Option<&Plan>, &Now),
    reply: Result<Reply, Failure>,
) -> Answered {
    let (table, play) = (&state.table, state.play.as_ref());
    let paid = match reply {
        Ok(reply) => conclude(table, play, (debt, plan, now), reply)
            .and_then(|paid| checked(state, debt, (paid, now.at))),
        Err(Failure::Refused(refusal)) if is_asked_again(table, play, debt) => {
            return Answered::Later(refusal.message().to_owned());
        }
        Err(Failure::Refused(refusal)) => refused(table, debt, &refusal),
        Err(Failure::Again(why)) => return Answered::Later(why),
    };
    match (paid, play) {
        (Ok(paid), _) => Answered::Append(paid),
        (Err(Trouble::Dealer(evidence)), Some(play)) => {
            Answered::Append(abort::contradicted(table, play, &evidence))
        }
        (Err(Trouble::Dealer(evidence)), None) => {
            Answered::Append(stops::stopped(table, debt, evidence, None))
        }
        (Err(Trouble::Broken(Broken(why))), _) => {
            Answered::Append(stops::stopped(table, debt, why, None))
        }
    }
}

/// Whether a refused effect is tried again without an operator. A seed stays pending, unless the
/// settlement of its own hand waits for it. A hand waits until the wallet says who may be dealt in.
fn is_asked_again(table: &Table, play: Option<&Play>, debt: Debt) -> bool {
    if let Debt::Reveal { hand_no } = debt {
        let waits = |play: &Play| play.hand_no == hand_no && waits_for_seed(table, play);
        return !play.is_some_and(waits);
    }
    matches!(debt, Debt::Start | Debt::CheckStanding)
}

/// Starts a hand if the wallet bars nobody; where it bars somebody, records that first.
fn begin(
    table: &Table,
    play: Option<&Play>,
    answer: &wallet::CheckStandingResponse,
    at: UnixMicros,
) -> Result<Paid, Broken> {
    let found = standing::found(table, play, answer)?;
    let mut paid = Paid { events: found.events, faces: Faces::new() };
    // Otherwise the wallet is asked again: the seats to deal in have changed, or somebody has sat
    // down since the question.
    if !found.barred && standing::covers_ready(table, answer) {
        paid.events.extend(start::start(table, at).events);
    }
    Ok(paid)
}

/// Checks a batch against the state. Results of chance that the rules do not accept are the
/// dealer's fault.
fn checked(state: &State, debt: Debt, (paid, at): (Paid, UnixMicros)) -> Result<Paid, Trouble> {
    match state.check(&paid, at) {
        Ok(()) => Ok(paid),
        Err(_) if matches!(debt, Debt::Chance { .. }) => {
            Err(Trouble::Dealer(plan::MISFIT.to_owned()))
        }
        Err(broken) => Err(broken.into()),
    }
}

/// Turns an answer into the batch of events that it gives.
pub fn conclude(
    table: &Table,
    play: Option<&Play>,
    (debt, plan, now): (Debt, Option<&Plan>, &Now),
    reply: Reply,
) -> Result<Paid, Trouble> {
    let in_play = || play.ok_or_else(|| Broken("a debt of a hand that is not in play".to_owned()));
    let seat_of = |seat: SeatNo| u32::from(seat.get());
    Ok(match (debt, reply) {
        (Debt::Start, Reply::Standing(answer)) => begin(table, play, &answer, now.at)?,
        (Debt::CheckStanding, Reply::Standing(answer)) => {
            let found = standing::found(table, play, &answer)?;
            Paid { events: found.events, faces: Faces::new() }
        }
        (Debt::CloseEntropy { .. }, _) => {
            start::close(unsealed(table)?, table, (in_play()?, now.at))
        }
        (Debt::Burn { .. }, _) => abort::burnt(table, in_play()?, now)?,
        (Debt::Abandon { .. }, _) => abort::abandoned(table, in_play()?, now)?,
        (Debt::Leave { seat }, _) => {
            let play = in_play()?;
            let player = play.replay.player_of(seat_of(seat)).map_err(Broken::from)?;
            let by = (By::Player, now.at);
            let decided = play.decide(&table.config, player, &Move::Leave, by);
            Paid::one(play.hand_id, decided.map_err(Broken::from)?)
        }
        (Debt::PayOut { seat }, _) => pay_out(table, seat),
        (Debt::RemoveIdle { seat }, _) => {
            let leave = pb::LeaveAsked { seat: seat_of(seat), why: IDLE.to_owned() };
            Paid::one(table.id, leave)
        }
        (Debt::Share, _) => settle::share(table)?,
        (Debt::Close, _) => Paid::one(table.id, pb::TableClosed {}),
        (Debt::Commit { hand_no }, Reply::Committed(made)) => {
            let commitment = made.commitment.unwrap_or_default();
            // Useless unless it has the shape that hands are bound to.
            entropy::bound(&commitment, (table.id, hand_no), &table.config.rule_set_hash)?;
            Paid::one(table.id, pb::HandCommitted { hand_no, commitment: Some(commitment) })
        }
        (Debt::Fund { seat }, Reply::Posted(_)) => {
            Paid::one(table.id, pb::SeatFunded { seat: seat_of(seat) })
        }
        (Debt::CashOut { seat }, Reply::Posted(_)) => {
            Paid::one(table.id, pb::SeatVacated { seat: seat_of(seat) })
        }
        (Debt::Seal { .. }, Reply::Sealed(answer)) => sealed(table, in_play()?, answer.transcript)?,
        (Debt::Chance { .. }, Reply::Performed(answer)) => {
            let play = in_play()?;
            let plan = plan.ok_or_else(|| Broken("chance came back without a plan".to_owned()))?;
            let (events, faces) = plan.conclude(play, answer).map_err(contradicts)?;
            Paid { events: on(play.hand_id.into(), events), faces }
        }
        (Debt::Settle { .. }, Reply::Performed(answer)) => {
            let play = in_play()?;
            settle::check_shown(play, &answer).map_err(contradicts)?;
            settle::settled(play)?
        }
        (Debt::Settle { .. }, Reply::Nothing) => settle::settled(in_play()?)?,
        (Debt::Post { .. }, Reply::Posted(position)) => {
            settle::posted(table, in_play()?, position)?
        }
        (Debt::Reveal { hand_no }, Reply::Revealed(opened)) => {
            settle::seed_opened(table, play, hand_no, opened.seed)?
        }
        (Debt::Refund, Reply::Posted(_)) => Paid::one(table.id, pb::PotRefunded {}),
        (Debt::PayAbsent { player }, Reply::Posted(_)) => {
            Paid::one(table.id, pb::AbsentPaid { player_id: player.0.to_vec().into() })
        }
        (debt, _) => {
            return Err(Broken(format!("another answer came back than to {debt:?}")).into());
        }
    })
}

/// Turns an answer that does not fit its question into the dealer's fault.
fn contradicts(why: wire::replay::Unplayable) -> Trouble {
    // Refusals of the rules name cards, so their text is left out.
    Trouble::Dealer(match why {
        wire::replay::Unplayable::Damaged(text) => text,
        wire::replay::Unplayable::Setup(_)
        | wire::replay::Unplayable::Refused(_)
        | wire::replay::Unplayable::Misplaced(_)
        | wire::replay::Unplayable::NotCalledFor(_)
        | wire::replay::Unplayable::FaceUnknown => plan::MISFIT.to_owned(),
    })
}

fn on(stream: StreamId, events: Vec<Recorded>) -> Vec<(StreamId, Recorded)> {
    events.into_iter().map(|event| (stream, event)).collect()
}

/// Turns a permanent refusal into events. A refused buy-in frees the seat. A dealer that refuses
/// what it has committed to is at fault. Any other refusal stops the effect until an operator
/// resumes it.
pub fn refused(table: &Table, debt: Debt, refusal: &tonic::Status) -> Result<Paid, Trouble> {
    let reason = status::reason_of(refusal);
    if let (Debt::Fund { seat }, Some(reason)) = (debt, reason) {
        let words = reason == ErrorReason::TransferRefused;
        let text =
            if words { refusal.message().chars().take(300).collect() } else { String::new() };
        let (seat, reason) = (u32::from(seat.get()), status::name(reason).to_owned());
        return Ok(Paid::one(table.id, pb::SeatRefused { seat, reason, text }));
    }
    let of_the_hand = matches!(debt, Debt::Seal { .. } | Debt::Chance { .. } | Debt::Settle { .. });
    let for_good = matches!(
        reason,
        Some(
            ErrorReason::ChanceRefused
                | ErrorReason::HandUnknown
                | ErrorReason::RequestIdReused
                | ErrorReason::Corrupt
        )
    );
    let what = if let Debt::Seal { .. } = debt {
        "the seal of the hand"
    } else if let Debt::Settle { .. } = debt {
        "the opening of the hands shown at the end"
    } else if let Debt::Chance { .. } = debt {
        "the use of chance that was due"
    } else if let Debt::Reveal { .. } = debt {
        "the opening of the seed"
    } else {
        "a debt"
    };
    let text = format!("{what} was refused: {}", refusal.message());
    if of_the_hand && for_good {
        return Err(Trouble::Dealer(text));
    }
    Ok(stops::stopped(table, debt, text, reason))
}

fn pay_out(table: &Table, number: SeatNo) -> Paid {
    let seat = &table.seats[&number];
    let seat_no = u32::from(number.get());
    if seat.stack == Credits::ZERO {
        return Paid::one(table.id, pb::SeatVacated { seat: seat_no });
    }
    // A seat is taken anew at most once between two updates, so the sequence names this cash-out.
    let transfer =
        ids::of_table("cash-out", table.id, table.sequence << 8 | u64::from(number.get()));
    let due = pb::CashOutDue {
        seat: seat_no,
        amount: seat.stack.get(),
        transfer_id: transfer.to_vec().into(),
    };
    Paid::one(table.id, due)
}

/// Digest that tells a repeated request from another one under the same id.
#[must_use]
pub fn digest(method: &str, actor: &str, request: &impl Message) -> [u8; 32] {
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
        let one = digest("StandUp", "player:a", &request);
        assert_ne!(one, digest("StandUp", "player:b", &request));
        assert_ne!(one, digest("SitOut", "player:a", &request));
        assert_eq!(one, digest("StandUp", "player:a", &request));
    }
}
