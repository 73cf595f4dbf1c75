//! Rows of the wallet's tables for each event of the log. Pure.
//!
//! The rows follow from the events of the ledger: [`Rows::add`] takes an event that
//! [`ledger::evolve`] has applied, with the hold or adjustment that it replaced. An entry is one leg.
//! An account has further rows only where it has state beside a balance. Such states, holds and
//! adjustments have one row each in a group, however often the group changed them.

use std::collections::{BTreeMap, BTreeSet};

use eventlog::Position;
use ledger::{
    Account, AccountState, Adjustment, Amount, Event, Exclusion, Hold, Kind, Ledger,
    PendingAdjustment, PendingHold, PostedTransfer, Replaced,
};
use primitives::{AdjustmentId, Credits, HoldId};

/// Rows of consecutive events.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub opened: Vec<AccountRow>,
    /// In the order of positions; those of one position in the order of the transfer's legs.
    pub entries: Vec<EntryRow>,
    pub holds: BTreeMap<HoldId, HoldRow>,
    pub adjustments: BTreeMap<AdjustmentId, AdjustmentRow>,
    /// Accounts that have state beside a balance, or had; some more than once.
    touched: Vec<Account>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccountRow {
    pub number: u32,
    pub account: Account,
    pub opened: Position,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EntryRow {
    pub position: Position,
    pub amount: Amount,
    pub balance: Amount,
    pub account: u32,
    pub other: Option<u32>,
    pub kind: i16,
    pub reason: Option<Box<str>>,
}

/// State of an account beside its balance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateRow {
    pub account: u32,
    pub held: Credits,
    pub frozen: bool,
    pub closed: bool,
    pub exclusion: Option<Exclusion>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HoldRow {
    pub hold: Hold,
    /// Number of the account whose credits are held.
    pub account: u32,
    pub left: Credits,
    pub state: HoldState,
    pub changed: Position,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HoldState {
    Pending,
    Captured,
    Released,
    Expired,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AdjustmentRow {
    pub adjustment: Adjustment,
    /// Position of the proposal. A row that exists already keeps its own.
    pub proposed: Position,
    pub state: AdjustmentState,
    pub changed: Position,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AdjustmentState {
    Pending,
    Approved,
    Rejected,
}

/// Lengths of the rows at one time; see [`Rows::roll_back_to`].
#[derive(Clone, Copy, Debug)]
pub struct Savepoint {
    opened: usize,
    entries: usize,
    touched: usize,
}

impl Rows {
    /// Rows that exist before the first event: the house's accounts.
    #[must_use]
    pub fn genesis() -> Rows {
        let house = [(0, Account::Issuance), (1, Account::Rake)];
        let opened =
            house.map(|(number, account)| AccountRow { number, account, opened: Position(0) });
        Rows { opened: opened.into(), ..Rows::default() }
    }

    /// Adds the rows of the event at a position, which the ledger has taken. `replaced` is what
    /// [`ledger::evolve`] returned for it.
    pub fn add(&mut self, ledger: &Ledger, at: Position, event: &Event, replaced: Replaced) {
        match event {
            Event::AccountOpened(account) => {
                let number = account_number(ledger, account);
                self.opened.push(AccountRow { number, account: *account, opened: at });
            }
            Event::TransferPosted(posted) => {
                self.add_entries(ledger, at, posted);
                match replaced {
                    Replaced::Hold(PendingHold { hold, left: _ }) => {
                        self.put_hold(ledger, at, hold, HoldState::Captured);
                    }
                    Replaced::Adjustment(before) => {
                        self.end_adjustment(at, before, AdjustmentState::Approved);
                    }
                    Replaced::Nothing => {}
                }
            }
            Event::HoldPlaced(hold) => {
                self.touched.push(hold.from);
                self.put_hold(ledger, at, *hold, HoldState::Pending);
            }
            Event::HoldReleased(ended) | Event::HoldExpired(ended) => {
                self.touched.push(ended.from);
                let expired = matches!(event, Event::HoldExpired(_));
                let state = if expired { HoldState::Expired } else { HoldState::Released };
                if let Replaced::Hold(PendingHold { hold, left: _ }) = replaced {
                    self.put_hold(ledger, at, hold, state);
                }
            }
            Event::AdjustmentProposed(adjustment) => {
                let row = AdjustmentRow {
                    adjustment: adjustment.clone(),
                    proposed: at,
                    state: AdjustmentState::Pending,
                    changed: at,
                };
                self.adjustments.insert(adjustment.id, row);
            }
            Event::AdjustmentRejected { .. } => {
                if let Replaced::Adjustment(before) = replaced {
                    self.end_adjustment(at, before, AdjustmentState::Rejected);
                }
            }
            Event::AccountFrozen { player, .. }
            | Event::AccountUnfrozen { player, .. }
            | Event::AccountClosed { player, .. }
            | Event::PlayerExcluded { player, .. } => self.touched.push(Account::Player(*player)),
            // Limits, and what counts against them, are in the log and its snapshots alone.
            Event::LimitsSet { .. } | Event::SnapshotTaken { .. } => {}
        }
    }

    #[must_use]
    pub fn savepoint(&self) -> Savepoint {
        let Rows { opened, entries, holds: _, adjustments: _, touched } = self;
        Savepoint { opened: opened.len(), entries: entries.len(), touched: touched.len() }
    }

    /// Drops the rows added since the mark. Only transfers that are neither captures nor
    /// adjustments may have been added since.
    pub fn roll_back_to(&mut self, mark: Savepoint) {
        let Savepoint { opened, entries, touched } = mark;
        self.opened.truncate(opened);
        self.entries.truncate(entries);
        self.touched.truncate(touched);
    }

    /// One row for each touched account, with its current state, by number.
    #[must_use]
    pub fn states(&self, ledger: &Ledger) -> Vec<StateRow> {
        let touched: BTreeSet<Account> = self.touched.iter().copied().collect();
        let states = touched.iter().filter_map(|account| ledger.account(account));
        let mut rows: Vec<StateRow> = states.map(state_row).collect();
        rows.sort_unstable_by_key(|row| row.account);
        rows
    }

    fn add_entries(&mut self, ledger: &Ledger, at: Position, posted: &PostedTransfer) {
        let transfer = &posted.transfer;
        let kind = kind_number(transfer.kind);
        let captures = matches!(transfer.kind, Kind::Capture { .. });
        let first = self.entries.len();
        for leg in &transfer.legs {
            let Some(state) = ledger.account(&leg.account) else { continue };
            let reason = !transfer.reason.is_empty() && leg.account != Account::Issuance;
            self.entries.push(EntryRow {
                position: at,
                amount: leg.amount,
                balance: state.balance,
                account: state.number,
                other: None,
                kind,
                reason: reason.then(|| transfer.reason.as_str().into()),
            });
            if captures && leg.amount.is_debit() {
                self.touched.push(leg.account);
            }
        }
        if let Some([one, two]) = self.entries.get_mut(first..) {
            (one.other, two.other) = (Some(two.account), Some(one.account));
        }
    }

    /// Puts the row of a hold as the ledger has it now; `ended` is its state where it has ended.
    fn put_hold(&mut self, ledger: &Ledger, at: Position, hold: Hold, ended: HoldState) {
        let (left, state) = match ledger.hold(hold.id) {
            Some(pending) => (pending.left, HoldState::Pending),
            None => (Credits::ZERO, ended),
        };
        let account = account_number(ledger, &hold.from);
        let row = HoldRow { hold, account, left, state, changed: at };
        self.holds.insert(hold.id, row);
    }

    fn end_adjustment(&mut self, at: Position, before: PendingAdjustment, state: AdjustmentState) {
        let PendingAdjustment { adjustment, proposed_at: _ } = before;
        let row = self.adjustments.entry(adjustment.id).or_insert_with(|| AdjustmentRow {
            adjustment,
            proposed: at,
            state,
            changed: at,
        });
        (row.state, row.changed) = (state, at);
    }
}

/// Number of a kind of transfer, the same in the tables and in the API.
#[must_use]
pub const fn kind_number(kind: Kind) -> i16 {
    match kind {
        Kind::Issue => 1,
        Kind::Redeem => 2,
        Kind::BuyIn => 3,
        Kind::CashOut => 4,
        Kind::Settlement { .. } => 5,
        Kind::PotRefund { .. } => 6,
        Kind::Adjustment { .. } => 7,
        Kind::Capture { .. } => 8,
    }
}

fn account_number(ledger: &Ledger, account: &Account) -> u32 {
    ledger.account(account).map_or(u32::MAX, |state| state.number)
}

impl StateRow {
    /// Row of an account that has no state beside a balance.
    #[must_use]
    pub const fn empty(account: u32) -> StateRow {
        let held = Credits::ZERO;
        StateRow { account, held, frozen: false, closed: false, exclusion: None }
    }
}

pub(crate) fn state_row(state: &AccountState) -> StateRow {
    let extra = state.details();
    StateRow {
        account: state.number,
        held: extra.held,
        frozen: extra.frozen,
        closed: extra.closed,
        exclusion: extra.exclusion,
    }
}
