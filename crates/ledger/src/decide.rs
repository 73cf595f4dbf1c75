//! Judgement: what a command would do, or why not. It looks and never touches.

use primitives::PlayerId;

use crate::{
    Account, Amount, Event, Kind, Ledger, Leg, MAX_LEGS, MAX_REASON_CHARS, MIN_LEGS, Refusal,
    Transfer,
};

/// What the ledger is asked to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// Opens a player's account. Seats are opened by their first buy-in, pots by the first
    /// settlement that pays into them; the house's accounts are always there.
    Open(PlayerId),
    Post(Transfer),
}

impl Command {
    /// Every account this command is about.
    pub(crate) fn accounts(&self) -> impl Iterator<Item = Account> {
        let (opened, legs) = match self {
            Command::Open(player) => (Some(Account::Player(*player)), [].as_slice()),
            Command::Post(transfer) => (None, transfer.legs.as_slice()),
        };
        opened.into_iter().chain(legs.iter().map(|leg| leg.account))
    }

    /// The events of a command that [`judge`] found lawful.
    pub(crate) fn into_events(self, mut opened: Vec<Event>) -> Vec<Event> {
        match self {
            Command::Open(_) => {}
            Command::Post(transfer) => opened.push(Event::Posted(transfer)),
        }
        opened
    }
}

/// The events that carry the command out, in order; never empty.
///
/// # Errors
/// The first [`Refusal`] in its order of precedence; then nothing is to be done.
pub fn decide(ledger: &Ledger, command: Command) -> Result<Vec<Event>, Refusal> {
    let opened = judge(|account| ledger.balance(account), &command)?;
    Ok(command.into_events(opened))
}

/// What the command opens first, or why it is refused, where `available` says which accounts there
/// are and what may be spent of them.
pub(crate) fn judge(
    available: impl Fn(&Account) -> Option<Amount>,
    command: &Command,
) -> Result<Vec<Event>, Refusal> {
    match command {
        Command::Open(player) => {
            let account = Account::Player(*player);
            if available(&account).is_some() {
                return Err(Refusal::AccountExists { account });
            }
            Ok(vec![Event::Opened(account)])
        }
        Command::Post(transfer) => {
            in_itself(transfer)?;
            on_these_balances(available, transfer)
        }
    }
}

/// What can be said of a transfer without looking at a balance.
fn in_itself(transfer: &Transfer) -> Result<(), Refusal> {
    let Transfer { id: _, kind, legs, reason } = transfer;
    let kind = *kind;
    let moved_nothing = legs.is_empty() && matches!(kind, Kind::Settlement { .. });
    if legs.len() < MIN_LEGS && !moved_nothing {
        return Err(Refusal::TooFewLegs { legs: legs.len() });
    }
    if legs.len() > MAX_LEGS {
        return Err(Refusal::TooManyLegs { legs: legs.len() });
    }
    if let Some(leg) = legs.iter().find(|leg| leg.amount.is_zero()) {
        return Err(Refusal::ZeroLeg { account: leg.account });
    }
    if let Some(account) = repeated(legs) {
        return Err(Refusal::DuplicateAccount { account });
    }
    // 64 legs below 2^53 stay below 2^59.
    let sum = legs.iter().fold(0_i64, |sum, leg| sum.saturating_add(leg.amount.get()));
    if sum != 0 {
        return Err(Refusal::NotBalanced { sum });
    }
    if let Some(account) = transfer.misfit() {
        return Err(Refusal::WrongAccount { kind, account });
    }
    if kind.needs_reason() && reason.trim().is_empty() {
        return Err(Refusal::ReasonMissing { kind });
    }
    let chars = reason.chars().count();
    if chars > MAX_REASON_CHARS {
        return Err(Refusal::ReasonTooLong { chars });
    }
    Ok(())
}

/// The first account that has been named by an earlier leg. At most 64 legs, mostly two: looking
/// back is cheaper than sorting.
fn repeated(legs: &[Leg]) -> Option<Account> {
    legs.iter()
        .enumerate()
        .find(|(at, leg)| legs.iter().take(*at).any(|earlier| earlier.account == leg.account))
        .map(|(_, leg)| leg.account)
}

/// The accounts to open first, or what the balances say against it.
fn on_these_balances(
    available: impl Fn(&Account) -> Option<Amount>,
    transfer: &Transfer,
) -> Result<Vec<Event>, Refusal> {
    let mut opened = Vec::new();
    let mut refusal: Option<Refusal> = None;
    for leg in &transfer.legs {
        match one_leg(available(&leg.account), transfer.kind, leg) {
            Ok(None) => {}
            Ok(Some(event)) => opened.push(event),
            Err(found) => {
                let earlier = refusal.filter(|kept| kept.precedence() <= found.precedence());
                refusal = Some(earlier.unwrap_or(found));
            }
        }
    }
    refusal.map_or(Ok(opened), Err)
}

fn one_leg(available: Option<Amount>, kind: Kind, leg: &Leg) -> Result<Option<Event>, Refusal> {
    let account = leg.account;
    let Some(available) = available else {
        let opens = kind.opens(&account) && leg.amount.is_credit();
        let opened = opens.then_some(Event::Opened(account));
        return opened.map(Some).ok_or(Refusal::UnknownAccount { account });
    };
    let after = available.plus(leg.amount).map_err(|_| Refusal::BalanceOutOfRange { account })?;
    if after.is_debit() && !account.may_be_negative() {
        return Err(Refusal::InsufficientCredits { account, short: after.magnitude() });
    }
    Ok(None)
}
