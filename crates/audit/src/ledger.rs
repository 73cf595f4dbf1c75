//! Audit of all credits of a room: the wallet's whole log replayed, and compared with the logs of
//! the tables.
//!
//! Feed every event of the wallet's log and of the tables' logs, each log in its order;
//! [`crate::log`] checks that they are whole. The wallet's log must have been read to its end
//! **before** the tables' logs were: a table records a transfer before it requests it, so that a
//! transfer that no table requested is then a failure and not a result of the order of reading. If
//! two logs are fed in the order of their times, memory is needed only for what is under way
//! between them and for the accounts.
//!
//! A transfer that a table has requested and the wallet has not posted, a hand in play and a buy-in
//! under way are known differences. They are left out of the comparison and listed as open.

mod authors;
mod replay;
mod tables;
mod transfers;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use ::ledger::{Account, Event as Entry, Kind, Leg, Transfer, check_conservation};
use eventlog_core::Event;
use primitives::{PlayerId, RequestId, UnixMicros};
use serde::Serialize;
use wire::TableRecord;

use crate::report::{Checked, Checks, Verdict};
use replay::Replay;
use tables::Tables;
use transfers::Transfers;

/// The checks, in the order of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Check {
    Lawful,
    Balanced,
    Tables,
    Transfers,
    Accounts,
}

impl Check {
    pub const ALL: [Check; 5] =
        [Check::Lawful, Check::Balanced, Check::Tables, Check::Transfers, Check::Accounts];

    /// Returns the sentence that is true if the check passes.
    #[must_use]
    pub const fn sentence(self) -> &'static str {
        match self {
            Check::Lawful => {
                "Every record of the wallet's log is a lawful step of the ledger, by who may ask for it."
            }
            Check::Balanced => {
                "All balances sum to zero, nobody but the house's issuance owes, and what is held is \
                 there."
            }
            Check::Tables => {
                "Every table's own books go on from hand to hand and from seat to seat without a \
                 break."
            }
            Check::Transfers => {
                "Every transfer a table asked for was posted as asked, once, and no table's account \
                 was moved otherwise."
            }
            Check::Accounts => {
                "Every seat, every pot, the house's rake and its suspense account hold what the tables' \
                 logs and the adjustments say."
            }
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence())
    }
}

/// Amounts that were audited. Sums are in credits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Figures {
    pub wallet_events: u64,
    pub table_events: u64,
    pub transfers: u64,
    pub accounts: u64,
    pub hands_opened: u64,
    pub hands_settled: u64,
    pub issued: u64,
    pub redeemed: u64,
    /// Credits that adjustments created; negative if they removed more.
    pub adjusted: i64,
    /// Number of holds that were placed.
    pub holds: u64,
    /// Sum over all settled hands.
    pub rake: u64,
}

/// Result of the audit of all credits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    pub checks: Checks<Check>,
    pub figures: Figures,
    /// Known differences: transfers and hands that are under way.
    pub open: Vec<String>,
    /// Payments to `house/suspense` that operators chose, in the order of the log.
    pub suspense: Vec<String>,
}

impl Report {
    /// Whether every check was made and passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.checks.passed()
    }
}

/// The first failure of each check.
#[derive(Default)]
struct Failures(BTreeMap<Check, String>);

impl Failures {
    fn add(&mut self, check: Check, why: impl FnOnce() -> String) {
        self.0.entry(check).or_insert_with(why);
    }
}

/// State of an audit.
#[derive(Default)]
pub struct LedgerAudit {
    replay: Replay,
    /// Ids of transfers that operators requested, with the operator; nobody else keeps these ids.
    operator_transfers: BTreeSet<(Arc<str>, RequestId)>,
    /// Guests who were given starting credits, which happens once.
    guests: BTreeSet<PlayerId>,
    /// One past the last position of the wallet's log.
    wallet_size: u64,
    tables: Tables,
    transfers: Transfers,
    figures: Figures,
    failures: Failures,
    suspense: Vec<String>,
}

impl LedgerAudit {
    #[must_use]
    pub fn new() -> LedgerAudit {
        LedgerAudit::default()
    }

    /// Audits the next event of the wallet's log.
    pub fn wallet(&mut self, event: &Event) {
        self.figures.wallet_events = self.figures.wallet_events.saturating_add(1);
        let at = event.position.0;
        self.wallet_size = self.wallet_size.max(at.saturating_add(1));
        match of_the_clock(event) {
            Ok(false) => {}
            Ok(true) => return,
            Err(why) => return self.unlawful(at, &why),
        }
        match wire::ledger::parse(event) {
            Ok(entry) => {
                if let Err(why) = self.replay.next(event.recorded_at, &entry) {
                    self.unlawful(at, &why);
                }
                if let Err(why) = authors::check_wallet_author(&event.actor, &entry) {
                    self.unlawful(at, &why);
                }
                match entry {
                    Entry::TransferPosted(posted) => {
                        self.posted(at, &event.actor, &posted.transfer)
                    }
                    Entry::HoldPlaced(_) => {
                        self.figures.holds = self.figures.holds.saturating_add(1);
                    }
                    Entry::AccountOpened(_)
                    | Entry::AccountFrozen { .. }
                    | Entry::AccountUnfrozen { .. }
                    | Entry::AccountClosed { .. }
                    | Entry::HoldReleased(_)
                    | Entry::HoldExpired(_)
                    | Entry::LimitsSet { .. }
                    | Entry::PlayerExcluded { .. }
                    | Entry::AdjustmentProposed(_)
                    | Entry::AdjustmentRejected { .. }
                    | Entry::SnapshotTaken { .. } => {}
                }
            }
            Err(foreign) => self.unlawful(at, &foreign.to_string()),
        }
    }

    /// Audits the next event of a table's log.
    pub fn table(&mut self, event: &Event) {
        self.figures.table_events = self.figures.table_events.saturating_add(1);
        let recorded = match of_the_clock(event) {
            Ok(true) => return,
            Ok(false) => TableRecord::try_from(event).map_err(|error| error.to_string()),
            Err(why) => Err(why),
        };
        match recorded {
            Ok(recorded) => {
                let mut books = tables::Context {
                    transfers: &mut self.transfers,
                    failures: &mut self.failures,
                    figures: &mut self.figures,
                };
                self.tables.apply(event, &recorded, &mut books);
            }
            Err(error) => {
                let at = event.position.0;
                let why = || format!("position {at} of the table's log: {error}");
                self.failures.add(Check::Tables, why);
            }
        }
    }

    fn unlawful(&mut self, at: u64, why: &str) {
        let why = || format!("position {at} of the wallet's log: {why}");
        self.failures.add(Check::Lawful, why);
    }

    /// Checks a posted transfer. Transfers of the tables' accounts are matched with the tables'
    /// requests, those of operators with their ids.
    fn posted(&mut self, at: u64, actor: &Arc<str>, transfer: &Transfer) {
        self.count(transfer);
        self.note_suspense(at, transfer);
        if let Some(guest) = authors::starting_credits(actor, transfer)
            && !self.guests.insert(guest)
        {
            self.unlawful(at, &format!("the guest {guest} was given starting credits before"));
        }
        if !transfer.kind.needs_reason() {
            self.transfers.add_posting(transfer, at, &mut self.failures);
        } else if !self.operator_transfers.insert((Arc::clone(actor), transfer.id)) {
            self.unlawful(at, &format!("the transfer {} is posted a second time", transfer.id));
        }
    }

    /// Notes a payment to the suspense account. Adjustments of it are in the figures instead.
    fn note_suspense(&mut self, at: u64, transfer: &Transfer) {
        if transfer.kind.needs_reason() {
            return;
        }
        let paid = |leg: &&Leg| leg.account == Account::Suspense && leg.amount.is_credit();
        let Some(paid) = transfer.legs.iter().find(paid) else { return };
        let from = transfer.legs.iter().find(|leg| leg.amount.is_debit());
        let from = from.map(|leg| format!(" of {}", leg.account)).unwrap_or_default();
        let (amount, id) = (paid.amount, transfer.id);
        self.suspense
            .push(format!("{amount} credits{from}, position {at} of the wallet's log, {id}"));
    }

    fn count(&mut self, transfer: &Transfer) {
        let figures = &mut self.figures;
        figures.transfers = figures.transfers.saturating_add(1);
        let legs = transfer.legs.iter().filter(|leg| leg.amount.is_credit());
        let moved: u64 = legs.map(|leg| leg.amount.magnitude().get()).sum();
        match transfer.kind {
            Kind::Issue => figures.issued = figures.issued.saturating_add(moved),
            Kind::Redeem => figures.redeemed = figures.redeemed.saturating_add(moved),
            Kind::Adjustment { .. } => {
                let issuance = transfer.legs.iter().find(|leg| leg.account == Account::Issuance);
                let made = issuance.map_or(0, |leg| leg.amount.negated().get());
                figures.adjusted = figures.adjusted.saturating_add(made);
                for leg in &transfer.legs {
                    self.tables.adjusted(leg.account, i128::from(leg.amount.get()));
                }
            }
            Kind::BuyIn
            | Kind::CashOut
            | Kind::Settlement { .. }
            | Kind::PotRefund { .. }
            | Kind::Capture { .. } => {}
        }
    }

    /// Ends the audit. `read_at` is a time before the wallet's log was read: a transfer that a table
    /// recorded as posted by then must be in it. What is posted while the log's last page is on its
    /// way may be missing. Pass an [`UnixMicros`] of `u64::MAX` if no service runs any more.
    #[must_use]
    pub fn finish(mut self, read_at: UnixMicros) -> Report {
        if let Err(why) = self.replay.finish() {
            self.unlawful(self.wallet_size, &why);
        }
        if let Err(unsound) = check_conservation(self.replay.ledger()) {
            self.failures.add(Check::Balanced, || unsound.to_string());
        }
        let until = transfers::ReadLimit { wallet_size: self.wallet_size, read_at };
        let transfers = std::mem::take(&mut self.transfers);
        let (pending, mut open) = transfers.finish(&until, &mut self.failures);
        open.extend(self.tables.describe_in_play());
        open.extend(self.tables.describe_stopped());
        self.compare(&pending);
        self.figures.accounts =
            u64::try_from(self.replay.ledger().accounts().len()).unwrap_or(u64::MAX);
        let Failures(mut troubles) = self.failures;
        let mut checked = |check| {
            let verdict = troubles.remove(&check).map_or(Verdict::Passed, Verdict::Failed);
            Checked { check, verdict }
        };
        let checks = Checks(Check::ALL.into_iter().map(&mut checked).collect());
        Report { checks, figures: self.figures, open, suspense: self.suspense }
    }

    /// Compares balances, with what is still to be posted, with the tables' records.
    fn compare(&mut self, pending: &BTreeMap<Account, i128>) {
        let mut wallet = pending.clone();
        for (account, state) in self.replay.ledger().accounts() {
            if is_stated(account) {
                let sum = wallet.entry(*account).or_default();
                *sum = sum.saturating_add(i128::from(state.balance.get()));
            }
        }
        wallet.retain(|account, _| is_stated(account));
        let stated = self.tables.stated();
        let accounts: BTreeSet<&Account> = wallet.keys().chain(stated.keys()).collect();
        let amount = |of: &BTreeMap<Account, i128>, account: &Account| {
            of.get(account).copied().unwrap_or_default()
        };
        let different = |account: &&&Account| amount(&wallet, account) != amount(stated, account);
        if let Some(account) = accounts.iter().find(different) {
            let (wallet, table) = (amount(&wallet, account), amount(stated, account));
            self.failures.add(Check::Accounts, || {
                format!("{account}: the wallet says {wallet} credits, the tables {table}")
            });
        }
    }
}

/// Whether an event is a valid record of a clock step, written by a service.
fn of_the_clock(event: &Event) -> Result<bool, String> {
    let step = wire::clock::parse(event).map_err(|foreign| foreign.to_string())?;
    if step.is_some() {
        authors::check_service(&event.actor)?;
    }
    Ok(step.is_some())
}

/// Whether the tables' logs state the balance of an account: the accounts of tables, and those of
/// the house that tables pay into.
fn is_stated(account: &Account) -> bool {
    match account {
        Account::Seat(..)
        | Account::SabaccPot(_)
        | Account::CarriedPot(_)
        | Account::Rake
        | Account::Suspense => true,
        Account::Issuance | Account::Player(_) => false,
    }
}

/// Audits both logs at once, if they fit into memory. See [`LedgerAudit`].
#[must_use]
pub fn audit<'a>(
    wallet: impl IntoIterator<Item = &'a Event>,
    tables: impl IntoIterator<Item = &'a Event>,
    read_at: UnixMicros,
) -> Report {
    let mut audit = LedgerAudit::new();
    wallet.into_iter().for_each(|event| audit.wallet(event));
    tables.into_iter().for_each(|event| audit.table(event));
    audit.finish(read_at)
}

#[cfg(test)]
mod tests;
