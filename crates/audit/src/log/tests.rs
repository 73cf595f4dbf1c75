use proto::event::v1 as pb;

use super::*;
use crate::tests::fixture::AnyRecord::Table;
use crate::tests::fixture::{Entry, LogName, TableFixture, log_key, signed_log};

fn room() -> TableFixture {
    let mut room = TableFixture::seated(1, "dice", 3);
    assert!(room.play());
    room
}

fn events() -> Vec<Event> {
    room().script.events(LogName::Table)
}

/// Checkpoints in the middle of the log and at its end.
fn checkpoints() -> Vec<String> {
    let mut room = room();
    let (_, _, whole) = signed_log(&room.script, LogName::Table);
    room.script.entries.truncate(room.script.entries.len() / 2);
    let (_, _, half) = signed_log(&room.script, LogName::Table);
    vec![half, whole]
}

fn audited(events: &[Event]) -> Report {
    audit(events, &checkpoints(), log_key(LogName::Table).public())
}

fn check(events: &[Event], fails: &[Check]) {
    let report = audited(events);
    assert_eq!(report.checks.failed().collect::<Vec<_>>(), fails, "{report:?}");
    assert_eq!(report.passed(), fails.is_empty());
}

#[test]
fn an_honest_log_passes_and_its_root_is_the_trees() {
    let events = events();
    check(&events, &[]);
    let report = audited(&events);
    assert_eq!(report.root, merkle::root(events.iter().map(Event::record)));
    assert_eq!(report.size, u64::try_from(events.len()).unwrap());
    assert_eq!((report.streams, report.checkpoints, report.unsigned), (2, 2, 0));
}

#[test]
fn each_break_is_found_by_its_check() {
    // The last event: nothing that follows names it, but the last checkpoint covers it.
    let last = |edit: fn(&mut Event), fails: Check| {
        let mut events = events();
        edit(events.last_mut().unwrap());
        check(&events, &[fails, Check::Trees]);
    };
    last(|it| it.position.0 += 1, Check::Positions);
    last(|it| it.recorded_at = UnixMicros(1), Check::Times);
    last(|it| it.version.0 += 1, Check::Versions);
    last(|it| it.previous[0] ^= 1, Check::Chains);
}

#[test]
fn what_was_rewritten_breaks_the_chain_behind_it_and_every_later_checkpoint() {
    let mut rewritten = events();
    let at = rewritten.len() / 3;
    rewritten[at].payload = bytes::Bytes::from_static(b"another");
    check(&rewritten, &[Check::Chains, Check::Trees]);

    let mut end = events();
    end.last_mut().unwrap().payload = bytes::Bytes::from_static(b"another");
    check(&end, &[Check::Trees]);
}

/// An attacker with the database and no key chains the whole log anew, and contradicts the signed
/// checkpoints.
#[test]
fn a_log_that_was_chained_anew_is_not_the_one_that_was_signed() {
    let mut room = room();
    let first = room.script.entries.iter_mut().find(|entry| entry.log == LogName::Table).unwrap();
    first.at = UnixMicros(first.at.0 - 1);
    check(&room.script.events(LogName::Table), &[Check::Trees]);
}

#[test]
fn a_left_out_event_is_found() {
    let mut events = events();
    let at = events.len() / 3;
    events.remove(at);
    check(&events, &[Check::Positions, Check::Versions, Check::Chains, Check::Trees]);
}

#[test]
fn a_log_that_was_cut_is_shorter_than_what_was_signed() {
    let mut events = events();
    events.pop();
    check(&events, &[Check::Trees]);
}

#[test]
fn a_checkpoint_of_another_key_is_none_of_this_log() {
    let report = audit(&events(), &checkpoints(), log_key(LogName::Dealer).public());
    assert_eq!(report.checks.failed().collect::<Vec<_>>(), [Check::Signatures]);
}

#[test]
fn without_checkpoints_nothing_is_said_of_them() {
    let report = audit(&events(), &[], log_key(LogName::Table).public());
    assert!(!report.passed());
    assert_eq!(report.checks.failed().count(), 0);
    assert!(matches!(report.checks.of(Check::Trees), Some(Verdict::NotPossible(_))));
}

/// The log with so many steps of its clock at its end.
fn stepped(times: u64) -> Vec<Event> {
    let mut room = room();
    let at = room.script.entries.last().unwrap().at;
    for number in 0..times {
        let (before_micros, after_micros) = (at.0 + number, at.0 + number - 3_600_000_000);
        let step =
            pb::ClockStepped { step_micros: -3_600_000_000, before_micros, after_micros, steps: 1 };
        let stream = StreamId::CLOCK;
        room.script.push(Entry { log: LogName::Table, stream, at, recorded: Table(step.into()) });
    }
    room.script.events(LogName::Table)
}

#[test]
fn steps_of_the_clock_are_described_in_words() {
    assert_eq!(audited(&events()).clock_records, 0);
    let report = audited(&stepped(1));
    assert!(report.passed(), "{report:?}");
    let listed: Vec<_> = report.clock_steps.iter().map(|step| step.words.as_str()).collect();
    let [words] = listed[..] else { panic!("{listed:?}") };
    assert!(words.starts_with("the clock of this service stepped 3600 s back, from "), "{words}");
    assert_eq!(report.clock_steps[0].position, report.size - 1);
}

#[test]
fn of_many_steps_the_last_are_listed_and_all_are_counted() {
    let report = audited(&stepped(130));
    assert!(report.passed());
    assert_eq!((report.clock_records, report.clock_steps.len()), (130, 100));
    assert_eq!(report.clock_steps.back().unwrap().position, report.size - 1);
}
