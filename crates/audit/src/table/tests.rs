use proto::event::v1 as pb;
use wire::DealerRecord;

use super::*;
use crate::tests::fixture::AnyRecord::{Dealer, Table};
use crate::tests::fixture::{
    EntropyBehaviour, HandOptions, Suspension, SuspensionEnd, TableFixture,
};

fn audited(room: &TableFixture) -> TableReport {
    let mut audit = TableAudit::new(room.table);
    for hand_no in 1..=room.hand_no {
        let records = room.records(hand_no);
        audit.hand(hand_no, &records, &hand::audit(&records));
    }
    audit.finish()
}

fn silent(after: Option<u32>, end: SuspensionEnd) -> HandOptions {
    HandOptions { suspension: Some(Suspension { after, end }), ..HandOptions::default() }
}

/// A table whose hands end in different ways.
fn troubled() -> TableFixture {
    let ways = [
        HandOptions::default(),
        HandOptions {
            entropy: [(1, EntropyBehaviour::Withholds)].into(),
            ..HandOptions::default()
        },
        silent(Some(7), SuspensionEnd::Agreed),
        silent(None, SuspensionEnd::TooLong),
        HandOptions {
            entropy: [(1, EntropyBehaviour::Withholds)].into(),
            ..HandOptions::default()
        },
        HandOptions::default(),
    ];
    let mut room = TableFixture::seated(3, "force", 4);
    for way in ways {
        room.options = way;
        assert!(room.play());
    }
    room
}

/// fairness/SPEC.md §10.6.
#[test]
fn faults_are_counted_by_who_is_at_fault() {
    let report = audited(&troubled());
    assert!(report.passed(), "{report:#?}");
    assert_eq!((report.played, report.agreed, report.suspended), (2, 1, 1));
    assert_eq!(report.burnt.values().copied().collect::<Vec<_>>(), [2]);
    let thrown_away = |hand: &&HandSummary| hand.discarded.is_some();
    assert_eq!(report.hands.iter().filter(thrown_away).count(), 4);
    assert_eq!(report.warnings, Vec::<String>::new());
}

#[test]
fn what_was_thrown_away_is_described_card_by_card() {
    let report = audited(&troubled());
    let discarded = |index: usize| report.hands[index].discarded.clone().unwrap();
    let shut = "What it would have been takes the number of seat 1 too, which nobody opened";
    assert_eq!(discarded(1), shut);
    assert!(
        discarded(2).starts_with("Its seed held, up to the first decision: "),
        "{}",
        discarded(2)
    );
    let open = discarded(3);
    assert!(open.starts_with("It would have been, up to the first decision: "), "{open}");
    assert!(open.contains("seat 2: ") && open.contains("; seat "), "{open}");
    // Cards were dealt in the hand in which the dealer fell silent, so its first cards are on
    // record.
    let room = troubled();
    let is_dealt = |event: &LogEvent| event.decode::<TableRecord>().unwrap();
    let dealt = room.records(3).hand.iter().map(is_dealt).find_map(|recorded| {
        if let TableRecord::CardsMoved(pb::CardsMoved { seat, .. }) = recorded {
            Some(seat)
        } else {
            None
        }
    });
    let seat = dealt.unwrap();
    assert!(discarded(2).contains(&format!("seat {seat}: ")));
}

/// fairness/SPEC.md §10.6.
#[test]
fn a_hand_number_that_is_not_on_record_is_missed() {
    let room = troubled();
    let mut audit = TableAudit::new(room.table);
    for hand_no in [1, 2, 4, 5, 6] {
        let records = room.records(hand_no);
        audit.hand(hand_no, &records, &hand::audit(&records));
    }
    let report = audit.finish();
    assert!(!report.passed());
    assert_eq!(report.missing, ["hand 3 is not on record"]);
}

#[test]
fn a_thrown_away_seed_that_is_never_opened_is_missed() {
    let mut room = troubled();
    room.script.entries.retain(|entry| {
        let id = fairness::hand_id(room.table, 3);
        entry.stream != id.into()
            || !matches!(
                entry.recorded,
                Dealer(DealerRecord::SeedOpened(_)) | Table(TableRecord::HandRevealed(_))
            )
    });
    let report = audited(&room);
    assert!(!report.passed());
    assert_eq!(report.missing, ["the seed of hand 3 was thrown away, and is not open"]);
}

#[test]
fn only_the_last_hand_may_want_its_end() {
    let mut room = TableFixture::seated(3, "force", 3);
    assert!(room.play() && room.play());
    let whole = audited(&room);
    assert_eq!((whole.passed(), whole.played), (true, 2));
    let settled = |entry: &_| matches!(entry, Table(TableRecord::HandSettled(_)));
    let entries = &mut room.script.entries;
    let last = entries.iter().rposition(|entry| settled(&entry.recorded)).unwrap();
    entries.truncate(last + 1);
    let report = audited(&room);
    assert!(report.passed(), "{report:#?}");
    assert_eq!((report.played, &report.hands[1].end), (1, &HandResult::Ending));
    assert_ne!(report.hands[1].troubles, Vec::<String>::new(), "what is missing is told");
    // A hand that another one followed may lack no record.
    room.script.entries.retain(|entry| {
        entry.stream != fairness::hand_id(room.table, 1).into()
            || !matches!(entry.recorded, Table(TableRecord::HandRevealed(_)))
    });
    let report = audited(&room);
    assert!(!report.passed() && report.hands[0].end == HandResult::Played, "{report:#?}");
}
