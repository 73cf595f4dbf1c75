//! Card reveals that no rule calls for, and a deal without its reveal.

use crate::hand::Check;
use crate::tests::fixture::AnyRecord::{Dealer, Table};
use crate::tests::fixture::{AnyRecord, Entry, LogName};
use proto::common::v1::CardRef;
use proto::dealer::v1::{self as dealer, OpeningReason};
use proto::event::v1 as pb;
use wire::{DealerRecord, TableRecord};

use super::{Golden, broken_hand, index_of, rich, the};

fn reveal(cards: &[CardRef], seat: u32, reason: OpeningReason) -> AnyRecord {
    let cards = cards.iter().map(|it| dealer::Handle { op: it.op, position: it.position });
    let opening =
        dealer::Opening { cards: cards.collect(), audience_seat: seat, reason: reason.into() };
    let caller = "operator/curious".to_owned();
    Dealer(pb::CardsOpened { opening: Some(opening), caller }.into())
}

/// Inserts a record of the dealer right after the entry at `index`.
fn insert_reveal(entries: &mut Vec<Entry>, index: usize, recorded: AnyRecord) {
    let stream = entries
        [index_of(entries, |it| matches!(it, Dealer(DealerRecord::SeedCommitted(_))))]
    .stream;
    let at = entries[index].at;
    entries.insert(index + 1, Entry { log: LogName::Dealer, stream, at, recorded });
}

pub(super) fn all() -> Vec<Golden> {
    let breaks =
        |name, edit: &dyn Fn(&mut Vec<Entry>)| broken_hand(name, rich(), Check::Openings, edit);
    let bottom = [CardRef { op: 0, position: 75, card: String::new(), salt: Vec::new() }];
    let last_move = |entries: &[Entry]| {
        entries
            .iter()
            .rposition(|it| matches!(it.recorded, Table(TableRecord::MoveDecided(_))))
            .unwrap()
    };
    vec![
        breaks("openings-peek-at-the-pile", &|entries| {
            let index = last_move(entries);
            insert_reveal(entries, index, reveal(&bottom, 1, OpeningReason::Deal));
        }),
        breaks("openings-peek-at-a-hand", &|entries| {
            let moved = the!(entries, Table(TableRecord::CardsMoved)).clone();
            let index = last_move(entries);
            let other = if moved.seat == 1 { 2 } else { 1 };
            insert_reveal(entries, index, reveal(&moved.cards, other, OpeningReason::Recovery));
        }),
        breaks("openings-twice", &|entries| {
            let moved = the!(entries, Table(TableRecord::CardsMoved)).clone();
            let index = last_move(entries);
            insert_reveal(entries, index, reveal(&moved.cards, moved.seat, OpeningReason::Deal));
        }),
        breaks("openings-never", &|entries| {
            let index = index_of(entries, |it| matches!(it, Dealer(DealerRecord::CardsOpened(_))));
            entries.remove(index);
        }),
        breaks("openings-shown-too-early", &|entries| {
            let shown = the!(entries, Table(TableRecord::CardsShown)).cards.clone();
            let decided = index_of(entries, |it| matches!(it, Table(TableRecord::MoveDecided(_))));
            insert_reveal(entries, decided - 1, reveal(&shown[..1], 0, OpeningReason::Show));
        }),
    ]
}
