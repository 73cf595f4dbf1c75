//! Judgement of commands about people by their records. Pure: after a function has accepted,
//! nothing else may refuse.

use primitives::{DisputeId, HandId, PlayerId, TableId};
use proto::common::v1::ErrorReason;
use proto::event::v1::HandOpened;
use wire::{Refused, refused};

use super::registry::{Dispute, Registry};

/// Disputes of one player that may be open at one time.
pub const OPEN_DISPUTES: usize = 10;

/// Checks that more may be recorded of a player.
pub fn not_erased(registry: &Registry, player: PlayerId) -> Result<(), Refused> {
    if registry.person(player).is_some_and(|person| person.erased) {
        let message = "this player was erased: nothing is recorded of him any more";
        return Err(refused(ErrorReason::PlayerErased, message));
    }
    Ok(())
}

/// Checks that a player may be erased; `seats` are the tables at which they sit.
pub fn erase(registry: &Registry, player: PlayerId, seats: &[TableId]) -> Result<(), Refused> {
    if !seats.is_empty() {
        let tables: Vec<String> = seats.iter().map(TableId::to_string).collect();
        let tables = tables.join(", ");
        let message = format!("he has a seat at {tables}: he leaves first, and is paid out");
        return Err(refused(ErrorReason::PlayerSeated, message).with("tables", tables));
    }
    let open = registry.person(player).map_or(0, |person| person.open.len());
    if open > 0 {
        let message = format!(
            "{open} of his disputes are open, and nobody could read them any more: an auditor \
             answers them first"
        );
        return Err(refused(ErrorReason::DisputesOpen, message).with("open", open.to_string()));
    }
    Ok(())
}

/// Checks that a player was dealt into the hand that was opened so.
pub fn dealt_into(player: PlayerId, opened: &HandOpened) -> Result<(), Refused> {
    if opened.roster.iter().any(|seat| seat.player_id[..] == player.0) {
        return Ok(());
    }
    let message = format!("you were not dealt into hand {} of this table", opened.hand_no);
    Err(refused(ErrorReason::NotYourHand, message).field("hand_no"))
}

/// Checks that a player may dispute a hand that they were dealt into.
pub fn dispute(registry: &Registry, player: PlayerId, hand: HandId) -> Result<(), Refused> {
    not_erased(registry, player)?;
    let Some(person) = registry.person(player) else { return Ok(()) };
    let mut open = person.open.iter().filter_map(|id| registry.dispute(*id));
    if let Some(other) = open.find(|dispute| dispute.hand == hand) {
        let message =
            format!("your dispute {} about this hand is open: wait for its answer", other.id);
        return Err(
            refused(ErrorReason::AlreadyExists, message).with("dispute_id", other.id.to_string())
        );
    }
    if person.open.len() >= OPEN_DISPUTES {
        let message = format!("{OPEN_DISPUTES} of your disputes are open: wait for an answer");
        return Err(refused(ErrorReason::DisputesOpen, message)
            .with("open", person.open.len().to_string())
            .with("max", OPEN_DISPUTES.to_string()));
    }
    Ok(())
}

/// A dispute that a caller may see: a player their own, `None` any.
pub fn see(
    registry: &Registry,
    id: DisputeId,
    player: Option<PlayerId>,
) -> Result<&Dispute, Refused> {
    let seen = registry.dispute(id).filter(|it| player.is_none_or(|player| it.player == player));
    seen.ok_or_else(|| {
        let message = format!("there is no dispute {id}: ListDisputes lists them");
        refused(ErrorReason::DisputeUnknown, message).field("dispute_id")
    })
}

/// A dispute that an auditor may answer.
pub fn answer(registry: &Registry, id: DisputeId) -> Result<&Dispute, Refused> {
    let dispute = see(registry, id, None)?;
    if dispute.answered.is_some() {
        let message = format!("dispute {id} is answered, and an answer stands");
        return Err(refused(ErrorReason::DisputeAnswered, message).field("dispute_id"));
    }
    not_erased(registry, dispute.player)?;
    Ok(dispute)
}
