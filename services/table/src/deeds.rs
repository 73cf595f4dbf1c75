//! Commands at a table. Each is judged against the state, and becomes events or a refusal that
//! changes nothing. Pure.

use fairness::{ClientCommitment, Entropy};
use primitives::{PlayerId, RequestId, SeatNo, StreamId, UnixMicros};
use prost::Message;
use proto::common::v1::{ErrorReason, Move as PbMove, PlayStanding};
use proto::event::v1 as event;
use proto::table::v1 as pb;
use rules::{By, Next, Refusal};
use wire::moves::{self, Reader};
use wire::{Recorded, Refused, refused};

use crate::play::Play;
use crate::standing;
use crate::stops::{self, Resume};
use crate::table::{Closing, Table};
use crate::{ids, lateness};

mod chance;

/// Credits of a player in the wallet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Funds {
    NoAccount,
    /// Credits that are not held.
    Available(u64),
}

impl Funds {
    fn check(self, buy_in: primitives::Credits) -> Result<(), Refused> {
        match self {
            Funds::NoAccount => {
                let message = "you have no account in the wallet: open it first";
                Err(refused(ErrorReason::AccountUnknown, message))
            }
            Funds::Available(credits) => match buy_in.get().checked_sub(credits) {
                None | Some(0) => Ok(()),
                Some(short) => {
                    let message = format!("you have {credits} credits, and buy in for {buy_in}");
                    Err(refused(ErrorReason::InsufficientCredits, message)
                        .with("refusal", "INSUFFICIENT_CREDITS")
                        .with("short", short.to_string())
                        .field("buy_in"))
                }
            },
        }
    }
}

/// A command, parsed from its request.
#[derive(Debug, Clone, PartialEq)]
pub enum Deed {
    SitDown {
        seat: Option<SeatNo>,
        buy_in: primitives::Credits,
        /// The wallet's present word on the player's credits, where it was asked. At a crowded
        /// table a player with too few credits is refused without a record.
        funds: Option<Funds>,
    },
    StandUp,
    SitOut {
        out: bool,
        /// The wallet's present word on the player, where it was asked: before they are dealt in
        /// again.
        standing: Option<PlayStanding>,
    },
    Act {
        hand_no: u64,
        turn: u32,
        mv: PbMove,
    },
    /// The service itself reports that a player, who may sit here, is shown under another name.
    Renamed {
        player: PlayerId,
    },
    /// Commits to entropy for a hand.
    CommitEntropy {
        hand_no: u64,
        commitment: ClientCommitment,
    },
    /// Reveals the entropy of a seat.
    RevealEntropy {
        hand_no: u64,
        entropy: Entropy,
    },
    /// Voids the hand in play.
    Void {
        hand_no: u64,
        reason: String,
    },
    Close,
    /// Resumes stopped effects.
    Resume(Resume),
}

impl Deed {
    /// Whether the command counts towards a player's records of a day. Commands that the course of
    /// play bounds do not, nor does leaving.
    #[must_use]
    pub const fn is_counted(&self) -> bool {
        match self {
            Deed::SitDown { .. } | Deed::SitOut { .. } => true,
            Deed::StandUp
            | Deed::Act { .. }
            | Deed::Renamed { .. }
            | Deed::CommitEntropy { .. }
            | Deed::RevealEntropy { .. }
            | Deed::Void { .. }
            | Deed::Close
            | Deed::Resume(_) => false,
        }
    }
}

/// Events to append, and the answer to give once they are durable.
pub struct Verdict {
    pub events: Vec<(StreamId, Recorded)>,
    pub answer: Vec<u8>,
    /// Transfer of the buy-in that the answer waits for.
    pub waits_for: Option<[u8; 16]>,
}

impl Verdict {
    fn now(
        stream: impl Into<StreamId>,
        event: impl Into<Recorded>,
        answer: &impl Message,
    ) -> Verdict {
        Verdict {
            events: vec![(stream.into(), event.into())],
            answer: answer.encode_to_vec(),
            waits_for: None,
        }
    }

    fn nothing(answer: &impl Message) -> Verdict {
        Verdict { events: Vec::new(), answer: answer.encode_to_vec(), waits_for: None }
    }
}

/// Caller, request and time of a command.
pub struct Doer {
    /// The player who asks. `None` for an operator, who alone closes tables and voids hands.
    pub player: Option<PlayerId>,
    pub request: RequestId,
    pub now: UnixMicros,
    /// Time of arrival, from which decisions count.
    pub arrived: UnixMicros,
    /// Whether the room is behind, so that no seat is given.
    pub behind: bool,
}

/// Judges a command.
pub fn judge(
    table: &Table,
    play: Option<&Play>,
    deed: &Deed,
    doer: &Doer,
) -> Result<Verdict, Refused> {
    if table.closing == Closing::Closed {
        return Err(refused(ErrorReason::TableClosed, "this table is closed"));
    }
    let nobody = || refused(ErrorReason::RoleNotAllowed, "only players have seats");
    match deed {
        Deed::Close => Ok(close(table)),
        Deed::Resume(resume) => stops::resume(table, resume),
        Deed::Renamed { player } => Ok(renamed(table, *player, doer.now)),
        Deed::SitDown { seat, buy_in, funds } => {
            let player = doer.player.ok_or_else(nobody)?;
            let verdict = sit_down(table, player, (*seat, *buy_in), doer)?;
            let funds = funds.filter(|_| table.is_crowded(doer.now));
            funds.map_or(Ok(()), |funds| funds.check(*buy_in)).map(|()| verdict)
        }
        Deed::StandUp => stand_up(table, play, own_seat(table, doer)?),
        Deed::SitOut { out, standing } => sit_out(
            table,
            own_place(table, doer)?,
            SittingOut { out: *out, now: doer.now, standing: standing.as_ref() },
        ),
        Deed::CommitEntropy { hand_no, commitment } => {
            let place = own_place(table, doer)?;
            table.has_room_for(place.1, doer.now)?;
            chance::commit(table, place, (*hand_no, *commitment))
        }
        Deed::RevealEntropy { hand_no, entropy } => {
            chance::reveal((table, play), own_place(table, doer)?, (*hand_no, *entropy))
        }
        Deed::Void { hand_no, reason } => chance::void(table, play, *hand_no, reason),
        Deed::Act { hand_no, turn, mv } => act(table, play, (*hand_no, *turn, mv), doer),
    }
}

fn own_seat(table: &Table, doer: &Doer) -> Result<SeatNo, Refused> {
    doer.player
        .and_then(|player| table.seat_of(player))
        .ok_or_else(|| refused(ErrorReason::NotYourSeat, "you have no seat at this table"))
}

fn own_place(table: &Table, doer: &Doer) -> Result<(SeatNo, PlayerId), Refused> {
    let seat = own_seat(table, doer)?;
    Ok((seat, table.seats[&seat].player))
}

fn close(table: &Table) -> Verdict {
    let answer = pb::CloseTableResponse {};
    match table.closing {
        Closing::Open => Verdict::now(table.id, event::CloseAsked {}, &answer),
        Closing::Asked | Closing::Refunding { .. } | Closing::Refunded | Closing::Closed => {
            Verdict::nothing(&answer)
        }
    }
}

/// Publishes the seat again with its player's new name. Not where the player has too many records
/// already; views show the name all the same.
fn renamed(table: &Table, player: PlayerId, now: UnixMicros) -> Verdict {
    let answer = pb::SetNameResponse::default();
    let room = table.has_room_for_newcomer(player, now).is_ok();
    match table.seat_of(player).filter(|_| room) {
        Some(seat) => {
            let renamed = event::SeatRenamed { seat: u32::from(seat.get()) };
            Verdict::now(table.id, renamed, &answer)
        }
        None => Verdict::nothing(&answer),
    }
}

fn sit_down(
    table: &Table,
    player: PlayerId,
    (seat, buy_in): (Option<SeatNo>, primitives::Credits),
    doer: &Doer,
) -> Result<Verdict, Refused> {
    if table.closing != Closing::Open {
        return Err(refused(ErrorReason::TableClosed, "this table is being closed"));
    }
    if table.seat_of(player).is_some() {
        return Err(refused(ErrorReason::AlreadySeated, "you already have a seat at this table"));
    }
    if doer.behind {
        return Err(behind("no seat is given"));
    }
    table.may_return(player, doer.now)?;
    table.may_sit_again(player, doer.now)?;
    table.has_room_for_newcomer(player, doer.now)?;
    let all = (1..=table.config.seats).filter_map(|number| SeatNo::try_new(number).ok());
    let seat = match seat {
        Some(seat) if seat.get() > table.config.seats => {
            let message = format!("this table has seats 1 to {}", table.config.seats);
            return Err(wire::BadField::new("seat", message).into());
        }
        Some(seat) if table.seats.contains_key(&seat) => {
            let message = format!("seat {seat} is taken: choose another, or 0 for any");
            return Err(refused(ErrorReason::SeatTaken, message).field("seat"));
        }
        Some(seat) => seat,
        None => all
            .into_iter()
            .find(|seat| !table.seats.contains_key(seat))
            .ok_or_else(|| refused(ErrorReason::SeatTaken, "every seat at this table is taken"))?,
    };
    let (min, max) = (table.config.min_buy_in, table.config.max_buy_in);
    if buy_in < min || buy_in > max {
        let message = format!("sit down with {min} to {max} credits; this is {buy_in}");
        return Err(refused(ErrorReason::BuyInOutOfRange, message)
            .with("min", min.to_string())
            .with("max", max.to_string())
            .field("buy_in"));
    }
    let transfer = ids::buy_in(table.id, player, doer.request);
    let taken = event::SeatTaken {
        seat: u32::from(seat.get()),
        player_id: player.0.to_vec().into(),
        buy_in: buy_in.get(),
        transfer_id: transfer.to_vec().into(),
    };
    let answer = pb::SitDownResponse { seat: u32::from(seat.get()) };
    Ok(Verdict { waits_for: Some(transfer), ..Verdict::now(table.id, taken, &answer) })
}

/// Refusal of new work while the room is behind.
pub(crate) fn behind(what: &str) -> Refused {
    let message = format!("the room is behind just now, and {what}: try again in a moment");
    refused(ErrorReason::Overloaded, message).retry_after(lateness::RETRY)
}

fn stand_up(table: &Table, play: Option<&Play>, seat: SeatNo) -> Result<Verdict, Refused> {
    let after_hand = play.is_some_and(|play| play.replay.seats.contains(&seat));
    let answer = pb::StandUpResponse { after_hand };
    if table.seats[&seat].leaving {
        return Ok(Verdict::nothing(&answer));
    }
    let leave = event::LeaveAsked { seat: u32::from(seat.get()), why: "asked".to_owned() };
    Ok(Verdict::now(table.id, leave, &answer))
}

/// Request to sit out or to come back, and the facts that it is judged by.
#[derive(Clone, Copy)]
struct SittingOut<'a> {
    out: bool,
    now: UnixMicros,
    /// The wallet's word on the player, where it was asked.
    standing: Option<&'a PlayStanding>,
}

fn sit_out(
    table: &Table,
    (number, player): (SeatNo, PlayerId),
    wanted: SittingOut<'_>,
) -> Result<Verdict, Refused> {
    let SittingOut { out, now, standing: current } = wanted;
    let answer = pb::SitOutResponse {};
    let seat = &table.seats[&number];
    let before = seat.standing.as_ref().map(standing::told);
    let barred = current.or(before.as_ref()).and_then(standing::refusal);
    if let Some(refused) = barred.filter(|_| !out) {
        return Err(refused);
    }
    if seat.sitting_out == out {
        return Ok(Verdict::nothing(&answer));
    }
    if !out {
        table.may_return(player, now)?;
    }
    table.may_change(player, now)?;
    table.has_room_for(player, now)?;
    let changed = event::SitOutChanged {
        seat: u32::from(number.get()),
        sitting_out: out,
        why: "asked".to_owned(),
    };
    let mut verdict = Verdict::now(table.id, changed, &answer);
    // The restriction on the player has ended.
    if let Some(current) = current.filter(|_| before.is_some_and(|it| standing::bars(it.kind()))) {
        let found = standing::event(number, current);
        verdict.events.insert(0, (table.id.into(), found.into()));
    }
    Ok(verdict)
}

fn act(
    table: &Table,
    play: Option<&Play>,
    (hand_no, turn, mv): (u64, u32, &PbMove),
    doer: &Doer,
) -> Result<Verdict, Refused> {
    own_seat(table, doer)?;
    let not_now = |message: &str| refused(ErrorReason::NotYourTurn, message.to_owned());
    let play = play.ok_or_else(|| not_now("no hand is in play"))?;
    if hand_no != play.hand_no {
        let message = format!("hand {} is in play, not hand {hand_no}", play.hand_no);
        return Err(not_now(&message).with("hand_no", play.hand_no.to_string()).field("hand_no"));
    }
    let player = doer
        .player
        .and_then(|id| play.player(id))
        .ok_or_else(|| refused(ErrorReason::NotYourSeat, "you are not dealt into this hand"))?;
    let to_act = play.to_act().ok_or_else(|| not_now("no decision is due at this moment"))?;
    if to_act != player {
        let seat = play.seat(to_act);
        return Err(not_now(&format!("seat {seat} decides now")).with("seat", seat.to_string()));
    }
    if turn != play.turn {
        let message = format!("turn {} is due, not turn {turn}: look again", play.turn);
        return Err(not_now(&message).with("turn", play.turn.to_string()).field("turn"));
    }
    let hand = &play.replay.hand;
    let cards = nameable(play, player);
    let reader =
        Reader { deck: hand.rules().variant().deck, cards: &cards, seats: &play.replay.seats };
    let mv = reader.read(mv)?;
    if mv == rules::Move::Leave {
        let message = "to leave, stand up from the table";
        return Err(wire::BadField::new("move.kind", message).into());
    }
    let decided = play
        .decide(&table.config, player, &mv, (By::Player, doer.arrived.max(play.due_at)))
        .map_err(|refusal| explain(play, &refusal))?;
    let answer = pb::ActResponse { sequence: table.sequence + 1 };
    Ok(Verdict::now(play.hand_id, decided, &answer))
}

/// Cards that a player may name: those that they hold.
fn nameable(play: &Play, player: rules::Player) -> Vec<rules::Card> {
    play.replay.hand.cards_of(player).to_vec()
}

/// Describes a refusal of the rules, with the moves that they would allow.
fn explain(play: &Play, refusal: &Refusal) -> Refused {
    let hand = &play.replay.hand;
    let deck = hand.rules().variant().deck;
    let reason = match refusal {
        Refusal::Amount { .. } => ErrorReason::AmountOutOfRange,
        Refusal::HandOver
        | Refusal::ChanceDue { .. }
        | Refusal::NotYourTurn { .. }
        | Refusal::AlreadyLeft { .. } => ErrorReason::NotYourTurn,
        Refusal::NoSuchPlayer { .. } => ErrorReason::NotYourSeat,
        Refusal::NotLegal { .. }
        | Refusal::Choice { .. }
        | Refusal::DecisionDue { .. }
        | Refusal::WrongChance { .. }
        | Refusal::CardCount { .. }
        | Refusal::CardNotThere { .. }
        | Refusal::WrongEnd
        | Refusal::Dice { .. }
        | Refusal::Pulse
        | Refusal::Pick { .. }
        | Refusal::Sample { .. } => ErrorReason::IllegalMove,
    };
    let mut error = refused(reason, refusal.to_string());
    if let Refusal::Amount { min, max, .. } = refusal {
        error =
            error.with("min", min.to_string()).with("max", max.to_string()).field("move.amount");
    }
    if let Next::Decision(decision) = rules::next(hand) {
        let legal: Vec<String> = decision
            .legal
            .iter()
            .map(|legal| moves::legal(legal, deck, &play.replay.seats).text)
            .collect();
        error = error.with("legal", legal.join(", "));
    }
    error
}
