//! Transfers, and which accounts each kind of them may touch.

use std::fmt;

use primitives::{AdjustmentId, HandId, HoldId, PlayerId, RequestId, TableId};

use crate::{Account, Amount};

pub const MIN_LEGS: usize = 2;
/// Eight seats, two pots and the rake fit several times over: a settlement with a leg for everybody
/// who was dealt in is one transfer.
pub const MAX_LEGS: usize = 64;
pub const MAX_REASON_CHARS: usize = 200;

/// Why credits move. The kind decides which accounts may have a leg, and in which direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// `house/issuance` to one player. An operator's act: needs a reason.
    Issue,
    /// One player to `house/issuance`. An operator's act: needs a reason.
    Redeem,
    /// A player to a seat of the same player.
    BuyIn,
    /// A seat to its own player, or, where an operator says so because the player's account takes
    /// nothing, to `house/suspense`.
    CashOut,
    /// One hand's result: seats and pots of the table among each other, and to `house/rake`.
    /// The transfer's id is the hand's. Whoever was dealt in has a leg on their seat, of 0 credits
    /// where that is their net, so that every hand is in their statement. The only kind that may have
    /// such legs, or none at all: a hand that moved nothing is on record all the same.
    Settlement { table: TableId },
    /// The pots of a table that closes, to seats of that table.
    PotRefund { table: TableId },
    /// What two operators set right: an account that is no table's and `house/issuance`. Comes of
    /// [`crate::Command::Approve`] alone and is never asked for as a transfer.
    Adjustment { adjustment: AdjustmentId },
    /// What was held, to where its hold says. Comes of [`crate::Command::Capture`] alone and is
    /// never asked for as a transfer.
    Capture {
        hold: HoldId,
        /// What the hold has left stays held; else it is let go with the capture.
        keep_rest: bool,
    },
}

impl Kind {
    /// Operators' acts are answered for: they carry the reason they were done for.
    #[must_use]
    pub const fn needs_reason(self) -> bool {
        match self {
            Kind::Issue | Kind::Redeem | Kind::Adjustment { .. } => true,
            Kind::BuyIn
            | Kind::CashOut
            | Kind::Settlement { .. }
            | Kind::PotRefund { .. }
            | Kind::Capture { .. } => false,
        }
    }

    /// Whether a leg of this account may move nothing: the seat of a player whose net of a hand is 0.
    #[must_use]
    pub const fn admits_zero(self, account: &Account) -> bool {
        match self {
            Kind::Settlement { .. } => matches!(account, Account::Seat(..)),
            Kind::Issue
            | Kind::Redeem
            | Kind::BuyIn
            | Kind::CashOut
            | Kind::PotRefund { .. }
            | Kind::Adjustment { .. }
            | Kind::Capture { .. } => false,
        }
    }

    /// Whether this kind moves credits from exactly one account to exactly one other.
    const fn is_pair(self) -> bool {
        match self {
            Kind::Issue
            | Kind::Redeem
            | Kind::BuyIn
            | Kind::CashOut
            | Kind::Adjustment { .. }
            | Kind::Capture { .. } => true,
            Kind::Settlement { .. } | Kind::PotRefund { .. } => false,
        }
    }

    /// Whether the first credit to this account under this kind opens it. Players are opened by a
    /// command of their own, so that credits are never issued to a misspelt one.
    pub(crate) const fn opens(self, account: &Account) -> bool {
        match self {
            Kind::BuyIn => matches!(account, Account::Seat(..)),
            Kind::Settlement { .. } => {
                matches!(account, Account::SabaccPot(_) | Account::CarriedPot(_))
            }
            Kind::Capture { .. } => matches!(
                account,
                Account::Seat(..) | Account::SabaccPot(_) | Account::CarriedPot(_)
            ),
            Kind::CashOut => matches!(account, Account::Suspense),
            Kind::Issue | Kind::Redeem | Kind::PotRefund { .. } | Kind::Adjustment { .. } => false,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Issue => "issue",
            Kind::Redeem => "redeem",
            Kind::BuyIn => "buy-in",
            Kind::CashOut => "cash-out",
            Kind::Settlement { .. } => "settlement",
            Kind::PotRefund { .. } => "pot refund",
            Kind::Adjustment { .. } => "adjustment",
            Kind::Capture { .. } => "capture",
        })
    }
}

/// One account's part in a transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leg {
    pub account: Account,
    pub amount: Amount,
}

/// Credits that move together or not at all. As a value it may be unlawful: [`crate::decide`]
/// judges it. Inside an event it is lawful.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// What it was asked under; a hand's settlement has the hand's id.
    pub id: RequestId,
    pub kind: Kind,
    /// [`MIN_LEGS`] to [`MAX_LEGS`], each account once, sum zero; none at all, or some of zero on
    /// seats, only in a settlement.
    pub legs: Vec<Leg>,
    /// Why, in an operator's words; at most [`MAX_REASON_CHARS`], empty where none is needed.
    pub reason: String,
}

impl Transfer {
    /// The table this transfer involves, if any.
    #[must_use]
    pub fn table(&self) -> Option<TableId> {
        match self.kind {
            Kind::Settlement { table } | Kind::PotRefund { table } => Some(table),
            Kind::Issue
            | Kind::Redeem
            | Kind::BuyIn
            | Kind::CashOut
            | Kind::Adjustment { .. }
            | Kind::Capture { .. } => self.legs.iter().find_map(|leg| leg.account.table()),
        }
    }

    /// The player this transfer involves: the one of its first leg that has one.
    #[must_use]
    pub fn player(&self) -> Option<PlayerId> {
        self.legs.iter().find_map(|leg| leg.account.player())
    }

    /// The hand this transfer settles, if it does.
    #[must_use]
    pub const fn hand(&self) -> Option<HandId> {
        match self.kind {
            Kind::Settlement { .. } => Some(HandId(self.id.0)),
            Kind::Issue
            | Kind::Redeem
            | Kind::BuyIn
            | Kind::CashOut
            | Kind::PotRefund { .. }
            | Kind::Adjustment { .. }
            | Kind::Capture { .. } => None,
        }
    }

    /// The first leg that this kind of transfer has no place for.
    pub(crate) fn misfit(&self) -> Option<Account> {
        let (table, player) = (self.table(), self.player());
        let stray = self.legs.iter().find(|leg| {
            let elsewhere = leg.account.table().is_some() && leg.account.table() != table;
            elsewhere || !self.kind.fits(leg, player)
        });
        let surplus = if self.kind.is_pair() { self.legs.get(2) } else { None };
        stray.or(surplus).map(|leg| leg.account)
    }
}

impl Kind {
    /// Whether a leg of this account may go in this direction; `player` is the one whose transfer
    /// it is.
    fn fits(self, leg: &Leg, player: Option<PlayerId>) -> bool {
        let (debit, credit) = (leg.amount.is_debit(), leg.amount.is_credit());
        let own = leg.account.player() == player;
        match (self, leg.account) {
            (Kind::Issue, Account::Issuance) | (Kind::Redeem, Account::Player(_)) => debit,
            (Kind::Issue, Account::Player(_)) | (Kind::Redeem, Account::Issuance) => credit,
            (Kind::BuyIn, Account::Player(_)) | (Kind::CashOut, Account::Seat(..)) => own && debit,
            (Kind::BuyIn, Account::Seat(..)) | (Kind::CashOut, Account::Player(_)) => own && credit,
            (
                Kind::Settlement { .. },
                Account::Seat(..) | Account::SabaccPot(_) | Account::CarriedPot(_),
            ) => true,
            (Kind::CashOut, Account::Suspense)
            | (Kind::Settlement { .. }, Account::Rake)
            | (Kind::PotRefund { .. }, Account::Seat(..)) => credit,
            (Kind::PotRefund { .. }, Account::SabaccPot(_) | Account::CarriedPot(_)) => debit,
            (
                Kind::Issue | Kind::Redeem,
                Account::Rake
                | Account::Suspense
                | Account::Seat(..)
                | Account::SabaccPot(_)
                | Account::CarriedPot(_),
            )
            | (Kind::BuyIn, Account::Suspense)
            | (
                Kind::BuyIn | Kind::CashOut,
                Account::Issuance | Account::Rake | Account::SabaccPot(_) | Account::CarriedPot(_),
            )
            | (
                Kind::Settlement { .. },
                Account::Issuance | Account::Suspense | Account::Player(_),
            )
            | (
                Kind::PotRefund { .. },
                Account::Issuance | Account::Rake | Account::Suspense | Account::Player(_),
            )
            | (Kind::Adjustment { .. } | Kind::Capture { .. }, _) => false,
        }
    }
}
