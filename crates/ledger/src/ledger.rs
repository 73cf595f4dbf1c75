//! Ledger: all accounts, all pending holds and all pending adjustments.
//!
//! An account costs its name (33 bytes) and its [`AccountState`] (24 bytes) in a tree whose nodes
//! are at worst a little more than half full: under 120 bytes. The indexes are changed by
//! [`Ledger`]'s own methods alone, so they agree with what they index: the expiries list exactly
//! the pending holds, and a seat is in play, or a pot listed, exactly while its balance is not
//! zero.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use primitives::{AdjustmentId, Credits, HoldId, PlayerId, TableId, UnixMicros};

use crate::account_state::AccountEntry;
use crate::{
    Account, AccountState, Amount, Event, PendingAdjustment, PendingHold, PlayHistory, limits,
};

/// All accounts with their balances, pending holds and pending adjustments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ledger {
    pub(crate) accounts: BTreeMap<Account, AccountState>,
    holds: BTreeMap<HoldId, PendingHold>,
    /// Pending holds by expiry.
    hold_expiries: BTreeSet<(UnixMicros, HoldId)>,
    pub(crate) adjustments: BTreeMap<AdjustmentId, PendingAdjustment>,
    /// Seats whose balance is not zero.
    in_play: BTreeSet<(PlayerId, TableId)>,
    /// Pots whose balance is not zero.
    filled_pots: BTreeSet<Account>,
    /// Play of players who have credits at tables, or had within the longest window.
    pub(crate) play_histories: BTreeMap<PlayerId, PlayHistory>,
}

impl Ledger {
    /// A ledger with `house/issuance` and `house/rake`, both empty.
    #[must_use]
    pub fn new() -> Ledger {
        let house =
            [(Account::Issuance, AccountState::new(0)), (Account::Rake, AccountState::new(1))];
        Ledger { accounts: house.into(), ..Ledger::empty() }
    }

    pub(crate) const fn empty() -> Ledger {
        Ledger {
            accounts: BTreeMap::new(),
            holds: BTreeMap::new(),
            hold_expiries: BTreeSet::new(),
            adjustments: BTreeMap::new(),
            in_play: BTreeSet::new(),
            filled_pots: BTreeSet::new(),
            play_histories: BTreeMap::new(),
        }
    }

    /// State of an account; `None` if it was never opened.
    #[must_use]
    pub fn account(&self, account: &Account) -> Option<&AccountState> {
        self.accounts.get(account)
    }

    /// Balance of an account; `None` if it was never opened.
    #[must_use]
    pub fn balance(&self, account: &Account) -> Option<Amount> {
        self.account(account).map(|state| state.balance)
    }

    /// Credits held of the account.
    #[must_use]
    pub fn held(&self, account: &Account) -> Credits {
        self.account(account).map_or(Credits::ZERO, AccountState::held)
    }

    /// All accounts, in the order of [`Account`].
    pub fn accounts(&self) -> impl ExactSizeIterator<Item = AccountEntry<'_>> {
        self.accounts.iter()
    }

    /// Seats that ever had credits in play at `table`, in the order of their players.
    pub fn seats(&self, table: TableId) -> impl Iterator<Item = (PlayerId, Amount)> {
        let seats: RangeInclusive<Account> =
            Account::Seat(table, PlayerId([0; 16]))..=Account::Seat(table, PlayerId([u8::MAX; 16]));
        self.accounts
            .range(seats)
            .filter_map(|(account, state)| Some((account.player()?, state.balance)))
    }

    /// Tables where `player` has credits, with the balance of each seat.
    pub fn in_play(&self, player: PlayerId) -> impl Iterator<Item = (TableId, Amount)> {
        let seats = (player, TableId([0; 16]))..=(player, TableId([u8::MAX; 16]));
        self.in_play.range(seats).filter_map(|(player, table)| {
            Some((*table, self.balance(&Account::Seat(*table, *player))?))
        })
    }

    /// First table with credits in its pots where `player` ever had a seat: they may have a share
    /// in them.
    #[must_use]
    pub(crate) fn pot_share_table(&self, player: PlayerId) -> Option<TableId> {
        let tables = self.filled_pots.iter().filter_map(Account::table);
        tables.into_iter().find(|table| self.account(&Account::Seat(*table, player)).is_some())
    }

    /// Play of a player that still counts; `None` if there is none.
    #[must_use]
    pub fn play_history(&self, player: PlayerId) -> Option<&PlayHistory> {
        self.play_histories.get(&player)
    }

    /// A pending hold.
    #[must_use]
    pub fn hold(&self, hold: HoldId) -> Option<&PendingHold> {
        self.holds.get(&hold)
    }

    /// Pending holds, in the order of their ids.
    pub fn holds(&self) -> impl ExactSizeIterator<Item = &PendingHold> {
        self.holds.values()
    }

    /// A pending adjustment.
    #[must_use]
    pub fn adjustment(&self, adjustment: AdjustmentId) -> Option<&PendingAdjustment> {
        self.adjustments.get(&adjustment)
    }

    /// Pending adjustments, in the order of their ids.
    pub fn adjustments(&self) -> impl ExactSizeIterator<Item = &PendingAdjustment> {
        self.adjustments.values()
    }

    /// Expiries of all holds whose time is over at `now`, the earliest first. They must be recorded
    /// before anything else is decided at `now`.
    #[must_use]
    pub fn expired(&self, now: UnixMicros) -> Vec<Event> {
        let over = self.hold_expiries.iter().take_while(|(end, _)| *end <= now);
        over.filter_map(|(_, id)| self.hold(*id))
            .map(|pending| Event::HoldExpired(pending.ended()))
            .collect()
    }

    /// Expiry of the hold that ends next.
    #[must_use]
    pub fn next_expiry(&self) -> Option<UnixMicros> {
        self.hold_expiries.first().map(|(end, _)| *end)
    }

    /// Drops the buy-ins and the play that are older than the longest window. No decision depends
    /// on them. Visits every account.
    pub fn forget(&mut self, now: UnixMicros) {
        for state in self.accounts.values_mut().filter(|state| state.details.is_some()) {
            state.update_details(|extra| limits::forget(&mut extra.buy_ins, now));
        }
        self.play_histories.retain(|_, played| played.forget(now));
    }

    /// State of the account to be changed; opens the account if it does not exist.
    pub(crate) fn open(&mut self, account: Account) -> &mut AccountState {
        let next = u32::try_from(self.accounts.len()).unwrap_or(u32::MAX);
        self.accounts.entry(account).or_insert_with(|| AccountState::new(next))
    }

    /// Inserts, replaces or removes a pending hold, with its expiry.
    pub(crate) fn put_hold(&mut self, id: HoldId, pending: Option<PendingHold>) {
        let before = match pending {
            Some(pending) => {
                self.hold_expiries.insert((pending.hold.expires_at, id));
                self.holds.insert(id, pending)
            }
            None => self.holds.remove(&id),
        };
        let end = |pending: PendingHold| pending.hold.expires_at;
        if let Some(before) = before.map(end).filter(|before| Some(*before) != pending.map(end)) {
            self.hold_expiries.remove(&(before, id));
        }
    }

    /// Updates the index of non-empty seats or pots; does nothing for other accounts.
    pub(crate) fn update_balance_index(&mut self, account: Account, balance: Amount) {
        if let Account::Seat(table, player) = account {
            if balance.is_zero() {
                self.in_play.remove(&(player, table));
            } else {
                self.in_play.insert((player, table));
            }
        }
        if let Account::SabaccPot(_) | Account::CarriedPot(_) = account {
            if balance.is_zero() {
                self.filled_pots.remove(&account);
            } else {
                self.filled_pots.insert(account);
            }
        }
    }
}

impl Default for Ledger {
    fn default() -> Ledger {
        Ledger::new()
    }
}
