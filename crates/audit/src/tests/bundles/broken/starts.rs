//! Hands that begin with something else than the last one left.

use crate::hand::Check;
use crate::tests::fixture::AnyRecord::Table;
use crate::tests::fixture::{AnyRecord, Entry, TableFixture};
use proto::event::v1 as pb;
use rules::TableSettings;
use wire::TableRecord;

use super::{Golden, broken_hand, burnt, golden, rich, the};

pub(super) fn all() -> Vec<Golden> {
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
        after_a_burnt_number(),
        golden("start-settings-out-of-bounds", hasty().bundle(1), &[Check::Start]),
    ]
}

fn second() -> TableFixture {
    let mut room = TableFixture::seated(43, "dice", 3);
    assert!(room.play() && room.play());
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
    let mut room = burnt();
    room.options.entropy.clear();
    assert!(room.play());
    let entries = &mut room.script.entries;
    let burnt = |it: &pb::HandFinished| it.hand_no == 1;
    the!(entries, Table(TableRecord::HandFinished), burnt).seats[0].stack += 5;
    golden("start-burnt-number-changed-a-stack", room.bundle(2), &[Check::Start])
}
