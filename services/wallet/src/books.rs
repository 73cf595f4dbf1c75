//! What the log says about accounts: balances, and every player's statement.
//!
//! A fold of the log, event by event in order of position, and nothing else: thrown away and read
//! again it is the same.

use std::collections::{BTreeMap, BTreeSet};

use eventlog::{Log, Position, ReadError};
use ledger::{Account, Amount, Event, Kind, Ledger, Transfer, Unsound, conserved, evolve};
use primitives::{PlayerId, RequestId, TableId, UnixMicros};

use crate::record::{self, Corrupt};

/// Events in one read of the log.
const PAGE: usize = 5_000;

/// Balances and statements as of the last durable event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Books {
    ledger: Ledger,
    players: BTreeMap<PlayerId, Statement>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Statement {
    /// In order of position.
    lines: Vec<Line>,
    /// The tables where the player ever had a seat's account.
    tables: BTreeSet<TableId>,
}

/// What one transfer did to a player's account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub position: Position,
    pub recorded_at: UnixMicros,
    pub transfer: RequestId,
    pub kind: Kind,
    pub table: Option<TableId>,
    pub amount: Amount,
    /// The account's balance after it.
    pub balance: Amount,
    /// An operator's, or empty.
    pub reason: Box<str>,
}

/// The books cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum BooksError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Corrupt(#[from] Corrupt),
    #[error("the wallet's log is corrupt: {0}")]
    Unsound(#[from] Unsound),
}

impl Books {
    /// Reads a log from its beginning.
    ///
    /// # Errors
    /// Where the log cannot be read, or is none that a wallet writes, or makes or loses credits.
    pub async fn read(log: &Log) -> Result<Books, BooksError> {
        let mut books = Books::default();
        let mut from = Position(0);
        loop {
            let events = log.read(from, PAGE).await?;
            for stored in &events {
                let event = record::parse(stored)?;
                books.apply(stored.position, stored.recorded_at, &event);
            }
            let Some(last) = events.last() else { break };
            from = Position(last.position.0 + 1);
        }
        conserved(&books.ledger)?;
        Ok(books)
    }

    /// Applies the next durable event.
    pub fn apply(&mut self, position: Position, recorded_at: UnixMicros, event: &Event) {
        evolve(&mut self.ledger, event);
        match event {
            Event::Opened(account) => self.open(account),
            Event::Posted(transfer) => {
                for leg in &transfer.legs {
                    if let Account::Player(player) = leg.account {
                        let balance = self.balance(player).unwrap_or_default();
                        let line = line((position, recorded_at), transfer, leg.amount, balance);
                        self.players.entry(player).or_default().lines.push(line);
                    }
                }
            }
        }
    }

    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The credits on a player's account; none where it was never opened.
    #[must_use]
    pub fn balance(&self, player: PlayerId) -> Option<Amount> {
        self.ledger.balance(&Account::Player(player))
    }

    /// A player's credits at tables, none of them zero, in the order of the tables.
    pub fn seats(&self, player: PlayerId) -> impl Iterator<Item = (TableId, Amount)> {
        let tables = self.players.get(&player).into_iter().flat_map(|one| &one.tables);
        tables.filter_map(move |table| {
            let balance = self.ledger.balance(&Account::Seat(*table, player))?;
            (!balance.is_zero()).then_some((*table, balance))
        })
    }

    /// The entries of a player's account, oldest first; those after a position where one is given.
    #[must_use]
    pub fn lines(&self, player: PlayerId, after: Option<Position>) -> &[Line] {
        let lines = self.players.get(&player).map_or(&[][..], |one| &one.lines);
        let seen = after.map_or(0, |after| lines.partition_point(|line| line.position <= after));
        lines.get(seen..).unwrap_or_default()
    }

    /// What the transfer at `position` left on a player's account.
    #[must_use]
    pub fn balance_at(&self, player: PlayerId, position: Position) -> Option<Amount> {
        let lines = self.lines(player, None);
        let at = lines.binary_search_by_key(&position, |line| line.position).ok()?;
        lines.get(at).map(|line| line.balance)
    }

    fn open(&mut self, account: &Account) {
        match account {
            Account::Player(player) => {
                self.players.entry(*player).or_default();
            }
            Account::Seat(table, player) => {
                self.players.entry(*player).or_default().tables.insert(*table);
            }
            Account::Issuance | Account::Rake | Account::SabaccPot(_) | Account::CarriedPot(_) => {}
        }
    }
}

/// A line of the statement of an account that now holds `balance`.
fn line(
    (position, recorded_at): (Position, UnixMicros),
    transfer: &Transfer,
    amount: Amount,
    balance: Amount,
) -> Line {
    Line {
        position,
        recorded_at,
        transfer: transfer.id,
        kind: transfer.kind,
        table: transfer.table(),
        amount,
        balance,
        reason: transfer.reason.as_str().into(),
    }
}
