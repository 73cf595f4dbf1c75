//! Transfers that tables request of the wallet. Each is recorded three times.
//!
//! A table records the transfer that it will request, the wallet posts it, the table records the
//! answer. When all three are there and agree, the transfer is complete and removed here; if it is
//! posted a second time, that posting has no request and is found.

use std::collections::BTreeMap;

use ::ledger::{Account, Transfer};
use primitives::{RequestId, UnixMicros};

use super::{Check, Failures};

/// Credits by account; 0 on seats of a settlement alone.
pub(super) type Legs = BTreeMap<Account, i128>;

/// The table's record that the wallet has posted.
#[derive(Clone, Copy)]
pub(super) struct WalletAnswer {
    pub(super) at: UnixMicros,
    /// Position of the transfer in the wallet's log, if the table recorded it.
    pub(super) position: Option<u64>,
}

/// End of the part of the wallet's log that was read.
pub(super) struct ReadLimit {
    pub(super) wallet_size: u64,
    pub(super) read_at: UnixMicros,
}

#[derive(Default)]
struct TransferState {
    requested: Option<(&'static str, Legs)>,
    posted: Option<(u64, Legs)>,
    answered: Option<WalletAnswer>,
}

/// Transfers under way.
#[derive(Default)]
pub(super) struct Transfers {
    by_id: BTreeMap<RequestId, TransferState>,
    /// Payments to players who have left their table, by the account that they leave: a table does
    /// not record the id under which it requests them.
    absent_payments: BTreeMap<Account, (Legs, Option<WalletAnswer>)>,
}

impl Transfers {
    /// Adds a transfer that a table will request. `what` is its name in a sentence.
    pub(super) fn add_request(
        &mut self,
        id: RequestId,
        what: &'static str,
        legs: Legs,
        troubles: &mut Failures,
    ) {
        let effect = self.by_id.entry(id).or_default();
        if effect.requested.replace((what, legs)).is_some() {
            troubles.add(Check::Transfers, || format!("{what} {id} is asked for twice"));
        }
        self.match_records(id, troubles);
    }

    /// Adds the wallet's posting of a transfer.
    pub(super) fn add_posting(&mut self, transfer: &Transfer, at: u64, troubles: &mut Failures) {
        let legs = transfer.legs.iter().map(|leg| (leg.account, i128::from(leg.amount.get())));
        let id = transfer.id;
        let effect = self.by_id.entry(id).or_default();
        if effect.posted.replace((at, legs.collect())).is_some() {
            let why = || format!("position {at} of the wallet's log: {id} is posted a second time");
            troubles.add(Check::Transfers, why);
        }
        self.match_records(id, troubles);
    }

    /// Adds the table's record that a transfer is posted.
    pub(super) fn add_answer(
        &mut self,
        id: RequestId,
        answer: WalletAnswer,
        troubles: &mut Failures,
    ) {
        let effect = self.by_id.entry(id).or_default();
        if effect.requested.is_none() {
            troubles.add(Check::Tables, || format!("{id} is answered, and was not asked for"));
        }
        effect.answered = Some(answer);
        self.match_records(id, troubles);
    }

    /// Removes a transfer that the wallet has refused.
    pub(super) fn add_refusal(&mut self, id: RequestId, troubles: &mut Failures) {
        if self.by_id.remove(&id).is_some_and(|effect| effect.posted.is_some()) {
            let why = || format!("the transfer {id} is posted, and the table heard a refusal");
            troubles.add(Check::Transfers, why);
        }
    }

    /// Gives a requested transfer another id, and other legs if some are given.
    pub(super) fn change_id(
        &mut self,
        old: RequestId,
        new: RequestId,
        legs: Option<Legs>,
        troubles: &mut Failures,
    ) {
        let asked = self.by_id.remove(&old).filter(|effect| effect.posted.is_none());
        match asked.and_then(|effect| effect.requested) {
            Some((what, asked)) => self.add_request(new, what, legs.unwrap_or(asked), troubles),
            None => troubles.add(Check::Transfers, || {
                format!("{old} gets the id {new}, and is posted already or was never asked for")
            }),
        }
    }

    /// Returns the credits that a player who has left a table is still to be paid, by the account
    /// that they leave.
    pub(super) fn absent_amount(&self, account: Account) -> Option<i128> {
        let (legs, _) = self.absent_payments.get(&account)?;
        legs.get(&account).map(|amount| amount.saturating_neg())
    }

    /// Gives a payment without an id other legs.
    pub(super) fn redirect_absent(&mut self, account: Account, legs: Legs) {
        if let Some((asked, _)) = self.absent_payments.get_mut(&account) {
            *asked = legs;
        }
    }

    /// Adds a payment from this account, to a player who has left its table.
    pub(super) fn add_absent_payment(
        &mut self,
        account: Account,
        legs: Legs,
        troubles: &mut Failures,
    ) {
        if self.absent_payments.insert(account, (legs, None)).is_some() {
            troubles.add(Check::Tables, || format!("{account} is paid out twice"));
        }
    }

    /// Adds the table's record that such a payment is posted.
    pub(super) fn add_absent_answer(
        &mut self,
        account: Account,
        answer: WalletAnswer,
        troubles: &mut Failures,
    ) {
        match self.absent_payments.get_mut(&account) {
            Some((_, answered)) => *answered = Some(answer),
            None => troubles.add(Check::Tables, || format!("{account} has nothing to be paid out")),
        }
    }

    fn match_records(&mut self, id: RequestId, troubles: &mut Failures) {
        let Some(effect) = self.by_id.get(&id) else { return };
        let (Some((what, asked)), Some((at, posted))) = (&effect.requested, &effect.posted) else {
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
            self.by_id.remove(&id);
        }
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.by_id.is_empty() && self.absent_payments.is_empty()
    }

    /// Ends the matching. Returns the credits that are still to be posted, by account, and a
    /// sentence for each open transfer.
    pub(super) fn finish(
        mut self,
        until: &ReadLimit,
        troubles: &mut Failures,
    ) -> (BTreeMap<Account, i128>, Vec<String>) {
        let mut left = OpenTransfers::default();
        for (id, effect) in std::mem::take(&mut self.by_id) {
            match (effect.requested, effect.posted) {
                (None, None) => {}
                (None, Some((_, legs))) if self.take_absent(&legs) => {}
                (None, Some((at, _))) => troubles.add(Check::Transfers, || {
                    format!("position {at} of the wallet's log: no table asked for {id}")
                }),
                (Some((what, _)), Some(_)) => left
                    .open
                    .push(format!("{what} {id} is posted, and the table has not heard of it yet")),
                (Some((what, legs)), None) => {
                    let what = format!("{what} {id}");
                    if let Err(why) = left.add_unposted(&what, &legs, effect.answered, until) {
                        troubles.add(Check::Transfers, || why);
                    }
                }
            }
        }
        for (account, (legs, answered)) in self.absent_payments {
            let what = format!("the payment of {account}");
            if let Err(why) = left.add_unposted(&what, &legs, answered, until) {
                troubles.add(Check::Transfers, || why);
            }
        }
        (left.pending, left.open)
    }

    /// Whether these are the legs of a payment without a recorded id. Each such payment is matched
    /// once.
    fn take_absent(&mut self, posted: &Legs) -> bool {
        let found = self.absent_payments.iter().find(|(_, (legs, _))| legs == posted);
        let account = found.map(|(account, _)| *account);
        account.is_some_and(|account| self.absent_payments.remove(&account).is_some())
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
struct OpenTransfers {
    pending: BTreeMap<Account, i128>,
    open: Vec<String>,
}

impl OpenTransfers {
    /// Adds a transfer that is not posted and is still to come.
    ///
    /// # Errors
    /// A message, if the table says that the transfer was posted.
    fn add_unposted(
        &mut self,
        what: &str,
        legs: &Legs,
        answered: Option<WalletAnswer>,
        until: &ReadLimit,
    ) -> Result<(), String> {
        // A transfer posted before the wallet's log was read must be in the part that was read, and
        // so must one whose recorded position lies there.
        let unread = |answer: WalletAnswer| {
            let behind = answer.position.is_none_or(|position| position >= until.wallet_size);
            behind && answer.at >= until.read_at
        };
        if answered.is_none_or(unread) {
            self.open.push(format!("{what} is asked for, and not posted yet"));
            for (account, amount) in legs {
                let sum = self.pending.entry(*account).or_default();
                *sum = sum.saturating_add(*amount);
            }
            Ok(())
        } else {
            Err(format!("the table says that {what} was posted; it never was"))
        }
    }
}
