//! The decoded records of a hand: payloads parsed once, and access to the events that a hand has
//! once.

use eventlog_core::Event;
use primitives::TableId;
use proto::event::v1 as pb;
use wire::records::{DealerRecord, PayloadError, Record, TableRecord, WalletRecord};

use crate::hand::HandRecords;
use crate::report::{CheckError, missing};

/// An event with its decoded payload.
pub(super) struct DecodedEvent<'a, R> {
    pub(super) event: &'a Event,
    pub(super) recorded: R,
}

/// An event of a kind that a hand has once, with its payload.
pub(super) type FoundEvent<'a, T> = Result<(&'a Event, &'a T), CheckError>;

pub(super) struct DecodedRecords<'a> {
    pub(super) records: &'a HandRecords,
    pub(super) hand: Vec<DecodedEvent<'a, TableRecord>>,
    pub(super) table: Vec<DecodedEvent<'a, TableRecord>>,
    pub(super) dealer: Vec<DecodedEvent<'a, DealerRecord>>,
    pub(super) wallet: Vec<DecodedEvent<'a, WalletRecord>>,
    /// The first event that cannot be decoded.
    pub(super) unreadable: Option<String>,
    /// The first event that holds more than this program decodes. The rest could be anything, even
    /// a hidden card.
    pub(super) unrecognized: Option<String>,
}

/// Defines methods that return the first event of a kind, or the reason why a check that needs it
/// cannot be made.
macro_rules! one {
    ($(#[$doc:meta] $name:ident: $record:ident::$kind:ident in $list:ident, $what:literal;)*) => {
        impl DecodedRecords<'_> {
            $(#[$doc]
            pub(super) fn $name(&self) -> FoundEvent<'_, pb::$kind> {
                let found = self.$list.iter().find_map(|read| {
                    if let $record::$kind(it) = &read.recorded {
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
    opened: TableRecord::HandOpened in hand, "the opening of the hand";
    /// Returns the end of the time to commit to entropy.
    closed: TableRecord::EntropyClosed in hand, "the closing of the seats' commitments";
    /// Returns the table's record of the seats' contributions.
    sealed: TableRecord::HandSealed in hand, "the sealing of the hand";
    /// Returns the settlement that the table recorded.
    settled: TableRecord::HandSettled in hand, "the settlement";
    /// Returns the end of a hand that came to nothing.
    aborted: TableRecord::HandAborted in hand, "that the hand was aborted";
    /// Returns the table's record of the wallet's answer.
    posted: TableRecord::SettlementPosted in hand, "the table's note of the posted settlement";
    /// Returns the seed that the table recorded.
    revealed: TableRecord::HandRevealed in hand, "the table's copy of the opened seed";
    /// Returns the commitment in the table's stream.
    noted: TableRecord::HandCommitted in table, "the table's note of the dealer's commitment";
    /// Returns the end of the hand in the table's stream.
    finished: TableRecord::HandFinished in table, "the end of the hand in the table's stream";
    /// Returns the commitment that the dealer recorded.
    committed: DealerRecord::SeedCommitted in dealer, "the dealer's commitment";
    /// Returns the dealer's record of the seats' contributions.
    bound: DealerRecord::SeedSealed in dealer, "the dealer's sealing";
    /// Returns the seed that the dealer opened.
    seed: DealerRecord::SeedOpened in dealer, "the opened seed";
}

impl<'a> DecodedRecords<'a> {
    pub(super) fn decode(records: &'a HandRecords) -> DecodedRecords<'a> {
        let mut faults = Faults { unreadable: None, unrecognized: None };
        let HandRecords { hand_id: _, hand, table, dealer, wallet, dealer_keys: _, proofs: _ } =
            records;
        let hand = faults.decode("the table", hand);
        let table = faults.decode("the table", table);
        let dealer = faults.decode("the dealer", dealer);
        let wallet = faults.decode("the wallet", wallet);
        let Faults { unreadable, unrecognized } = faults;
        DecodedRecords { records, hand, table, dealer, wallet, unreadable, unrecognized }
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

/// Faults of records that are being decoded: the first of each sort.
struct Faults {
    unreadable: Option<String>,
    unrecognized: Option<String>,
}

impl Faults {
    /// Decodes events of a log, without those that are not readable.
    fn decode<'a, R: Record>(
        &mut self,
        log: &str,
        events: &'a [Event],
    ) -> Vec<DecodedEvent<'a, R>> {
        let mut decoded = Vec::with_capacity(events.len());
        for event in events {
            let at = event.position.0;
            match R::try_from_event(event) {
                Ok(recorded) => {
                    if recorded.payload() != event.payload {
                        self.unrecognized.get_or_insert(format!("position {at} of {log}'s log"));
                    }
                    decoded.push(DecodedEvent { event, recorded });
                }
                // Of the wallet's records a hand has the transfer alone.
                Err(PayloadError::Foreign(..)) if R::SERVICE == WalletRecord::SERVICE => {}
                Err(PayloadError::Foreign(_, name)) => {
                    self.unreadable.get_or_insert(format!(
                        "{log}'s stream of the hand, position {at}: {name} does not belong there"
                    ));
                }
                Err(error) => {
                    self.unreadable.get_or_insert(format!("{log}'s log, position {at}: {error}"));
                }
            }
        }
        decoded
    }
}
