//! Decides commands. Reads the ledger and does not change it, but for [`decide_linked`].
//!
//! Specification: services/wallet/README.md "Commands".

use primitives::UnixMicros;

use crate::{
    Account, AccountState, Command, Event, Ledger, MAX_REASON_CHARS, Refusal, Undo, evolve,
};

mod accounts;
mod adjustments;
mod holds;
mod transfers;

/// Returns the events that carry the command out at `now`, in order; never empty. A hold whose time
/// is over at `now` is treated as ended, see [`Ledger::expired`].
///
/// # Errors
/// The first [`Refusal`] in the order of precedence.
pub fn decide(ledger: &Ledger, now: UnixMicros, command: Command) -> Result<Vec<Event>, Refusal> {
    match command {
        Command::PostTransfer(transfer) => transfers::post(ledger, now, transfer),
        Command::OpenAccount(player) => accounts::open(ledger, player),
        Command::FreezeAccount { player, reason } => accounts::freeze(ledger, player, reason),
        Command::UnfreezeAccount { player, reason } => accounts::unfreeze(ledger, player, reason),
        Command::CloseAccount { player, reason } => accounts::close(ledger, player, reason),
        Command::SetLimits { player, by, limits } => {
            accounts::set_limits(ledger, now, player, by, limits)
        }
        Command::Exclude { player, until } => accounts::exclude(ledger, now, player, until),
        Command::PlaceHold(hold) => holds::place(ledger, now, hold),
        Command::CaptureHold { id, hold, amount, keep_rest } => {
            holds::capture(ledger, now, id, &holds::Capture { hold, amount, keep_rest })
        }
        Command::ReleaseHold { hold } => holds::release(ledger, now, hold),
        Command::ProposeAdjustment(adjustment) => adjustments::propose(ledger, adjustment),
        Command::ApproveAdjustment { id, adjustment, by } => {
            adjustments::approve(ledger, id, adjustment, by)
        }
        Command::RejectAdjustment { adjustment, reason } => {
            adjustments::reject(ledger, adjustment, reason)
        }
    }
}

/// Refusal of a linked group: none of its commands is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("command {index} of the group: {refusal}")]
pub struct LinkedRefusal {
    /// Index of the refused command, from 0. The others are refused with
    /// [`Refusal::LinkedRefused`].
    pub index: usize,
    pub refusal: Refusal,
}

/// Decides the commands of a linked group one after the other and applies their events. Returns the
/// events of each command. The group is carried out whole or not at all.
///
/// # Errors
/// The refusal of the first command that is refused; then the ledger is unchanged.
pub fn decide_linked(
    ledger: &mut Ledger,
    now: UnixMicros,
    group: impl IntoIterator<Item = Command>,
) -> Result<Vec<Vec<Event>>, LinkedRefusal> {
    let mut decided: Vec<Vec<Event>> = Vec::new();
    let mut undos: Vec<Undo> = Vec::new();
    for (index, command) in group.into_iter().enumerate() {
        match decide(ledger, now, command) {
            Ok(events) => {
                for event in &events {
                    undos.push(ledger.undo_for(event));
                    evolve(ledger, now, event);
                }
                decided.push(events);
            }
            Err(refusal) => {
                undos.into_iter().rev().for_each(|undo| ledger.undo(undo));
                return Err(LinkedRefusal { index, refusal });
            }
        }
    }
    Ok(decided)
}

/// Checks the reason that operators must give.
fn check_reason(reason: &str) -> Result<(), Refusal> {
    if reason.trim().is_empty() {
        return Err(Refusal::ReasonMissing);
    }
    check_reason_length(reason)
}

fn check_reason_length(reason: &str) -> Result<(), Refusal> {
    // A character takes at least a byte, so few reasons need to be counted.
    if reason.len() <= MAX_REASON_CHARS {
        return Ok(());
    }
    let chars = reason.chars().count();
    if chars > MAX_REASON_CHARS { Err(Refusal::ReasonTooLong { chars }) } else { Ok(()) }
}

/// State of an account that exists and is not closed.
fn usable_account(ledger: &Ledger, account: Account) -> Result<&AccountState, Refusal> {
    let state = ledger.account(&account).ok_or(Refusal::AccountUnknown { account })?;
    if state.is_closed() { Err(Refusal::AccountClosed { account }) } else { Ok(state) }
}
