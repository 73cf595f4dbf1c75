//! Hands of the dealer's log: each promised once, closed once, sealed once, and its seed opened
//! once.

use std::collections::BTreeMap;

use merkle::record::LeafRecord;
use primitives::StreamId;

use super::facts::Fact;
use super::tables::{first, other_stream, within};
use super::violation::ViolationKind;

/// Hands of the dealer, by their streams.
#[derive(Debug, Clone, Default)]
pub(super) struct Dealings(BTreeMap<StreamId, Dealing>);

/// Positions of what happens once in a hand.
#[derive(Debug, Clone, Copy, Default)]
struct Dealing {
    closed: Option<u64>,
    sealed: Option<u64>,
    opened: Option<u64>,
}

impl Dealings {
    /// Whether the seed of a hand is open.
    pub(super) fn is_open(&self, stream: StreamId) -> bool {
        self.0.get(&stream).is_some_and(|dealing| dealing.opened.is_some())
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// The rule that it breaks.
    pub(super) fn push(&mut self, fact: Fact, record: &LeafRecord) -> Result<(), ViolationKind> {
        match fact {
            Fact::SeedCommitted => {
                first(record)?;
                self.0.insert(StreamId(record.stream), Dealing::default());
                Ok(())
            }
            Fact::CommitmentsClosed => self.dealing(record)?.close(record),
            Fact::SeedSealed => self.dealing(record)?.seal(record),
            Fact::Dealing => self.dealing(record).map(|_| ()),
            Fact::SeedOpened => self.dealing(record)?.open(record),
            Fact::OutcomesTested | Fact::Alarm => within(StreamId::CHANCE, record),
            Fact::Clock => within(StreamId::CLOCK, record),
            Fact::TableCreated
            | Fact::HandCommitted
            | Fact::HandStarted
            | Fact::HandFinished
            | Fact::TableDisabled
            | Fact::TableEnabled
            | Fact::OfTable
            | Fact::HandOpened
            | Fact::EntropyClosed
            | Fact::EntropyRevealed
            | Fact::InPlay
            | Fact::HandSettled
            | Fact::HandAborted
            | Fact::OfHand
            | Fact::OfPerson
            | Fact::OfRoom
            | Fact::OfWallet => Err(ViolationKind::OtherLog { kind: record.kind }),
        }
    }

    fn dealing(&mut self, record: &LeafRecord) -> Result<&mut Dealing, ViolationKind> {
        self.0.get_mut(&StreamId(record.stream)).ok_or_else(|| other_stream(record))
    }
}

impl Dealing {
    fn close(&mut self, record: &LeafRecord) -> Result<(), ViolationKind> {
        let stream = StreamId(record.stream);
        if let Some(earlier) = self.closed {
            return Err(ViolationKind::SecondDealerClosing { stream, earlier });
        }
        if let Some(earlier) = self.sealed {
            return Err(ViolationKind::ClosingAfterSeal { stream, earlier });
        }
        self.closed = Some(record.position);
        Ok(())
    }

    fn seal(&mut self, record: &LeafRecord) -> Result<(), ViolationKind> {
        let stream = StreamId(record.stream);
        match self.sealed.replace(record.position) {
            Some(earlier) => Err(ViolationKind::SecondSeal { stream, earlier }),
            None => Ok(()),
        }
    }

    fn open(&mut self, record: &LeafRecord) -> Result<(), ViolationKind> {
        let stream = StreamId(record.stream);
        match self.opened.replace(record.position) {
            Some(earlier) => Err(ViolationKind::SecondSeed { stream, earlier }),
            None => Ok(()),
        }
    }
}
