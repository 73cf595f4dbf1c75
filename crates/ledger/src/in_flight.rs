//! Decisions on their way to the log.
//!
//! Between a decision and its durability others are decided, thousands of them. Each may still fail
//! to be written while one behind it is written. So what is in flight counts **at its worst**:
//! credits that leave an account are gone at once, credits that come are there only when they are
//! durable. Then any part of what is in flight may be written, and what is written is lawful.
//!
//! What cannot be said before something lands is not guessed: the command waits ([`Verdict::Wait`]).
//! So a refusal always speaks of durable balances and never of what may yet be undone.

use std::collections::BTreeMap;

use crate::decide::judge;
use crate::{Account, Amount, Command, Event, Ledger, Refusal};

/// What was decided and is not known to be durable nor known to be lost.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct InFlight {
    accounts: BTreeMap<Account, Touch>,
}

/// What one account awaits.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Touch {
    /// Decisions that touch it; never zero.
    decisions: usize,
    /// All debits together, so zero or negative.
    debits: Amount,
    /// How many of the decisions open it: one at most.
    opening: usize,
}

/// The answer to a command while others are in flight.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Lawful whatever becomes of what is in flight. Reserve these events, then write them.
    Lawful(Vec<Event>),
    /// Refused whatever becomes of what is in flight.
    Refused(Refusal),
    /// It depends: ask again when something has landed.
    Wait(Command),
}

impl InFlight {
    #[must_use]
    pub fn new() -> InFlight {
        InFlight::default()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.accounts.is_empty()
    }

    /// Judges a command by what is durable and what is in flight.
    #[must_use]
    pub fn decide(&self, ledger: &Ledger, command: Command) -> Verdict {
        if command.accounts().any(|account| self.touch(&account).is_some_and(|t| t.opening > 0)) {
            return Verdict::Wait(command);
        }
        let available = |account: &Account| {
            let debits = self.touch(account).map_or(Amount::ZERO, |touch| touch.debits);
            ledger.balance(account).map(|balance| balance.saturating_plus(debits))
        };
        match judge(available, &command) {
            Ok(opened) => Verdict::Lawful(command.into_events(opened)),
            Err(refusal) => match refusal.account_at_fault() {
                Some(account) if self.touch(&account).is_some() => Verdict::Wait(command),
                Some(_) | None => Verdict::Refused(refusal),
            },
        }
    }

    /// Counts a lawful decision's events as in flight.
    pub fn reserve(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::Opened(account) => {
                    let touch = self.accounts.entry(*account).or_default();
                    touch.decisions = touch.decisions.saturating_add(1);
                    touch.opening = touch.opening.saturating_add(1);
                }
                Event::Posted(transfer) => {
                    for leg in &transfer.legs {
                        let touch = self.accounts.entry(leg.account).or_default();
                        touch.decisions = touch.decisions.saturating_add(1);
                        touch.debits = touch.debits.saturating_plus(debit(leg.amount));
                    }
                }
            }
        }
    }

    /// Takes a reserved decision's events back: they are durable and evolved, or lost for certain.
    pub fn release(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::Opened(account) => self.landed(account, Amount::ZERO, 1),
                Event::Posted(transfer) => {
                    for leg in &transfer.legs {
                        self.landed(&leg.account, debit(leg.amount), 0);
                    }
                }
            }
        }
    }

    fn landed(&mut self, account: &Account, debit: Amount, opening: usize) {
        let Some(touch) = self.accounts.get_mut(account) else { return };
        touch.decisions = touch.decisions.saturating_sub(1);
        touch.debits = touch.debits.saturating_plus(Amount::credit(debit.magnitude()));
        touch.opening = touch.opening.saturating_sub(opening);
        if touch.decisions == 0 {
            self.accounts.remove(account);
        }
    }

    fn touch(&self, account: &Account) -> Option<&Touch> {
        self.accounts.get(account)
    }
}

/// The amount, where it leaves the account.
fn debit(amount: Amount) -> Amount {
    amount.min(Amount::ZERO)
}
