//! Authors of events that move credits: operators issue, redeem and adjust them, services move them
//! between players and tables. The table service has guests given what they begin with.

use ::ledger::{Account, Event as Entry, Kind, PostedTransfer, STARTING_CREDITS_REASON, Transfer};
use primitives::PlayerId;

/// Checks the author of an event of the wallet's log.
///
/// # Errors
/// A message, if the recorded author may not request this.
pub(super) fn check_wallet_author(actor: &str, entry: &Entry) -> Result<(), String> {
    match entry {
        Entry::TransferPosted(PostedTransfer { transfer, approved_by }) => match transfer.kind {
            Kind::Issue if starting_credits(actor, transfer).is_some() => Ok(()),
            Kind::Issue | Kind::Redeem => check_operator(actor),
            Kind::Adjustment { .. } => {
                check_named_operator(actor, "approved", approved_by.as_deref().unwrap_or_default())
            }
            Kind::BuyIn
            | Kind::CashOut
            | Kind::Settlement { .. }
            | Kind::PotRefund { .. }
            | Kind::Capture { .. } => check_service(actor),
        },
        Entry::AdjustmentProposed(adjustment) => {
            check_named_operator(actor, "proposed", &adjustment.proposed_by)
        }
        Entry::AdjustmentRejected { .. } => check_operator(actor),
        Entry::AccountOpened(_)
        | Entry::AccountFrozen { .. }
        | Entry::AccountUnfrozen { .. }
        | Entry::AccountClosed { .. }
        | Entry::HoldPlaced(_)
        | Entry::HoldReleased(_)
        | Entry::HoldExpired(_)
        | Entry::LimitsSet { .. }
        | Entry::PlayerExcluded { .. }
        | Entry::SnapshotTaken { .. } => Ok(()),
    }
}

/// Guest to whom the table service has starting credits issued, under an id that only services make;
/// `None` for every other transfer.
pub(super) fn starting_credits(actor: &str, transfer: &Transfer) -> Option<PlayerId> {
    let Transfer { id, kind, legs, reason } = transfer;
    let by_table = actor == "service:table" && id.is_derived();
    if !by_table || *kind != Kind::Issue || reason != STARTING_CREDITS_REASON {
        return None;
    }
    let mut players = legs.iter().filter_map(|leg| match leg.account {
        Account::Player(player) => Some(player),
        Account::Issuance
        | Account::Rake
        | Account::Suspense
        | Account::Seat(..)
        | Account::SabaccPot(_)
        | Account::CarriedPot(_) => None,
    });
    // The ledger has refused an issue to anything but one player.
    players.next()
}

/// Checks that the recorded author is an operator.
pub(super) fn check_operator(actor: &str) -> Result<(), String> {
    if name(actor, "operator:").is_some() {
        Ok(())
    } else {
        Err(format!("only an operator may ask for this, and {actor} did"))
    }
}

fn check_named_operator(actor: &str, did: &str, named: &str) -> Result<(), String> {
    check_operator(actor)?;
    if name(actor, "operator:") == Some(named) {
        Ok(())
    } else {
        Err(format!("it names {named} as who {did} it, and {actor} did"))
    }
}

/// Checks that some service is on record.
pub(super) fn check_service(actor: &str) -> Result<(), String> {
    if name(actor, "service:").is_some() {
        Ok(())
    } else {
        Err(format!("only a service may ask for this, and {actor} did"))
    }
}

fn name<'a>(actor: &'a str, role: &str) -> Option<&'a str> {
    actor.strip_prefix(role).filter(|name| !name.is_empty())
}
