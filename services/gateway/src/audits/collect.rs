//! Collection of a hand's records from the three logs, from each log under one checkpoint.
//!
//! Only a few records of the table's stream belong to the hand. Their positions are found first.
//! Then exactly these are requested together with the hand's own stream, so that one proof covers
//! all records of the bundle and nothing else.

use audit::bundle;
use chassis::channel::PeerChannel;
use eventlog_core::{Event, Position, Version};
use primitives::{HandId, StreamId, TableId, UnixMicros};
use proto::audit::v1::log_service_client::LogServiceClient;
use proto::audit::v1::record_selection::By;
use proto::audit::v1::{
    BundleLog, LogRecord, PositionSelection, ReadRecordsRequest, RecordSelection, RequestSelection,
    StreamSelection,
};
use proto::common::v1::ErrorReason;
use tonic::Status;
use wire::records::{HandEvent, Record, TableRecord, TableSubject, WalletRecord};
use wire::status::api_refusal;

/// Records of a table's stream in one read.
const PAGE_SIZE: u32 = 1000;
/// Actor of the requests that post settlements.
const SETTLING_ACTOR: &str = "service:table";
/// Most pages that are searched in each direction. The records of a hand are near its end, except
/// for the commitment to its seed, which is as old as the previous hand; and a table writes some
/// hundred records an hour while no hand ends.
const MAX_PAGES: u32 = 64;

/// Clients of the logs, which call in the gateway's own name.
#[derive(Clone)]
pub(crate) struct Logs {
    pub(crate) table: LogServiceClient<PeerChannel>,
    pub(crate) dealer: LogServiceClient<PeerChannel>,
    pub(crate) wallet: LogServiceClient<PeerChannel>,
}

impl Logs {
    /// Returns the bundle of a hand whose seed is open.
    pub(crate) async fn hand_bundle(
        mut self,
        table: TableId,
        hand_no: u64,
    ) -> Result<Vec<u8>, Status> {
        let hand = audit::hand::hand_id(table, hand_no);
        let own =
            read_records(&mut self.table, "table", vec![whole_stream(hand.into())]).await?.records;
        let Some(last) = ended_at(&own) else {
            return Err(
                api_refusal(ErrorReason::HandUnknown, "there is no such hand on record").into()
            );
        };
        if !own.iter().any(is_seed_opening) {
            let words = "the hand's seed is not open yet: ask again when it is";
            return Err(api_refusal(ErrorReason::SeedNotOpen, words).into());
        }
        let places = self.table_positions(table, hand_no, last).await?;
        let mut wanted = vec![whole_stream(hand.into())];
        wanted.extend(position_ranges(&places));
        let of_table = read_records(&mut self.table, "table", wanted).await?;
        let dealer =
            read_records(&mut self.dealer, "dealer", vec![whole_stream(hand.into())]).await?;
        let wallet = self.settlement(hand).await?;
        Ok(bundle::encode_file(hand, [of_table, dealer, wallet]))
    }

    /// Returns the positions of the hand's records in the table's stream, ascending. `last` is the
    /// position at which the hand ended.
    async fn table_positions(
        &mut self,
        table: TableId,
        hand_no: u64,
        last: u64,
    ) -> Result<Vec<u64>, Status> {
        let (mut places, mut next) = (HandPositions::default(), 0);
        let mut before = last.saturating_add(1);
        for page in 0..MAX_PAGES {
            let stream = StreamSelection {
                stream: table.0.to_vec(),
                from_version: 0,
                limit: PAGE_SIZE,
                before_position: before,
            };
            let found = self.select_from_table(By::Stream(stream)).await?;
            if page == 0 {
                next = found.last().map_or(0, |record| record.version).saturating_add(1);
            }
            places.add(&found, hand_no)?;
            before = found.first().map_or(0, |record| record.position);
            if places.has_commitment || before == 0 {
                break;
            }
        }
        for _ in 0..MAX_PAGES {
            if places.has_end {
                break;
            }
            let stream = StreamSelection {
                stream: table.0.to_vec(),
                from_version: next,
                limit: PAGE_SIZE,
                before_position: 0,
            };
            let found = self.select_from_table(By::Stream(stream)).await?;
            places.add(&found, hand_no)?;
            if found.is_empty() {
                break;
            }
            next = found.last().map_or(next, |record| record.version.saturating_add(1));
        }
        let mut places = places.positions;
        places.sort_unstable();
        places.dedup();
        Ok(places)
    }

    async fn select_from_table(&mut self, by: By) -> Result<Vec<LogRecord>, Status> {
        let selection = RecordSelection { by: Some(by) };
        Ok(read_records(&mut self.table, "table", vec![selection]).await?.records)
    }

    /// Returns the transfer that the wallet posted for the hand, without the events of accounts
    /// that it opened for it.
    async fn settlement(&mut self, hand: HandId) -> Result<BundleLog, Status> {
        let request =
            RequestSelection { request_id: hand.0.to_vec(), actor: SETTLING_ACTOR.to_owned() };
        let by_request = RecordSelection { by: Some(By::Request(request)) };
        let found = read_records(&mut self.wallet, "wallet", vec![by_request]).await?;
        let posts =
            |record: &&LogRecord| matches!(decode(record), Ok(WalletRecord::TransferPosted(_)));
        let places: Vec<u64> =
            found.records.iter().filter(posts).map(|record| record.position).collect();
        if places.len() == found.records.len() {
            return Ok(found);
        }
        read_records(&mut self.wallet, "wallet", position_ranges(&places)).await
    }
}

/// Selects a whole stream.
fn whole_stream(stream: StreamId) -> RecordSelection {
    let stream = StreamSelection { stream: stream.0.to_vec(), ..StreamSelection::default() };
    RecordSelection { by: Some(By::Stream(stream)) }
}

/// Joins ascending positions to ranges without gaps.
fn position_ranges(places: &[u64]) -> Vec<RecordSelection> {
    let mut runs: Vec<PositionSelection> = Vec::new();
    for place in places {
        match runs.last_mut() {
            Some(run) if run.first.saturating_add(run.count.into()) == *place => run.count += 1,
            Some(_) | None => runs.push(PositionSelection { first: *place, count: 1 }),
        }
    }
    runs.into_iter().map(|run| RecordSelection { by: Some(By::Positions(run)) }).collect()
}

/// Positions of a hand's records in the table's stream, as far as they were found.
#[derive(Default)]
struct HandPositions {
    positions: Vec<u64>,
    /// Whether the commitment to the hand's seed was found.
    has_commitment: bool,
    /// Whether the end of the hand was found.
    has_end: bool,
}

impl HandPositions {
    /// Adds the hand's records among these of the table's stream.
    fn add(&mut self, found: &[LogRecord], hand_no: u64) -> Result<(), Status> {
        for record in found {
            let recorded: TableRecord = decode(record)?;
            if audit::hand::hand_no(&recorded) == Some(hand_no) {
                self.positions.push(record.position);
                self.has_commitment |= matches!(recorded, TableRecord::HandCommitted(_));
                self.has_end |= matches!(recorded, TableRecord::HandFinished(_));
            }
        }
        Ok(())
    }
}

/// Returns the position at which a hand ended: that of the last record of its own stream other than
/// the opening of its seed, which may come a day and hundreds of hands later.
fn ended_at(own: &[LogRecord]) -> Option<u64> {
    own.iter().rev().find(|record| !is_seed_opening(record)).map(|record| record.position)
}

/// Whether the hand is over and public with this record: it holds the seed, or what was opened in
/// place of it.
fn is_seed_opening(record: &LogRecord) -> bool {
    let Ok(recorded) = decode::<TableRecord>(record) else { return false };
    let TableSubject::Hand(event) = recorded.subject() else { return false };
    match event {
        HandEvent::HandRevealed(_) | HandEvent::SeedRefused(_) => true,
        HandEvent::HandOpened(_)
        | HandEvent::EntropyClosed(_)
        | HandEvent::EntropyRevealed(_)
        | HandEvent::HandAborted(_) => false,
    }
}

fn decode<R: Record>(record: &LogRecord) -> Result<R, Status> {
    let damaged = |why: String| {
        let at = record.position;
        Status::from(api_refusal(
            ErrorReason::Corrupt,
            format!("the record at position {at}: {why}"),
        ))
    };
    let small = |number: u32| {
        u16::try_from(number).map_err(|_| damaged("its type is out of range".to_owned()))
    };
    let stream =
        record.stream[..].try_into().map_err(|_| damaged("its stream is no id".to_owned()));
    let event = Event {
        position: Position(record.position),
        recorded_at: UnixMicros(record.recorded_at_micros),
        stream: StreamId(stream?),
        version: Version(record.version),
        kind: small(record.r#type)?,
        schema: small(record.schema)?,
        sealed: record.sealed,
        payload: record.payload.clone().into(),
        request_id: None,
        actor: "".into(),
        trace: [0; 16],
        previous: [0; 32],
    };
    R::try_from_event(&event).map_err(|error| damaged(error.to_string()))
}

async fn read_records(
    client: &mut LogServiceClient<PeerChannel>,
    log: &str,
    selections: Vec<RecordSelection>,
) -> Result<BundleLog, Status> {
    let request = ReadRecordsRequest { log: log.to_owned(), selections };
    let answer = client.read_records(request).await?.into_inner();
    answer.log.ok_or_else(|| {
        api_refusal(ErrorReason::Corrupt, "a log answered without what it was asked for").into()
    })
}

#[cfg(test)]
mod tests {
    use proto::event::v1 as pb;

    use super::*;

    #[test]
    fn a_hand_ends_before_its_seed_is_opened_however_late() {
        let record = |position: u64, recorded: TableRecord| {
            let event = recorded.on_stream(StreamId([7; 16]));
            LogRecord {
                position,
                stream: vec![7; 16],
                version: 1,
                r#type: event.kind.into(),
                schema: event.schema.into(),
                payload: event.payload.to_vec(),
                ..LogRecord::default()
            }
        };
        let posted = || record(40, pb::SettlementPosted { position: 9 }.into());
        let seed = |at| record(at, pb::HandRevealed { seed: vec![1; 64].into() }.into());
        assert_eq!(ended_at(&[posted(), seed(90_000)]), Some(40));
        assert_eq!(ended_at(&[seed(39), posted()]), Some(40));
        assert_eq!(ended_at(&[]), None);
    }

    #[test]
    fn neighbours_are_asked_for_together() {
        let positions = |selection: &RecordSelection| match &selection.by {
            Some(By::Positions(run)) => (run.first, run.count),
            other => panic!("{other:?}"),
        };
        let of = |places: &[u64]| position_ranges(places).iter().map(positions).collect::<Vec<_>>();
        assert_eq!(of(&[]), []);
        assert_eq!(of(&[4]), [(4, 1)]);
        assert_eq!(of(&[4, 5, 6, 9, 11, 12]), [(4, 3), (9, 1), (11, 2)]);
    }
}
