//! Streams with something left out of them, or undone.

use crate::hand::{Check, YEAR_10000};
use crate::log_event::LogEvent;
use crate::tests::bundles::honest::records_of_one_player;
use crate::tests::fixture::AnyRecord::{Dealer, Table};
use crate::tests::fixture::{self, TableFixture};
use primitives::UnixMicros;
use proto::common::v1::{AbortCause, AtFault};
use proto::event::v1 as pb;
use wire::{DealerRecord, TableRecord};

use super::{Golden, broken_hand, burnt, golden, index_of, rich};

pub(super) fn all() -> Vec<Golden> {
    vec![
        broken_hand("streams-aborted-after-its-settlement", rich(), Check::Streams, |entries| {
            let settled = index_of(entries, |it| matches!(it, Table(TableRecord::HandSettled(_))));
            let mut aborted = entries[settled].clone();
            let undone = pb::HandAborted {
                at_fault: AtFault::Dealer.into(),
                seats: Vec::new(),
                evidence: "the dealer was silent".to_owned(),
                cause: AbortCause::Suspended.into(),
            };
            aborted.recorded = Table(undone.into());
            entries.insert(settled + 1, aborted);
        }),
        broken_hand("streams-continued-without-suspension", rich(), Check::Streams, |entries| {
            let sealed = index_of(entries, |it| matches!(it, Table(TableRecord::HandSealed(_))));
            let mut continued = entries[sealed].clone();
            continued.recorded = Table(pb::HandContinued { deadline_micros: 0 }.into());
            entries.insert(sealed + 1, continued);
        }),
        broken_hand("streams-seed-opened-in-the-year-10000", rich(), Check::Streams, |entries| {
            let opened = index_of(entries, |it| matches!(it, Dealer(DealerRecord::SeedOpened(_))));
            entries[opened..].iter_mut().for_each(|entry| entry.at = YEAR_10000);
        }),
        broken_hand("streams-seed-opened-at-the-end-of-time", rich(), Check::Streams, |entries| {
            let opened = index_of(entries, |it| matches!(it, Dealer(DealerRecord::SeedOpened(_))));
            entries[opened..].iter_mut().for_each(|entry| entry.at = UnixMicros(u64::MAX));
        }),
        broken_hand(
            "streams-records-over-the-limit",
            records_of_one_player(31),
            Check::Streams,
            |_| (),
        ),
        misplaced_decision(),
        burnt_number_left_out(),
        payload_withheld(),
    ]
}

/// A decision without a move stands at the front of the hand's stream.
fn misplaced_decision() -> Golden {
    let mut room = rich();
    let entries = &mut room.script.entries;
    let decided = index_of(entries, |it| matches!(it, Table(TableRecord::MoveDecided(_))));
    let mut early = entries[decided].clone();
    let opened = index_of(entries, |it| matches!(it, Table(TableRecord::HandOpened(_))));
    early.at = entries[opened].at;
    if let Table(TableRecord::MoveDecided(decided)) = &mut early.recorded {
        decided.r#move = None;
    }
    entries.insert(opened + 1, early);
    golden("streams-misplaced-decision", room.bundle(1), &[Check::Streams, Check::Decisions])
}

/// The records begin behind a number that was burnt.
fn burnt_number_left_out() -> Golden {
    let mut room = burnt();
    room.options.entropy.clear();
    assert!(room.play());
    let mut records = room.records(2);
    let committed = |event: &LogEvent| matches!(event.decode(), Some(TableRecord::HandCommitted(it)) if it.hand_no == 2);
    let first = records.table.iter().position(committed).unwrap();
    records.table.drain(..first);
    let bundle = fixture::bundle(&room.script, records);
    golden("streams-burnt-number-left-out", bundle, &[Check::Streams])
}

/// The table's first record is shown without its payload.
fn payload_withheld() -> Golden {
    let room: TableFixture = rich();
    let mut records = room.records(1);
    let created = records.table[0].event.clone();
    records.table[0] = LogEvent::leaf_only(created);
    let bundle = fixture::bundle(&room.script, records);
    golden("streams-payload-withheld", bundle, &[Check::Streams])
}
