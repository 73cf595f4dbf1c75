//! Commands that become lines of the hand in play: decisions, and leaving.
//!
//! Specification: fairness/SPEC.md §9, rules/SPEC.md §6.

use primitives::SeatNo;
use proto::common::v1::{ErrorReason, Move as PbMove, MoveKind};
use proto::table::v1 as pb;
use rules::{DecisionAuthor, Move, Next, Player, Refusal};
use wire::moves::{self, MoveReader};
use wire::{ApiRefusal, api_refusal, status};

use super::{CommandContext, Verdict, own_seat};
use crate::decisions::{self, PlayerLine};
use crate::hand_in_play::{HandInPlay, HandStage};
use crate::reasons::LeaveReason;
use crate::suspension::{self, Suspension};
use crate::table::Table;

/// Decision of a player, as it was requested.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DecisionRequest {
    pub hand_no: u64,
    pub turn: u32,
    pub mv: PbMove,
    /// The player's signature of its line; empty if there is none.
    pub signature: Vec<u8>,
}

/// Judges a decision: whether it is due, by the rules, and by its signature, in this order. A
/// suspended hand takes none but [`agree_to_end`].
pub(super) fn act(
    table: &Table,
    play: Option<&HandInPlay>,
    request: &DecisionRequest,
    context: &CommandContext,
) -> Result<Verdict, ApiRefusal> {
    own_seat(table, context)?;
    let play = play.ok_or_else(|| not_now("no hand is in play"))?;
    let player = context
        .player
        .and_then(|id| play.player(id))
        .ok_or_else(|| api_refusal(ErrorReason::NotYourSeat, "you are not dealt into this hand"))?;
    check_hand_no(play, request)?;
    if request.mv.kind() == MoveKind::Void {
        return agree_to_end(table, play, player, request);
    }
    if let Some(suspended) = &play.suspension {
        return Err(suspended_refusal(suspended));
    }
    check_due(table, play, player, request)?;
    let mv = read_move(play, player, &request.mv)?;
    let event = play.judge(player, mv, DecisionAuthor::Player);
    let event = event.map_err(|refusal| explain(play, &refusal))?;
    let line = PlayerLine::of(play, &event)?;
    let chain = decisions::chain(play)?;
    let chain = decisions::check_signature(table, play, &chain, &line, &request.signature)?;
    let used = play.time_bank_used(&table.config, context.arrived.max(play.due_at));
    let batch = play.record(event, used, &request.signature);
    let receipt = Some(decisions::unsigned_receipt(play, &chain));
    Ok(Verdict::new(batch, &pb::ActResponse { sequence: table.sequence + 1, receipt }))
}

fn not_now(message: &str) -> ApiRefusal {
    api_refusal(ErrorReason::NotYourTurn, message.to_owned())
}

fn check_hand_no(play: &HandInPlay, request: &DecisionRequest) -> Result<(), ApiRefusal> {
    if request.hand_no == play.hand_no {
        return Ok(());
    }
    let message = format!("hand {} is in play, not hand {}", play.hand_no, request.hand_no);
    Err(not_now(&message).with("hand_no", play.hand_no.to_string()).field("hand_no"))
}

fn check_turn(play: &HandInPlay, request: &DecisionRequest) -> Result<(), ApiRefusal> {
    if request.turn == play.turn {
        return Ok(());
    }
    let message = format!("turn {} is due, not turn {}: look again", play.turn, request.turn);
    Err(not_now(&message).with("turn", play.turn.to_string()).field("turn"))
}

/// Judges a live player's agreement to end the suspended hand. It is signed over the chain without
/// the leaves that are pending, since the hand may never come to take them.
fn agree_to_end(
    table: &Table,
    play: &HandInPlay,
    player: Player,
    request: &DecisionRequest,
) -> Result<Verdict, ApiRefusal> {
    check_may_agree(table, play, player)?;
    check_turn(play, request)?;
    let line = PlayerLine::of_void(player);
    let chain = decisions::chain(play)?;
    let chain = decisions::check_signature(table, play, &chain, &line, &request.signature)?;
    let agreed = suspension::agreed(play, player, &request.signature);
    let receipt = Some(decisions::unsigned_receipt(play, &chain));
    Ok(Verdict::new(agreed, &pb::ActResponse { sequence: table.sequence + 1, receipt }))
}

fn check_may_agree(table: &Table, play: &HandInPlay, player: Player) -> Result<(), ApiRefusal> {
    let illegal = |message: &str| {
        Err(api_refusal(ErrorReason::IllegalMove, message.to_owned()).field("decision.kind"))
    };
    let Some(suspended) = &play.suspension else {
        return illegal("only a suspended hand is ended by its players");
    };
    if play.lost_cards.is_some() {
        return Err(suspended_refusal(suspended));
    }
    let seat = play.seat(player);
    if suspended.agreed.contains(&seat) {
        return illegal("you have agreed to it already");
    }
    if suspension::live_seats(table, play).contains(&seat) {
        return Ok(());
    }
    illegal(
        "this is for live players of a hand whose antes are paid: before that, stand up or sit out",
    )
}

fn suspended_refusal(suspended: &Suspension) -> ApiRefusal {
    let Suspension { since, until, agreed: _ } = suspended;
    let message = format!(
        "the dealer is silent since {since} and the hand stands still: it goes on as soon as the dealer \
         is back, and ends at {until} at the latest"
    );
    api_refusal(ErrorReason::HandSuspended, message)
        .with("since", since.0.to_string())
        .with("until", wire::time::rfc3339(*until))
}

/// Checks that the player is to make the decision that the request names, and nothing before it.
fn check_due(
    table: &Table,
    play: &HandInPlay,
    player: Player,
    request: &DecisionRequest,
) -> Result<(), ApiRefusal> {
    let to_act = play.to_act().ok_or_else(|| not_now("no decision is due at this moment"))?;
    if to_act != player {
        let seat = play.seat(to_act);
        return Err(not_now(&format!("seat {seat} decides now")).with("seat", seat.to_string()));
    }
    check_turn(play, request)?;
    match decisions::due_leave(table, play) {
        Some(seat) => Err(status::unavailable(&format!("seat {seat} leaves the hand first"))),
        None => Ok(()),
    }
}

fn read_move(play: &HandInPlay, player: Player, mv: &PbMove) -> Result<Move, ApiRefusal> {
    let hand = &play.replay.hand;
    // A player may name the cards that they hold.
    let cards = hand.cards_of(player);
    let reader = MoveReader { deck: hand.rules().variant().deck, cards, seats: &play.replay.seats };
    let mv = reader.read(mv)?;
    if mv == Move::Leave {
        let message = "to leave, stand up from the table";
        return Err(wire::BadField::new("decision.kind", message).into());
    }
    Ok(mv)
}

/// Judges a player's request to leave the table. Whoever is in a sealed hand leaves it by a line of
/// theirs, which is signed if they have a key for it.
pub(super) fn stand_up(
    table: &Table,
    play: Option<&HandInPlay>,
    seat: SeatNo,
    signature: &[u8],
) -> Result<Verdict, ApiRefusal> {
    let after_hand = play.is_some_and(|play| play.replay.seats.contains(&seat));
    let is_leaving = table.seats[&seat].leaving;
    if after_hand && play.is_some_and(|play| play.lost_cards.is_some()) {
        // The chain that a leave is signed over is known again with the cards.
        return Err(status::unavailable("the dealer has to open the hand's cards again first"));
    }
    let player = play.and_then(|play| Some((play, may_leave(table, play, seat)?)));
    let unsigned = table.player_key(seat).is_some() && signature.is_empty();
    let Some((play, player)) = player.filter(|_| !(is_leaving && unsigned)) else {
        let answer = pb::StandUpResponse { after_hand, receipt: None };
        if is_leaving {
            return Ok(Verdict::unchanged(&answer));
        }
        return Ok(Verdict::with_event(table.id, LeaveReason::Asked.event(seat), &answer));
    };
    let line = PlayerLine::of_leave(play, player)?;
    let chain = decisions::chain_with_leaves(table, play)?;
    let chain = decisions::check_signature(table, play, &chain, &line, signature)?;
    let mut asked = LeaveReason::Asked.event(seat);
    asked.signature = signature.to_vec().into();
    let receipt = Some(decisions::unsigned_receipt(play, &chain));
    Ok(Verdict::with_event(table.id, asked, &pb::StandUpResponse { after_hand, receipt }))
}

/// Player of a seat who is in the sealed hand and has not left it.
fn may_leave(table: &Table, play: &HandInPlay, seat: SeatNo) -> Option<Player> {
    let player = play.replay.player_of(u32::from(seat.get())).ok()?;
    let leaves = table.pending_leaves().iter().any(|leave| leave.seat == seat);
    let is_in = play.stage == HandStage::Playing && !play.has_left[player.index()];
    (is_in && !leaves).then_some(player)
}

/// Describes a refusal of the rules, with the moves that they would allow.
fn explain(play: &HandInPlay, refusal: &Refusal) -> ApiRefusal {
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
    let mut error = api_refusal(reason, refusal.to_string());
    if let Refusal::Amount { min, max, .. } = refusal {
        error = error
            .with("min", min.to_string())
            .with("max", max.to_string())
            .field("decision.amount_credits");
    }
    if let Next::Decision(decision) = rules::next(hand) {
        let legal: Vec<String> = decision
            .legal
            .iter()
            .map(|legal| moves::write_legal(legal, deck, &play.replay.seats).text)
            .collect();
        error = error.with("legal", legal.join(", "));
    }
    error
}
