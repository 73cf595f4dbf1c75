//! Commands at a table. [`judge`] decides on each by the state: it becomes events, or a refusal
//! that changes nothing. Pure.
//!
//! A command that needs another service records only what is wanted: `SitDown` becomes `SeatTaken`,
//! and the buy-in is a pending effect ([`crate::effects`]), for which the answer waits. The table's
//! task ([`crate::actor`]) appends the events and answers the caller.
//!
//! - [`chance`] judges a seat's part in a hand's chance: `CommitEntropy` fixes 32 bytes by their
//!   hash, and may name a key; `RevealEntropy` shows the bytes once commitments are closed.
//! - [`decision`] judges `Act` and `StandUp`: whether the decision is due, what the rules say
//!   ([`rules::decide`]), and the player's signature over the chain of all that was decided before
//!   ([`crate::decisions`]), which is needed from whoever has named a key.
//!
//! A receipt in an answer is unsigned here: it names the position of its record, and is signed once
//! that is durable ([`crate::receipt`]).
//!
//! Specification: services/table/README.md "Commands".

use eventlog::Position;
use fairness::Entropy;
use primitives::{PlayerId, RequestId, SeatNo, StreamId, UnixMicros};
use prost::Message;
use proto::common::v1::{ErrorReason, PlayStanding};
use proto::event::v1 as event;
use proto::table::v1 as pb;
use wire::{ApiRefusal, TableRecord, api_refusal};

use crate::batch::Batch;
use crate::hand_in_play::HandInPlay;
use crate::reasons::SitOutReason;
use crate::standing;
use crate::stops::{self, Resume};
use crate::table::{Closing, Table};
use crate::{ids, room_delay};

mod chance;
mod decision;

pub(crate) use chance::OfferedCommitment;
pub(crate) use decision::DecisionRequest;

/// Credits of a player in the wallet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Funds {
    NoAccount,
    /// Credits that are not held.
    Available(u64),
}

impl Funds {
    fn check_buy_in(self, buy_in: primitives::Credits) -> Result<(), ApiRefusal> {
        match self {
            Funds::NoAccount => {
                let message = "you have no account in the wallet: open it first";
                Err(api_refusal(ErrorReason::AccountUnknown, message))
            }
            Funds::Available(credits) => match buy_in.get().checked_sub(credits) {
                None | Some(0) => Ok(()),
                Some(short) => {
                    let message = format!("you have {credits} credits, and buy in for {buy_in}");
                    Err(api_refusal(ErrorReason::InsufficientCredits, message)
                        .with("refusal", "INSUFFICIENT_CREDITS")
                        .with("short", short.to_string())
                        .field("buy_in_credits"))
                }
            },
        }
    }
}

/// A command, parsed from its request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Command {
    SitDown {
        seat: Option<SeatNo>,
        buy_in: primitives::Credits,
        /// The wallet's present word on the player's credits, where it was asked. At a crowded
        /// table a player with too few credits is refused without a record.
        funds: Option<Funds>,
        /// Whether the player's issuer marks them as the house's own.
        is_house: bool,
    },
    StandUp {
        /// The player's signature of their leave; empty if there is none.
        signature: Vec<u8>,
    },
    SitOut {
        out: bool,
        /// The wallet's present word on the player, where it was asked: before they are dealt in
        /// again.
        standing: Option<PlayStanding>,
    },
    Act(DecisionRequest),
    /// The service itself reports that a player, who may sit here, is shown under another name.
    PublishName {
        player: PlayerId,
    },
    /// Commits to entropy for a hand.
    CommitEntropy {
        hand_no: u64,
        offered: OfferedCommitment,
    },
    /// Reveals the entropy of a seat.
    RevealEntropy {
        hand_no: u64,
        entropy: Entropy,
    },
    Close,
    /// Starts no hand until the table is enabled, for this reason.
    Disable(String),
    /// Starts hands again, for this reason.
    Enable(String),
    /// Resumes stopped effects.
    Resume(Resume),
}

impl Command {
    /// Whether the command counts towards a player's records of a day. Commands that the course of
    /// play bounds do not, nor does leaving.
    #[must_use]
    pub(crate) const fn is_counted(&self) -> bool {
        match self {
            Command::SitDown { .. } | Command::SitOut { .. } => true,
            Command::StandUp { .. }
            | Command::Act(_)
            | Command::PublishName { .. }
            | Command::CommitEntropy { .. }
            | Command::RevealEntropy { .. }
            | Command::Close
            | Command::Disable(_)
            | Command::Enable(_)
            | Command::Resume(_) => false,
        }
    }
}

/// Events to append, and the answer to give once they are durable.
pub(crate) struct Verdict {
    pub batch: Batch,
    pub answer: Vec<u8>,
    /// Transfer of the buy-in that the answer waits for.
    pub awaited_buy_in: Option<[u8; 16]>,
    /// Position of a record from before that the receipt in the answer is for.
    pub recorded_before: Option<Position>,
}

impl Verdict {
    pub(crate) fn new(batch: impl Into<Batch>, answer: &impl Message) -> Verdict {
        let answer = answer.encode_to_vec();
        Verdict { batch: batch.into(), answer, awaited_buy_in: None, recorded_before: None }
    }

    fn with_event(
        stream: impl Into<StreamId>,
        event: impl Into<TableRecord>,
        answer: &impl Message,
    ) -> Verdict {
        Verdict::new(Batch::single(stream, event), answer)
    }

    fn unchanged(answer: &impl Message) -> Verdict {
        Verdict::new(Batch::default(), answer)
    }

    /// Answer to what has been recorded before: its receipt again.
    fn repeated(position: Option<Position>, answer: &impl Message) -> Result<Verdict, ApiRefusal> {
        let lost = || api_refusal(ErrorReason::Corrupt, "the record of what was sent is not known");
        let position = position.ok_or_else(lost)?;
        Ok(Verdict { recorded_before: Some(position), ..Verdict::unchanged(answer) })
    }
}

/// Caller, request and time of a command.
pub(crate) struct CommandContext {
    /// The player who asks. `None` for an operator, who alone closes tables.
    pub player: Option<PlayerId>,
    pub request: RequestId,
    pub now: UnixMicros,
    /// Time of arrival, from which decisions count.
    pub arrived: UnixMicros,
    /// Whether the room is behind, so that no seat is given.
    pub is_room_behind: bool,
}

/// Judges a command.
pub(crate) fn judge(
    table: &Table,
    play: Option<&HandInPlay>,
    command: &Command,
    context: &CommandContext,
) -> Result<Verdict, ApiRefusal> {
    if table.closing == Closing::Closed {
        return Err(api_refusal(ErrorReason::TableClosed, "this table is closed"));
    }
    let nobody = || api_refusal(ErrorReason::RoleNotAllowed, "only players have seats");
    match command {
        Command::Close => Ok(close(table)),
        Command::Disable(reason) => disable(table, reason),
        Command::Enable(reason) => enable(table, reason),
        Command::Resume(resume) => stops::resume(table, resume),
        Command::PublishName { player } => Ok(publish_name(table, *player)),
        Command::SitDown { seat, buy_in, funds, is_house } => {
            let player = context.player.ok_or_else(nobody)?;
            let who = Newcomer { player, is_house: *is_house };
            let verdict = sit_down(table, who, *seat, *buy_in, context)?;
            let funds = funds.filter(|_| table.is_crowded());
            funds.map_or(Ok(()), |funds| funds.check_buy_in(*buy_in)).map(|()| verdict)
        }
        Command::StandUp { signature } => {
            decision::stand_up(table, play, own_seat(table, context)?.number, signature)
        }
        Command::SitOut { out, standing } => sit_out(
            table,
            own_seat(table, context)?,
            SitOutRequest { out: *out, now: context.now, standing: standing.as_ref() },
        ),
        Command::CommitEntropy { hand_no, offered } => {
            let seat = own_seat(table, context)?;
            table.check_own_records(seat.player)?;
            chance::commit(table, seat, *hand_no, *offered)
        }
        Command::RevealEntropy { hand_no, entropy } => {
            match context.player.and_then(|player| table.withheld_by(*hand_no, player)) {
                Some((number, seat, withheld)) => {
                    chance::open_withheld(number, seat, withheld, *entropy)
                }
                None => chance::reveal(table, play, own_seat(table, context)?, *hand_no, *entropy),
            }
        }
        Command::Act(request) => decision::act(table, play, request, context),
    }
}

/// Seat of the player who asks.
#[derive(Clone, Copy)]
struct OwnSeat {
    number: SeatNo,
    player: PlayerId,
}

fn own_seat(table: &Table, context: &CommandContext) -> Result<OwnSeat, ApiRefusal> {
    context
        .player
        .and_then(|player| Some(OwnSeat { number: table.seat_of(player)?, player }))
        .ok_or_else(|| api_refusal(ErrorReason::NotYourSeat, "you have no seat at this table"))
}

fn close(table: &Table) -> Verdict {
    let answer = pb::CloseTableResponse {};
    match table.closing {
        Closing::Open => Verdict::with_event(table.id, event::CloseAsked {}, &answer),
        Closing::Asked | Closing::Refunding { .. } | Closing::Refunded | Closing::Closed => {
            Verdict::unchanged(&answer)
        }
    }
}

fn disable(table: &Table, reason: &str) -> Result<Verdict, ApiRefusal> {
    let hand_in_play = table.hand.as_ref().map_or(0, |_| table.hand_no);
    let answer = pb::DisableTableResponse { hand_in_play };
    Ok(match table.disable(reason)? {
        Some(event) => Verdict::with_event(table.id, event, &answer),
        None => Verdict::unchanged(&answer),
    })
}

fn enable(table: &Table, reason: &str) -> Result<Verdict, ApiRefusal> {
    let answer = pb::EnableTableResponse {};
    Ok(match table.enable(reason)? {
        Some(event) => Verdict::with_event(table.id, event, &answer),
        None => Verdict::unchanged(&answer),
    })
}

/// Publishes the seat again with its player's new name or mark. Not where the player has too many records
/// already; views show both all the same.
fn publish_name(table: &Table, player: PlayerId) -> Verdict {
    let answer = pb::SetNameResponse::default();
    let room = table.check_room_for_newcomer(player).is_ok();
    match table.seat_of(player).filter(|_| room) {
        Some(seat) => {
            let renamed = event::SeatRenamed { seat: u32::from(seat.get()) };
            Verdict::with_event(table.id, renamed, &answer)
        }
        None => Verdict::unchanged(&answer),
    }
}

/// Player who sits down.
#[derive(Clone, Copy)]
struct Newcomer {
    player: PlayerId,
    is_house: bool,
}

fn sit_down(
    table: &Table,
    who: Newcomer,
    seat: Option<SeatNo>,
    buy_in: primitives::Credits,
    context: &CommandContext,
) -> Result<Verdict, ApiRefusal> {
    let Newcomer { player, is_house } = who;
    if table.closing != Closing::Open {
        return Err(api_refusal(ErrorReason::TableClosed, "this table is being closed"));
    }
    if table.seat_of(player).is_some() {
        return Err(api_refusal(
            ErrorReason::AlreadySeated,
            "you already have a seat at this table",
        ));
    }
    table.check_enabled()?;
    if context.is_room_behind {
        return Err(behind_refusal("no seat is given"));
    }
    table.check_may_return(player, context.now)?;
    table.check_may_sit_down(player, context.now)?;
    table.check_room_for_newcomer(player)?;
    let all = (1..=table.config.seats).filter_map(|number| SeatNo::try_new(number).ok());
    let seat = match seat {
        Some(seat) if seat.get() > table.config.seats => {
            let message = format!("this table has seats 1 to {}", table.config.seats);
            return Err(wire::BadField::new("seat", message).into());
        }
        Some(seat) if table.seats.contains_key(&seat) => {
            let message = format!("seat {seat} is taken: choose another, or 0 for any");
            return Err(api_refusal(ErrorReason::SeatTaken, message).field("seat"));
        }
        Some(seat) => seat,
        None => all.into_iter().find(|seat| !table.seats.contains_key(seat)).ok_or_else(|| {
            api_refusal(ErrorReason::SeatTaken, "every seat at this table is taken")
        })?,
    };
    let (min, max) = (table.config.min_buy_in, table.config.max_buy_in);
    if buy_in < min || buy_in > max {
        let message = format!("sit down with {min} to {max} credits; this is {buy_in}");
        return Err(api_refusal(ErrorReason::BuyInOutOfRange, message)
            .with("min", min.to_string())
            .with("max", max.to_string())
            .field("buy_in_credits"));
    }
    let transfer = ids::buy_in(table.id, player, context.request);
    let taken = event::SeatTaken {
        seat: u32::from(seat.get()),
        player_id: player.0.to_vec().into(),
        buy_in: buy_in.get(),
        transfer_id: transfer.to_vec().into(),
        house: is_house,
    };
    let answer = pb::SitDownResponse { seat: u32::from(seat.get()) };
    Ok(Verdict { awaited_buy_in: Some(transfer), ..Verdict::with_event(table.id, taken, &answer) })
}

/// Refusal of new work while the room is behind.
pub(crate) fn behind_refusal(what: &str) -> ApiRefusal {
    let message = format!("the room is behind just now, and {what}: try again in a moment");
    api_refusal(ErrorReason::Overloaded, message).retry_after(room_delay::RETRY_PAUSE)
}

/// Request to sit out or to come back, and the facts that it is judged by.
#[derive(Clone, Copy)]
struct SitOutRequest<'a> {
    out: bool,
    now: UnixMicros,
    /// The wallet's word on the player, where it was asked.
    standing: Option<&'a PlayStanding>,
}

fn sit_out(
    table: &Table,
    own_seat: OwnSeat,
    wanted: SitOutRequest<'_>,
) -> Result<Verdict, ApiRefusal> {
    let OwnSeat { number, player } = own_seat;
    let SitOutRequest { out, now, standing: current } = wanted;
    let answer = pb::SitOutResponse {};
    let seat = &table.seats[&number];
    let before = seat.standing.as_ref().map(standing::play_standing);
    let barred = current.or(before.as_ref()).and_then(standing::refusal);
    if let Some(refused) = barred.filter(|_| !out) {
        return Err(refused);
    }
    // Who is out for an exclusion alone may say that they stay out when it is over.
    let stays_out = out && seat.is_excluded;
    if seat.sitting_out == out && !stays_out {
        return Ok(Verdict::unchanged(&answer));
    }
    if !out {
        table.check_may_return(player, now)?;
    }
    table.check_may_change(player)?;
    table.check_room_for(player)?;
    let changed = SitOutReason::Asked.event(number, out);
    let mut verdict = Verdict::with_event(table.id, changed, &answer);
    // The restriction on the player has ended.
    if let Some(current) =
        current.filter(|_| before.is_some_and(|it| standing::is_barred(it.kind())))
    {
        let found = standing::found_event(number, current);
        verdict.batch.events.insert(0, (table.id.into(), found.into()));
    }
    Ok(verdict)
}
