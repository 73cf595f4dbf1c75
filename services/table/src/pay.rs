//! Paying debts: what to ask of whom, and what the answer means. Pure at both ends of the call.

use primitives::{Credits, SeatNo, StreamId, UnixMicros};
use prost::Message;
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use proto::wallet::v1 as wallet;
use rules::{By, Move, Next};
use sha2::{Digest, Sha256};
use wire::{Recorded, status};

use crate::debt::{self, Debt};
use crate::peers::{Faces, Job, Reply};
use crate::plan::{self, Plan};
use crate::play::Play;
use crate::settle;
use crate::table::{Funding, Table};

/// A debt being paid: the call, and what is needed to understand its answer.
pub struct Payment {
    pub job: Job,
    pub plan: Option<Plan>,
}

/// Events with their streams, and the faces of cards that they move.
#[derive(Default)]
pub struct Paid {
    pub events: Vec<(StreamId, Recorded)>,
    pub faces: Faces,
}

/// The state and an answer do not fit: the table stops and says so.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Broken(pub String);

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
    fn one(stream: impl Into<StreamId>, event: impl Into<Recorded>) -> Paid {
        Paid { events: vec![(stream.into(), event.into())], faces: Faces::new() }
    }
}

/// What to ask for a debt.
pub fn prepare(table: &Table, play: Option<&Play>, debt: Debt) -> Result<Payment, Broken> {
    let table_id = table.id.0.to_vec();
    let mut plan = None;
    let in_play = || play.ok_or_else(|| Broken("a debt of a hand that is not in play".to_owned()));
    let job = match debt {
        Debt::Start | Debt::Leave { .. } | Debt::PayOut { .. } | Debt::Share | Debt::Close => {
            Job::Nothing
        }
        Debt::Commit { hand_no } => Job::Commit(dealer::CommitRequest {
            request_id: debt::table_request("commit", table.id, hand_no).to_vec(),
            table_id,
            hand_no,
            rule_set_hash: Sha256::digest(&table.config.rule_set).to_vec(),
        }),
        Debt::Fund { seat } => fund(table, seat)?,
        Debt::CashOut { seat } => cash_out(table, seat)?,
        Debt::Seal => Job::Seal(seal(in_play()?)),
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
        Debt::Settle => settle::show(in_play()?)?,
        Debt::Post => Job::Settle(settle::transfer(table, in_play()?)?),
        Debt::Reveal => {
            let play = in_play()?;
            Job::Reveal(dealer::RevealRequest {
                request_id: debt::hand_request("reveal", play.hand_id, 0),
                table_id,
                hand_no: play.hand_no,
                discarded: false,
            })
        }
        Debt::Refund => Job::Settle(settle::refund(table)?),
        Debt::PayAbsent { player } => Job::CashOut(wallet::CashOutRequest {
            request_id: debt::request_id("absent", player.bytes(), table.hand_no).to_vec(),
            amount: table.absent.get(&player).map_or(0, |share| share.get()),
            table_id,
            player_id: player.0.to_vec(),
        }),
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
    let Funding::CashingOut { transfer } = seat.funding else {
        return Err(Broken(format!("seat {number} is not cashing out")));
    };
    Ok(Job::CashOut(wallet::CashOutRequest {
        request_id: transfer.to_vec(),
        table_id: table.id.0.to_vec(),
        player_id: seat.player.0.to_vec(),
        amount: seat.stack.get(),
    }))
}

/// Nobody contributes entropy yet: every seat is absent, which the transcript says.
fn seal(play: &Play) -> dealer::SealRequest {
    dealer::SealRequest {
        request_id: debt::hand_request("seal", play.hand_id, 0),
        table_id: play.opened.table_id.to_vec(),
        hand_no: play.hand_no,
        beacon: Vec::new(),
        rows: rows(play),
    }
}

fn rows(play: &Play) -> Vec<dealer::EntropyRow> {
    let mut rows: Vec<_> = play
        .opened
        .roster
        .iter()
        .map(|seat| dealer::EntropyRow {
            seat: seat.seat,
            player_id: seat.player_id.to_vec(),
            status: dealer::EntropyStatus::Absent.into(),
            commitment: Vec::new(),
            entropy: Vec::new(),
        })
        .collect();
    rows.sort_by_key(|row| row.seat);
    rows
}

/// What an answer means.
pub fn conclude(
    table: &Table,
    play: Option<&Play>,
    (debt, plan, now): (Debt, Option<&Plan>, UnixMicros),
    reply: Reply,
) -> Result<Paid, Broken> {
    let in_play = || play.ok_or_else(|| Broken("a debt of a hand that is not in play".to_owned()));
    let seat_of = |seat: SeatNo| u32::from(seat.get());
    Ok(match (debt, reply) {
        (Debt::Start, _) => start(table)?,
        (Debt::Leave { seat }, _) => {
            let play = in_play()?;
            let player = play.replay.player_of(seat_of(seat))?;
            let by = (By::Player, now);
            let decided = play.decide(&table.config, player, &Move::Leave, by)?;
            Paid::one(play.hand_id, decided)
        }
        (Debt::PayOut { seat }, _) => pay_out(table, seat),
        (Debt::Share, _) => settle::share(table)?,
        (Debt::Close, _) => Paid::one(table.id, pb::TableClosed {}),
        (Debt::Commit { hand_no }, Reply::Committed(made)) => {
            let commitment = made.commitment;
            Paid::one(table.id, pb::HandCommitted { hand_no, commitment })
        }
        (Debt::Fund { seat }, Reply::Posted(_)) => {
            Paid::one(table.id, pb::SeatFunded { seat: seat_of(seat) })
        }
        (Debt::CashOut { seat }, Reply::Posted(_)) => {
            Paid::one(table.id, pb::SeatVacated { seat: seat_of(seat) })
        }
        (Debt::Seal, Reply::Sealed(sealed)) => {
            let play = in_play()?;
            let rows = rows(play);
            Paid::one(play.hand_id, pb::HandSealed { transcript: sealed.transcript.into(), rows })
        }
        (Debt::Chance { .. }, Reply::Performed(answer)) => {
            let play = in_play()?;
            let plan = plan.ok_or_else(|| Broken("chance came back without a plan".to_owned()))?;
            let (events, faces) = plan.conclude(play, answer)?;
            Paid { events: on(play.hand_id.into(), events), faces }
        }
        (Debt::Settle, Reply::Performed(_) | Reply::Nothing) => {
            let play = in_play()?;
            settle::settled(table, play)?
        }
        (Debt::Post, Reply::Posted(position)) => {
            Paid::one(in_play()?.hand_id, pb::SettlementPosted { position })
        }
        (Debt::Reveal, Reply::Revealed(opened)) => {
            Paid::one(in_play()?.hand_id, pb::HandRevealed { seed: opened.seed.into() })
        }
        (Debt::Refund, Reply::Posted(_)) => Paid::one(table.id, pb::PotRefunded {}),
        (Debt::PayAbsent { player }, Reply::Posted(_)) => {
            Paid::one(table.id, pb::AbsentPaid { player_id: player.0.to_vec().into() })
        }
        (debt, _) => return Err(Broken(format!("another answer came back than to {debt:?}"))),
    })
}

fn on(stream: StreamId, events: Vec<Recorded>) -> Vec<(StreamId, Recorded)> {
    events.into_iter().map(|event| (stream, event)).collect()
}

/// A refusal of the wallet that a table can live with: a buy-in that the account cannot pay.
pub fn refused(table: &Table, debt: Debt, refusal: &tonic::Status) -> Option<Paid> {
    let Debt::Fund { seat } = debt else { return None };
    let reason = status::reason_of(refusal)?;
    let reason = status::name(reason).to_owned();
    Some(Paid::one(table.id, pb::SeatRefused { seat: u32::from(seat.get()), reason }))
}

/// The next hand: p1 sits after the button, the last player has it.
fn start(table: &Table) -> Result<Paid, Broken> {
    let hand_no = table.hand_no + 1;
    let hand_id = fairness::hand_id(table.id, hand_no);
    let mut ready: Vec<_> = table.ready().collect();
    let button =
        next_button(table.button, &ready.iter().map(|(seat, _)| *seat).collect::<Vec<_>>());
    let first = ready.iter().position(|(seat, _)| *seat > button).unwrap_or(0);
    ready.rotate_left(first);
    let roster = ready.iter().map(|(number, seat)| pb::RosterSeat {
        seat: u32::from(number.get()),
        player_id: seat.player.0.to_vec().into(),
        stack: seat.stack.get(),
    });
    let opened = pb::HandOpened {
        table_id: table.id.0.to_vec().into(),
        hand_no,
        commitment: table.committed.get(&hand_no).cloned(),
        rule_set: table.config.rule_set.clone(),
        roster: roster.collect(),
        sabacc_pot: table.sabacc_pot.get(),
        carried_pot: table.carried_pot.get(),
        action_seconds: table.config.action_seconds,
        bank_seconds: table.config.bank_seconds,
        entropy_deadline_micros: 0,
        reveal_delay_seconds: table.config.reveal_delay_seconds,
    };
    let started = pb::HandStarted { hand_no, hand_id: hand_id.0.to_vec().into() };
    let events = vec![(table.id.into(), started.into()), (hand_id.into(), opened.into())];
    Ok(Paid { events, faces: Faces::new() })
}

/// The button starts at the lowest dealt-in seat and moves to the next one dealt in each hand.
fn next_button(last: Option<SeatNo>, dealt_in: &[SeatNo]) -> SeatNo {
    let lowest = dealt_in[0];
    last.and_then(|last| dealt_in.iter().copied().find(|seat| *seat > last)).unwrap_or(lowest)
}

fn pay_out(table: &Table, number: SeatNo) -> Paid {
    let seat = &table.seats[&number];
    let seat_no = u32::from(number.get());
    if seat.stack == Credits::ZERO {
        return Paid::one(table.id, pb::SeatVacated { seat: seat_no });
    }
    // One seat is taken anew at most once between two updates, so the update names this leaving.
    let transfer = debt::request_id(
        "cash-out",
        table.id.bytes(),
        table.sequence << 8 | u64::from(number.get()),
    );
    let due = pb::CashOutDue {
        seat: seat_no,
        amount: seat.stack.get(),
        transfer_id: transfer.to_vec().into(),
    };
    Paid::one(table.id, due)
}

/// The digest by which a repeated request is told from another one.
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

    fn seats(numbers: &[u8]) -> Vec<SeatNo> {
        numbers.iter().map(|number| SeatNo::try_new(*number).unwrap()).collect()
    }

    #[test]
    fn button_starts_lowest_and_goes_round() {
        let check = |last: Option<u8>, dealt_in: &[u8], button: u8| {
            let last = last.map(|last| SeatNo::try_new(last).unwrap());
            assert_eq!(next_button(last, &seats(dealt_in)).get(), button);
        };
        check(None, &[2, 5, 7], 2);
        check(Some(2), &[2, 5, 7], 5);
        check(Some(7), &[2, 5, 7], 2);
        // The seat that had it is gone: the next one after its place.
        check(Some(4), &[2, 5, 7], 5);
        check(Some(8), &[2, 5, 7], 2);
    }

    #[test]
    fn digest_depends_on_who_and_what() {
        let request = proto::table::v1::StandUpRequest::default();
        let one = digest("StandUp", "player:a", &request);
        assert_ne!(one, digest("StandUp", "player:b", &request));
        assert_ne!(one, digest("SitOut", "player:a", &request));
        assert_eq!(one, digest("StandUp", "player:a", &request));
    }
}
