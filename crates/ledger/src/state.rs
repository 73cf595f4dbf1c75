//! Balances, and how events move them.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use primitives::{PlayerId, TableId};

use crate::{Account, Amount, Transfer};

/// What happened. Events come from [`crate::decide`] alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// The account exists, with nothing on it.
    Opened(Account),
    Posted(Transfer),
}

/// Every account and its balance: 48 bytes an account before the tree's own slack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ledger {
    balances: BTreeMap<Account, Amount>,
}

impl Ledger {
    /// The house's accounts, empty.
    #[must_use]
    pub fn new() -> Ledger {
        let house = [Account::Issuance, Account::Rake];
        Ledger { balances: house.map(|account| (account, Amount::ZERO)).into() }
    }

    /// `None` where the account was never opened.
    #[must_use]
    pub fn balance(&self, account: &Account) -> Option<Amount> {
        self.balances.get(account).copied()
    }

    /// All accounts, in the order of [`Account`].
    pub fn accounts(&self) -> impl ExactSizeIterator<Item = (&Account, Amount)> {
        self.balances.iter().map(|(account, balance)| (account, *balance))
    }

    /// The seats that ever had credits in play at `table`, in the order of their players.
    pub fn seats(&self, table: TableId) -> impl Iterator<Item = (PlayerId, Amount)> {
        let seats: RangeInclusive<Account> =
            Account::Seat(table, PlayerId([0; 16]))..=Account::Seat(table, PlayerId([u8::MAX; 16]));
        self.balances
            .range(seats)
            .filter_map(|(account, balance)| Some((account.player()?, *balance)))
    }
}

impl Default for Ledger {
    fn default() -> Ledger {
        Ledger::new()
    }
}

/// Applies one event. It cannot fail: an event was decided on the very balances it meets. Fed with
/// events of another history, balances stay inside their range and [`crate::conserved`] tells.
pub fn evolve(ledger: &mut Ledger, event: &Event) {
    match event {
        Event::Opened(account) => {
            ledger.balances.entry(*account).or_default();
        }
        Event::Posted(transfer) => {
            for leg in &transfer.legs {
                let balance = ledger.balances.entry(leg.account).or_default();
                *balance = balance.saturating_plus(leg.amount);
            }
        }
    }
}
