use std::sync::atomic::{AtomicUsize, Ordering};

use chassis::channel::{self, CredentialInterceptor};
use futures_util::StreamExt as _;
use proto::audit::v1::log_service_server::{LogService, LogServiceServer};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response};

use super::*;

type Answer<T> = Result<Response<T>, Status>;

/// A log's service, whose records are their positions.
#[derive(Default)]
struct Log {
    /// Records that are signed.
    size: Mutex<u64>,
    is_away: Mutex<bool>,
    asked: AtomicUsize,
    read: AtomicUsize,
}

fn record(position: u64) -> Vec<u8> {
    let mut record = vec![7; RECORD];
    record[..8].copy_from_slice(&position.to_be_bytes());
    record
}

impl Log {
    fn size(&self) -> Result<u64, Status> {
        if *self.is_away.lock().unwrap() {
            return Err(unavailable("the tables are just being taken up").into());
        }
        Ok(*self.size.lock().unwrap())
    }

    fn sign(&self, size: u64) {
        *self.size.lock().unwrap() = size;
    }
}

fn note(size: u64) -> String {
    format!("room.example/table\n{size}\nroot\n\n— signature\n")
}

/// Service of a [`Log`].
struct Served(Arc<Log>);

#[tonic::async_trait]
impl LogService for Served {
    async fn get_checkpoint(
        &self,
        _: Request<pb::GetCheckpointRequest>,
    ) -> Answer<pb::GetCheckpointResponse> {
        self.0.asked.fetch_add(1, Ordering::Relaxed);
        let (checkpoint, key) = (note(self.0.size()?), String::new());
        Ok(Response::new(pb::GetCheckpointResponse { checkpoint, key, witness_keys: Vec::new() }))
    }

    async fn get_entries(
        &self,
        request: Request<pb::GetEntriesRequest>,
    ) -> Answer<pb::GetEntriesResponse> {
        self.0.read.fetch_add(1, Ordering::Relaxed);
        let pb::GetEntriesRequest { log: _, index, width } = request.into_inner();
        let (first, size) = (index * WIDTH, self.0.size()?);
        assert!((1..=256).contains(&width) && first + u64::from(width) <= size);
        let positions = first..first + u64::from(width);
        let entries = positions.flat_map(|position| {
            let length = u16::try_from(RECORD).unwrap().to_be_bytes();
            length.into_iter().chain(record(position))
        });
        Ok(Response::new(pb::GetEntriesResponse { entries: entries.collect() }))
    }

    async fn get_tile(&self, _: Request<pb::GetTileRequest>) -> Answer<pb::GetTileResponse> {
        Err(Status::unimplemented("not asked"))
    }

    async fn prove_inclusion(
        &self,
        _: Request<pb::ProveInclusionRequest>,
    ) -> Answer<pb::ProveInclusionResponse> {
        Err(Status::unimplemented("not asked"))
    }

    async fn prove_consistency(
        &self,
        _: Request<pb::ProveConsistencyRequest>,
    ) -> Answer<pb::ProveConsistencyResponse> {
        Err(Status::unimplemented("not asked"))
    }

    async fn read_records(
        &self,
        _: Request<pb::ReadRecordsRequest>,
    ) -> Answer<pb::ReadRecordsResponse> {
        Err(Status::unimplemented("not asked"))
    }
}

/// A log of this size, and the address of its service.
async fn log(size: u64) -> (Arc<Log>, http::Uri) {
    let log = Arc::new(Log::default());
    log.sign(size);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
    let server = tonic::transport::Server::builder()
        .add_service(LogServiceServer::new(Served(Arc::clone(&log))))
        .serve_with_incoming(TcpListenerStream::new(listener));
    tokio::spawn(server);
    (log, uri)
}

/// What a gateway that has just started knows of the log.
fn feed(uri: &http::Uri) -> Arc<Feed> {
    let channel = channel::connect_lazy(uri, None, CredentialInterceptor::NoToken).unwrap();
    Arc::new(Feed::new("table", LogServiceClient::new(channel)))
}

async fn subscribe(feed: &Arc<Feed>, from: u64) -> Messages {
    feed.subscribe(from, CancellationToken::new()).await.unwrap().messages()
}

async fn next(messages: &mut Messages) -> pb::SubscribeResponse {
    let message = timeout(Duration::from_secs(10), messages.next()).await.expect("in time");
    message.expect("the stream goes on").unwrap()
}

/// Positions of a message's records, which are as they were written.
fn positions(message: &pb::SubscribeResponse) -> Vec<u64> {
    let pb::SubscribeResponse { position, leaf_records, next_position, .. } = message;
    let positions: Vec<u64> = (*position..*next_position).collect();
    let expected: Vec<_> = positions.iter().map(|position| record(*position)).collect();
    assert_eq!(*leaf_records, expected);
    positions
}

#[tokio::test]
async fn whoever_goes_on_after_any_message_or_at_any_position_misses_nothing() {
    let (log, uri) = log(600).await;
    let one = feed(&uri);
    let mut messages = subscribe(&one, 0).await;
    let mut ends = vec![0];
    while *ends.last().unwrap() < 600 {
        let message = next(&mut messages).await;
        assert_eq!(message.position, *ends.last().unwrap());
        let is_last = message.next_position == 600;
        assert_eq!(message.checkpoint, if is_last { note(600) } else { String::new() });
        ends.push(positions(&message).last().unwrap() + 1);
    }
    assert_eq!(ends, [0, 256, 512, 600]);
    // After every message, in the same process and after a restart, and in the middle of a bundle.
    let restarted = feed(&uri);
    for from in ends.into_iter().take(3).chain([1, 255, 257, 511, 599]) {
        for feed in [&one, &restarted] {
            let mut messages = subscribe(feed, from).await;
            let mut seen = Vec::new();
            while seen.last().is_none_or(|last| *last < 599) {
                seen.extend(positions(&next(&mut messages).await));
            }
            assert_eq!(seen, (from..600).collect::<Vec<_>>());
        }
    }
    assert_eq!(log.read.load(Ordering::Relaxed), 6, "each bundle once in each process");
    let beyond = one.subscribe(601, CancellationToken::new()).await.err().unwrap();
    assert_eq!(wire::status::reason_of(&beyond), Some(ErrorReason::NotInLog));
}

#[tokio::test]
async fn many_who_wait_cost_the_log_as_much_as_one_and_each_receives_each_record_once() {
    let (log, uri) = log(300).await;
    let feed = feed(&uri);
    let mut all = Vec::new();
    for _ in 0..100 {
        all.push(subscribe(&feed, 300).await);
    }
    let waiting = all.into_iter().map(|mut messages| {
        tokio::spawn(async move {
            let mut seen = Vec::new();
            while seen.last() != Some(&309) {
                let message = next(&mut messages).await;
                seen.extend(positions(&message));
                assert_eq!(message.checkpoint, note(message.next_position));
            }
            seen
        })
    });
    let waiting: Vec<_> = waiting.collect();
    let began = Instant::now();
    for size in [301, 310] {
        tokio::time::sleep(ASKED_EVERY * 2).await;
        log.sign(size);
    }
    for seen in waiting {
        assert_eq!(seen.await.unwrap(), (300..310).collect::<Vec<_>>());
    }
    let questions = began.elapsed().as_millis() / ASKED_EVERY.as_millis() + 3;
    let asked = log.asked.load(Ordering::Relaxed);
    assert!(u128::try_from(asked).unwrap() <= questions, "{asked} questions in {questions} spans");
    assert_eq!(log.read.load(Ordering::Relaxed), 2, "one for each checkpoint");
}

#[tokio::test]
async fn who_reads_slowly_or_is_cut_off_by_a_restart_gets_the_rest_later() {
    let (log, uri) = log(10).await;
    let one = feed(&uri);
    let mut slow = subscribe(&one, 0).await;
    assert_eq!(positions(&next(&mut slow).await).len(), 10);
    for size in (20..=700).step_by(10) {
        log.sign(size);
    }
    let mut seen = Vec::new();
    while seen.last() != Some(&699) {
        seen.extend(positions(&next(&mut slow).await));
    }
    assert_eq!(seen, (10..700).collect::<Vec<_>>());

    *log.is_away.lock().unwrap() = true;
    let ended = timeout(Duration::from_secs(10), slow.next()).await.unwrap().unwrap().unwrap_err();
    assert_eq!(wire::status::reason_of(&ended), Some(ErrorReason::Unavailable));
    assert!(slow.next().await.is_none(), "an error is the last word");
    *log.is_away.lock().unwrap() = false;
    log.sign(703);
    let mut again = subscribe(&feed(&uri), 700).await;
    assert_eq!(positions(&next(&mut again).await), [700, 701, 702]);
}

#[tokio::test]
async fn a_stream_ends_with_a_word_when_the_gateway_stops() {
    let (_log, uri) = log(1).await;
    let stopping = CancellationToken::new();
    let mut messages = feed(&uri).subscribe(1, stopping.clone()).await.unwrap().messages();
    stopping.cancel();
    let ended = messages.next().await.unwrap().unwrap_err();
    assert_eq!(wire::status::reason_of(&ended), Some(ErrorReason::Unavailable));
    assert!(messages.next().await.is_none());
}

#[test]
fn kept_bundles_are_few_and_a_wider_one_takes_the_place_of_a_narrow_one() {
    let mut bundles = Bundles::default();
    let records = |width: usize| Arc::new(vec![record(0); width]);
    bundles.keep(3, records(5));
    assert!(bundles.get(3, 5).is_some() && bundles.get(3, 6).is_none());
    bundles.keep(3, records(9));
    assert!(bundles.get(3, 6).is_some());
    (100..100 + KEPT as u64).for_each(|index| bundles.keep(index, records(1)));
    assert_eq!((bundles.kept.len(), bundles.get(3, 1).is_some()), (KEPT, false));
}

#[test]
fn records_are_read_whole_or_not_at_all() {
    let mut entries = [&[0, 149][..], &record(5)].concat();
    assert_eq!(split(&entries).unwrap(), [record(5)]);
    entries.push(0);
    assert_eq!(split(&entries), None);
    assert_eq!(split(&[0, 3, 1, 2, 3]), None, "no leaf record");
    assert_eq!(split(&[]), Some(Vec::new()));
}
