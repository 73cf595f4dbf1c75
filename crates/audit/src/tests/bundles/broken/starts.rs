//! Hands that begin with something else than the last one left.

use std::collections::BTreeMap;

use crate::hand::Check;
use crate::tests::fixture::AnyRecord::Table;
use crate::tests::fixture::{AnyRecord, EntropyBehaviour, Entry, TableFixture};
use primitives::UnixMicros;
use proto::event::v1 as pb;
use rules::TableSettings;
use wire::TableRecord;

use super::{Golden, broken_hand, burnt, golden, index_of, rich, the};

pub(super) fn all() -> Vec<Golden> {
    let mut all = beginnings();
    all.extend(exclusions());
    all
}

fn beginnings() -> Vec<Golden> {
    let breaks = |name, edit: &dyn Fn(&mut Vec<Entry>)| {
        let mut room = second();
        edit(&mut room.script.entries);
        golden(name, room.bundle(2), &[Check::Start])
    };
    let last = |it: &pb::HandFinished| it.hand_no == 1;
    vec![
        breaks("start-other-stack", &|entries| {
            the!(entries, Table(TableRecord::HandFinished), last).seats[0].stack += 1;
        }),
        breaks("start-other-pot", &|entries| {
            the!(entries, Table(TableRecord::HandFinished), last).sabacc_pot += 1;
        }),
        breaks("start-other-button", &|entries| {
            the!(entries, Table(TableRecord::HandFinished), last).seats.rotate_left(1);
        }),
        breaks("start-other-player", &|entries| {
            the!(entries, Table(TableRecord::HandFinished), last).seats[0].player_id =
                vec![9; 16].into();
        }),
        breaks("start-misses-of-more-than-the-seats", &|entries| {
            the!(entries, Table(TableRecord::HandFinished), last).misses.push(0);
        }),
        broken_hand("start-other-settings-than-the-table", rich(), Check::Start, |entries| {
            let created = the!(entries, Table(TableRecord::TableCreated));
            created.settings =
                created.settings.replace("action_seconds = 20", "action_seconds = 9");
        }),
        broken_hand("start-seat-not-funded", rich(), Check::Start, |entries| {
            let funded =
                |it: &AnyRecord| matches!(it, Table(TableRecord::SeatFunded(it)) if it.seat == 2);
            entries.retain(|entry| !funded(&entry.recorded));
        }),
        broken_hand("start-misses-of-a-burnt-number", burnt(), Check::Start, |entries| {
            the!(entries, Table(TableRecord::HandFinished)).misses[0] += 1;
        }),
        broken_hand("start-other-house-mark", rich(), Check::Start, |entries| {
            let taken = the!(entries, Table(TableRecord::SeatTaken));
            taken.house = !taken.house;
        }),
        after_a_burnt_number(),
        golden("start-at-a-disabled-table", disabled().bundle(2), &[Check::Start]),
        golden("start-settings-out-of-bounds", hasty().bundle(1), &[Check::Start]),
    ]
}

/// Exclusions that say something else than what the burnt number makes of them.
fn exclusions() -> Vec<Golden> {
    let breaks = |name, edit: &dyn Fn(&mut pb::SeatExcluded)| {
        let mut room = behind_a_burnt_number();
        edit(the!(room.script.entries, Table(TableRecord::SeatExcluded)));
        golden(name, room.bundle(2), &[Check::Start])
    };
    vec![
        breaks("start-exclusion-of-step-0", &|it| it.step = 0),
        breaks("start-exclusion-of-step-33", &|it| it.step = 33),
        breaks("start-exclusion-of-another-step", &|it| it.step = 2),
        breaks("start-exclusion-for-fewer-numbers", &|it| it.until_hand_no -= 1),
        breaks("start-exclusion-for-less-time", &|it| it.until_micros -= 15_000_000),
        breaks("start-exclusion-for-more-time", &|it| it.until_micros += 1_000_000),
        breaks("start-exclusion-until-the-end-of-time", &|it| it.until_micros = u64::MAX),
        breaks("start-exclusion-of-another-seat", &|it| it.seat = 3),
        breaks("start-exclusion-of-another-player", &|it| it.player_id = vec![9; 16].into()),
        breaks("start-exclusion-for-another-number", &|it| it.burnt_hand_no = 0),
        exclusion_twice(),
        exclusion_apart(),
        second_step_skipped(),
        dealt_in_early(),
    ]
}

fn behind_a_burnt_number() -> TableFixture {
    let mut room = burnt();
    room.options.entropy.clear();
    assert!(room.play());
    room
}

/// A player is excluded twice for one number.
fn exclusion_twice() -> Golden {
    let mut room = behind_a_burnt_number();
    let entries = &mut room.script.entries;
    let excluded = index_of(entries, |it| matches!(it, Table(TableRecord::SeatExcluded(_))));
    entries.insert(excluded, entries[excluded].clone());
    golden("start-exclusion-twice", room.bundle(2), &[Check::Start])
}

/// A player is excluded behind another record than the end of the burnt number.
fn exclusion_apart() -> Golden {
    let mut room = behind_a_burnt_number();
    let entries = &mut room.script.entries;
    let excluded = index_of(entries, |it| matches!(it, Table(TableRecord::SeatExcluded(_))));
    let renamed = Table(pb::SeatRenamed { seat: 2 }.into());
    entries.insert(excluded, Entry { recorded: renamed, ..entries[excluded].clone() });
    golden("start-exclusion-apart-from-its-number", room.bundle(2), &[Check::Start])
}

/// Seat 1 withholds in the numbers 1 and 4, with two burnt numbers in between.
fn burnt_again() -> TableFixture {
    let mut room = burnt();
    for seat in [2, 3, 1] {
        room.options.entropy = BTreeMap::from([(seat, EntropyBehaviour::Withholds)]);
        assert!(room.play());
    }
    room.options.entropy.clear();
    assert!(room.play());
    room
}

/// The second exclusion of a player is one of the first step.
fn second_step_skipped() -> Golden {
    let mut room = burnt_again();
    let entries = &mut room.script.entries;
    let second = |it: &pb::SeatExcluded| it.burnt_hand_no == 4;
    let excluded = the!(entries, Table(TableRecord::SeatExcluded), second);
    assert_eq!((excluded.seat, excluded.step), (1, 2));
    excluded.step = 1;
    excluded.until_hand_no -= 1;
    excluded.until_micros -= 30_000_000;
    golden("start-exclusion-step-not-counted", room.bundle(5), &[Check::Start])
}

/// A player is dealt in before the time of their exclusion is over.
fn dealt_in_early() -> Golden {
    let mut room = burnt();
    room.options.entropy = BTreeMap::from([(3, EntropyBehaviour::Withholds)]);
    assert!(room.play());
    room.options.entropy.clear();
    assert!(room.play());
    let entries = &mut room.script.entries;
    let until = the!(entries, Table(TableRecord::SeatExcluded)).until_micros;
    let late = entries.iter_mut().filter(|entry| entry.at.0 >= until);
    late.for_each(|entry| entry.at = UnixMicros(entry.at.0 - 15_000_000));
    golden("start-excluded-player-dealt-in-early", room.bundle(3), &[Check::Start])
}

fn second() -> TableFixture {
    let mut room = TableFixture::seated(43, "dice", 3);
    assert!(room.play() && room.play());
    room
}

/// Plays a hand at a table that was disabled before it.
fn disabled() -> TableFixture {
    let mut room = TableFixture::seated(7, "dice", 3);
    assert!(room.play());
    room.disable(false);
    assert!(room.play());
    room
}

/// A table whose players have a millisecond to commit and to reveal.
fn hasty() -> TableFixture {
    let settings = TableSettings { commit_ms: 1, reveal_ms: 1, ..TableSettings::default() };
    let mut room = TableFixture::seated_with(40, "dice", 3, settings);
    assert!(room.play());
    room
}

/// A burnt number before the hand has changed a stack.
fn after_a_burnt_number() -> Golden {
    let mut room = behind_a_burnt_number();
    let entries = &mut room.script.entries;
    let burnt = |it: &pb::HandFinished| it.hand_no == 1;
    the!(entries, Table(TableRecord::HandFinished), burnt).seats[0].stack += 5;
    golden("start-burnt-number-changed-a-stack", room.bundle(2), &[Check::Start])
}
