//! Closings that leave something out, come too early, or are not the dealer's.

use crate::hand::Check;
use crate::tests::fixture::AnyRecord::{Dealer, Table};
use crate::tests::fixture::{EntropyBehaviour, Entry, HandOptions, TableFixture};
use primitives::UnixMicros;
use proto::dealer::v1 as dealer;
use rules::TableSettings;
use wire::{DealerRecord, TableRecord};

use super::{Golden, broken_hand, delay, golden, index_of, played, rich, the};

pub(super) fn all() -> Vec<Golden> {
    let honest = rich();
    let breaks = |name, edit: &dyn Fn(&mut Vec<Entry>)| {
        broken_hand(name, honest.clone(), Check::Closing, edit)
    };
    let dropped = played(HandOptions {
        entropy: [(1, EntropyBehaviour::Dropped)].into(),
        ..HandOptions::default()
    });
    let is_closing = |it: &_| matches!(it, Dealer(DealerRecord::CommitmentsClosed(_)));
    vec![
        golden("closing-commitment-dropped", dropped.bundle(1), &[Check::Closing]),
        golden("closing-too-few-numbers", too_few().bundle(1), &[Check::Closing]),
        breaks("closing-logs-differ", &|entries| {
            let closed = the!(entries, Table(TableRecord::EntropyClosed));
            closed.closing.as_mut().unwrap().signature[0] ^= 1;
        }),
        breaks("closing-not-signed", &|entries| {
            on_both(entries, &|closing| closing.signature[0] ^= 1);
        }),
        breaks("closing-other-hash", &|entries| {
            on_both(entries, &|closing| closing.closing[0] ^= 1);
        }),
        breaks("closing-of-a-stranger", &|entries| {
            on_both(entries, &|closing| closing.key_id = vec![3; 8]);
        }),
        breaks("closing-second", &|entries| {
            let first = index_of(entries, is_closing);
            entries.insert(first, entries[first].clone());
        }),
        breaks("closing-committed-twice", &|entries| {
            let given =
                index_of(entries, |it| matches!(it, Table(TableRecord::EntropyCommitted(_))));
            entries.insert(given, entries[given].clone());
        }),
        breaks("closing-dealer-late", &|entries| {
            let first = index_of(entries, is_closing);
            let rest = entries[first + 1..].iter_mut().filter(|it| is_dealers(it));
            rest.for_each(|entry| delay(entry, 400_000));
            delay(&mut entries[first], 400_000);
        }),
        breaks("closing-committed-after-it", &committed_after),
        breaks("closing-too-early", &|entries| too_early(entries)),
        two_seats(),
    ]
}

fn is_dealers(entry: &Entry) -> bool {
    entry.log == crate::tests::fixture::LogName::Dealer
}

/// Changes the closing in both logs alike.
fn on_both(entries: &mut [Entry], edit: &dyn Fn(&mut dealer::Closing)) {
    edit(the!(entries, Table(TableRecord::EntropyClosed)).closing.as_mut().unwrap());
    edit(the!(entries, Dealer(DealerRecord::CommitmentsClosed)).closing.as_mut().unwrap());
}

/// Commitments are closed although fewer seats have committed than the settings ask for.
fn too_few() -> TableFixture {
    let settings = TableSettings { contributors_min: 3, ..TableSettings::default() };
    let options = HandOptions { closes_anyway: true, ..HandOptions::default() };
    let mut room = TableFixture::seated_with(40, "dice", 3, settings).with_options(options);
    assert!(room.play());
    room
}

/// A seat commits between the closing and the reveals.
fn committed_after(entries: &mut Vec<Entry>) {
    let given = index_of(entries, |it| matches!(it, Table(TableRecord::EntropyCommitted(_))));
    let closed = index_of(entries, |it| matches!(it, Table(TableRecord::EntropyClosed(_))));
    let mut late = entries[given].clone();
    late.at = entries[closed].at;
    if let Table(TableRecord::EntropyCommitted(it)) = &mut late.recorded {
        (it.seat, it.player_id) = (8, vec![8; 16].into());
    }
    entries.insert(closed + 1, late);
}

/// Everything from the closing on comes a second earlier than the window allows.
fn too_early(entries: &mut [Entry]) {
    let first = index_of(entries, |it| matches!(it, Dealer(DealerRecord::CommitmentsClosed(_))));
    let earlier = |entry: &mut Entry| entry.at = UnixMicros(entry.at.0 - 500_000);
    entries[first..].iter_mut().for_each(earlier);
}

/// One player is dealt in on two seats.
fn two_seats() -> Golden {
    let mut room = rich();
    let player = room.seats[&1].player.0.to_vec();
    let entries = &mut room.script.entries;
    the!(entries, Table(TableRecord::SeatTaken), |it: &proto::event::v1::SeatTaken| it.seat == 2)
        .player_id = player.clone().into();
    let opened = the!(entries, Table(TableRecord::HandOpened));
    let seats = opened.roster.iter_mut().filter(|place| place.seat == 2);
    seats.for_each(|place| place.player_id = player.clone().into());
    let seats = the!(entries, Table(TableRecord::HandFinished)).seats.iter_mut();
    seats.filter(|place| place.seat == 2).for_each(|it| it.player_id = player.clone().into());
    on_both(entries, &|closing| {
        let rows = closing.rows.iter_mut().filter(|row| row.seat == 2);
        rows.for_each(|row| row.player_id.clone_from(&player));
    });
    let fails = [Check::Closing, Check::Transcript, Check::Transfer];
    golden("closing-one-player-on-two-seats", room.bundle(1), &fails)
}
