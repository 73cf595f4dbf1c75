//! Authors of events that move credits: operators issue, redeem and adjust them, services move them
//! between players and tables.

use ::ledger::{Event as Entry, Kind, Posted};

/// Checks the author of an event of the wallet's log.
///
/// # Errors
/// A message, if the recorded author may not request this.
pub(super) fn of_wallet(actor: &str, entry: &Entry) -> Result<(), String> {
    match entry {
        Entry::Posted(Posted { transfer, approved_by }) => match transfer.kind {
            Kind::Issue | Kind::Redeem => an_operator(actor),
            Kind::Adjustment { .. } => {
                the_operator(actor, "approved", approved_by.as_deref().unwrap_or_default())
            }
            Kind::BuyIn
            | Kind::CashOut
            | Kind::Settlement { .. }
            | Kind::PotRefund { .. }
            | Kind::Capture { .. } => a_service(actor),
        },
        Entry::AdjustmentProposed(adjustment) => {
            the_operator(actor, "proposed", &adjustment.proposed_by)
        }
        Entry::AdjustmentRejected { .. } => an_operator(actor),
        Entry::Opened(_)
        | Entry::Frozen { .. }
        | Entry::Unfrozen { .. }
        | Entry::Closed { .. }
        | Entry::HoldPlaced(_)
        | Entry::HoldReleased(_)
        | Entry::HoldExpired(_)
        | Entry::LimitsSet { .. }
        | Entry::Excluded { .. }
        | Entry::SnapshotTaken { .. } => Ok(()),
    }
}

/// Checks that the recorded author is an operator.
pub(super) fn an_operator(actor: &str) -> Result<(), String> {
    if name(actor, "operator:").is_some() {
        Ok(())
    } else {
        Err(format!("only an operator may ask for this, and {actor} did"))
    }
}

fn the_operator(actor: &str, did: &str, named: &str) -> Result<(), String> {
    an_operator(actor)?;
    if name(actor, "operator:") == Some(named) {
        Ok(())
    } else {
        Err(format!("it names {named} as who {did} it, and {actor} did"))
    }
}

/// Checks that some service is on record.
pub(super) fn a_service(actor: &str) -> Result<(), String> {
    if name(actor, "service:").is_some() {
        Ok(())
    } else {
        Err(format!("only a service may ask for this, and {actor} did"))
    }
}

fn name<'a>(actor: &'a str, role: &str) -> Option<&'a str> {
    actor.strip_prefix(role).filter(|name| !name.is_empty())
}
