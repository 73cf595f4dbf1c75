//! Holds, adjustments, limits and other events of accounts: honest logs pass, and every event that
//! the ledger would not have decided is found.

use proto::common::v1::Resolution;
use std::time::Duration;

use ::ledger::{Adjustment, Amount, Command, Hold, LimitSetter, Limits, RequestedLimits};
use primitives::{AdjustmentId, Credits, HoldId, PlayerId, RequestId};

use super::*;

const HOUR: Duration = Duration::from_secs(3600);

fn id(n: u8) -> RequestId {
    RequestId([n; 16])
}

fn hold_of(n: u8) -> HoldId {
    id(n).into()
}

fn adjustment(n: u8, amount: i64) -> Command {
    Command::ProposeAdjustment(Adjustment {
        id: AdjustmentId(id(n).0),
        account: Account::Player(rich()),
        amount: Amount::try_new(amount).unwrap(),
        reason: "a mistake".into(),
        proposed_by: "first".into(),
    })
}

fn rich() -> PlayerId {
    PlayerId([77; 16])
}

fn limits(day: u32) -> Command {
    let limits = Limits { day: Some(Credits::of(day)), ..Limits::NONE };
    Command::SetLimits {
        player: rich(),
        by: LimitSetter::Player,
        limits: RequestedLimits::BuyIn(limits),
    }
}

/// A player with 1000 credits who plays at no table, and whose account has every kind of event.
pub(super) fn eventful() -> TableFixture {
    let mut room = room();
    let player = rich();
    let (own, seat) = (Account::Player(player), Account::Seat(room.table, player));
    let transfer = |n, kind, legs: [(Account, i64); 2]| {
        let legs = legs.map(|(account, amount)| ::ledger::Leg {
            account,
            amount: Amount::try_new(amount).unwrap(),
        });
        Command::PostTransfer(Transfer {
            id: id(n),
            kind,
            legs: legs.into(),
            reason: "why not".into(),
        })
    };
    let reason = || "for a reason".to_owned();
    let issue = |n| transfer(n, Kind::Issue, [(Account::Issuance, -1000), (own, 1000)]);
    let hold = |room: &TableFixture, n| {
        let expires_at = room.now().plus(HOUR);
        let (from, to, amount) = (own, seat, Credits::of(300));
        Command::PlaceHold(Hold { id: hold_of(n), from, to, amount, expires_at })
    };
    room.execute_wallet(Command::OpenAccount(player));
    room.execute_wallet(issue(101));
    let placed = hold(&room, 1);
    room.execute_wallet(placed);
    room.execute_wallet(Command::ReleaseHold { hold: hold_of(1) });
    let placed = hold(&room, 2);
    room.execute_wallet(placed);
    room.advance(HOUR);
    room.expire_holds();
    room.execute_wallet(limits(500));
    room.execute_wallet(limits(900));
    room.execute_wallet(Command::FreezeAccount { player, reason: reason() });
    room.execute_wallet(Command::UnfreezeAccount { player, reason: reason() });
    room.execute_wallet(adjustment(3, -400));
    let approve =
        |id, adjustment| Command::ApproveAdjustment { id, adjustment, by: "second".into() };
    room.execute_wallet(approve(id(4), AdjustmentId([3; 16])));
    room.execute_wallet(adjustment(5, 70));
    room.execute_wallet(Command::RejectAdjustment {
        adjustment: AdjustmentId(id(5).0),
        reason: reason(),
    });
    let redeem = transfer(102, Kind::Redeem, [(own, -600), (Account::Issuance, 600)]);
    room.execute_wallet(redeem);
    let until = Some(room.now().plus(HOUR));
    room.execute_wallet(Command::Exclude { player, until });
    room.execute_wallet(Command::CloseAccount { player, reason: reason() });
    room
}

/// Checks that exactly these checks fail after `edit`, and that the first says these words.
fn broken(failing: &[Check], words: &str, edit: impl FnOnce(&mut Vec<Entry>)) {
    let mut room = eventful();
    edit(&mut room.script.entries);
    let report = report(&room);
    assert_eq!(fails(&report), failing, "{report:#?}");
    let Some(Verdict::Failed(why)) = report.checks.of(failing[0]) else { panic!("{report:#?}") };
    assert!(why.contains(words), "{why}");
}

fn at(entries: &[Entry], test: impl Fn(&AnyRecord) -> bool) -> usize {
    entries.iter().rposition(|entry| test(&entry.recorded)).unwrap()
}

#[test]
fn an_eventful_life_passes() {
    let report = report(&eventful());
    assert!(report.passed(), "{report:#?}");
    let Figures { issued, redeemed, adjusted, holds, .. } = report.figures;
    assert_eq!((issued, redeemed, adjusted, holds), (9700, 600, -400, 2));
}

#[test]
fn holds_end_once_and_in_time() {
    let released = |it: &AnyRecord| matches!(it, Wallet(WalletRecord::HoldReleased(_)));
    let expired = |it: &AnyRecord| matches!(it, Wallet(WalletRecord::HoldExpired(_)));
    let lawful = [Check::Lawful];
    // A release without a hold, of another amount, and a second one.
    broken(&lawful, "no hold", |entries| {
        let placed = |it: &Entry| matches!(it.recorded, Wallet(WalletRecord::HoldPlaced(_)));
        let first = entries.iter().position(placed).unwrap();
        entries.remove(first);
    });
    broken(&lawful, "does not hold these", |entries| {
        the!(entries, Wallet(WalletRecord::HoldReleased)).amount -= 1
    });
    broken(&lawful, "no hold", |entries| {
        let index = at(entries, released);
        entries.insert(index, entries[index].clone());
    });
    // Too early, too late, with other credits.
    broken(&lawful, "has not expired", |entries| {
        let index = at(entries, expired);
        entries[index].at = entries[index - 1].at;
    });
    broken(&lawful, "is over, and it has not ended", |entries| {
        let index = at(entries, expired);
        entries.swap(index, index + 1);
        let time = entries[index].at;
        entries[index].at = entries[index + 1].at;
        entries[index + 1].at = time.max(entries[index].at);
    });
    broken(&lawful, "has not expired", |entries| {
        the!(entries, Wallet(WalletRecord::HoldExpired)).amount += 1
    });
    // A hold of more than there is, one that is over before it begins, one in place of another.
    broken(&lawful, "credits short", |entries| {
        let Wallet(WalletRecord::HoldPlaced(placed)) = &mut entries
            .iter_mut()
            .find(|it| matches!(it.recorded, Wallet(WalletRecord::HoldPlaced(_))))
            .unwrap()
            .recorded
        else {
            unreachable!()
        };
        placed.amount = 1001;
    });
    broken(&lawful, "time has passed", |entries| {
        the!(entries, Wallet(WalletRecord::HoldPlaced)).expires_micros = 5
    });
    broken(&lawful, "still waits", |entries| {
        let index = at(entries, |it| matches!(it, Wallet(WalletRecord::HoldPlaced(_))));
        entries.insert(index, entries[index].clone());
    });
}

/// A player whose credits at a table are held, captured for another player, and paid back.
fn captured() -> TableFixture {
    let mut room = room();
    let seats: Vec<Account> =
        room.seats.values().map(|seat| Account::Seat(room.table, seat.player)).collect();
    for (n, from, to) in [(1, seats[0], seats[1]), (2, seats[1], seats[0])] {
        let expires_at = room.now().plus(HOUR);
        let amount = Credits::of(3);
        room.execute_wallet(Command::PlaceHold(Hold {
            id: hold_of(n),
            from,
            to,
            amount,
            expires_at,
        }));
        for (part, amount, keep_rest) in [(10, 1, true), (20, 2, false)] {
            let amount = Credits::of(amount);
            let hold = hold_of(n);
            room.execute_wallet(Command::CaptureHold { id: id(part + n), hold, amount, keep_rest });
        }
    }
    room
}

/// Checks that [`Check::Lawful`] fails with these words after `edit` of captures. Other checks may
/// fail too, since no table requested the captures.
fn miscaptured(words: &str, edit: impl FnOnce(&mut Vec<Entry>)) {
    let mut room = captured();
    edit(&mut room.script.entries);
    let report = report(&room);
    assert!(fails(&report).contains(&Check::Lawful), "{report:#?}");
    let Some(Verdict::Failed(why)) = report.checks.of(Check::Lawful) else { unreachable!() };
    assert!(why.contains(words), "{why}");
}

#[test]
fn captures_pay_what_was_held_and_are_asked_for_by_tables() {
    assert_eq!(fails(&report(&captured())), [Check::Transfers]);
    let capture = |it: &pb::TransferPosted| it.kind == 8;
    let ends = |it: &pb::TransferPosted| it.kind == 8 && !it.keep_rest;
    miscaptured("no hold", |entries| {
        let index = at(entries, |it| matches!(it, Wallet(WalletRecord::HoldPlaced(_))));
        entries.remove(index);
    });
    miscaptured("no hold", |entries| {
        the!(entries, Wallet(WalletRecord::TransferPosted), capture).hold_id = vec![99; 16].into();
    });
    // More than is left: the rest was not kept, or too much was taken.
    miscaptured("no hold", |entries| {
        let keeps = |it: &pb::TransferPosted| it.kind == 8 && it.keep_rest;
        the!(entries, Wallet(WalletRecord::TransferPosted), keeps).keep_rest = false;
    });
    miscaptured("has 2 credits left", |entries| {
        let posted = the!(entries, Wallet(WalletRecord::TransferPosted), ends);
        posted.legs[0].amount -= 1;
        posted.legs[1].amount += 1;
    });
    // To somebody else; made out of nothing.
    miscaptured("another than was held", |entries| {
        let index = at(
            entries,
            |it| matches!(it, Wallet(WalletRecord::TransferPosted(it)) if it.kind == 8),
        );
        let Wallet(WalletRecord::TransferPosted(posted)) = &mut entries[index].recorded else {
            return;
        };
        posted.legs[1].account = posted.legs[1].account.replace("seat/", "pot/");
        let cut = "pot/".len() + 36;
        posted.legs[1].account.truncate(cut);
        posted.legs[1].account.push_str("/sabacc");
    });
    miscaptured("another than was held", |entries| {
        the!(entries, Wallet(WalletRecord::TransferPosted), ends).legs[1].amount += 1;
    });
}

#[test]
fn two_operators_adjust_what_was_proposed() {
    let lawful = [Check::Lawful];
    let adjusts = |it: &pb::TransferPosted| it.kind == 7;
    broken(&lawful, "cannot approve it", |entries| {
        the!(entries, Wallet(WalletRecord::TransferPosted), adjusts).approved_by = "first".into();
    });
    broken(&lawful, "another than was held or approved", |entries| {
        the!(entries, Wallet(WalletRecord::TransferPosted), adjusts).approved_by.clear();
    });
    broken(&lawful, "waits", |entries| {
        the!(entries, Wallet(WalletRecord::TransferPosted), adjusts).adjustment_id =
            vec![9; 16].into();
    });
    broken(&lawful, "another than was held or approved", |entries| {
        the!(entries, Wallet(WalletRecord::TransferPosted), adjusts).reason.push('!');
    });
    broken(&lawful, "proposed for another account", |entries| {
        the!(entries, Wallet(WalletRecord::AdjustmentRejected)).account = "house/rake".into();
        let index = at(entries, |it| matches!(it, Wallet(WalletRecord::AdjustmentRejected(_))));
        entries[index].stream = StreamId::default();
    });
    broken(&lawful, "still waits", |entries| {
        let index = at(entries, |it| matches!(it, Wallet(WalletRecord::AdjustmentProposed(_))));
        entries.insert(index, entries[index].clone());
    });
    broken(&lawful, "needs a reason", |entries| {
        the!(entries, Wallet(WalletRecord::AdjustmentProposed)).reason.clear()
    });
    // The same approval twice.
    broken(&[Check::Lawful, Check::Balanced], "waits", |entries| {
        let index = at(
            entries,
            |it| matches!(it, Wallet(WalletRecord::TransferPosted(it)) if it.kind == 7),
        );
        entries.insert(index + 1, entries[index].clone());
    });
}

#[test]
fn limits_wait_and_exclusions_last() {
    let lawful = [Check::Lawful];
    broken(&lawful, "looser limits hold before", |entries| {
        let set = the!(entries, Wallet(WalletRecord::LimitsSet));
        set.now = set.later.take();
        set.later_micros = 0;
    });
    broken(&lawful, "looser limits hold before", |entries| {
        the!(entries, Wallet(WalletRecord::LimitsSet)).later_micros -= 1;
    });
    broken(&lawful, "time has passed", |entries| {
        the!(entries, Wallet(WalletRecord::PlayerExcluded)).until_micros = Some(7);
    });
    broken(&lawful, "only be made longer", |entries| {
        let index = at(entries, |it| matches!(it, Wallet(WalletRecord::PlayerExcluded(_))));
        let mut longer = entries[index].clone();
        let Wallet(WalletRecord::PlayerExcluded(it)) = &mut longer.recorded else {
            return;
        };
        it.until_micros = None;
        entries.insert(index, longer);
    });
}

#[test]
fn freezes_and_closings() {
    let lawful = [Check::Lawful];
    broken(&lawful, "is not frozen", |entries| {
        let index = at(entries, |it| matches!(it, Wallet(WalletRecord::AccountFrozen(_))));
        entries.remove(index);
    });
    broken(&lawful, "is frozen", |entries| {
        let index = at(entries, |it| matches!(it, Wallet(WalletRecord::AccountUnfrozen(_))));
        entries.remove(index);
    });
    broken(&lawful, "is not empty", |entries| {
        let index = at(
            entries,
            |it| matches!(it, Wallet(WalletRecord::TransferPosted(it)) if it.kind == 2),
        );
        entries.remove(index);
    });
    broken(&lawful, "was closed", |entries| {
        let index = at(entries, |it| matches!(it, Wallet(WalletRecord::AccountClosed(_))));
        let mut again = entries[index].clone();
        again.at = again.at.plus(HOUR);
        entries.push(again);
    });
}

#[test]
fn an_event_in_other_words_or_in_another_stream_is_not_believed() {
    broken(&[Check::Lawful], "belongs into", |entries| {
        let index = at(entries, |it| matches!(it, Wallet(WalletRecord::PlayerExcluded(_))));
        entries[index].stream = StreamId([5; 16]);
    });
    broken(&[Check::Lawful], "in these words", |entries| {
        the!(entries, Wallet(WalletRecord::LimitsSet)).later = None;
    });
}

#[test]
fn what_was_paid_to_suspense_is_where_the_tables_say() {
    for resolution in [Resolution::Retry, Resolution::PayToSuspense] {
        let mut room = room();
        room.stand_up_with_stopped_cash_out(1, resolution);
        let found = report(&room);
        assert!(found.passed(), "{found:#?}");
        // The wallet pays elsewhere than the operator said.
        let entries = &mut room.script.entries;
        let paid =
            the!(entries, Wallet(WalletRecord::TransferPosted), |it: &pb::TransferPosted| it.kind
                == 4);
        let leg = paid.legs.iter_mut().find(|leg| leg.amount > 0).unwrap();
        leg.account = match resolution {
            Resolution::Retry => "house/suspense".to_owned(),
            Resolution::PayToSuspense | Resolution::Unspecified => {
                format!("player/{}", PlayerId([77; 16]))
            }
        };
        let failed = fails(&report(&room));
        assert!(failed.contains(&Check::Transfers), "{failed:?}");
    }
}

#[test]
fn what_the_house_set_right_is_counted() {
    let mut room = room();
    room.stand_up_with_stopped_cash_out(1, Resolution::PayToSuspense);
    let propose = Command::ProposeAdjustment(Adjustment {
        id: AdjustmentId(id(9).0),
        account: Account::Suspense,
        amount: Amount::try_new(-1).unwrap(),
        reason: "paid by hand".into(),
        proposed_by: "first".into(),
    });
    room.execute_wallet(propose);
    let (id, adjustment) = (id(10), AdjustmentId(id(9).0));
    room.execute_wallet(Command::ApproveAdjustment { id, adjustment, by: "second".into() });
    let found = report(&room);
    assert!(found.passed(), "{found:#?}");
    assert_eq!(found.figures.adjusted, -1);
}

#[test]
fn a_snapshot_is_of_what_the_log_before_it_says() {
    let mut room = eventful();
    room.snapshot_wallet();
    room.advance(HOUR * 24 * 40);
    room.snapshot_wallet();
    assert_eq!(fails(&report(&room)), [], "{:#?}", report(&room));
    let taken = at(&room.script.entries, |it| matches!(it, Wallet(WalletRecord::SnapshotTaken(_))));
    let mut other = room.clone();
    let snapshot = the!(other.script.entries, Wallet(WalletRecord::SnapshotTaken));
    snapshot.sha256 = vec![7; 32].into();
    assert_eq!(fails(&report(&other)), [Check::Lawful]);
    // The right snapshot of another moment.
    let mut earlier = room;
    let entry = earlier.script.entries.remove(taken);
    earlier.script.entries.insert(taken - 1, entry);
    assert!(fails(&report(&earlier)).contains(&Check::Lawful));
}
