//! Transfers, and the accounts that each kind of transfer may touch.
//!
//! Specification: services/wallet/README.md "State and events".

use std::fmt;

use primitives::{AdjustmentId, HandId, HoldId, PlayerId, RequestId, TableId};

use crate::{Account, Amount};

pub const MIN_LEGS: usize = 2;
/// Eight seats, two pots and the rake fit several times over: a settlement with a leg for everybody
/// who was dealt in is one transfer.
pub const MAX_LEGS: usize = 64;
pub const MAX_REASON_CHARS: usize = 200;
/// Reason of the issue that a new guest of a room for play money begins with.
pub const STARTING_CREDITS_REASON: &str = "starting credits of a guest";

/// Purpose of a transfer. It decides which accounts may have a leg, and in which direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// `house/issuance` to one player. Done by an operator, with a reason; or once for each guest, by
    /// the table service, with [`STARTING_CREDITS_REASON`].
    Issue,
    /// One player to `house/issuance`. Done by an operator, with a reason.
    Redeem,
    /// A player's account to a seat of that player.
    BuyIn,
    /// A seat to its player's account; or to `house/suspense`, where an operator asks for it
    /// because the player's account cannot be credited.
    CashOut,
    /// Result of one hand: between seats and pots of the table, and to `house/rake`. The transfer's
    /// id is the hand's. Every player dealt in has a leg on their seat, of 0 credits where that is
    /// their net, so that the hand is in their statement. The only kind that may have such legs, or
    /// no legs at all: a hand that moved nothing is recorded too.
    Settlement { table: TableId },
    /// Pots of a table that closes, to seats of that table.
    PotRefund { table: TableId },
    /// A correction that two operators make: between `house/issuance` and an account that belongs
    /// to no table. Made by [`crate::Command::ApproveAdjustment`] alone; refused in
    /// [`crate::Command::PostTransfer`].
    Adjustment { adjustment: AdjustmentId },
    /// Credits of a hold, to the hold's destination. Made by [`crate::Command::CaptureHold`] alone;
    /// refused in [`crate::Command::PostTransfer`].
    Capture {
        hold: HoldId,
        /// Whether the rest of the hold stays held; otherwise the hold ends with the capture.
        keep_rest: bool,
    },
}

impl Kind {
    /// Whether a reason is required: for what operators do.
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

    /// Whether a leg of this account may move nothing: the seat of a player whose net of a hand is
    /// 0.
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

    /// Whether the first credit to this account under this kind opens it. Players' accounts are
    /// opened by a command of their own, so that credits are never issued to a mistyped one.
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

/// Amount that a transfer moves on one account.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Leg {
    pub account: Account,
    pub amount: Amount,
}

/// Credits that move together or not at all. As a value it may be unlawful: [`crate::decide`]
/// judges it. Inside an event it is lawful.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// Id of the request; a hand's settlement has the hand's id.
    pub id: RequestId,
    pub kind: Kind,
    /// [`MIN_LEGS`] to [`MAX_LEGS`] legs, each account once, sum zero. A settlement alone may have
    /// legs of zero, on seats, or no legs at all.
    pub legs: Vec<Leg>,
    /// Reason in an operator's words; at most [`MAX_REASON_CHARS`] characters, empty where none is
    /// needed.
    pub reason: String,
}

impl Transfer {
    /// Table that this transfer involves, if any.
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

    /// Player that this transfer involves: the one of the first leg that has one.
    #[must_use]
    pub fn player(&self) -> Option<PlayerId> {
        self.legs.iter().find_map(|leg| leg.account.player())
    }

    /// Hand that this transfer settles, if any.
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

    /// First account that this kind of transfer may not touch, or not in this direction.
    pub(crate) fn wrong_account(&self) -> Option<Account> {
        let (table, player) = (self.table(), self.player());
        let stray = self.legs.iter().find(|leg| {
            let elsewhere = leg.account.table().is_some() && leg.account.table() != table;
            elsewhere || !self.kind.allows(leg, player)
        });
        let surplus = if self.kind.is_pair() { self.legs.get(2) } else { None };
        stray.or(surplus).map(|leg| leg.account)
    }
}

impl Kind {
    /// Whether a leg of this account may go in this direction. `player` is the player of the
    /// transfer.
    fn allows(self, leg: &Leg, player: Option<PlayerId>) -> bool {
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
