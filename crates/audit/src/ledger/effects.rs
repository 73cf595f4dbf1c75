//! Transfers that tables request of the wallet. Each is recorded three times.
//!
//! A table records the transfer that it will request, the wallet posts it, the table records the
//! answer. When all three are there and agree, the transfer is complete and removed here; if it is
//! posted a second time, that posting has no request and is found.

use std::collections::BTreeMap;

use ::ledger::{Account, Transfer};
use primitives::{RequestId, UnixMicros};

use super::{Check, Troubles};

/// Credits by account; 0 on seats of a settlement alone.
pub(super) type Legs = BTreeMap<Account, i128>;

/// The table's record that the wallet has posted.
#[derive(Clone, Copy)]
pub(super) struct Answer {
    pub(super) at: UnixMicros,
    /// Position of the transfer in the wallet's log, if the table recorded it.
    pub(super) position: Option<u64>,
}

/// End of the part of the wallet's log that was read.
pub(super) struct Until {
    pub(super) wallet_size: u64,
    pub(super) read_at: UnixMicros,
}

#[derive(Default)]
struct Effect {
    asked: Option<(&'static str, Legs)>,
    posted: Option<(u64, Legs)>,
    answered: Option<Answer>,
}

/// Transfers under way.
#[derive(Default)]
pub(super) struct Effects {
    named: BTreeMap<RequestId, Effect>,
    /// Payments to players who have left their table, by the account that they leave: a table does
    /// not record the id under which it requests them.
    nameless: BTreeMap<Account, (Legs, Option<Answer>)>,
}

impl Effects {
    /// Adds a transfer that a table will request. `what` is its name in a sentence.
    pub(super) fn asked(
        &mut self,
        id: RequestId,
        (what, legs): (&'static str, Legs),
        troubles: &mut Troubles,
    ) {
        let effect = self.named.entry(id).or_default();
        if effect.asked.replace((what, legs)).is_some() {
            troubles.add(Check::Transfers, || format!("{what} {id} is asked for twice"));
        }
        self.settle(id, troubles);
    }

    /// Adds the wallet's posting of a transfer.
    pub(super) fn posted(&mut self, transfer: &Transfer, at: u64, troubles: &mut Troubles) {
        let legs = transfer.legs.iter().map(|leg| (leg.account, i128::from(leg.amount.get())));
        let id = transfer.id;
        let effect = self.named.entry(id).or_default();
        if effect.posted.replace((at, legs.collect())).is_some() {
            let why = || format!("position {at} of the wallet's log: {id} is posted a second time");
            troubles.add(Check::Transfers, why);
        }
        self.settle(id, troubles);
    }

    /// Adds the table's record that a transfer is posted.
    pub(super) fn answered(&mut self, id: RequestId, answer: Answer, troubles: &mut Troubles) {
        let effect = self.named.entry(id).or_default();
        if effect.asked.is_none() {
            troubles.add(Check::Tables, || format!("{id} is answered, and was not asked for"));
        }
        effect.answered = Some(answer);
        self.settle(id, troubles);
    }

    /// Removes a transfer that the wallet has refused.
    pub(super) fn refused(&mut self, id: RequestId, troubles: &mut Troubles) {
        if self.named.remove(&id).is_some_and(|effect| effect.posted.is_some()) {
            let why = || format!("the transfer {id} is posted, and the table heard a refusal");
            troubles.add(Check::Transfers, why);
        }
    }

    /// Gives a requested transfer another id, and other legs if some are given.
    pub(super) fn renamed(
        &mut self,
        old: RequestId,
        new: RequestId,
        legs: Option<Legs>,
        troubles: &mut Troubles,
    ) {
        let asked = self.named.remove(&old).filter(|effect| effect.posted.is_none());
        match asked.and_then(|effect| effect.asked) {
            Some((what, asked)) => self.asked(new, (what, legs.unwrap_or(asked)), troubles),
            None => troubles.add(Check::Transfers, || {
                format!("{old} gets the id {new}, and is posted already or was never asked for")
            }),
        }
    }

    /// Returns the credits that a player who has left a table is still to be paid, by the account
    /// that they leave.
    pub(super) fn nameless_amount(&self, account: Account) -> Option<i128> {
        let (legs, _) = self.nameless.get(&account)?;
        legs.get(&account).map(|amount| amount.saturating_neg())
    }

    /// Gives a payment without an id other legs.
    pub(super) fn pay_elsewhere(&mut self, account: Account, legs: Legs) {
        if let Some((asked, _)) = self.nameless.get_mut(&account) {
            *asked = legs;
        }
    }

    /// Adds a payment from this account, to a player who has left its table.
    pub(super) fn pay_out(&mut self, account: Account, legs: Legs, troubles: &mut Troubles) {
        if self.nameless.insert(account, (legs, None)).is_some() {
            troubles.add(Check::Tables, || format!("{account} is paid out twice"));
        }
    }

    /// Adds the table's record that such a payment is posted.
    pub(super) fn paid_out(&mut self, account: Account, answer: Answer, troubles: &mut Troubles) {
        match self.nameless.get_mut(&account) {
            Some((_, answered)) => *answered = Some(answer),
            None => troubles.add(Check::Tables, || format!("{account} has nothing to be paid out")),
        }
    }

    fn settle(&mut self, id: RequestId, troubles: &mut Troubles) {
        let Some(effect) = self.named.get(&id) else { return };
        let (Some((what, asked)), Some((at, posted))) = (&effect.asked, &effect.posted) else {
            return;
        };
        if let Some(account) = different(asked, posted) {
            let leg = |legs: &Legs| match legs.get(&account) {
                Some(amount) => format!("{amount:+} credits"),
                None => "no leg".to_owned(),
            };
            let (asked, posted) = (leg(asked), leg(posted));
            troubles.add(Check::Transfers, || {
                format!(
                    "{what} {id}, position {at} of the wallet's log: of {account} {posted} posted, \
                     the table asked for {asked}"
                )
            });
        }
        if let Some(answer) = effect.answered {
            if answer.position.is_some_and(|position| position != *at) {
                let why = || format!("{what} {id} is at position {at}, the table names another");
                troubles.add(Check::Transfers, why);
            }
            self.named.remove(&id);
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.named.is_empty() && self.nameless.is_empty()
    }

    /// Ends the matching. Returns the credits that are still to be posted, by account, and a
    /// sentence for each open transfer.
    pub(super) fn finish(
        mut self,
        until: &Until,
        troubles: &mut Troubles,
    ) -> (BTreeMap<Account, i128>, Vec<String>) {
        let mut left = Left::default();
        for (id, effect) in std::mem::take(&mut self.named) {
            match (effect.asked, effect.posted) {
                (None, None) => {}
                (None, Some((_, legs))) if self.was_nameless(&legs) => {}
                (None, Some((at, _))) => troubles.add(Check::Transfers, || {
                    format!("position {at} of the wallet's log: no table asked for {id}")
                }),
                (Some((what, _)), Some(_)) => left
                    .open
                    .push(format!("{what} {id} is posted, and the table has not heard of it yet")),
                (Some((what, legs)), None) => {
                    left.add((&format!("{what} {id}"), &legs), effect.answered, (until, troubles));
                }
            }
        }
        for (account, (legs, answered)) in self.nameless {
            left.add((&format!("the payment of {account}"), &legs), answered, (until, troubles));
        }
        (left.pending, left.open)
    }

    /// Whether these are the legs of a payment without a recorded id. Each such payment is matched
    /// once.
    fn was_nameless(&mut self, posted: &Legs) -> bool {
        let found = self.nameless.iter().find(|(_, (legs, _))| legs == posted);
        let account = found.map(|(account, _)| *account);
        account.is_some_and(|account| self.nameless.remove(&account).is_some())
    }
}

/// First account whose posted credits differ from what was asked for. Legs of 0 credits are posted
/// all together or none of them: tables of earlier builds asked for none.
fn different(asked: &Legs, posted: &Legs) -> Option<Account> {
    let names_all = posted.values().any(|amount| *amount == 0);
    let wanted = |one: &Account| asked.get(one).filter(|amount| names_all || **amount != 0);
    let mut accounts = asked.keys().chain(posted.keys()).copied();
    accounts.find(|one| wanted(one) != posted.get(one))
}

/// Transfers that are not in the wallet's log.
#[derive(Default)]
struct Left {
    pending: BTreeMap<Account, i128>,
    open: Vec<String>,
}

impl Left {
    /// Adds a transfer that is not posted: one still to come, or a failure if its table says that
    /// it was posted.
    fn add(
        &mut self,
        (what, legs): (&str, &Legs),
        answered: Option<Answer>,
        (until, troubles): (&Until, &mut Troubles),
    ) {
        // A transfer posted before the wallet's log was read must be in the part that was read, and
        // so must one whose recorded position lies there.
        let unread = |answer: Answer| {
            let behind = answer.position.is_none_or(|position| position >= until.wallet_size);
            behind && answer.at >= until.read_at
        };
        if answered.is_none_or(unread) {
            self.open.push(format!("{what} is asked for, and not posted yet"));
            for (account, amount) in legs {
                let sum = self.pending.entry(*account).or_default();
                *sum = sum.saturating_add(*amount);
            }
        } else {
            troubles.add(Check::Transfers, || {
                format!("the table says that {what} was posted; it never was")
            });
        }
    }
}
