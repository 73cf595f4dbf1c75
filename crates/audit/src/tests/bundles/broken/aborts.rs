//! Hands that came to nothing without a ground, or not wholly.

use crate::hand::Check;
use crate::tests::bundles::honest::everybody;
use crate::tests::fixture::AnyRecord::{Dealer, Table, Wallet};
use crate::tests::fixture::{
    AnyRecord, EntropyBehaviour, Entry, HandOptions, LogName, TableFixture,
};
use primitives::UnixMicros;
use proto::common::v1::{AbortCause, AtFault};
use proto::event::v1 as pb;
use wire::replay::is_void;
use wire::{DealerRecord, TableRecord, WalletRecord};

use super::{Golden, agreed, broken_hand, burnt, delay, index_of, played, rich, the};

pub(super) fn all() -> Vec<Golden> {
    let mut all = causes();
    all.extend(consequences());
    all
}

/// Aborts without a ground, or by nobody.
fn causes() -> Vec<Golden> {
    vec![
        broken_hand("transcript-burnt-for-another-seat", burnt(), Check::Transcript, |entries| {
            the!(entries, Table(TableRecord::HandAborted)).seats = vec![3];
        }),
        broken_hand(
            "transcript-burnt-without-ground",
            burnt_without_ground(),
            Check::Transcript,
            |_| (),
        ),
        broken_hand("transcript-burnt-too-early", burnt(), Check::Transcript, |entries| {
            let aborted = index_of(entries, |it| matches!(it, Table(TableRecord::HandAborted(_))));
            let earlier = |entry: &mut Entry| entry.at = UnixMicros(entry.at.0 - 1_000_000);
            entries[aborted..].iter_mut().for_each(earlier);
        }),
        broken_hand("transcript-aborted-by-nobody", agreed(), Check::Transcript, |entries| {
            the!(entries, Table(TableRecord::HandAborted)).set_at_fault(AtFault::Unspecified);
        }),
        broken_hand("transcript-aborted-for-no-cause", agreed(), Check::Transcript, |entries| {
            the!(entries, Table(TableRecord::HandAborted)).set_cause(AbortCause::Unspecified);
        }),
        broken_hand("transcript-aborted-too-early", agreed(), Check::Transcript, |entries| {
            the!(entries, Table(TableRecord::HandAborted)).set_cause(AbortCause::Suspended);
        }),
    ]
}

/// Hands that came to nothing, and what followed does not fit.
fn consequences() -> Vec<Golden> {
    vec![
        broken_hand("seed-refused-behind-an-abort", agreed(), Check::Seed, |entries| {
            let seed: bytes::Bytes = vec![5; 64].into();
            the!(entries, Dealer(DealerRecord::SeedOpened)).seed = seed.clone();
            let revealed =
                index_of(entries, |it| matches!(it, Table(TableRecord::HandRevealed(_))));
            entries[revealed].recorded = Table(pb::SeedRefused { seed }.into());
        }),
        broken_hand("decisions-not-all-agreed", agreed(), Check::Decisions, |entries| {
            let voids =
                |it: &AnyRecord| matches!(it, Table(TableRecord::MoveDecided(it)) if is_void(it));
            let last = entries.iter().rposition(|entry| voids(&entry.recorded)).unwrap();
            entries.remove(last);
        }),
        broken_hand("decisions-agreed-twice", agreed(), Check::Decisions, |entries| {
            let voids =
                |it: &AnyRecord| matches!(it, Table(TableRecord::MoveDecided(it)) if is_void(it));
            let first = index_of(entries, voids);
            entries.insert(first, entries[first].clone());
        }),
        broken_hand("seed-of-aborted-hand-opened-early", agreed(), Check::Seed, |entries| {
            let aborted = index_of(entries, |it| matches!(it, Table(TableRecord::HandAborted(_))));
            let rest = entries[aborted..].iter_mut().filter(|it| it.log == LogName::Table);
            rest.for_each(|entry| delay(entry, 2_000_000));
        }),
        broken_hand("seed-of-aborted-hand-not-discarded", agreed(), Check::Seed, |entries| {
            the!(entries, Dealer(DealerRecord::SeedOpened)).discarded = false;
        }),
        broken_hand(
            "operations-more-than-was-due-at-the-abort",
            agreed(),
            Check::Operations,
            |entries| {
                let opened =
                    index_of(entries, |it| matches!(it, Dealer(DealerRecord::SeedOpened(_))));
                let last = entries
                    .iter()
                    .rposition(|it| {
                        matches!(it.recorded, Dealer(DealerRecord::OperationPerformed(_)))
                    })
                    .unwrap();
                let mut again = entries[last].clone();
                again.at = entries[opened].at;
                if let Dealer(DealerRecord::OperationPerformed(done)) = &mut again.recorded {
                    done.operation.as_mut().unwrap().index += 1;
                    done.result.as_mut().unwrap().index += 1;
                }
                entries.insert(opened, again);
            },
        ),
        broken_hand(
            "transfer-for-an-aborted-hand",
            agreed(),
            Check::Transfer,
            transfer_after_abort,
        ),
        broken_hand("conserved-refund-not-exact", agreed(), Check::Conserved, |entries| {
            let seats = &mut the!(entries, Table(TableRecord::HandFinished)).seats;
            (seats[0].stack, seats[1].stack) = (seats[0].stack - 10, seats[1].stack + 10);
        }),
        broken_hand("conserved-aborted-as-if-played", agreed(), Check::Conserved, |entries| {
            the!(entries, Table(TableRecord::HandFinished)).aborted = false;
        }),
    ]
}

/// Adds another hand's transfer to an aborted hand, moved to its table and player.
fn transfer_after_abort(entries: &mut Vec<Entry>) {
    let (source, mut rich) = (rich(), None);
    for entry in source.script.entries {
        if matches!(&entry.recorded, Wallet(WalletRecord::TransferPosted(it)) if !it.hand_id.is_empty())
        {
            rich = Some(entry);
        }
    }
    let (mut entry, id) =
        (rich.unwrap(), the!(entries, Table(TableRecord::HandStarted)).hand_id.clone());
    let table = the!(entries, Table(TableRecord::HandOpened)).table_id.clone();
    let player = the!(entries, Table(TableRecord::HandOpened)).roster[0].player_id.clone();
    let player = primitives::PlayerId::try_from(&player[..]).unwrap();
    let here = primitives::TableId::try_from(&table[..]).unwrap();
    if let Wallet(WalletRecord::TransferPosted(it)) = &mut entry.recorded {
        (it.transfer_id, it.hand_id, it.table_id) = (id.clone(), id, table);
        it.legs.truncate(2);
        it.legs[0].account = format!("seat/{here}/{player}");
        it.legs[1].account = "house/rake".to_owned();
        (it.legs[0].amount, it.legs[1].amount) = (-10, 10);
    }
    entry.stream = here.into();
    entry.at = entries.last().unwrap().at;
    entries.push(entry);
}

/// The table burns the hand as if seat 2 had withheld its entropy, although every seat revealed it.
fn burnt_without_ground() -> TableFixture {
    let mut room = played(HandOptions {
        entropy: everybody(EntropyBehaviour::Reveals),
        burns_anyway: true,
        ..HandOptions::default()
    });
    the!(room.script.entries, Table(TableRecord::HandAborted)).seats = vec![2];
    room
}
