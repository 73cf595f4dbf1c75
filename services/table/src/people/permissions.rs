//! Judgement of commands about people by their records. Pure: after a function has accepted,
//! nothing else may refuse.

use std::time::Duration;

use primitives::{DisputeId, HandId, PlayerId, TableId, UnixMicros};
use proto::common::v1::ErrorReason;
use proto::event::v1::HandOpened;
use wire::{ApiRefusal, api_refusal};

use super::registry::{Dispute, Registry};
use super::sign_ins::DAY_MICROS;

/// Disputes of one player that may be open at one time.
pub(crate) const MAX_OPEN_DISPUTES: usize = 1;

/// Checks that more may be recorded of a player.
pub(crate) fn check_not_erased(registry: &Registry, player: PlayerId) -> Result<(), ApiRefusal> {
    if registry.person(player).is_some_and(|person| person.erased) {
        let message = "this player was erased: nothing is recorded of him any more";
        return Err(api_refusal(ErrorReason::PlayerErased, message));
    }
    Ok(())
}

/// Checks that another guest may come on the day of `now`.
pub(crate) fn check_new_guest(
    registry: &Registry,
    per_day: u32,
    now: UnixMicros,
) -> Result<(), ApiRefusal> {
    if registry.sign_ins().guests_on(now) < per_day {
        return Ok(());
    }
    let message = "this room has had as many new guests today as a day takes: come back tomorrow";
    let wait = Duration::from_micros(DAY_MICROS - now.0 % DAY_MICROS);
    Err(api_refusal(ErrorReason::RecordsSpent, message).retry_after(wait))
}

/// Checks that a player may be erased; `seats` are the tables at which they sit.
pub(crate) fn check_erasure(
    registry: &Registry,
    player: PlayerId,
    seats: &[TableId],
) -> Result<(), ApiRefusal> {
    if !seats.is_empty() {
        let tables: Vec<String> = seats.iter().map(TableId::to_string).collect();
        let tables = tables.join(", ");
        let message = format!("he has a seat at {tables}: he leaves first, and is paid out");
        return Err(api_refusal(ErrorReason::PlayerSeated, message).with("tables", tables));
    }
    let open = registry.person(player).map_or(0, |person| person.open.len());
    if open > 0 {
        let message = format!(
            "{open} of his disputes are open, and nobody could read them any more: an auditor \
             answers them first"
        );
        return Err(api_refusal(ErrorReason::DisputesOpen, message).with("open", open.to_string()));
    }
    Ok(())
}

/// Checks that a player was dealt into the hand that was opened so.
pub(crate) fn check_dealt_into(player: PlayerId, opened: &HandOpened) -> Result<(), ApiRefusal> {
    let is_listed = opened.roster.iter().any(|seat| seat.player_id[..] == player.0);
    check_listed(is_listed, opened.hand_no)
}

/// Checks that a player is listed as one who was dealt into a hand.
pub(crate) fn check_listed(is_listed: bool, hand_no: u64) -> Result<(), ApiRefusal> {
    if is_listed {
        return Ok(());
    }
    let message = format!("you were not dealt into hand {hand_no} of this table");
    Err(api_refusal(ErrorReason::NotYourHand, message).field("hand_no"))
}

/// Checks that a player may dispute a hand that they were dealt into.
pub(crate) fn check_dispute(
    registry: &Registry,
    player: PlayerId,
    hand: HandId,
) -> Result<(), ApiRefusal> {
    check_not_erased(registry, player)?;
    let Some(person) = registry.person(player) else { return Ok(()) };
    let mut open = person.open.iter().filter_map(|id| registry.dispute(*id));
    if let Some(other) = open.find(|dispute| dispute.hand == hand) {
        let message =
            format!("your dispute {} about this hand is open: wait for its answer", other.id);
        return Err(api_refusal(ErrorReason::AlreadyExists, message)
            .with("dispute_id", other.id.to_string()));
    }
    if person.open.len() >= MAX_OPEN_DISPUTES {
        let message = "one dispute at a time may be open, and one of yours is: wait for its answer";
        return Err(api_refusal(ErrorReason::DisputesOpen, message)
            .with("open", person.open.len().to_string())
            .with("max", MAX_OPEN_DISPUTES.to_string()));
    }
    Ok(())
}

/// A dispute that a caller may see: a player their own, `None` any.
pub(crate) fn visible_dispute(
    registry: &Registry,
    id: DisputeId,
    player: Option<PlayerId>,
) -> Result<&Dispute, ApiRefusal> {
    let seen = registry.dispute(id).filter(|it| player.is_none_or(|player| it.player == player));
    seen.ok_or_else(|| {
        let message = format!("there is no dispute {id}: ListDisputes lists them");
        api_refusal(ErrorReason::DisputeUnknown, message).field("dispute_id")
    })
}

/// A dispute that an auditor may answer.
pub(crate) fn answerable_dispute(
    registry: &Registry,
    id: DisputeId,
) -> Result<&Dispute, ApiRefusal> {
    let dispute = visible_dispute(registry, id, None)?;
    if dispute.answered.is_some() {
        let message = format!("dispute {id} is answered, and an answer stands");
        return Err(api_refusal(ErrorReason::DisputeAnswered, message).field("dispute_id"));
    }
    check_not_erased(registry, dispute.player)?;
    Ok(dispute)
}
