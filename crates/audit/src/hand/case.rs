//! The records, read: payloads decoded once, and the events that a hand has one of by name.

use eventlog_core::Event;
use primitives::TableId;
use proto::event::v1 as pb;
use wire::Recorded;

use crate::hand::HandRecords;
use crate::report::{Trouble, missing};

/// An event with its payload.
pub(super) struct Read<'a> {
    pub(super) event: &'a Event,
    pub(super) recorded: Recorded,
}

/// One of a kind, with where and when it stands.
pub(super) type One<'a, T> = Result<(&'a Event, &'a T), Trouble>;

pub(super) struct Case<'a> {
    pub(super) records: &'a HandRecords,
    pub(super) hand: Vec<Read<'a>>,
    pub(super) table: Vec<Read<'a>>,
    pub(super) dealer: Vec<Read<'a>>,
    pub(super) wallet: Vec<Read<'a>>,
    /// The first event that cannot be read.
    pub(super) unreadable: Option<String>,
    /// The first event that holds more than is read here. What cannot be read may be anything, a
    /// hidden card as well.
    pub(super) strange: Option<String>,
}

/// The first event of a kind, or why the check that needs it cannot be made.
macro_rules! one {
    ($(#[$doc:meta] $name:ident: $kind:ident in $list:ident, $what:literal;)*) => {
        impl Case<'_> {
            $(#[$doc]
            pub(super) fn $name(&self) -> One<'_, pb::$kind> {
                let found = self.$list.iter().find_map(|read| {
                    if let Recorded::$kind(it) = &read.recorded {
                        Some((read.event, it))
                    } else {
                        None
                    }
                });
                found.ok_or_else(|| missing(concat!($what, " is not among the records")))
            })*
        }
    };
}

one! {
    /// The hand's first event.
    opened: HandOpened in hand, "the opening of the hand";
    /// The end of the time to commit entropy.
    closed: EntropyClosed in hand, "the closing of the seats' commitments";
    /// The table's record of what the seats brought.
    sealed: HandSealed in hand, "the sealing of the hand";
    /// The settlement as the table recorded it.
    settled: HandSettled in hand, "the settlement";
    /// The end of a hand that came to nothing.
    aborted: HandAborted in hand, "that the hand was aborted";
    /// The table's record of the wallet's answer.
    posted: SettlementPosted in hand, "the table's note of the posted settlement";
    /// The seed as the table recorded it.
    revealed: HandRevealed in hand, "the table's copy of the opened seed";
    /// The commitment as the table's stream has it.
    noted: HandCommitted in table, "the table's note of the dealer's commitment";
    /// The hand's end in the table's stream.
    finished: HandFinished in table, "the end of the hand in the table's stream";
    /// The dealer's promise.
    committed: SeedCommitted in dealer, "the dealer's commitment";
    /// The dealer's record of what the seats brought.
    bound: SeedSealed in dealer, "the dealer's sealing";
    /// The seed as the dealer opened it.
    seed: SeedOpened in dealer, "the opened seed";
}

impl<'a> Case<'a> {
    pub(super) fn read(records: &'a HandRecords) -> Case<'a> {
        let (mut unreadable, mut strange) = (None, None);
        let mut list = |log: &str, events: &'a [Event]| -> Vec<Read<'a>> {
            let mut read = Vec::with_capacity(events.len());
            for event in events {
                let at = event.position.0;
                match Recorded::try_from(event) {
                    Ok(recorded) => {
                        if recorded.on(event.stream).payload != event.payload {
                            strange.get_or_insert(format!("position {at} of {log}'s log"));
                        }
                        read.push(Read { event, recorded });
                    }
                    Err(error) => {
                        unreadable.get_or_insert(format!("{log}'s log, position {at}: {error}"));
                    }
                }
            }
            read
        };
        let HandRecords { hand_id: _, hand, table, dealer, wallet, dealer_keys: _, proofs: _ } =
            records;
        let (hand, table) = (list("the table", hand), list("the table", table));
        let (dealer, wallet) = (list("the dealer", dealer), list("the wallet", wallet));
        Case { records, hand, table, dealer, wallet, unreadable, strange }
    }

    /// Whether the hand came to nothing.
    pub(super) fn came_to_nothing(&self) -> bool {
        self.aborted().is_ok()
    }

    /// Whether seats had a time to commit entropy. A hand in which they had none is not proved to be
    /// fair, whatever else holds; it may have shuffles without roots, and cards without salts.
    pub(super) fn has_entropy(&self) -> bool {
        self.opened().is_ok_and(|(_, opened)| opened.entropy_deadline_micros != 0)
    }

    /// The table as the hand's first event names it.
    pub(super) fn table_id(&self) -> Result<TableId, Trouble> {
        let (_, opened) = self.opened()?;
        TableId::try_from(&opened.table_id[..])
            .map_err(|_| crate::report::failed("the hand names no table"))
    }
}
