use super::*;
use crate::specimen::{LogName, Room};

fn events() -> Vec<Event> {
    let mut room = Room::seated(1, "dice", 3);
    assert!(room.play());
    room.script.events(LogName::Table)
}

fn check(events: &[Event], fails: &[Check]) {
    let report = audit(events);
    assert_eq!(report.checks.failed().collect::<Vec<_>>(), fails, "{report:?}");
    assert_eq!(report.passed(), fails.is_empty());
}

#[test]
fn an_honest_log_passes_and_its_root_is_the_trees() {
    let events = events();
    check(&events, &[]);
    let report = audit(&events);
    assert_eq!(report.root, merkle::root(events.iter().map(Event::record)));
    assert_eq!(report.size, u64::try_from(events.len()).unwrap());
    assert_eq!(report.streams, 2);
}

#[test]
fn each_break_is_found_by_its_check() {
    // The last event: nothing that follows names it.
    let mut gap = events();
    gap.last_mut().unwrap().position.0 += 1;
    check(&gap, &[Check::Positions]);

    let mut old = events();
    old.last_mut().unwrap().recorded_at = UnixMicros(1);
    check(&old, &[Check::Times]);

    let mut version = events();
    version.last_mut().unwrap().version.0 += 1;
    check(&version, &[Check::Versions]);

    let mut chain = events();
    chain.last_mut().unwrap().previous[0] ^= 1;
    check(&chain, &[Check::Chains]);
}

#[test]
fn what_was_rewritten_breaks_the_chain_behind_it_or_the_root() {
    let honest = audit(&events());
    let mut rewritten = events();
    let at = rewritten.len() / 2;
    rewritten[at].payload = bytes::Bytes::from_static(b"another");
    check(&rewritten, &[Check::Chains]);

    let mut end = events();
    end.last_mut().unwrap().payload = bytes::Bytes::from_static(b"another");
    check(&end, &[]);
    assert_ne!(audit(&end).root, honest.root);
}

#[test]
fn a_left_out_event_is_found() {
    let mut events = events();
    let at = events.len() / 2;
    events.remove(at);
    check(&events, &[Check::Positions, Check::Versions, Check::Chains]);
}
