//! Honest hands pass. Each check fails for the break that it is there for, and no other check does.

mod breaks;
mod mutations;

use std::sync::LazyLock;

use proto::event::v1 as pb;
use wire::{DealerRecord, TableRecord, WalletRecord};

use super::*;
use crate::tests::fixture::AnyRecord::{Dealer, Table, Wallet};
use crate::tests::fixture::{AnyRecord, Entry, LogName, TableFixture, trusted};

/// The first table whose first hand has a decision of the clock, a bet, shown hands and a winner.
static HONEST: LazyLock<TableFixture> = LazyLock::new(|| {
    let rich = |room: &TableFixture| {
        let has = |test: &dyn Fn(&AnyRecord) -> bool| {
            room.script.entries.iter().any(|entry| test(&entry.recorded))
        };
        let moved = |it: &pb::MoveDecided| it.r#move.as_ref().map_or(0, |it| it.amount_credits);
        let wins = |it: &pb::HandSettled| it.lines.iter().any(|line| line.text.contains(" wins "));
        has(&|it| matches!(it, Table(TableRecord::MoveDecided(it)) if it.by_clock))
            && has(&|it| matches!(it, Table(TableRecord::MoveDecided(it)) if moved(it) > 0))
            && has(&|it| matches!(it, Table(TableRecord::CardsShown(_))))
            && has(&|it| matches!(it, Table(TableRecord::HandSettled(it)) if wins(it)))
    };
    (0..)
        .map(|number| TableFixture::seated(number, "dice", 3))
        .find_map(|mut room| (room.play() && rich(&room)).then_some(room))
        .unwrap()
});

/// Returns the records of a hand as a bundle gives them to a reader who trusts the right keys.
fn proved(room: &TableFixture, hand_no: u64) -> HandRecords {
    room.bundle(hand_no).records(&trusted())
}

fn room() -> TableFixture {
    HONEST.clone()
}

fn after(edit: impl FnOnce(&mut Vec<Entry>)) -> Report {
    let mut room = room();
    edit(&mut room.script.entries);
    audit(&proved(&room, 1))
}

fn fails(report: &Report) -> Vec<Check> {
    report.checks.failed().collect()
}

#[test]
fn honest_hands_of_every_variant_pass() {
    for variant in rules::ALL {
        for number in 0..10 {
            let seats =
                (*variant.player_counts.start() + number % 5).min(*variant.player_counts.end());
            let mut room = TableFixture::seated(number.into(), variant.id, seats.into());
            for _ in 0..4 {
                if !room.play() {
                    break;
                }
                let report = audit(&proved(&room, room.hand_no));
                assert!(report.passed(), "{} {number} {report:#?}", variant.id);
            }
            assert!(room.hand_no > 0, "{} plays", variant.id);
        }
    }
}

/// fairness/SPEC.md §10.
#[test]
fn what_is_not_there_is_no_pass() {
    let room = room();
    let honest = proved(&room, 1);
    let none = HandRecords {
        hand: Vec::new(),
        table: Vec::new(),
        dealer: Vec::new(),
        wallet: Vec::new(),
        proofs: None,
        ..honest.clone()
    };
    let missing = |report: &Report| {
        let missing =
            |checked: &&Checked<Check>| matches!(checked.verdict, Verdict::NotPossible(_));
        report.checks.0.iter().filter(missing).map(|checked| checked.check).collect::<Vec<_>>()
    };
    assert_eq!(missing(&audit(&none)), Check::ALL);
    let blind = HandRecords { dealer_keys: Vec::new(), ..honest.clone() };
    assert_eq!(missing(&audit(&blind)), [Check::Commitment, Check::Closing]);
    let unposted = HandRecords { wallet: Vec::new(), ..honest.clone() };
    assert_eq!(missing(&audit(&unposted)), [Check::Transfer]);
    let another = HandRecords { hand_id: HandId([1; 16]), ..honest };
    assert!(fails(&audit(&another)).contains(&Check::Streams));
}

#[test]
fn a_hand_in_play_is_neither_proved_nor_disproved() {
    let room = room();
    for length in 1..room.records(1).hand.len() {
        let mut records = proved(&room, 1);
        let last = records.hand[length - 1].recorded_at;
        records.hand.truncate(length);
        records.dealer.retain(|event| event.recorded_at <= last);
        records.wallet.retain(|event| event.recorded_at <= last);
        records.table.retain(|event| event.recorded_at <= last);
        let report = audit(&records);
        assert_eq!(fails(&report), [], "after {length} events: {report:#?}");
        assert!(!report.passed());
    }
}

#[test]
fn the_story_says_everything_and_ends_with_the_verdicts() {
    let room = room();
    let records = proved(&room, 1);
    let report = audit(&records);
    let lines = story(&records, &report);
    let verdicts: Vec<&StoryLine> = lines.iter().filter(|line| line.who == "audit").collect();
    assert_eq!(verdicts.len(), Check::ALL.len());
    assert!(verdicts.iter().all(|line| line.what.ends_with("passed")));
    for events in [&records.hand, &records.table] {
        for event in events {
            let at = Some(("table", event.position.0));
            assert!(lines.iter().any(|line| line.record == at), "{event:?} is not told");
        }
    }
    let text: Vec<String> =
        lines.iter().map(|line| format!("{} {}", line.who, line.what)).collect();
    let says = |part: &str| text.iter().any(|line| line.contains(part));
    for part in [
        "commits to a seed",
        "deals ",
        "(the clock ran out)",
        " shows ",
        "wins ",
        "wallet moves seat ",
    ] {
        assert!(says(part), "nothing of {part}: {text:#?}");
    }
    assert!(!text.iter().any(|line| line.contains("??") || line.contains("did not come to")));
    let json = serde_json::to_value(&lines).unwrap();
    assert_eq!(json[0]["who"], "the table");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["checks"][0]["check"], "keys");
    assert_eq!(json["checks"][0]["verdict"], "passed");
}

/// A seed that stays closed leaves a settled hand as it is, and nothing is disproved.
#[test]
fn a_settled_hand_whose_seed_stays_closed_is_not_disproved() {
    let room = room();
    let mut records = proved(&room, 1);
    records.dealer.retain(|event| !matches!(event.decode(), Some(DealerRecord::SeedOpened(_))));
    records.hand.retain(|event| !matches!(event.decode(), Some(TableRecord::HandRevealed(_))));
    let position = records.hand.iter().position(|event| event.version.0 == 0);
    assert_eq!(position, None);
    rechain(&mut records.hand);
    let report = audit(&records);
    assert_eq!(fails(&report), [], "{report:#?}");
    assert!(!report.passed());
}

/// Chains events of a stream anew after one was removed.
fn rechain(events: &mut [LogEvent]) {
    let mut previous = [0; 32];
    for (version, event) in (1..).zip(events) {
        event.version = eventlog_core::Version(version);
        event.previous = previous;
        previous = merkle::record::chain_hash(&event.record());
    }
}
