//! Order of a table's promises, and promises that the log has lost.
//!
//! Numbers of a table are promised in order, each once, ever. Whoever asks for a number shows the
//! promise for the one before, as the table has it on record. A dealer that does not find that
//! promise in its log, and finds its own signature under it, stands on a store that was put back to
//! an older state. It records that ([`PromisesLost`](pb::PromisesLost)) and begins above. The lost
//! numbers are never promised again: their seeds are gone, and a second promise for a number would
//! convict the dealer.
//!
//! A table can show nothing but what this dealer has signed, so none can make a dealer pass over a
//! number that it knows. A dealer on an older store knows of lost numbers from the table alone: a
//! table that hides them lies about its own public log.
//!
//! Specification: fairness/SPEC.md §3.2.

use std::collections::BTreeMap;

use eventlog::{Log, NewEvent, StreamId, Version};
use fairness::SignedText as _;
use primitives::TableId;
use proto::event::v1 as pb;
use tokio::sync::Mutex;
use wire::records::{DealerRecord, Record as _};

use crate::dealer::{DealerError, Resources};
use crate::hand::{Committed, Event, HandName, Refusal};
use crate::messages;
use crate::record::{self, Corrupt};

/// Number of events of chance read at once: each may be large.
const PAGE_EVENTS: usize = 16;

/// Last lost number of each table that has any, read from the log when it is needed first.
#[derive(Default)]
pub(crate) struct Promises {
    lost: Mutex<Option<BTreeMap<TableId, u64>>>,
}

impl Promises {
    /// Checks that a number which is not promised yet may be. Returns the promise before it if the
    /// log has lost that.
    pub(crate) async fn check(
        &self,
        log: &Log,
        dealer: &Resources,
        name: HandName,
        before: Option<&Committed>,
    ) -> Result<Option<Committed>, DealerError> {
        if let Some(last) =
            self.last_lost(log, name.table).await?.filter(|last| name.number <= *last)
        {
            return Err(Refusal::NumberLost { last }.into());
        }
        let Some(previous) = name.before() else { return Ok(None) };
        match (on_record(log, previous).await?, before) {
            (Some(known), Some(before)) if before.commitment != known.commitment => {
                Err(Refusal::ForeignPromise.into())
            }
            (Some(_), _) => Ok(None),
            (None, None) => Err(Refusal::OutOfOrder.into()),
            (None, Some(before)) => {
                let own = dealer.key.verifying_key();
                let signed = before.statement().verify(own.as_bytes(), &before.signature).is_ok();
                if !signed || before.origin != dealer.origin {
                    return Err(Refusal::ForeignPromise.into());
                }
                Ok(Some(before.clone()))
            }
        }
    }

    /// Remembers a lost promise that is on record now.
    pub(crate) async fn note(&self, lost: Option<&Committed>) {
        let Some(Committed { hand, .. }) = lost else { return };
        tracing::error!(
            runbook = "deploy/README.md, The dealer has lost promises",
            table = %hand.table,
            hand_no = hand.number,
            "THE DEALER'S STORE WAS PUT BACK TO AN OLDER STATE: it has signed promises that its log does not have"
        );
        if let Some(known) = self.lost.lock().await.as_mut() {
            known.insert(hand.table, hand.number);
        }
    }

    async fn last_lost(&self, log: &Log, table: TableId) -> Result<Option<u64>, DealerError> {
        let mut lost = self.lost.lock().await;
        if lost.is_none() {
            *lost = Some(read_lost(log).await?);
        }
        Ok(lost.as_ref().and_then(|lost| lost.get(&table).copied()))
    }
}

/// Event of a promise that the log has lost.
pub(crate) fn new_event(lost: &Committed) -> NewEvent {
    let event = pb::PromisesLost {
        table_id: lost.hand.table.0.to_vec().into(),
        hand_no: lost.hand.number,
        promise: Some(messages::promise_to_pb(lost)),
    };
    DealerRecord::from(event).on_stream(StreamId::CHANCE)
}

/// Reads the promise for a hand; none if the log has none.
async fn on_record(log: &Log, hand: HandName) -> Result<Option<Committed>, DealerError> {
    let first = log.read_stream(StreamId::from(hand.id()), Version(1), 1).await?;
    let Some(stored) = first.first() else { return Ok(None) };
    match record::parse(stored)? {
        Event::SeedCommitted(committed) => Ok(Some(committed)),
        Event::CommitmentsClosed(_)
        | Event::SeedSealed { .. }
        | Event::OperationPerformed { .. }
        | Event::CardsOpened { .. }
        | Event::SeedOpened { .. } => Err(crate::hand::Contradiction::Order.into()),
    }
}

/// Reads which promises the log has lost.
async fn read_lost(log: &Log) -> Result<BTreeMap<TableId, u64>, DealerError> {
    let (mut lost, mut from) = (BTreeMap::new(), Version(1));
    loop {
        let page = log.read_stream(StreamId::CHANCE, from, PAGE_EVENTS).await?;
        for stored in &page {
            let corrupt = |what: String| Corrupt { position: stored.position.0, what };
            let recorded = DealerRecord::try_from(stored);
            if let DealerRecord::PromisesLost(pb::PromisesLost { table_id, hand_no, promise: _ }) =
                recorded.map_err(|error| corrupt(error.to_string()))?
            {
                let table = wire::field::table_id(&table_id);
                let table = table.map_err(|bad| corrupt(bad.to_string()))?;
                let last = lost.entry(table).or_insert(hand_no);
                *last = hand_no.max(*last);
            }
            from = Version(stored.version.0 + 1);
        }
        if page.len() < PAGE_EVENTS {
            return Ok(lost);
        }
    }
}
