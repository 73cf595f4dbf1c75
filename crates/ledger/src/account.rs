//! Typed names of accounts, ordered so that the seats of one table stand together.
//!
//! Specification: services/wallet/README.md "State and events".

use std::fmt;
use std::str::FromStr;

use primitives::{PlayerId, TableId};

/// Name of an account. Text form: `player/<uuid>`, `seat/<table>/<player>`, `pot/<table>/sabacc`,
/// `pot/<table>/carried`, `house/issuance`, `house/rake`, `house/suspense`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Account {
    /// Source of all credits. The only account that may be negative.
    Issuance,
    /// The house's share of contested pots.
    Rake,
    /// Credits of players that could not be paid to them; operators assign them by adjustments.
    /// Opened by the first credit.
    Suspense,
    /// Credits that a player owns and has not brought to a table.
    Player(PlayerId),
    /// Credits that a player has in play at a table.
    Seat(TableId, PlayerId),
    /// The table's pot that stays from hand to hand until a special hand takes it.
    SabaccPot(TableId),
    /// Credits that a hand left for the next one at the same table.
    CarriedPot(TableId),
}

impl Account {
    /// Table of a seat or a pot.
    #[must_use]
    pub const fn table(&self) -> Option<TableId> {
        match *self {
            Account::Seat(table, _) | Account::SabaccPot(table) | Account::CarriedPot(table) => {
                Some(table)
            }
            Account::Issuance | Account::Rake | Account::Suspense | Account::Player(_) => None,
        }
    }

    /// Player of a player's account or a seat.
    #[must_use]
    pub const fn player(&self) -> Option<PlayerId> {
        match *self {
            Account::Player(player) | Account::Seat(_, player) => Some(player),
            Account::Issuance
            | Account::Rake
            | Account::Suspense
            | Account::SabaccPot(_)
            | Account::CarriedPot(_) => None,
        }
    }

    #[must_use]
    pub const fn may_be_negative(&self) -> bool {
        matches!(self, Account::Issuance)
    }

    /// Whether operators may adjust its balance. Accounts of a table are excluded: the table's own
    /// log determines their balances.
    #[must_use]
    pub const fn may_be_adjusted(&self) -> bool {
        match self {
            Account::Player(_) | Account::Rake | Account::Suspense => true,
            Account::Issuance
            | Account::Seat(..)
            | Account::SabaccPot(_)
            | Account::CarriedPot(_) => false,
        }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Account::Issuance => f.write_str("house/issuance"),
            Account::Rake => f.write_str("house/rake"),
            Account::Suspense => f.write_str("house/suspense"),
            Account::Player(player) => write!(f, "player/{player}"),
            Account::Seat(table, player) => write!(f, "seat/{table}/{player}"),
            Account::SabaccPot(table) => write!(f, "pot/{table}/sabacc"),
            Account::CarriedPot(table) => write!(f, "pot/{table}/carried"),
        }
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Error of a text that names no account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "an account is player/<uuid>, seat/<table>/<player>, pot/<table>/sabacc, \
     pot/<table>/carried, house/issuance, house/rake or house/suspense"
)]
pub struct AccountNameError;

impl FromStr for Account {
    type Err = AccountNameError;

    fn from_str(text: &str) -> Result<Account, AccountNameError> {
        fn id<T: FromStr>(text: &str) -> Result<T, AccountNameError> {
            text.parse().map_err(|_| AccountNameError)
        }
        let mut parts = text.split('/');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some("house"), Some("issuance"), None, None) => Ok(Account::Issuance),
            (Some("house"), Some("rake"), None, None) => Ok(Account::Rake),
            (Some("house"), Some("suspense"), None, None) => Ok(Account::Suspense),
            (Some("player"), Some(player), None, None) => Ok(Account::Player(id(player)?)),
            (Some("seat"), Some(table), Some(player), None) => {
                Ok(Account::Seat(id(table)?, id(player)?))
            }
            (Some("pot"), Some(table), Some("sabacc"), None) => Ok(Account::SabaccPot(id(table)?)),
            (Some("pot"), Some(table), Some("carried"), None) => {
                Ok(Account::CarriedPot(id(table)?))
            }
            _ => Err(AccountNameError),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_round_trips() {
        let (table, player) = (TableId([7; 16]), PlayerId([9; 16]));
        let names = [
            (Account::Issuance, "house/issuance"),
            (Account::Rake, "house/rake"),
            (Account::Suspense, "house/suspense"),
            (Account::Player(player), "player/09090909-0909-0909-0909-090909090909"),
            (
                Account::Seat(table, player),
                "seat/07070707-0707-0707-0707-070707070707/09090909-0909-0909-0909-090909090909",
            ),
            (Account::SabaccPot(table), "pot/07070707-0707-0707-0707-070707070707/sabacc"),
            (Account::CarriedPot(table), "pot/07070707-0707-0707-0707-070707070707/carried"),
        ];
        for (account, name) in names {
            assert_eq!(account.to_string(), name);
            assert_eq!(name.parse(), Ok(account));
        }
    }

    #[test]
    fn anything_else_is_no_account() {
        let id = PlayerId([9; 16]);
        let bad = [
            String::new(),
            "player".into(),
            "player/".into(),
            "player/x".into(),
            format!("player/{id}/"),
            format!("Player/{id}"),
            format!("seat/{id}"),
            format!("pot/{id}"),
            format!("pot/{id}/hand"),
            "house/tips".into(),
            "house/rake/".into(),
        ];
        for name in bad {
            assert_eq!(name.parse::<Account>(), Err(AccountNameError), "{name:?}");
        }
    }

    #[test]
    fn an_account_is_small() {
        assert!(size_of::<Account>() <= 40, "{}", size_of::<Account>());
    }
}
