//! Records that a table's stream takes between two hands, and what they come to.

use crate::bundle::Bundle;
use crate::hand::{self, Check, HandVerdict, Report};
use crate::tests::bundles::hostile::check_work;
use crate::tests::fixture::{EntropyBehaviour, HandOptions, TableFixture, trusted};

/// Largest bundle, whatever players do.
const MAX_BUNDLE: usize = 1 << 20;

fn report(bundle: &Bundle) -> Report {
    hand::audit(&bundle.records(&trusted()))
}

/// A table behind a played hand, at which everybody takes part in chance.
fn table(seats: u32) -> TableFixture {
    let entropy = (1..=8).map(|seat| (seat, EntropyBehaviour::Reveals)).collect();
    let options = HandOptions { entropy, ..HandOptions::default() };
    let mut table = TableFixture::seated(7, "dice", seats).with_options(options);
    assert!(table.play());
    table
}

/// Lets players sit out and in, and others come and go, until the table's stream takes no more.
fn fill_stream(table: &mut TableFixture) {
    for seat in 1..=7 {
        (0..30).for_each(|_| table.toggle_sit_out(seat));
    }
    come_and_go(table, 115);
}

/// Lets so many players sit down and stand up again, with five records each.
fn come_and_go(table: &mut TableFixture, visitors: u32) {
    for _ in 0..visitors {
        table.sit(8, 2000);
        table.stand_up(8);
    }
}

/// fairness/SPEC.md §10.1.
#[test]
fn whatever_players_do_the_bundle_is_proved_and_below_a_mebibyte() {
    let mut table = table(7);
    fill_stream(&mut table);
    assert!(table.play());
    let bundle = table.bundle(2);
    let (report, bytes) = (report(&bundle), bundle.encode());
    assert_eq!(report.verdict, HandVerdict::Proved, "{report:#?}");
    assert!(bundle.table.records.len() > 1000, "{}", bundle.table.records.len());
    assert!(bytes.len() < MAX_BUNDLE, "{} bytes", bytes.len());
    check_work(report.work, &bytes);
}

/// fairness/SPEC.md §10.1.
#[test]
fn a_player_has_64_records_and_may_leave_behind_them() {
    let failed = |table: &TableFixture, hand_no| {
        report(&table.bundle(hand_no)).checks.failed().collect::<Vec<_>>()
    };
    let mut full = table(3);
    (0..30).for_each(|_| full.toggle_sit_out(3));
    assert!(full.play());
    assert_eq!(failed(&full, 2), []);
    let mut over = table(3);
    (0..32).for_each(|_| over.toggle_sit_out(3));
    assert!(over.play());
    assert_eq!(failed(&over, 2), [Check::Streams], "a commitment behind 64 records");
    let mut left = table(3);
    (0..31).for_each(|_| left.toggle_sit_out(3));
    left.stand_up(3);
    assert!(left.play());
    assert_eq!(failed(&left, 2), []);
    let mut anew = table(3);
    (0..30).for_each(|_| anew.toggle_sit_out(3));
    assert!(anew.play());
    (0..30).for_each(|_| anew.toggle_sit_out(3));
    assert!(anew.play());
    assert_eq!(failed(&anew, 3), [], "counting begins anew with each hand that is played");
}

/// fairness/SPEC.md §10.1.
#[test]
fn nobody_sits_down_behind_1024_records() {
    let mut table = table(7);
    fill_stream(&mut table);
    come_and_go(&mut table, 10);
    assert!(table.play());
    let report = report(&table.bundle(2));
    assert_eq!(report.checks.failed().collect::<Vec<_>>(), [Check::Streams]);
}
