//! Chain of a hand's decisions, and the signatures of the players who make them.
//!
//! The chain begins at the transcript. Each decision in the hand's stream adds its line, in the
//! order of the stream. A player who named a key with their commitment signs each line of theirs;
//! nobody else does. A line is signed over the chain with it in it, so it fits one place of one
//! hand, and no line of another player.
//!
//! **Leaves.** A player may leave at any time, but the rules take a leave only while a decision is
//! due. In between the leave is pending ([`Table::pending_leaves`]): it comes before any other
//! decision, and whoever leaves after it signs over the chain with it in it. The line that agrees to
//! end a suspended hand is the exception: it is recorded, and signed, without the pending leaves,
//! since the hand may never come to take them. Leaves that were signed before it lapse, so that every
//! signature on record is over the chain of the records.
//!
//! Specification: fairness/SPEC.md §9.

use std::time::Duration;

use fairness::{Chain, DecisionStatement, PlayerKey, SignedText as _};
use primitives::SeatNo;
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use rules::{DecisionAuthor, Event, Move, Player};
use wire::{ApiRefusal, BadField, api_refusal, field};

use crate::batch::Batch;
use crate::effect_calls::Inconsistency;
use crate::effects::Effect;
use crate::hand_in_play::HandInPlay;
use crate::table::{PendingLeave, Table};

/// A decision in the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChainStep {
    /// Line of the decision, a secret choice hidden.
    pub line: String,
    /// The chain with the line in it.
    pub chain: Chain,
}

/// Line of a player, to be signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PlayerLine {
    pub player: Player,
    /// The line as the chain takes it.
    pub line: String,
    /// The line with a secret choice in the clear.
    pub said: String,
}

impl PlayerLine {
    /// Line of a decision that the rules have taken and that is not applied yet.
    pub(crate) fn of(play: &HandInPlay, event: &Event) -> Result<PlayerLine, Inconsistency> {
        let Event::Decided { player, .. } = event else {
            return Err(Inconsistency("chance has no line".to_owned()));
        };
        let line = |said| play.replay.chain_line(event, said);
        let lines = line(false).zip(line(true));
        let (line, said) =
            lines.ok_or_else(|| Inconsistency("a decision without a line".to_owned()))?;
        Ok(PlayerLine { player: *player, line, said })
    }

    /// Line with which a live player agrees to end the suspended hand.
    #[must_use]
    pub(crate) fn of_void(player: Player) -> PlayerLine {
        let line = wire::replay::void_line(player);
        PlayerLine { player, said: line.clone(), line }
    }

    /// Line with which a player leaves the hand.
    pub(crate) fn of_leave(play: &HandInPlay, player: Player) -> Result<PlayerLine, Inconsistency> {
        PlayerLine::of(play, &leave_event(player))
    }
}

const fn leave_event(player: Player) -> Event {
    Event::Decided { player, mv: Move::Leave, author: DecisionAuthor::Player }
}

/// Checks the signature of a player's line, which comes next after `chain`. Returns the chain with
/// the line in it.
///
/// # Errors
/// `SIGNATURE_NEEDED` where the player has a key and nothing is signed, `SIGNATURE_INVALID` where
/// something else is, `BAD_FIELD` for a signature of a player without a key.
pub(crate) fn check_signature(
    table: &Table,
    play: &HandInPlay,
    chain: &Chain,
    line: &PlayerLine,
    signature: &[u8],
) -> Result<Chain, ApiRefusal> {
    let after = chain.with(false, &line.line);
    let Some(key) = table.player_key(play.seat(line.player)) else {
        return check_unsigned(signature).map(|()| after);
    };
    if signature.is_empty() {
        let message = "your commitment for this hand named a key: sign what you decide with it";
        return Err(api_refusal(ErrorReason::SignatureNeeded, message).field("signature"));
    }
    let signature = field::exactly("signature", signature)?;
    let statement = DecisionStatement { context: &play.context, chain: &after, said: &line.said };
    match statement.verify(key.bytes(), &signature) {
        Ok(()) => Ok(after),
        Err(_) => Err(invalid_signature(chain)),
    }
}

fn check_unsigned(signature: &[u8]) -> Result<(), ApiRefusal> {
    if signature.is_empty() {
        return Ok(());
    }
    let problem = "your commitment for this hand named no key: send no signature";
    Err(BadField::new("signature", problem).into())
}

fn invalid_signature(chain: &Chain) -> ApiRefusal {
    let message = "this is not your key's signature of this line over the chain as it stands";
    let hex: String = chain.0.iter().map(|byte| format!("{byte:02x}")).collect();
    api_refusal(ErrorReason::SignatureInvalid, message).with("chain", hex).field("signature")
}

/// Reads the key that a commitment names; empty where it names none.
pub(crate) fn parse_key(key: &[u8]) -> Result<Option<PlayerKey>, BadField> {
    if key.is_empty() {
        return Ok(None);
    }
    let key = PlayerKey::try_new(field::exactly("key", key)?);
    key.map(Some).map_err(|error| BadField::new("key", error.to_string()))
}

/// The chain of the hand in play; an error before the hand is sealed.
pub(crate) fn chain(play: &HandInPlay) -> Result<Chain, Inconsistency> {
    play.chain.ok_or_else(|| Inconsistency("the hand has no chain of decisions yet".to_owned()))
}

/// The chain with every pending leave in it.
pub(crate) fn chain_with_leaves(table: &Table, play: &HandInPlay) -> Result<Chain, Inconsistency> {
    let mut chain = chain(play)?;
    for leave in table.pending_leaves() {
        let player = play.replay.player_of(u32::from(leave.seat.get()))?;
        chain = chain.with(false, &PlayerLine::of_leave(play, player)?.line);
    }
    Ok(chain)
}

/// The leave that the rules are to take before anything else is decided, unless it has stopped.
#[must_use]
pub(crate) fn due_leave(table: &Table, play: &HandInPlay) -> Option<SeatNo> {
    let leave = table.pending_leaves().first().filter(|_| play.to_act().is_some())?;
    let seat = leave.seat;
    (!table.stops.contains_key(&Effect::Leave { seat })).then_some(seat)
}

/// Takes the player out of the hand whose leave is pending and comes first.
pub(crate) fn take_leave(
    table: &Table,
    play: &HandInPlay,
    number: SeatNo,
) -> Result<Batch, Inconsistency> {
    let first = table.pending_leaves().first().filter(|leave| leave.seat == number);
    let PendingLeave { seat, signature } =
        first.ok_or_else(|| Inconsistency(format!("seat {number} is not the next to leave")))?;
    let player = play.replay.player_of(u32::from(seat.get()))?;
    let event = play.judge(player, Move::Leave, DecisionAuthor::Player)?;
    Ok(play.record(event, Duration::ZERO, signature))
}

/// Receipt of a line before it is signed: the context stands in place of the signature. See
/// [`crate::receipt`].
#[must_use]
pub(crate) fn unsigned_receipt(play: &HandInPlay, chain: &Chain) -> pb::DecisionReceipt {
    let (chain, context) = (chain.0.to_vec(), play.context.0.to_vec());
    pb::DecisionReceipt { chain, signature: context, ..pb::DecisionReceipt::default() }
}
