//! Credits of a hand: by the rules, at the table, in the wallet.
//!
//! Specification: fairness/SPEC.md §10.6.

use std::collections::BTreeMap;

use ::ledger::{Account, Event as Entry, Kind};
use primitives::PlayerId;
use proto::event::v1 as pb;
use rules::Settlement;
use wire::WalletRecord;

use crate::hand::Check;
use crate::hand::decoded_records::DecodedRecords;
use crate::hand::replay::Replay;
use crate::report::{CheckError, ensure, failed, missing};

/// Credits after a hand.
struct FinishingCredits {
    stacks: Vec<u64>,
    sabacc_pot: u64,
    carried_pot: u64,
    rake: u64,
}

impl From<&Settlement> for FinishingCredits {
    fn from(settlement: &Settlement) -> FinishingCredits {
        FinishingCredits {
            stacks: settlement.finishing_stacks.iter().map(|stack| stack.get()).collect(),
            sabacc_pot: settlement.finishing_sabacc_pot.get(),
            carried_pot: settlement.finishing_carried_pot.get(),
            rake: settlement.rake.get(),
        }
    }
}

impl From<&pb::HandSettled> for FinishingCredits {
    fn from(settled: &pb::HandSettled) -> FinishingCredits {
        FinishingCredits {
            stacks: settled.finishing_stacks.clone(),
            sabacc_pot: settled.finishing_sabacc_pot,
            carried_pot: settled.finishing_carried_pot,
            rake: settled.rake,
        }
    }
}

/// Checks that the table recorded what the rules make of the hand, line by line.
///
/// A hand that came to nothing is not settled.
pub(super) fn check_settlement(
    decoded: &DecodedRecords<'_>,
    replay: &Replay,
) -> Result<(), CheckError> {
    if decoded.is_aborted() {
        return Ok(());
    }
    replay.verdict(Check::Settlement)?;
    let (_, settled) = decoded.settled()?;
    let end = replay.end.as_ref().ok_or_else(|| missing("the hand is not over"))?;
    let ruled = &end.settlement;
    let lines: Vec<String> = ruled.lines.iter().map(ToString::to_string).collect();
    let recorded: Vec<&str> = settled.lines.iter().map(|line| line.text.as_str()).collect();
    let different = (0..lines.len().max(recorded.len()))
        .find(|at| lines.get(*at).map(String::as_str) != recorded.get(*at).copied());
    ensure(different.is_none(), || {
        let at = different.unwrap_or_default();
        let text = |line: Option<&str>| line.map_or("nothing".to_owned(), |it| format!("`{it}`"));
        let (rules, record) = (lines.get(at).map(String::as_str), recorded.get(at).copied());
        format!("line {}: on record is {}, the rules say {}", at + 1, text(record), text(rules))
    })?;
    let FinishingCredits { stacks, sabacc_pot, carried_pot, rake } = FinishingCredits::from(ruled);
    let numbers = [
        ("the finishing stacks", settled.finishing_stacks == stacks),
        ("the Sabacc Pot", settled.finishing_sabacc_pot == sabacc_pot),
        ("the carried pot", settled.finishing_carried_pot == carried_pot),
        ("the rake", settled.rake == rake),
        ("who paid into the Sabacc Pot", settled.sabacc_paid == end.sabacc_paid),
        ("whether the Sabacc Pot was won", settled.sabacc_won == end.sabacc_won),
    ];
    let wrong = numbers.into_iter().find(|(_, right)| !right);
    ensure(wrong.is_none(), || {
        let (what, _) = wrong.unwrap_or_default();
        format!("{what}: the record and the rules differ")
    })
}

/// Checks the transfer: there is one, of the right id and kind, with a leg for each account that
/// the hand moved; none for a hand that came to nothing. Seats that the hand did not move have legs
/// of 0 credits all together or none of them: earlier builds of the table wrote none, and no record
/// says which build wrote it, so such legs are not demanded.
pub(super) fn check_transfer(
    decoded: &DecodedRecords<'_>,
    replay: &Replay,
) -> Result<(), CheckError> {
    let (_, opened) = decoded.opened()?;
    if decoded.is_aborted() {
        let quiet = decoded.records.wallet.is_empty() && decoded.posted().is_err();
        return ensure(quiet, || {
            "the hand came to nothing, and credits were moved for it".to_owned()
        });
    }
    let (settled_at, settled) = decoded.settled()?;
    let ruled = replay.end.as_ref().map(|end| FinishingCredits::from(&end.settlement));
    let mut expected = legs(opened, &ruled.unwrap_or_else(|| FinishingCredits::from(settled)))?;
    let mut transfers = decoded.wallet.iter().filter_map(|read| {
        matches!(read.recorded, WalletRecord::TransferPosted(_))
            .then_some((read.event, &read.recorded))
    });
    let (at, recorded) = transfers
        .next()
        .ok_or_else(|| missing("the wallet's transfer is not among the records"))?;
    ensure(transfers.next().is_none(), || "the wallet posted more than one transfer".to_owned())?;
    let entry =
        wire::ledger::parse_payload(recorded).map_err(|foreign| failed(foreign.to_string()))?;
    let Entry::TransferPosted(posted) = entry else { return Err(failed("it is no transfer")) };
    let transfer = posted.transfer;
    let table = decoded.table_id()?;
    ensure(transfer.id == decoded.records.hand_id.into(), || {
        format!("the transfer is called {}, not by the hand's id", transfer.id)
    })?;
    ensure(transfer.kind == Kind::Settlement { table }, || {
        format!("the transfer is a {} and not this table's settlement", transfer.kind)
    })?;
    let moved: Vec<(Account, i64)> =
        transfer.legs.iter().map(|leg| (leg.account, leg.amount.get())).collect();
    let found: BTreeMap<Account, i64> = moved.iter().copied().collect();
    ensure(found.len() == moved.len(), || "an account has two legs".to_owned())?;
    let names_all = found.values().any(|amount| *amount == 0);
    expected.retain(|_, amount| names_all || *amount != 0);
    let both = expected.keys().chain(found.keys());
    let wrong = both.copied().find(|account| expected.get(account) != found.get(account));
    ensure(wrong.is_none(), || {
        let account = wrong.unwrap_or(Account::Rake);
        match (found.get(&account), expected.get(&account)) {
            (Some(wallet), None) => {
                format!("{account}: the wallet has a leg of {wallet:+} credits, the hand has none")
            }
            (None, rules) => {
                let rules = rules.copied().unwrap_or_default();
                format!("{account}: the wallet has no leg, the hand one of {rules:+} credits")
            }
            (Some(wallet), Some(rules)) => {
                format!("{account}: the wallet moved {wallet:+} credits, the hand {rules:+}")
            }
        }
    })?;
    let skew = crate::hand::CLOCK_SKEW;
    ensure(at.recorded_at.plus(skew) >= settled_at.recorded_at, || {
        "the wallet posted the transfer before the hand was settled".to_owned()
    })?;
    let (_, noted) = decoded.posted()?;
    ensure(noted.position == at.position.0, || {
        let (noted, found) = (noted.position, at.position.0);
        format!("the table names position {noted} of the wallet's log, the transfer is at {found}")
    })
}

/// Returns the credits that each account gained or lost: every seat's, 0 too; pots and the house
/// are left out where they did neither.
fn legs(
    opened: &pb::HandOpened,
    after: &FinishingCredits,
) -> Result<BTreeMap<Account, i64>, CheckError> {
    let table = wire::field::table_id(&opened.table_id).map_err(|bad| failed(bad.to_string()))?;
    ensure(opened.roster.len() == after.stacks.len(), || "not one stack a player".to_owned())?;
    let mut legs = BTreeMap::new();
    let mut leg = |account: Account, before: u64, after: u64| {
        let moved = i128::from(after) - i128::from(before);
        let moved = i64::try_from(moved).map_err(|_| failed("a stack is out of range"))?;
        if moved != 0 || matches!(account, Account::Seat(..)) {
            legs.insert(account, moved);
        }
        Ok(())
    };
    for (seat, stack) in opened.roster.iter().zip(&after.stacks) {
        let player: PlayerId =
            wire::field::player_id(&seat.player_id).map_err(|bad| failed(bad.to_string()))?;
        leg(Account::Seat(table, player), seat.stack, *stack)?;
    }
    leg(Account::SabaccPot(table), opened.sabacc_pot, after.sabacc_pot)?;
    leg(Account::CarriedPot(table), opened.carried_pot, after.carried_pot)?;
    leg(Account::Rake, 0, after.rake)?;
    Ok(legs)
}

/// Checks that credits before the hand equal those after it plus rake, that the legs sum to zero,
/// and that the table goes on with these credits.
pub(super) fn check_conserved(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    let (_, opened) = decoded.opened()?;
    if decoded.is_aborted() {
        return check_returned(decoded, opened);
    }
    let (_, settled) = decoded.settled()?;
    let stacks = opened.roster.iter().map(|seat| seat.stack);
    let before = sum(stacks.chain([opened.sabacc_pot, opened.carried_pot]));
    let FinishingCredits { stacks, sabacc_pot, carried_pot, rake } =
        FinishingCredits::from(settled);
    let after = sum(stacks.iter().copied().chain([sabacc_pot, carried_pot, rake]));
    ensure(before == after, || {
        format!("{before} credits came into the hand, {after} came out of it")
    })?;
    for read in &decoded.wallet {
        if let WalletRecord::TransferPosted(posted) = &read.recorded {
            let sum: i128 = posted.legs.iter().map(|leg| i128::from(leg.amount)).sum();
            ensure(sum == 0, || format!("the legs of the transfer sum to {sum} credits"))?;
        }
    }
    let (_, finished) = decoded.finished()?;
    let pb::HandFinished { seats, sabacc_paid, sabacc_won, .. } = finished;
    let left = opened.roster.iter().zip(&stacks);
    let left: Vec<_> =
        left.map(|(seat, stack)| (seat.seat, &seat.player_id, *stack, seat.house)).collect();
    let goes_on = seats.iter().map(|seat| (seat.seat, &seat.player_id, seat.stack, seat.house));
    let roster = goes_on.eq(left);
    let pots = (finished.sabacc_pot, finished.carried_pot) == (sabacc_pot, carried_pot);
    let paid = (sabacc_paid, sabacc_won) == (&settled.sabacc_paid, &settled.sabacc_won);
    ensure(roster && pots && paid, || {
        "the table goes on with other credits than the settlement says".to_owned()
    })?;
    ensure(!finished.aborted, || {
        "the table goes on as if the hand had come to nothing, and it was settled".to_owned()
    })
}

/// Checks that every ante and bet is returned: the table goes on with the credits it had.
fn check_returned(decoded: &DecodedRecords<'_>, opened: &pb::HandOpened) -> Result<(), CheckError> {
    let (_, finished) = decoded.finished()?;
    let pb::HandFinished { seats, sabacc_pot, carried_pot, sabacc_paid, sabacc_won, .. } = finished;
    let pots = (*sabacc_pot, *carried_pot) == (opened.sabacc_pot, opened.carried_pot);
    let paid = sabacc_paid.iter().all(|paid| *paid == 0) && !sabacc_won;
    ensure(*seats == opened.roster && pots && paid, || {
        "the hand came to nothing, and the table goes on with other credits than before it"
            .to_owned()
    })?;
    ensure(finished.aborted, || {
        "the hand came to nothing, and the table goes on as if it had been played".to_owned()
    })
}

fn sum(amounts: impl Iterator<Item = u64>) -> u128 {
    amounts.map(u128::from).sum()
}
