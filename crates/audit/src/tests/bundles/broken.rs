//! Hands of an operator who lies about one thing and has every key: they chain the records anew,
//! build the trees anew and sign them. Only the check that the lie concerns fails. Where they lie
//! about the logs themselves, the records are honest and their proofs are not.

mod aborts;
mod closing;
mod hidden;
mod legs;
mod lies;
mod openings;
mod proofs;
mod signatures;
mod starts;
mod streams;

use std::collections::BTreeMap;

use crate::hand::Check;
use crate::tests::bundles::honest::silent;
use crate::tests::fixture::AnyRecord::Table;
use crate::tests::fixture::{
    AnyRecord, EntropyBehaviour, Entry, HandOptions, SuspensionEnd, TableFixture,
};
use primitives::UnixMicros;
use proto::event::v1 as pb;

use super::{Golden, golden};

/// Returns the first event of a kind that matches, to be changed.
macro_rules! the {
    ($entries:expr, $log:ident($record:ident::$kind:ident)) => {
        the!($entries, $log($record::$kind), |_: &proto::event::v1::$kind| true)
    };
    ($entries:expr, $log:ident($record:ident::$kind:ident), $fits:expr) => {
        $entries
            .iter_mut()
            .find_map(|entry| match &mut entry.recorded {
                crate::tests::fixture::AnyRecord::$log($record::$kind(it)) if $fits(it) => Some(it),
                _ => None,
            })
            .unwrap()
    };
}
pub(super) use the;
use wire::TableRecord;

pub(super) fn all() -> Vec<Golden> {
    let mut all = proofs::all();
    all.extend(lies::all());
    all.extend(legs::all());
    all.extend(hidden::all());
    all
}

/// The first table of three seats whose first hand has a decision of the clock, a bet, shown hands,
/// a winner and a shift.
fn rich() -> TableFixture {
    let fits = |room: &TableFixture| {
        let has = |test: &dyn Fn(&AnyRecord) -> bool| {
            room.script.entries.iter().any(|entry| test(&entry.recorded))
        };
        let moved = |it: &pb::MoveDecided| it.r#move.as_ref().map_or(0, |it| it.amount_credits);
        let wins = |it: &pb::HandSettled| it.lines.iter().any(|line| line.text.contains(" wins "));
        has(&|it| matches!(it, Table(TableRecord::MoveDecided(it)) if it.by_clock))
            && has(&|it| matches!(it, Table(TableRecord::MoveDecided(it)) if moved(it) > 0))
            && has(&|it| matches!(it, Table(TableRecord::CardsShown(_))))
            && has(&|it| matches!(it, Table(TableRecord::HandSettled(it)) if wins(it)))
            && room.records(1).hand.len() < 60
    };
    (0..)
        .map(|number| TableFixture::seated(number, "dice", 3))
        .find_map(|mut room| (room.play() && fits(&room)).then_some(room))
        .unwrap()
}

/// A hand that is burnt because seat 1 withheld its entropy.
fn burnt() -> TableFixture {
    let ways = HandOptions {
        entropy: BTreeMap::from([(1, EntropyBehaviour::Withholds)]),
        ..HandOptions::default()
    };
    played(ways)
}

/// A hand that all players agreed to end, since the dealer was silent.
fn agreed() -> TableFixture {
    played(silent(Some(6), SuspensionEnd::Agreed))
}

fn played(ways: HandOptions) -> TableFixture {
    let mut room = TableFixture::seated(40, "dice", 3).with_options(ways);
    assert!(room.play());
    room
}

/// A bundle of a hand after `edit` has changed it.
fn broken_hand(
    name: &str,
    mut room: TableFixture,
    check: Check,
    edit: impl FnOnce(&mut Vec<Entry>),
) -> Golden {
    edit(&mut room.script.entries);
    golden(name, room.bundle(1), &[check])
}

fn index_of(entries: &[Entry], test: impl Fn(&AnyRecord) -> bool) -> usize {
    entries.iter().position(|entry| test(&entry.recorded)).unwrap()
}

fn delay(entry: &mut Entry, micros: u64) {
    entry.at = UnixMicros(entry.at.0 + micros);
}
