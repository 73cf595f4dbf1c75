//! Judgement: what a command would do, or why not. It looks and never touches.

use primitives::PlayerId;

use crate::{
    Account, Event, Kind, Ledger, Leg, MAX_LEGS, MAX_REASON_CHARS, MIN_LEGS, Refusal, Transfer,
};

/// What the ledger is asked to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// Opens a player's account. Seats are opened by their first buy-in, pots by the first
    /// settlement that pays into them; the house's accounts are always there.
    Open(PlayerId),
    Post(Transfer),
}

/// The events that carry the command out, in order; never empty.
///
/// # Errors
/// The first [`Refusal`] in its order of precedence; then nothing is to be done.
pub fn decide(ledger: &Ledger, command: Command) -> Result<Vec<Event>, Refusal> {
    match command {
        Command::Open(player) => {
            let account = Account::Player(player);
            if ledger.balance(&account).is_some() {
                return Err(Refusal::AccountExists { account });
            }
            Ok(vec![Event::Opened(account)])
        }
        Command::Post(transfer) => {
            in_itself(&transfer)?;
            let mut events = on_these_balances(ledger, &transfer)?;
            events.push(Event::Posted(transfer));
            Ok(events)
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
fn on_these_balances(ledger: &Ledger, transfer: &Transfer) -> Result<Vec<Event>, Refusal> {
    let mut opened = Vec::new();
    let mut refusal: Option<Refusal> = None;
    for leg in &transfer.legs {
        match one_leg(ledger, transfer, leg) {
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

fn one_leg(ledger: &Ledger, transfer: &Transfer, leg: &Leg) -> Result<Option<Event>, Refusal> {
    let account = leg.account;
    let Some(balance) = ledger.balance(&account) else {
        let opens = transfer.kind.opens(&account) && leg.amount.is_credit();
        return opens.then_some(Some(Event::Opened(account))).ok_or(unknown(account));
    };
    let after = balance.plus(leg.amount).map_err(|_| Refusal::BalanceOutOfRange { account })?;
    if after.is_debit() && !account.may_be_negative() {
        return Err(Refusal::InsufficientCredits { account, short: after.magnitude() });
    }
    Ok(None)
}

const fn unknown(account: Account) -> Refusal {
    Refusal::UnknownAccount { account }
}
