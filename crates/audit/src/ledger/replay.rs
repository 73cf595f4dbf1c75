//! Replay of the wallet's log: every event must be what the ledger makes of the command behind it,
//! at the recorded time.
//!
//! The command is computed from its event. The event holds the hold that a capture belongs to, the
//! approver of an adjustment and the limits that wait, so that none of this has to be believed. A
//! hold whose time is over ends before anything else happens, and never earlier. A snapshot is of
//! exactly the state to which the log before it leads.

use ::ledger::{
    Account, Command, Event as Entry, Kind, Ledger, PostedTransfer, Transfer, decide, evolve,
    snapshot,
};
use primitives::{Credits, UnixMicros};
use sha2::{Digest as _, Sha256};

#[derive(Default)]
pub(super) struct Replay {
    ledger: Ledger,
    /// Accounts that were opened for a transfer that must follow.
    opened: Vec<Entry>,
}

impl Replay {
    pub(super) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Applies the next event of the wallet's log, lawful or not. The error says why it is not
    /// lawful.
    pub(super) fn next(&mut self, at: UnixMicros, entry: &Entry) -> Result<(), String> {
        if let Entry::AccountOpened(account) = entry
            && (account.table().is_some() || *account == Account::Suspense)
        {
            self.opened.push(entry.clone());
            return Ok(());
        }
        let mut found = std::mem::take(&mut self.opened);
        found.push(entry.clone());
        if let Entry::SnapshotTaken { digest } = entry {
            self.evolve(at, &found);
            return if found.len() == 1 {
                self.check_snapshot(digest)
            } else {
                Err(describe_different(entry))
            };
        }
        let lawful = self.check_lawful(at, &found);
        self.evolve(at, &found);
        lawful
    }

    fn evolve(&mut self, at: UnixMicros, entries: &[Entry]) {
        for entry in entries {
            evolve(&mut self.ledger, at, entry);
        }
    }

    /// Checks that the digest is that of the present state.
    fn check_snapshot(&self, digest: &[u8; 32]) -> Result<(), String> {
        if Sha256::digest(snapshot::write(&self.ledger))[..] == digest[..] {
            Ok(())
        } else {
            Err("the snapshot is of another state than the log before it leads to".to_owned())
        }
    }

    /// Checks that nothing is left to follow at the end of the log.
    pub(super) fn finish(&self) -> Result<(), String> {
        if self.opened.is_empty() {
            Ok(())
        } else {
            Err("accounts were opened, and no transfer follows".to_owned())
        }
    }

    fn check_lawful(&self, at: UnixMicros, found: &[Entry]) -> Result<(), String> {
        let Some(entry) = found.last() else { return Ok(()) };
        let expired = self.ledger.expired(at);
        let Some(command) = command(entry) else {
            let ends = expired.contains(entry) && found.len() == 1;
            return if ends { Ok(()) } else { Err(describe_early(entry)) };
        };
        if let Some(Entry::HoldExpired(ended)) = expired.first() {
            return Err(format!(
                "the time of the hold {} is over, and it has not ended",
                ended.hold
            ));
        }
        match decide(&self.ledger, at, command) {
            Err(refusal) => Err(refusal.to_string()),
            Ok(lawful) if lawful != found => Err(describe_different(entry)),
            Ok(_) => self.check_fresh_id(entry),
        }
    }

    /// Checks that a new hold or adjustment has an id that none under way has.
    fn check_fresh_id(&self, entry: &Entry) -> Result<(), String> {
        let known = match entry {
            Entry::HoldPlaced(hold) => self.ledger.hold(hold.id).is_some(),
            Entry::AdjustmentProposed(it) => self.ledger.adjustment(it.id).is_some(),
            Entry::AccountOpened(_)
            | Entry::TransferPosted(_)
            | Entry::AccountFrozen { .. }
            | Entry::AccountUnfrozen { .. }
            | Entry::AccountClosed { .. }
            | Entry::HoldReleased(_)
            | Entry::HoldExpired(_)
            | Entry::LimitsSet { .. }
            | Entry::PlayerExcluded { .. }
            | Entry::AdjustmentRejected { .. }
            | Entry::SnapshotTaken { .. } => false,
        };
        if known { Err("another one of this id still waits".to_owned()) } else { Ok(()) }
    }
}

fn describe_early(entry: &Entry) -> String {
    if let Entry::HoldExpired(ended) = entry {
        format!("the hold {} has not expired, or not with so many credits", ended.hold)
    } else {
        describe_different(entry)
    }
}

fn describe_different(entry: &Entry) -> String {
    match entry {
        Entry::TransferPosted(_) => {
            "the transfer opens other accounts than it should, or is another than \
                             was held or approved"
                .to_owned()
        }
        Entry::LimitsSet { .. } => "looser limits hold before they have waited".to_owned(),
        Entry::HoldReleased(ended) => {
            format!("the hold {} does not hold these credits of these accounts", ended.hold)
        }
        Entry::AdjustmentRejected { adjustment, .. } => {
            format!("the adjustment {adjustment} was proposed for another account")
        }
        Entry::AccountOpened(_)
        | Entry::AccountFrozen { .. }
        | Entry::AccountUnfrozen { .. }
        | Entry::AccountClosed { .. }
        | Entry::HoldPlaced(_)
        | Entry::HoldExpired(_)
        | Entry::PlayerExcluded { .. }
        | Entry::AdjustmentProposed(_)
        | Entry::SnapshotTaken { .. } => "the ledger does something else there".to_owned(),
    }
}

/// Returns the command behind an event; `None` if the passing of time caused it.
fn command(entry: &Entry) -> Option<Command> {
    Some(match entry {
        Entry::AccountOpened(account) => match account {
            Account::Player(player) => Command::OpenAccount(*player),
            // The house's first two accounts are always there, and others open with a transfer.
            Account::Issuance
            | Account::Rake
            | Account::Suspense
            | Account::Seat(..)
            | Account::SabaccPot(_)
            | Account::CarriedPot(_) => return None,
        },
        Entry::TransferPosted(posted) => command_of_posted(posted),
        Entry::AccountFrozen { player, reason } => {
            Command::FreezeAccount { player: *player, reason: reason.clone() }
        }
        Entry::AccountUnfrozen { player, reason } => {
            Command::UnfreezeAccount { player: *player, reason: reason.clone() }
        }
        Entry::AccountClosed { player, reason } => {
            Command::CloseAccount { player: *player, reason: reason.clone() }
        }
        Entry::HoldPlaced(hold) => Command::PlaceHold(*hold),
        Entry::HoldReleased(ended) => Command::ReleaseHold { hold: ended.hold },
        Entry::HoldExpired(_) => return None,
        Entry::LimitsSet { player, by, terms } => {
            Command::SetLimits { player: *player, by: *by, limits: terms.requested() }
        }
        Entry::SnapshotTaken { .. } => return None,
        Entry::PlayerExcluded { player, until } => {
            Command::Exclude { player: *player, until: *until }
        }
        Entry::AdjustmentProposed(adjustment) => Command::ProposeAdjustment(adjustment.clone()),
        Entry::AdjustmentRejected { adjustment, account: _, reason } => {
            Command::RejectAdjustment { adjustment: *adjustment, reason: reason.clone() }
        }
    })
}

fn command_of_posted(posted: &PostedTransfer) -> Command {
    let PostedTransfer { transfer, approved_by } = posted;
    let Transfer { id, kind, legs, reason: _ } = transfer;
    match *kind {
        Kind::Capture { hold, keep_rest } => {
            let amount = legs.first().map_or(Credits::ZERO, |leg| leg.amount.magnitude());
            Command::CaptureHold { id: *id, hold, amount, keep_rest }
        }
        Kind::Adjustment { adjustment } => {
            let by = approved_by.as_deref().unwrap_or_default().to_owned();
            Command::ApproveAdjustment { id: *id, adjustment, by }
        }
        Kind::Issue
        | Kind::Redeem
        | Kind::BuyIn
        | Kind::CashOut
        | Kind::Settlement { .. }
        | Kind::PotRefund { .. } => Command::PostTransfer(transfer.clone()),
    }
}
