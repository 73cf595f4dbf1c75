//! All accounts, all pending holds and all proposals that wait.
//!
//! An account costs its name (33 bytes) and its [`State`] (24), in a tree whose nodes are at worst
//! little more than half full: under 120 bytes. What belongs together is kept together by
//! [`Ledger`]'s own few ways of changing: the order of the holds' ends is that of the holds, and a
//! seat is in play, and a pot filled, exactly where there is something on it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use primitives::{AdjustmentId, Credits, HoldId, PlayerId, TableId, UnixMicros};

use crate::state::Entry;
use crate::{Account, Amount, Event, Pending, Played, Proposed, State, limits};

/// Where all credits are, and what may be done with them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ledger {
    pub(crate) accounts: BTreeMap<Account, State>,
    holds: BTreeMap<HoldId, Pending>,
    /// The holds by their ends.
    ends: BTreeSet<(UnixMicros, HoldId)>,
    pub(crate) adjustments: BTreeMap<AdjustmentId, Proposed>,
    /// Seats that are not empty.
    in_play: BTreeSet<(PlayerId, TableId)>,
    /// Pots that are not empty.
    pots: BTreeSet<Account>,
    /// Of players who have credits at tables, or had within the longest window.
    pub(crate) played: BTreeMap<PlayerId, Played>,
}

impl Ledger {
    /// The house's accounts, empty.
    #[must_use]
    pub fn new() -> Ledger {
        let house = [(Account::Issuance, State::new(0)), (Account::Rake, State::new(1))];
        Ledger { accounts: house.into(), ..Ledger::empty() }
    }

    pub(crate) const fn empty() -> Ledger {
        Ledger {
            accounts: BTreeMap::new(),
            holds: BTreeMap::new(),
            ends: BTreeSet::new(),
            adjustments: BTreeMap::new(),
            in_play: BTreeSet::new(),
            pots: BTreeSet::new(),
            played: BTreeMap::new(),
        }
    }

    /// `None` where the account was never opened.
    #[must_use]
    pub fn account(&self, account: &Account) -> Option<&State> {
        self.accounts.get(account)
    }

    /// `None` where the account was never opened.
    #[must_use]
    pub fn balance(&self, account: &Account) -> Option<Amount> {
        self.account(account).map(|state| state.balance)
    }

    /// What is held of the account.
    #[must_use]
    pub fn held(&self, account: &Account) -> Credits {
        self.account(account).map_or(Credits::ZERO, State::held)
    }

    /// All accounts, in the order of [`Account`].
    pub fn accounts(&self) -> impl ExactSizeIterator<Item = Entry<'_>> {
        self.accounts.iter()
    }

    /// The seats that ever had credits in play at `table`, in the order of their players.
    pub fn seats(&self, table: TableId) -> impl Iterator<Item = (PlayerId, Amount)> {
        let seats: RangeInclusive<Account> =
            Account::Seat(table, PlayerId([0; 16]))..=Account::Seat(table, PlayerId([u8::MAX; 16]));
        self.accounts
            .range(seats)
            .filter_map(|(account, state)| Some((account.player()?, state.balance)))
    }

    /// The tables where `player` has credits now, and how many.
    pub fn in_play(&self, player: PlayerId) -> impl Iterator<Item = (TableId, Amount)> {
        let seats = (player, TableId([0; 16]))..=(player, TableId([u8::MAX; 16]));
        self.in_play.range(seats).filter_map(|(player, table)| {
            Some((*table, self.balance(&Account::Seat(*table, *player))?))
        })
    }

    /// A table with credits in its pots where `player` ever had a seat: they may have a share in them.
    #[must_use]
    pub fn may_have_share(&self, player: PlayerId) -> Option<TableId> {
        let tables = self.pots.iter().filter_map(Account::table);
        tables.into_iter().find(|table| self.account(&Account::Seat(*table, player)).is_some())
    }

    /// What counts of a player's play; `None` where nothing does.
    #[must_use]
    pub fn played(&self, player: PlayerId) -> Option<&Played> {
        self.played.get(&player)
    }

    /// A hold that is pending.
    #[must_use]
    pub fn hold(&self, hold: HoldId) -> Option<&Pending> {
        self.holds.get(&hold)
    }

    /// The pending holds, in the order of their ids.
    pub fn holds(&self) -> impl ExactSizeIterator<Item = &Pending> {
        self.holds.values()
    }

    /// A proposal that waits.
    #[must_use]
    pub fn adjustment(&self, adjustment: AdjustmentId) -> Option<&Proposed> {
        self.adjustments.get(&adjustment)
    }

    /// The proposals that wait, in the order of their ids.
    pub fn adjustments(&self) -> impl ExactSizeIterator<Item = &Proposed> {
        self.adjustments.values()
    }

    /// What must be written before anything else is decided at `now`: the end of every hold whose
    /// time is over, the earliest first.
    #[must_use]
    pub fn expired(&self, now: UnixMicros) -> Vec<Event> {
        let over = self.ends.iter().take_while(|(end, _)| *end <= now);
        over.filter_map(|(_, id)| self.hold(*id))
            .map(|pending| Event::HoldExpired(pending.ended()))
            .collect()
    }

    /// When the next hold is over.
    #[must_use]
    pub fn next_expiry(&self) -> Option<UnixMicros> {
        self.ends.first().map(|(end, _)| *end)
    }

    /// Frees the memory of what was brought to tables and played so long ago that it counts no more. Nothing
    /// is decided otherwise for it. Looks at every account.
    pub fn forget(&mut self, now: UnixMicros) {
        for state in self.accounts.values_mut().filter(|state| state.extra.is_some()) {
            state.change(|extra| limits::forget(&mut extra.brought, now));
        }
        self.played.retain(|_, played| played.forget(now));
    }

    /// The account to be changed; opened where it was not.
    pub(crate) fn open(&mut self, account: Account) -> &mut State {
        let next = u32::try_from(self.accounts.len()).unwrap_or(u32::MAX);
        self.accounts.entry(account).or_insert_with(|| State::new(next))
    }

    /// Puts a hold where another one or none is, or takes it away.
    pub(crate) fn put_hold(&mut self, id: HoldId, pending: Option<Pending>) {
        let before = match pending {
            Some(pending) => {
                self.ends.insert((pending.hold.expires_at, id));
                self.holds.insert(id, pending)
            }
            None => self.holds.remove(&id),
        };
        let end = |pending: Pending| pending.hold.expires_at;
        if let Some(before) = before.map(end).filter(|before| Some(*before) != pending.map(end)) {
            self.ends.remove(&(before, id));
        }
    }

    /// Notes whether a seat or a pot has something on it; of other accounts nothing.
    pub(crate) fn mark(&mut self, account: Account, balance: Amount) {
        if let Account::Seat(table, player) = account {
            if balance.is_zero() {
                self.in_play.remove(&(player, table));
            } else {
                self.in_play.insert((player, table));
            }
        }
        if let Account::SabaccPot(_) | Account::CarriedPot(_) = account {
            if balance.is_zero() {
                self.pots.remove(&account);
            } else {
                self.pots.insert(account);
            }
        }
    }
}

impl Default for Ledger {
    fn default() -> Ledger {
        Ledger::new()
    }
}
