//! Records at other places than a service writes them: twice, in streams that are not theirs, behind
//! an end.

use proto::event::v1 as pb;
use wire::{DealerRecord, TableRecord};

use super::Hostile;
use super::records::{agreed, bent, index_of, of};
use crate::tests::bundles::broken::the;
use crate::tests::fixture::AnyRecord::Dealer;
use crate::tests::fixture::{AnyRecord, Entry};

/// The first record of a kind stands there twice.
fn twice(kind: &str) -> Hostile {
    of(&format!("twice-{}", kind.to_lowercase()), |it| {
        let index = index_of(it, kind);
        let again = it[index].clone();
        it.insert(index, again);
    })
}

/// Records twice, at other places, and in streams that are not theirs.
pub(super) fn all() -> Vec<Hostile> {
    let moved = |name, kind: &'static str, behind: &'static str| {
        of(name, move |it: &mut Vec<Entry>| {
            let index = index_of(it, kind);
            let mut entry = it.remove(index);
            let to = index_of(it, behind);
            entry.at = it[to].at;
            it.insert(to + 1, entry);
        })
    };
    let streamed = |name, kind: &'static str, like: &'static str| {
        of(name, move |it: &mut Vec<Entry>| {
            let (index, like) = (index_of(it, kind), index_of(it, like));
            it[index].stream = it[like].stream;
        })
    };
    let mut all = vec![
        moved("order-decision-first", "MoveDecided", "HandStarted"),
        moved("order-decision-before-the-seal", "MoveDecided", "EntropyClosed"),
        moved("order-decision-behind-the-settlement", "MoveDecided", "HandSettled"),
        moved("order-decision-behind-the-end", "MoveDecided", "HandFinished"),
        moved("order-cards-before-the-hand", "CardsMoved", "HandCommitted"),
        moved("order-seal-behind-the-settlement", "HandSealed", "HandSettled"),
        moved("order-opening-behind-the-end", "HandOpened", "HandFinished"),
        streamed("order-decision-in-the-tables-stream", "MoveDecided", "HandCommitted"),
        streamed("order-settlement-in-the-tables-stream", "HandSettled", "HandCommitted"),
        streamed("order-commitment-in-the-hands-stream", "HandCommitted", "HandOpened"),
        streamed("order-end-in-the-hands-stream", "HandFinished", "HandOpened"),
        of("order-nothing-but-the-start", |it| it.truncate(index_of(it, "HandStarted") + 1)),
        of("order-nothing-but-the-end", |it| {
            let from = index_of(it, "HandFinished");
            it.drain(1..from);
        }),
    ];
    for kind in [
        "HandCommitted",
        "HandStarted",
        "HandOpened",
        "EntropyCommitted",
        "EntropyClosed",
        "EntropyRevealed",
        "HandSealed",
        "ChanceUsed",
        "CardsMoved",
        "MoveDecided",
        "CardsShown",
        "HandSettled",
        "HandFinished",
        "SettlementPosted",
        "HandRevealed",
        "SeedCommitted",
        "CommitmentsClosed",
        "SeedSealed",
        "CardsOpened",
        "SeedOpened",
    ] {
        all.push(twice(kind));
    }
    all.extend(ends());
    all
}

/// Two ends of one hand.
fn ends() -> Vec<Hostile> {
    let refused = |seed: bytes::Bytes| AnyRecord::from(TableRecord::from(pb::SeedRefused { seed }));
    let refused_behind = |it: &mut Vec<Entry>, other: bool| {
        let opened = index_of(it, "SeedOpened");
        let revealed = index_of(it, "HandRevealed");
        let seed = the!(it, Dealer(DealerRecord::SeedOpened)).seed.clone();
        let seed = if other { vec![5; 64].into() } else { seed };
        it[revealed].recorded = refused(seed.clone());
        if let Dealer(DealerRecord::SeedOpened(opened)) = &mut it[opened].recorded {
            opened.seed = seed;
        }
    };
    let aborted = || {
        let entries = agreed().script.entries;
        entries[index_of(&entries, "HandAborted")].recorded.clone()
    };
    vec![
        bent("ends-seed-refused-behind-an-abort", agreed(), |it| refused_behind(it, true)),
        bent("ends-right-seed-refused-behind-an-abort", agreed(), |it| refused_behind(it, false)),
        of("ends-aborted-behind-the-settlement", |it| {
            let settled = index_of(it, "HandSettled");
            let mut entry = it[settled].clone();
            entry.recorded = aborted();
            it.insert(settled + 1, entry);
        }),
        of("ends-aborted-before-the-settlement", |it| {
            let settled = index_of(it, "HandSettled");
            let mut entry = it[settled].clone();
            entry.recorded = aborted();
            it.insert(settled, entry);
        }),
        of("ends-seed-refused-and-revealed", |it| {
            let revealed = index_of(it, "HandRevealed");
            let mut entry = it[revealed].clone();
            entry.recorded = refused(vec![5; 64].into());
            it.insert(revealed, entry);
        }),
        bent("ends-aborted-of-unknown-cause", agreed(), |it| {
            the!(it, Table(TableRecord::HandAborted)).cause = 99;
        }),
        bent("ends-aborted-for-seat-257", agreed(), |it| {
            the!(it, Table(TableRecord::HandAborted)).seats = vec![257];
        }),
    ]
}
