//! Authors of events that move credits: operators issue, redeem and adjust them, services move them
//! between players and tables.

use ::ledger::{Event as Entry, Kind, PostedTransfer};

/// Checks the author of an event of the wallet's log.
///
/// # Errors
/// A message, if the recorded author may not request this.
pub(super) fn check_wallet_author(actor: &str, entry: &Entry) -> Result<(), String> {
    match entry {
        Entry::TransferPosted(PostedTransfer { transfer, approved_by }) => match transfer.kind {
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
