//! Honest logs pass, whole and cut at every moment. Each check fails for the break that it is there
//! for.

use primitives::{StreamId, UnixMicros};
use proto::common::v1::Resolution;
use proto::event::v1 as pb;
use wire::{TableRecord, WalletRecord};

use super::*;
use crate::tests::fixture::AnyRecord::{Table, Wallet};
use crate::tests::fixture::{
    AnyRecord, EntropyBehaviour, Entry, HandOptions, LogName, Suspension, SuspensionEnd,
    TableFixture,
};

const END: UnixMicros = UnixMicros(u64::MAX);

/// The whole life of a table: players come and go, hands are played, the pots are paid back.
fn room() -> TableFixture {
    let mut room = TableFixture::seated(3, "dice", 3);
    for hand in 0..6 {
        assert!(room.play());
        if hand == 2 {
            room.stand_up(2);
            room.sit(4, 700);
        }
    }
    room
}

fn closed() -> TableFixture {
    let mut room = room();
    room.close();
    room
}

fn report(room: &TableFixture) -> Report {
    audit(&room.script.events(LogName::Wallet), &room.script.events(LogName::Table), END)
}

fn fails(report: &Report) -> Vec<Check> {
    report.checks.failed().collect()
}

/// Checks that exactly these checks fail after `edit`.
fn check(failing: &[Check], edit: impl FnOnce(&mut Vec<Entry>)) {
    let mut room = closed();
    edit(&mut room.script.entries);
    let report = report(&room);
    assert_eq!(fails(&report), failing, "{report:#?}");
}

/// Returns the last event of a kind that matches, to be changed.
macro_rules! the {
    ($entries:expr, $log:ident($record:ident::$kind:ident), $fits:expr) => {
        $entries
            .iter_mut()
            .rev()
            .find_map(|entry| match &mut entry.recorded {
                AnyRecord::$log($record::$kind(it)) if $fits(it) => Some(it),
                _ => None,
            })
            .unwrap()
    };
    ($entries:expr, $log:ident($record:ident::$kind:ident)) => {
        the!($entries, $log($record::$kind), |_: &pb::$kind| true)
    };
}

mod guests;
mod promises;
mod zero;

/// Log and test of an event, and an actor who may not ask for it.
type UnauthorizedAct<'a> = (LogName, &'a dyn Fn(&AnyRecord) -> bool, &'a str);

/// Each of these events has an actor who may not ask for it. Everything else is honest.
#[test]
fn whoever_acts_may_act() {
    let mut room = promises::eventful();
    room.stand_up_with_stopped_cash_out(1, Resolution::PayToSuspense);
    let (wallet, table) = (LogName::Wallet, LogName::Table);
    let posted = |kind: i32| move |it: &AnyRecord| matches!(it, Wallet(WalletRecord::TransferPosted(it)) if it.kind == kind);
    let (issue, redeem, buy_in) = (posted(1), posted(2), posted(3));
    let (cash_out, settlement, adjustment) = (posted(4), posted(5), posted(7));
    let proposed = |it: &AnyRecord| matches!(it, Wallet(WalletRecord::AdjustmentProposed(_)));
    let rejected = |it: &AnyRecord| matches!(it, Wallet(WalletRecord::AdjustmentRejected(_)));
    let resumed = |it: &AnyRecord| matches!(it, Table(TableRecord::EffectResumed(_)));
    let acts: [UnauthorizedAct<'_>; 12] = [
        (wallet, &issue, "service:table"),
        (wallet, &issue, "operator:"),
        (wallet, &redeem, "player:x"),
        (wallet, &buy_in, "operator:specimen"),
        (wallet, &cash_out, "player:x"),
        (wallet, &settlement, "operator:specimen"),
        (wallet, &adjustment, "operator:other"),
        (wallet, &adjustment, "service:second"),
        (wallet, &proposed, "operator:second"),
        (wallet, &rejected, "player:x"),
        (table, &resumed, "service:table"),
        (table, &resumed, "player:x"),
    ];
    let honest = report(&room);
    assert!(honest.passed(), "{honest:#?}");
    assert_eq!(honest.suspense.len(), 1, "{honest:#?}");
    assert!(honest.suspense[0].contains("credits of seat/"), "{honest:#?}");
    for (log, is, actor) in acts {
        let mut wallet = room.script.events(LogName::Wallet);
        let mut table = room.script.events(LogName::Table);
        let events = if log == LogName::Wallet { &mut wallet } else { &mut table };
        let found = events.iter_mut().find(|it| AnyRecord::decode(log, it).is_ok_and(|it| is(&it)));
        found.unwrap().actor = actor.into();
        let expected = if log == LogName::Wallet { Check::Lawful } else { Check::Tables };
        assert_eq!(fails(&audit(&wallet, &table, END)), [expected], "{actor}");
    }
}

fn settles(posted: &pb::TransferPosted) -> bool {
    !posted.hand_id.is_empty() && posted.legs.len() > 1
}

/// Returns the number of entries at each moment between two appends. An account is opened in one
/// append with the event that needs it.
fn moments(room: &TableFixture) -> Vec<usize> {
    let entries = &room.script.entries;
    let whole = |length: &usize| {
        let last = length.checked_sub(1).map(|last| &entries[last].recorded);
        !matches!(last, Some(Wallet(WalletRecord::AccountOpened(it))) if !it.account.starts_with("player/"))
    };
    (0..entries.len()).filter(whole).collect()
}

fn without(entries: &mut Vec<Entry>, test: impl Fn(&AnyRecord) -> bool) {
    let index = entries.iter().rposition(|entry| test(&entry.recorded)).unwrap();
    entries.remove(index);
}

#[test]
fn an_honest_table_passes_from_its_opening_to_its_closing() {
    for room in [room(), closed()] {
        let report = report(&room);
        assert!(report.passed(), "{report:#?}");
        assert_eq!(report.open, Vec::<String>::new());
        let Figures { hands_opened, hands_settled, issued, redeemed, .. } = report.figures;
        assert_eq!((hands_opened, hands_settled, issued, redeemed), (6, 6, 8700, 0));
    }
}

#[test]
fn at_every_moment_what_is_under_way_is_known_and_no_trouble() {
    let room = closed();
    let mut open = 0;
    for length in moments(&room) {
        let mut until = TableFixture::open(3, "dice");
        until.script.entries = room.script.entries[..length].to_vec();
        let report = report(&until);
        assert!(report.passed(), "after {length} entries: {report:#?}");
        open += report.open.len();
    }
    assert!(open > 50, "{open}");
}

#[test]
fn the_tables_may_know_more_of_the_wallet_than_was_read() {
    let room = closed();
    for length in moments(&room) {
        let mut wallet = TableFixture::open(3, "dice");
        wallet.script.entries = room.script.entries[..length].to_vec();
        let read_at = room.script.entries[length].at;
        let tables = room.script.events(LogName::Table);
        let report = audit(&wallet.script.events(LogName::Wallet), &tables, read_at);
        assert!(report.passed(), "wallet read after {length} entries: {report:#?}");
    }
}

#[test]
fn fed_in_the_order_of_their_times_it_is_the_same() {
    let room = closed();
    let logs = [LogName::Wallet, LogName::Table];
    let of = |log| room.script.events(log).into_iter().map(move |event| (log, event));
    let mut events: Vec<(LogName, Event)> = logs.into_iter().flat_map(of).collect();
    events.sort_by_key(|(_, event)| event.recorded_at);
    let mut audit = LedgerAudit::new();
    for (log, event) in &events {
        if *log == LogName::Wallet { audit.wallet(event) } else { audit.table(event) }
    }
    assert!(audit.transfers.is_empty(), "nothing is kept of what is done with");
    assert_eq!(audit.finish(END), report(&room));
}

#[test]
fn lawful() {
    check(&[Check::Lawful], |entries| {
        the!(entries, Wallet(WalletRecord::TransferPosted), |it: &pb::TransferPosted| !it
            .reason
            .is_empty())
        .reason = String::new();
    });
    // One issue twice: lawful balances, and credits out of nothing.
    check(&[Check::Lawful], |entries| {
        let issue = |it: &Entry| matches!(&it.recorded, Wallet(WalletRecord::TransferPosted(it)) if it.kind == 1);
        let again = entries.iter().find(|it| issue(it)).unwrap().clone();
        entries.push(again);
    });
    // Another account is opened than the one that is paid.
    check(&[Check::Lawful], |entries| {
        let seat = |it: &pb::AccountOpened| it.account.starts_with("seat/");
        let account = &mut the!(entries, Wallet(WalletRecord::AccountOpened), seat).account;
        account.truncate(account.len() - 4);
        account.push_str("0000");
    });
}

#[test]
fn balanced() {
    check(&[Check::Lawful, Check::Balanced], |entries| {
        the!(entries, Wallet(WalletRecord::TransferPosted), |it: &pb::TransferPosted| it.kind
            == 1)
        .legs[1]
            .amount += 1;
    });
}

#[test]
fn tables() {
    // A stack grows between two hands.
    check(&[Check::Tables], |entries| {
        the!(entries, Table(TableRecord::HandFinished)).seats[0].stack += 1;
    });
    check(&[Check::Tables], |entries| {
        the!(entries, Table(TableRecord::HandFinished)).sabacc_pot += 1;
    });
    check(&[Check::Tables], |entries| {
        let closes = |it: &AnyRecord| matches!(it, Table(TableRecord::SeatVacated(_)));
        let index = entries.iter().rposition(|it| closes(&it.recorded)).unwrap();
        entries.insert(index, entries[index].clone());
    });
}

#[test]
fn tables_play_every_hand_by_their_own_rules() {
    check(&[Check::Tables], |entries| {
        the!(entries, Table(TableRecord::HandOpened)).settings.push(' ')
    });
    check(&[Check::Tables], |entries| {
        the!(entries, Table(TableRecord::HandOpened)).rule_set.push(' ')
    });
    // A hand that moved nothing but its number.
    check(&[Check::Tables], |entries| {
        let last = |it: &pb::HandOpened| it.hand_no == 6;
        the!(entries, Table(TableRecord::HandOpened), last).hand_no = 7;
    });
}

#[test]
fn a_hand_that_is_never_settled_is_found_when_the_next_one_opens() {
    let mut room = room();
    without(&mut room.script.entries, |it| matches!(it, Table(TableRecord::HandFinished(_))));
    assert!(report(&room).passed());
    assert!(room.play());
    let report = report(&room);
    assert!(fails(&report).contains(&Check::Tables), "{report:#?}");
}

#[test]
fn transfers() {
    check(&[Check::Transfers], |entries| {
        the!(entries, Table(TableRecord::SettlementPosted)).position += 1;
    });
    // A payment between seats that no table asked for, and back.
    check(&[Check::Transfers], |entries| {
        let index = entries.iter().rposition(
            |it| matches!(&it.recorded, Wallet(WalletRecord::TransferPosted(it)) if settles(it)),
        );
        let index = index.unwrap();
        for turn in [1_u8, 2] {
            let mut again = entries[index].clone();
            if let Wallet(WalletRecord::TransferPosted(posted)) = &mut again.recorded {
                posted.transfer_id = vec![turn; 16].into();
                posted.hand_id = posted.transfer_id.clone();
                for leg in &mut posted.legs {
                    leg.amount *= if turn == 1 { -1 } else { 1 };
                }
            }
            entries.insert(index + usize::from(turn), again);
        }
    });
}

#[test]
fn a_settlement_that_was_never_posted_or_posted_otherwise() {
    let posted =
        |it: &AnyRecord| matches!(it, Wallet(WalletRecord::TransferPosted(it)) if settles(it));
    let last = |room: &TableFixture| {
        room.script.entries.iter().rposition(|it| posted(&it.recorded)).unwrap()
    };
    let mut room = room();
    let index = last(&room);
    let kept = room.script.entries.remove(index);
    let failed = fails(&report(&room));
    assert_eq!(failed, [Check::Transfers, Check::Accounts], "never posted");

    room.script.entries.insert(index, kept);
    if let Wallet(WalletRecord::TransferPosted(posted)) = &mut room.script.entries[index].recorded {
        // Two players get less than they should, so that no account is in debt for it.
        for sign in [1, -1] {
            let leg = posted.legs.iter_mut().find(|leg| leg.amount * sign > 1).unwrap();
            leg.amount -= sign;
        }
    }
    let failed = fails(&report(&room));
    assert_eq!(failed, [Check::Transfers, Check::Accounts], "posted otherwise");
}

#[test]
fn accounts_name_the_first_difference() {
    let mut room = room();
    // The table pays rake that the wallet never saw, out of a pot that it states too small.
    let settled = the!(room.script.entries, Table(TableRecord::HandSettled));
    settled.rake += 1;
    let report = report(&room);
    let Some(Verdict::Failed(why)) = report.checks.of(Check::Accounts) else {
        panic!("{report:#?}");
    };
    assert!(why.starts_with("house/rake: the wallet says 0 credits, the tables 1"), "{why}");
}

#[test]
fn a_buy_in_that_was_refused_must_not_be_posted() {
    let mut room = TableFixture::seated(1, "dice", 2);
    let entries = &mut room.script.entries;
    let funded =
        entries.iter().rposition(|it| matches!(it.recorded, Table(TableRecord::SeatFunded(_))));
    let reason = "INSUFFICIENT_CREDITS".to_owned();
    let refused = pb::SeatRefused { seat: 2, reason, ..pb::SeatRefused::default() };
    entries[funded.unwrap()].recorded = Table(refused.into());
    let failed = fails(&report(&room));
    assert_eq!(failed, [Check::Transfers, Check::Accounts]);
    without(
        &mut room.script.entries,
        |it| matches!(it, Wallet(WalletRecord::TransferPosted(it)) if it.kind == 3),
    );
    without(
        &mut room.script.entries,
        |it| matches!(it, Wallet(WalletRecord::AccountOpened(it)) if it.account.starts_with("seat/")),
    );
    assert!(report(&room).passed(), "{:#?}", report(&room));
}

#[test]
fn whoever_left_before_the_pot_was_shared_is_paid_out_by_himself() {
    let mut room = room();
    let paid = room.close_for_absent(1);
    let report_now = report(&room);
    assert!(report_now.passed() && paid > 0, "{report_now:#?}");
    // The payment to the player is posted twice.
    let mut twice = room;
    let pays = |it: &Entry| matches!(&it.recorded, Wallet(WalletRecord::TransferPosted(it)) if it.kind == 4);
    let index = twice.script.entries.iter().rposition(pays).unwrap();
    let mut again = twice.script.entries[index].clone();
    if let Wallet(WalletRecord::TransferPosted(posted)) = &mut again.recorded {
        posted.transfer_id = vec![9; 16].into();
    }
    twice.script.entries.insert(index, again);
    assert!(fails(&report(&twice)).contains(&Check::Transfers));
    // It is not posted, and the table says that it was.
    without(
        &mut twice.script.entries,
        |it| matches!(it, Wallet(WalletRecord::TransferPosted(it)) if it.kind == 4),
    );
    without(
        &mut twice.script.entries,
        |it| matches!(it, Wallet(WalletRecord::TransferPosted(it)) if it.kind == 4),
    );
    assert!(fails(&report(&twice)).contains(&Check::Transfers));
}

/// Pots that more players fed than one transfer can pay go back in several transfers, and whole.
#[test]
fn pots_may_go_back_in_several_transfers() {
    let mut room = room();
    room.close_in(3);
    let honest = report(&room);
    assert!(honest.passed(), "{honest:#?}");

    let mut kept = room.clone();
    let due = |entry: &Entry| matches!(entry.recorded, Table(TableRecord::PotRefundDue(_)));
    let last = kept.script.entries.iter().rposition(due).unwrap();
    let refunded = |entry: &Entry| matches!(entry.recorded, Table(TableRecord::PotRefunded(_)));
    let posted = kept.script.entries.iter().rposition(refunded).unwrap();
    kept.script.entries.drain(last..=posted);
    assert!(fails(&report(&kept)).contains(&Check::Tables), "the house keeps the last part");

    let mut more = room.clone();
    the!(more.script.entries, Table(TableRecord::PotRefundDue)).shares[0].stack += 1;
    assert!(fails(&report(&more)).contains(&Check::Tables), "more than there is");
}

/// A hand that comes to nothing moves no credits.
#[test]
fn hands_that_come_to_nothing_leave_the_books_as_they_were() {
    let mut room = TableFixture::seated(3, "dice", 3);
    let burnt = HandOptions {
        entropy: [(1, EntropyBehaviour::Withholds)].into(),
        ..HandOptions::default()
    };
    let agreed = Suspension { after: Some(5), end: SuspensionEnd::Agreed };
    let agreed = HandOptions { suspension: Some(agreed), ..HandOptions::default() };
    let all = [HandOptions::default(), agreed, burnt].into_iter();
    for ways in all.chain([HandOptions::default()]) {
        room.options = ways;
        assert!(room.play());
    }
    room.close();
    let honest = report(&room);
    assert!(honest.passed(), "{honest:#?}");
    assert_eq!((honest.figures.hands_opened, honest.figures.hands_settled), (4, 2));

    let mut played = room.clone();
    the!(played.script.entries, Table(TableRecord::HandFinished), |it: &pb::HandFinished| it
        .aborted)
    .aborted = false;
    assert_eq!(fails(&report(&played)), [Check::Tables]);

    let mut paid = room.clone();
    let finished =
        the!(paid.script.entries, Table(TableRecord::HandFinished), |it: &pb::HandFinished| it
            .aborted);
    finished.seats[0].stack -= 1;
    finished.seats[1].stack += 1;
    assert_eq!(fails(&report(&paid)), [Check::Tables]);
}

/// A step of a service's clock, anywhere in its log, changes no balance.
#[test]
fn steps_of_the_clock_move_nothing() {
    let step = |at: UnixMicros| pb::ClockStepped {
        step_micros: -5_000_000,
        before_micros: at.0 + 5_000_000,
        after_micros: at.0,
        steps: 1,
    };
    let with = |stream: StreamId| {
        let mut room = closed();
        let entries = std::mem::take(&mut room.script.entries);
        for entry in entries {
            let (log, at) = (entry.log, entry.at);
            room.script.push(entry);
            if log == LogName::Table {
                let recorded = Table(step(at).into());
                room.script.push(Entry { log, stream, at, recorded });
            }
        }
        // Where a transfer stands is on record at its table.
        let (log, at) = (LogName::Wallet, room.script.entries.last().unwrap().at);
        let recorded = Wallet(step(at).into());
        room.script.push(Entry { log, stream, at, recorded });
        room
    };
    let honest = report(&with(StreamId::CLOCK));
    assert!(honest.passed(), "{honest:#?}");
    let elsewhere = report(&with(StreamId([1; 16])));
    assert_eq!(fails(&elsewhere), [Check::Lawful, Check::Tables]);
}
