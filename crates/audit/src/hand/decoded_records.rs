//! The decoded records of a hand: payloads parsed once, and access to the events that a hand has
//! once.

use eventlog_core::Event;
use merkle::record::RECORD_LEN;
use primitives::TableId;
use proto::event::v1 as pb;
use rules::TableSettings;
use wire::records::{DealerRecord, PayloadError, Record, TableRecord, WalletRecord};

use crate::hand::HandRecords;
use crate::log_event::LogEvent;
use crate::report::{CheckError, failed, missing};
use crate::work::WorkCounter;

/// An event with its decoded payload.
pub(super) struct DecodedEvent<'a, R> {
    pub(super) event: &'a Event,
    pub(super) recorded: R,
}

/// An event of a kind that a hand has once, with its payload.
pub(super) type FoundEvent<'a, T> = Result<(&'a Event, &'a T), CheckError>;

/// Records of a hand. Events whose payload is withheld are not in the decoded lists.
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
    pub(super) work: WorkCounter,
}

/// Defines methods that return the first event of a kind that fits, or the reason why a check that
/// needs it cannot be made.
macro_rules! one {
    ($(
        $(#[$doc:meta])* $name:ident: $record:ident::$kind:ident in $list:ident $(for $number:ident)?, $what:literal;
    )*) => {
        impl DecodedRecords<'_> {
            $($(#[$doc])*
            pub(super) fn $name(&self) -> FoundEvent<'_, pb::$kind> {
                $(let $number = self.hand_no();)?
                let found = self.$list.iter().find_map(|read| {
                    if let $record::$kind(it) = &read.recorded
                        $(&& $number.as_ref().is_ok_and(|number| *number == it.$number))?
                    {
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
    /// Returns the seed that the table refused.
    refused: TableRecord::SeedRefused in hand, "a refusal of the opened seed";
    /// Returns the commitment in the table's stream.
    noted: TableRecord::HandCommitted in table for hand_no, "the table's note of the dealer's commitment";
    /// Returns the end of the hand in the table's stream.
    finished: TableRecord::HandFinished in table for hand_no, "the end of the hand in the table's stream";
    /// Returns the commitment that the dealer recorded.
    committed: DealerRecord::SeedCommitted in dealer, "the dealer's commitment";
    /// Returns the dealer's record of the closing.
    dealer_closed: DealerRecord::CommitmentsClosed in dealer, "the dealer's closing";
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
        let work = WorkCounter::default();
        let read = |event: &LogEvent| work.hashed(RECORD_LEN + event.payload.len());
        let lists = [&records.hand, &records.table, &records.dealer, &records.wallet];
        lists.into_iter().flatten().for_each(read);
        DecodedRecords { records, hand, table, dealer, wallet, unreadable, unrecognized, work }
    }

    /// Whether the hand came to nothing. A settled hand is undone by nothing.
    pub(super) fn is_aborted(&self) -> bool {
        self.aborted().is_ok() && self.settled().is_err()
    }

    /// Returns the suspension that the records end with, if the dealer has not come back since.
    pub(super) fn suspended(&self) -> Option<(&Event, &pb::HandSuspended)> {
        let last = self.hand.iter().rev().find(|read| {
            matches!(read.recorded, TableRecord::HandSuspended(_) | TableRecord::HandContinued(_))
        })?;
        let TableRecord::HandSuspended(suspended) = &last.recorded else { return None };
        Some((last.event, suspended))
    }

    /// Returns the table that the hand's first event names.
    pub(super) fn table_id(&self) -> Result<TableId, CheckError> {
        let (_, opened) = self.opened()?;
        TableId::try_from(&opened.table_id[..]).map_err(|_| failed("the hand names no table"))
    }

    /// Returns the number that the hand's first event names.
    pub(super) fn hand_no(&self) -> Result<u64, CheckError> {
        self.opened().map(|(_, opened)| opened.hand_no)
    }

    /// Returns the settings that the hand's first event names.
    pub(super) fn settings(&self) -> Result<TableSettings, CheckError> {
        let (_, opened) = self.opened()?;
        TableSettings::from_canonical(&opened.settings)
            .map_err(|error| missing(format!("the table's settings cannot be read: {error}")))
    }
}

/// Faults of records that are being decoded: the first of each sort.
struct Faults {
    unreadable: Option<String>,
    unrecognized: Option<String>,
}

impl Faults {
    /// Decodes events of a log, without those that are withheld or not readable.
    fn decode<'a, R: Record>(
        &mut self,
        log: &str,
        events: &'a [LogEvent],
    ) -> Vec<DecodedEvent<'a, R>> {
        let mut decoded = Vec::with_capacity(events.len());
        for LogEvent { event, withheld } in events {
            if withheld.is_some() {
                continue;
            }
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
