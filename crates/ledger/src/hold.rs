//! Holds: credits set aside for one payment.
//!
//! Specification: services/wallet/README.md "State and events".

use primitives::{Credits, HoldId, UnixMicros};

use crate::Account;

/// Credits of `from` reserved for a payment to `to`. As a value it may be unlawful:
/// [`crate::decide`] judges it. Inside an event it is lawful.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hold {
    pub id: HoldId,
    /// A player's account or a seat's.
    pub from: Account,
    /// For a player's account, a seat of that player; for a seat, a pot of its table or another
    /// seat there.
    pub to: Account,
    /// At least 1.
    pub amount: Credits,
    /// Time at which the hold ends by itself.
    pub expires_at: UnixMicros,
}

impl Hold {
    /// The account that may not be held from or paid to, if any.
    pub(crate) fn wrong_account(&self) -> Option<Account> {
        let fits = match (self.from, self.to) {
            (Account::Player(owner), Account::Seat(_, player)) => owner == player,
            (
                Account::Seat(table, _),
                Account::Seat(to, _) | Account::SabaccPot(to) | Account::CarriedPot(to),
            ) => table == to,
            (Account::Player(_) | Account::Seat(..), _) => false,
            (
                Account::Issuance
                | Account::Rake
                | Account::Suspense
                | Account::SabaccPot(_)
                | Account::CarriedPot(_),
                _,
            ) => return Some(self.from),
        };
        (!fits).then_some(self.to)
    }

    /// Whether a capture may open the destination, as a buy-in opens a seat and a settlement a pot.
    pub(crate) const fn may_open(&self) -> bool {
        match self.to {
            Account::SabaccPot(_) | Account::CarriedPot(_) => true,
            Account::Seat(..) => matches!(self.from, Account::Player(_)),
            Account::Issuance | Account::Rake | Account::Suspense | Account::Player(_) => false,
        }
    }
}

/// A hold that is not used up, released or expired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PendingHold {
    /// The hold as it was placed.
    pub hold: Hold,
    /// Credits still held: at least 1, at most the hold's amount.
    pub left: Credits,
}

impl PendingHold {
    /// End of this hold without a payment.
    #[must_use]
    pub const fn ended(&self) -> EndedHold {
        let Hold { id, from, to, amount: _, expires_at: _ } = self.hold;
        EndedHold { hold: id, from, to, amount: self.left }
    }
}

/// A hold that was released or has expired.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EndedHold {
    pub hold: HoldId,
    pub from: Account,
    pub to: Account,
    /// Credits that it still held.
    pub amount: Credits,
}
