//! Collection of a hand's records from the three logs, from each log under one checkpoint.
//!
//! Of the table's stream a hand needs a stretch: from the end of the last hand that was played, or
//! from the commitment to this one where that is earlier, to the end of this one. Its bounds are
//! found first. Then exactly this stretch is requested together with the hand's own stream, so that
//! one proof covers all records of the bundle and nothing else.
//!
//! Payloads that a bundle may not show are replaced by their hashes before anything is passed on.

use super::cache::HandKey;
use audit::bundle;
use audit::hand::TableBounds;
use chassis::channel::PeerChannel;
use eventlog_core::{Event, Position, Version};
use primitives::{HandId, StreamId, TableId, UnixMicros};
use proto::audit::v1::log_service_client::LogServiceClient;
use proto::audit::v1::record_selection::By;
use proto::audit::v1::{
    LogRecord, PositionSelection, ReadRecordsRequest, ReadRecordsResponse, RecordSelection,
    RequestSelection, StreamSelection,
};
use proto::common::v1::ErrorReason;
use tonic::Status;
use wire::records::{
    DealerRecord, HandEvent, PlayEvent, Record, TableRecord, TableSubject, WalletRecord,
};
use wire::status::api_refusal;

/// Records of a table's stream in one read.
const PAGE_SIZE: u32 = 1000;
/// Actor of the requests that post settlements.
const SETTLING_ACTOR: &str = "service:table";
/// Most pages that are searched in each direction. Between two ends of hands a table writes some
/// thousand records at the most, and a number that comes to nothing ends too.
const MAX_PAGES: u32 = 64;

/// Clients of the logs, which call in the gateway's own name.
#[derive(Clone)]
pub(crate) struct Logs {
    pub(crate) table: LogServiceClient<PeerChannel>,
    pub(crate) dealer: LogServiceClient<PeerChannel>,
    pub(crate) wallet: LogServiceClient<PeerChannel>,
}

/// A bundle, and the logs of whose witnesses none had signed in time.
#[derive(Debug, Clone, Default)]
pub(super) struct CollectedBundle {
    pub(super) bytes: Vec<u8>,
    pub(super) uncosigned: Vec<String>,
    pub(super) progress: HandProgress,
}

/// Progress of a hand: what of it is still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct HandProgress {
    pub(super) is_over: bool,
    pub(super) is_seed_open: bool,
}

impl Logs {
    /// Returns the bundle of a hand that has ended or is suspended.
    pub(super) async fn hand_bundle(
        mut self,
        table: TableId,
        hand_no: u64,
    ) -> Result<CollectedBundle, Status> {
        let hand = audit::hand::hand_id(table, hand_no);
        let own = read_some(&mut self.table, "table", vec![whole_stream(hand.into())]).await?;
        let Some(first) = own.first() else {
            return Err(
                api_refusal(ErrorReason::HandUnknown, "there is no such hand on record").into()
            );
        };
        if !stands_still(&own) {
            let words = "the hand is in play: ask again when it has ended, or is suspended";
            return Err(api_refusal(ErrorReason::HandInPlay, words).into());
        }
        let stretch = self.table_stretch(table, hand_no, first.position).await?;
        let wanted = vec![whole_stream(hand.into()), stretch];
        let Logs { table, dealer, wallet } = &mut self;
        let (table, dealer, wallet) = tokio::try_join!(
            read_cosigned(table, "table", wanted),
            read_cosigned(dealer, "dealer", vec![whole_stream(hand.into())]),
            settlement(wallet, hand),
        )?;
        Ok(assemble(hand, [table, dealer, wallet]))
    }

    /// Returns the table and number of a hand by the first record of its stream.
    pub(super) async fn hand_key(&mut self, hand: HandId) -> Result<HandKey, Status> {
        let first = StreamSelection {
            stream_id: hand.to_string(),
            from_version: 1,
            limit: 1,
            ..StreamSelection::default()
        };
        let first = vec![RecordSelection { by: Some(By::Stream(first)) }];
        let found = read_some(&mut self.table, "table", first).await?;
        let opened = found.first().map(decode::<TableRecord>).transpose()?;
        let Some(TableRecord::HandOpened(opened)) = opened else {
            let words = "there is no such hand on record";
            return Err(api_refusal(ErrorReason::HandUnknown, words).field("hand_id").into());
        };
        let table = wire::field::table_id(&opened.table_id)?;
        Ok(HandKey { table, hand_no: opened.hand_no })
    }

    /// Selects the stretch of the table's stream that a hand needs. `opened_at` is the position at
    /// which the hand was opened.
    async fn table_stretch(
        &mut self,
        table: TableId,
        hand_no: u64,
        opened_at: u64,
    ) -> Result<RecordSelection, Status> {
        let mut bounds = TableBounds::new(hand_no);
        let (mut before, mut next) = (opened_at.max(1), 1);
        for page in 0..MAX_PAGES {
            let found = self.page(
                table,
                StreamSelection { before_position: before, ..StreamSelection::default() },
            );
            let found = found.await?;
            if page == 0 {
                next = found.last().map_or(0, |record| record.version).saturating_add(1);
            }
            add_to(&mut bounds, &found)?;
            before = found.first().map_or(0, |record| record.position);
            let first = found.first().map_or(1, |record| record.version);
            if bounds.first().is_some() || first <= 1 || before == 0 {
                break;
            }
        }
        for _ in 0..MAX_PAGES {
            if bounds.last().is_some() {
                break;
            }
            let from = StreamSelection { from_version: next, ..StreamSelection::default() };
            let found = self.page(table, from).await?;
            add_to(&mut bounds, &found)?;
            let Some(last) = found.last() else { break };
            next = last.version.saturating_add(1);
        }
        Ok(stretch(table, &bounds))
    }

    async fn page(
        &mut self,
        table: TableId,
        by: StreamSelection,
    ) -> Result<Vec<LogRecord>, Status> {
        let by = StreamSelection { stream_id: table.to_string(), limit: PAGE_SIZE, ..by };
        let selection = RecordSelection { by: Some(By::Stream(by)) };
        read_some(&mut self.table, "table", vec![selection]).await
    }
}

/// Adds records of a table's stream to the bounds of a hand's, by their versions.
fn add_to(bounds: &mut TableBounds, found: &[LogRecord]) -> Result<(), Status> {
    for record in found {
        bounds.add(record.version, &decode::<TableRecord>(record)?);
    }
    Ok(())
}

/// Selects the records within bounds; to the end of the log where a hand has not ended.
fn stretch(table: TableId, bounds: &TableBounds) -> RecordSelection {
    let from_version = bounds.first().unwrap_or(1);
    let count = bounds.last().map_or(0, |last| last.saturating_sub(from_version).saturating_add(1));
    let stream = StreamSelection {
        stream_id: table.to_string(),
        from_version,
        limit: u32::try_from(count).unwrap_or(0),
        before_position: 0,
    };
    RecordSelection { by: Some(By::Stream(stream)) }
}

/// Returns the transfer that the wallet posted for the hand, without the events of accounts that it
/// opened for it.
async fn settlement(
    wallet: &mut LogServiceClient<PeerChannel>,
    hand: HandId,
) -> Result<ReadRecordsResponse, Status> {
    let request =
        RequestSelection { request_id: hand.to_string(), actor: SETTLING_ACTOR.to_owned() };
    let by_request = vec![RecordSelection { by: Some(By::Request(request)) }];
    let found = read_some(wallet, "wallet", by_request.clone()).await?;
    let posts = |record: &&LogRecord| matches!(decode(record), Ok(WalletRecord::TransferPosted(_)));
    let places: Vec<u64> = found.iter().filter(posts).map(|record| record.position).collect();
    // A witness is waited for once.
    let wanted = if places.is_empty() { by_request } else { position_ranges(&places) };
    read_cosigned(wallet, "wallet", wanted).await
}

/// Joins the answers of the three logs to a bundle that shows what may be shown.
fn assemble(hand: HandId, answers: [ReadRecordsResponse; 3]) -> CollectedBundle {
    let uncosigned = answers.iter().filter(|answer| answer.uncosigned);
    let name = |answer: &ReadRecordsResponse| answer.log.as_ref().map(|log| log.name.clone());
    let uncosigned = uncosigned.filter_map(name).collect();
    let mut logs = answers.map(|answer| answer.log.unwrap_or_default());
    let is_open = logs.iter().flat_map(|log| &log.records).any(opens_seed);
    for record in logs.iter_mut().flat_map(|log| &mut log.records) {
        bundle::withhold(record, is_open);
    }
    let is_over = logs.iter().flat_map(|log| &log.records).any(ends_hand);
    let progress = HandProgress { is_over, is_seed_open: is_open };
    CollectedBundle { bytes: bundle::encode_file(hand, logs), uncosigned, progress }
}

/// Selects a whole stream.
fn whole_stream(stream: StreamId) -> RecordSelection {
    let stream = StreamSelection { stream_id: stream.to_string(), ..StreamSelection::default() };
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

/// Whether a hand has ended or is suspended by its own stream.
fn stands_still(own: &[LogRecord]) -> bool {
    own.iter().fold(false, |still, record| {
        let Ok(recorded) = decode::<TableRecord>(record) else { return still };
        match recorded.subject() {
            TableSubject::Hand(event) => match event {
                HandEvent::HandSuspended(_) | HandEvent::HandAborted(_) => true,
                HandEvent::HandContinued(_) => false,
                HandEvent::HandOpened(_)
                | HandEvent::EntropyClosed(_)
                | HandEvent::EntropyRevealed(_)
                | HandEvent::HandRevealed(_)
                | HandEvent::SeedRefused(_) => still,
            },
            TableSubject::Play(PlayEvent::HandSettled(_)) => true,
            TableSubject::Play(
                PlayEvent::HandSealed(_)
                | PlayEvent::ChanceUsed(_)
                | PlayEvent::CardsMoved(_)
                | PlayEvent::MoveDecided(_)
                | PlayEvent::ClockResumed(_)
                | PlayEvent::CardsShown(_)
                | PlayEvent::SettlementPosted(_),
            )
            | TableSubject::Seat(_)
            | TableSubject::Table(_)
            | TableSubject::Person(_)
            | TableSubject::Room(_)
            | TableSubject::Clock(_) => still,
        }
    })
}

/// Whether a record ends the hand.
fn ends_hand(record: &LogRecord) -> bool {
    let recorded = decode::<TableRecord>(record);
    matches!(recorded, Ok(TableRecord::HandSettled(_) | TableRecord::HandAborted(_)))
}

/// Whether a record makes the hand's seed public.
fn opens_seed(record: &LogRecord) -> bool {
    let at_table = decode::<TableRecord>(record);
    let at_dealer = decode::<DealerRecord>(record);
    matches!(at_table, Ok(TableRecord::HandRevealed(_) | TableRecord::SeedRefused(_)))
        || matches!(at_dealer, Ok(DealerRecord::SeedOpened(_)))
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
        salt: [0; 16],
        author_hash: [0; 32],
        request_id: None,
        actor: "".into(),
        trace: [0; 16],
        previous: [0; 32],
    };
    R::try_from_event(&event).map_err(|error| damaged(error.to_string()))
}

/// Reads records without waiting for a witness.
async fn read_some(
    client: &mut LogServiceClient<PeerChannel>,
    log: &str,
    selections: Vec<RecordSelection>,
) -> Result<Vec<LogRecord>, Status> {
    let request = ReadRecordsRequest { log: log.to_owned(), selections, cosigned: false };
    let answer = client.read_records(request).await?.into_inner();
    Ok(answer.log.ok_or_else(unanswered)?.records)
}

/// Reads records, under a checkpoint that a witness has signed where one does in time.
async fn read_cosigned(
    client: &mut LogServiceClient<PeerChannel>,
    log: &str,
    selections: Vec<RecordSelection>,
) -> Result<ReadRecordsResponse, Status> {
    let request = ReadRecordsRequest { log: log.to_owned(), selections, cosigned: true };
    let answer = client.read_records(request).await?.into_inner();
    if answer.log.is_none() {
        return Err(unanswered());
    }
    Ok(answer)
}

fn unanswered() -> Status {
    api_refusal(ErrorReason::Corrupt, "a log answered without what it was asked for").into()
}

#[cfg(test)]
mod tests {
    use proto::audit::v1::BundleLog;
    use proto::event::v1 as pb;

    use super::*;

    fn record(position: u64, recorded: impl Into<TableRecord>) -> LogRecord {
        let event = recorded.into().on_stream(StreamId([7; 16]));
        LogRecord {
            position,
            stream: vec![7; 16],
            version: position,
            r#type: event.kind.into(),
            schema: event.schema.into(),
            payload: event.payload.to_vec(),
            salt: vec![3; 16],
            ..LogRecord::default()
        }
    }

    #[test]
    fn hands_in_play_do_not_stand_still() {
        let opened = || record(1, pb::HandOpened::default());
        let suspended = || record(2, pb::HandSuspended::default());
        let continued = || record(3, pb::HandContinued::default());
        let settled = || record(4, pb::HandSettled::default());
        let posted = || record(5, pb::SettlementPosted { position: 9 });
        assert!(!stands_still(&[opened()]));
        assert!(stands_still(&[opened(), suspended()]));
        assert!(!stands_still(&[opened(), suspended(), continued()]));
        assert!(stands_still(&[opened(), suspended(), continued(), settled(), posted()]));
        assert!(stands_still(&[opened(), record(2, pb::HandAborted::default())]));
    }

    #[test]
    fn a_stretch_begins_with_the_last_hand_that_was_played() {
        let ended = |hand_no, aborted| {
            TableRecord::from(pb::HandFinished { hand_no, aborted, ..Default::default() })
        };
        let promised =
            |hand_no| TableRecord::from(pb::HandCommitted { hand_no, ..Default::default() });
        let bounds = |records: &[(u64, TableRecord)]| {
            let mut bounds = TableBounds::new(4);
            records.iter().for_each(|(version, recorded)| bounds.add(*version, recorded));
            let selection = stretch(TableId([7; 16]), &bounds);
            match selection.by {
                Some(By::Stream(stream)) => (stream.from_version, stream.limit),
                other => panic!("{other:?}"),
            }
        };
        let whole =
            [(5, ended(2, false)), (9, ended(3, true)), (7, promised(4)), (20, ended(4, false))];
        assert_eq!(bounds(&whole), (5, 16));
        assert_eq!(bounds(&[(8, ended(3, false)), (7, promised(4))]), (7, 0));
        assert_eq!(bounds(&[(9, ended(3, true)), (7, promised(4)), (20, ended(4, true))]), (1, 20));
    }

    #[test]
    fn a_secret_choice_is_not_shown_until_the_seed_is_open() {
        let chooses = pb::MoveDecided {
            r#move: Some(proto::common::v1::Move {
                kind: proto::common::v1::MoveKind::Choose.into(),
                names: vec!["SECRET".to_owned()],
                ..Default::default()
            }),
            ..Default::default()
        };
        let bundle_of = |opens: bool| {
            let mut records = vec![record(1, chooses.clone())];
            if opens {
                records.push(record(2, pb::HandRevealed { seed: vec![1; 64].into() }));
            }
            let log = BundleLog { records, ..BundleLog::default() };
            let answer = ReadRecordsResponse { log: Some(log), uncosigned: false };
            let empty = || ReadRecordsResponse { log: None, uncosigned: true };
            assemble(HandId([1; 16]), [answer, empty(), empty()])
        };
        let progress = |opens| bundle_of(opens).progress;
        assert_eq!(progress(false), HandProgress { is_over: false, is_seed_open: false });
        assert_eq!(progress(true), HandProgress { is_over: false, is_seed_open: true });
        let has_secret =
            |bundle: &CollectedBundle| bundle.bytes.windows(6).any(|bytes| bytes == b"SECRET");
        assert!(!has_secret(&bundle_of(false)));
        assert!(has_secret(&bundle_of(true)));
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
