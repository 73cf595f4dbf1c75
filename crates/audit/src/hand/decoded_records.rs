//! The decoded records of a hand: payloads parsed once, and access to the events that a hand has
//! once.

use eventlog_core::Event;
use primitives::TableId;
use proto::event::v1 as pb;
use wire::Recorded;

use crate::hand::HandRecords;
use crate::report::{CheckError, missing};

/// An event with its decoded payload.
pub(super) struct DecodedEvent<'a> {
    pub(super) event: &'a Event,
    pub(super) recorded: Recorded,
}

/// An event of a kind that a hand has once, with its payload.
pub(super) type FoundEvent<'a, T> = Result<(&'a Event, &'a T), CheckError>;

pub(super) struct DecodedRecords<'a> {
    pub(super) records: &'a HandRecords,
    pub(super) hand: Vec<DecodedEvent<'a>>,
    pub(super) table: Vec<DecodedEvent<'a>>,
    pub(super) dealer: Vec<DecodedEvent<'a>>,
    pub(super) wallet: Vec<DecodedEvent<'a>>,
    /// The first event that cannot be decoded.
    pub(super) unreadable: Option<String>,
    /// The first event that holds more than this program decodes. The rest could be anything, even
    /// a hidden card.
    pub(super) unrecognized: Option<String>,
}

/// Defines methods that return the first event of a kind, or the reason why a check that needs it
/// cannot be made.
macro_rules! one {
    ($(#[$doc:meta] $name:ident: $kind:ident in $list:ident, $what:literal;)*) => {
        impl DecodedRecords<'_> {
            $(#[$doc]
            pub(super) fn $name(&self) -> FoundEvent<'_, pb::$kind> {
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
    /// Returns the first event of the hand.
    opened: HandOpened in hand, "the opening of the hand";
    /// Returns the end of the time to commit to entropy.
    closed: EntropyClosed in hand, "the closing of the seats' commitments";
    /// Returns the table's record of the seats' contributions.
    sealed: HandSealed in hand, "the sealing of the hand";
    /// Returns the settlement that the table recorded.
    settled: HandSettled in hand, "the settlement";
    /// Returns the end of a hand that came to nothing.
    aborted: HandAborted in hand, "that the hand was aborted";
    /// Returns the table's record of the wallet's answer.
    posted: SettlementPosted in hand, "the table's note of the posted settlement";
    /// Returns the seed that the table recorded.
    revealed: HandRevealed in hand, "the table's copy of the opened seed";
    /// Returns the commitment in the table's stream.
    noted: HandCommitted in table, "the table's note of the dealer's commitment";
    /// Returns the end of the hand in the table's stream.
    finished: HandFinished in table, "the end of the hand in the table's stream";
    /// Returns the commitment that the dealer recorded.
    committed: SeedCommitted in dealer, "the dealer's commitment";
    /// Returns the dealer's record of the seats' contributions.
    bound: SeedSealed in dealer, "the dealer's sealing";
    /// Returns the seed that the dealer opened.
    seed: SeedOpened in dealer, "the opened seed";
}

impl<'a> DecodedRecords<'a> {
    pub(super) fn decode(records: &'a HandRecords) -> DecodedRecords<'a> {
        let (mut unreadable, mut strange) = (None, None);
        let mut list = |log: &str, events: &'a [Event]| -> Vec<DecodedEvent<'a>> {
            let mut read = Vec::with_capacity(events.len());
            for event in events {
                let at = event.position.0;
                match Recorded::try_from(event) {
                    Ok(recorded) => {
                        if recorded.on_stream(event.stream).payload != event.payload {
                            strange.get_or_insert(format!("position {at} of {log}'s log"));
                        }
                        read.push(DecodedEvent { event, recorded });
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
        DecodedRecords { records, hand, table, dealer, wallet, unreadable, unrecognized: strange }
    }

    /// Whether the hand came to nothing.
    pub(super) fn is_aborted(&self) -> bool {
        self.aborted().is_ok()
    }

    /// Whether seats had time to commit to entropy. A hand in which they had none is not proved to
    /// be fair, whatever else holds. It may have shuffles without roots and cards without salts.
    pub(super) fn has_entropy(&self) -> bool {
        self.opened().is_ok_and(|(_, opened)| opened.entropy_deadline_micros != 0)
    }

    /// Returns the table that the hand's first event names.
    pub(super) fn table_id(&self) -> Result<TableId, CheckError> {
        let (_, opened) = self.opened()?;
        TableId::try_from(&opened.table_id[..])
            .map_err(|_| crate::report::failed("the hand names no table"))
    }
}
