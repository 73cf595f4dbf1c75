//! Rows of the wallet's tables for each event of the log. Pure.
//!
//! Deciding, rebuilding the tables and verifying them all go through [`Rows::apply`], which applies
//! one event to the ledger and adds its rows. An entry is one leg. An account has further rows only
//! where it has state beside a balance. Such states, holds and adjustments have one row each in a
//! group, however often the group changed them.

use std::collections::{BTreeMap, BTreeSet};

use eventlog::Position;
use ledger::{
    Account, AccountState, Adjustment, Amount, Event, Exclusion, Hold, Kind, Ledger, PendingHold,
    PostedTransfer, Undo, evolve, evolve_undoable,
};
use primitives::{AdjustmentId, Credits, HoldId, UnixMicros};

/// Position of an event and the time at which it was recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventStamp {
    pub position: Position,
    pub at: UnixMicros,
}

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

    /// Applies an event to the ledger and adds its rows.
    pub fn apply(&mut self, ledger: &mut Ledger, place: EventStamp, event: &Event) {
        self.record_before(ledger, place, event);
        evolve(ledger, place.at, event);
        self.record_after(ledger, place, event);
    }

    /// Applies an event as [`Rows::apply`] does and returns the state to undo it with.
    pub fn apply_undoable(
        &mut self,
        ledger: &mut Ledger,
        place: EventStamp,
        event: &Event,
    ) -> Undo {
        self.record_before(ledger, place, event);
        let undo = evolve_undoable(ledger, place.at, event);
        self.record_after(ledger, place, event);
        undo
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

    /// Adds rows that need the state before the event, as a hold that ends with it.
    fn record_before(&mut self, ledger: &Ledger, place: EventStamp, event: &Event) {
        match event {
            Event::HoldPlaced(hold) => {
                let pending = PendingHold { hold: *hold, left: hold.amount };
                self.put_hold(ledger, place, &pending, HoldState::Pending);
            }
            Event::HoldReleased(ended) => {
                self.end_hold(ledger, place, ended.hold, HoldState::Released);
            }
            Event::HoldExpired(ended) => {
                self.end_hold(ledger, place, ended.hold, HoldState::Expired)
            }
            Event::TransferPosted(PostedTransfer { transfer, approved_by: _ }) => match transfer
                .kind
            {
                Kind::Capture { hold, keep_rest } => {
                    let Some(pending) = ledger.hold(hold).copied() else { return };
                    let from = transfer.legs.iter().find(|leg| leg.account == pending.hold.from);
                    let paid = from.map_or(Credits::ZERO, |leg| leg.amount.magnitude());
                    let rest = pending.left.saturating_minus(paid);
                    let kept = keep_rest && !rest.is_zero();
                    let (left, state) = if kept {
                        (rest, HoldState::Pending)
                    } else {
                        (Credits::ZERO, HoldState::Captured)
                    };
                    self.put_hold(ledger, place, &PendingHold { left, ..pending }, state);
                }
                Kind::Adjustment { adjustment } => {
                    self.end_adjustment(ledger, place, adjustment, AdjustmentState::Approved);
                }
                Kind::Issue
                | Kind::Redeem
                | Kind::BuyIn
                | Kind::CashOut
                | Kind::Settlement { .. }
                | Kind::PotRefund { .. } => {}
            },
            Event::AdjustmentProposed(adjustment) => {
                let row = AdjustmentRow {
                    adjustment: adjustment.clone(),
                    proposed: place.position,
                    state: AdjustmentState::Pending,
                    changed: place.position,
                };
                self.adjustments.insert(adjustment.id, row);
            }
            Event::AdjustmentRejected { adjustment, account: _, reason: _ } => {
                self.end_adjustment(ledger, place, *adjustment, AdjustmentState::Rejected);
            }
            Event::AccountOpened(_)
            | Event::AccountFrozen { .. }
            | Event::AccountUnfrozen { .. }
            | Event::AccountClosed { .. }
            | Event::LimitsSet { .. }
            | Event::PlayerExcluded { .. }
            | Event::SnapshotTaken { .. } => {}
        }
    }

    fn record_after(&mut self, ledger: &Ledger, place: EventStamp, event: &Event) {
        match event {
            Event::AccountOpened(account) => {
                let number = account_number(ledger, account);
                let opened = place.position;
                self.opened.push(AccountRow { number, account: *account, opened });
            }
            Event::TransferPosted(posted) => self.add_entries(ledger, place, posted),
            Event::HoldPlaced(hold) => self.touched.push(hold.from),
            Event::HoldReleased(ended) | Event::HoldExpired(ended) => self.touched.push(ended.from),
            Event::AccountFrozen { player, .. }
            | Event::AccountUnfrozen { player, .. }
            | Event::AccountClosed { player, .. }
            | Event::PlayerExcluded { player, .. } => self.touched.push(Account::Player(*player)),
            // Limits, and what counts against them, are in the log and its snapshots alone.
            Event::LimitsSet { .. }
            | Event::AdjustmentProposed(_)
            | Event::AdjustmentRejected { .. }
            | Event::SnapshotTaken { .. } => {}
        }
    }

    fn add_entries(&mut self, ledger: &Ledger, place: EventStamp, posted: &PostedTransfer) {
        let transfer = &posted.transfer;
        let kind = kind_number(transfer.kind);
        let captures = matches!(transfer.kind, Kind::Capture { .. });
        let first = self.entries.len();
        for leg in &transfer.legs {
            let Some(state) = ledger.account(&leg.account) else { continue };
            let reason = !transfer.reason.is_empty() && leg.account != Account::Issuance;
            self.entries.push(EntryRow {
                position: place.position,
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

    fn put_hold(
        &mut self,
        ledger: &Ledger,
        place: EventStamp,
        pending: &PendingHold,
        state: HoldState,
    ) {
        let PendingHold { hold, left } = *pending;
        let account = account_number(ledger, &hold.from);
        let row = HoldRow { hold, account, left, state, changed: place.position };
        self.holds.insert(hold.id, row);
    }

    fn end_hold(&mut self, ledger: &Ledger, place: EventStamp, hold: HoldId, state: HoldState) {
        if let Some(pending) = ledger.hold(hold).copied() {
            self.put_hold(ledger, place, &PendingHold { left: Credits::ZERO, ..pending }, state);
        }
    }

    fn end_adjustment(
        &mut self,
        ledger: &Ledger,
        place: EventStamp,
        id: AdjustmentId,
        state: AdjustmentState,
    ) {
        let Some(proposed) = ledger.adjustment(id) else { return };
        let row = self.adjustments.entry(id).or_insert_with(|| AdjustmentRow {
            adjustment: proposed.adjustment.clone(),
            proposed: place.position,
            state,
            changed: place.position,
        });
        (row.state, row.changed) = (state, place.position);
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
