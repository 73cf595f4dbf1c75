//! Public events of a log for any number of subscribers: leaf records, as the log has signed them.
//!
//! A [`Feed`] asks the log's service on behalf of all: for its newest checkpoint a few times a second
//! while somebody waits, and for each bundle of records once, for the newest bundles are kept. So
//! the log's store is read as often for a thousand subscribers as for one. Those who follow the end
//! never wait behind those who read what is long past, of whom one reads at a time, each at a pace.
//!
//! A [`Subscription`] keeps a position and nothing else: it makes the next message when its reader
//! takes it. Messages follow each other by position, so where it goes on after a broken stream, or
//! in another process, nothing is missing and nothing comes twice.
//!
//! Specification: services/gateway/README.md "Calls of its own: events".

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chassis::channel::PeerChannel;
use futures_util::Stream;
use proto::audit::v1 as pb;
use proto::audit::v1::log_service_client::LogServiceClient;
use proto::common::v1::ErrorReason;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use tonic::Status;
use wire::status::{api_refusal, unavailable};

/// Records of a whole bundle.
const WIDTH: u64 = 256;
/// Bytes of a leaf record.
const RECORD: usize = 149;
/// Bundles that are kept of a log: the newest that were asked for. 2.4 MB.
const KEPT: usize = 64;
/// Time between two questions for a log's newest checkpoint.
const ASKED_EVERY: Duration = Duration::from_millis(250);
/// Time after which a quiet stream says so.
const QUIET: Duration = Duration::from_secs(15);
/// Time for one answer of the log's service.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time between two bundles that a subscriber gets out of the log's store.
const PAST_PACE: Duration = Duration::from_millis(200);

/// Public events of one log.
pub(super) struct Feed {
    log: &'static str,
    service: LogServiceClient<PeerChannel>,
    newest: Mutex<Option<Signed>>,
    /// Time of the last question for the newest checkpoint; held by whoever asks.
    asked_at: tokio::sync::Mutex<Option<Instant>>,
    bundles: Mutex<Bundles>,
    /// Held while a bundle is read: of the end of the log, and of what is past.
    end_lane: tokio::sync::Mutex<()>,
    past_lane: tokio::sync::Mutex<()>,
}

/// State of a log as it is signed.
#[derive(Clone)]
struct Signed {
    size: u64,
    note: Arc<str>,
}

/// Leaf records of a bundle, from its first on.
type Records = Arc<Vec<Vec<u8>>>;

/// Kept bundles, by their indices.
#[derive(Default)]
struct Bundles {
    kept: BTreeMap<u64, (u64, Records)>,
    /// Counts what was kept, so that the oldest is known.
    clock: u64,
}

impl Bundles {
    /// The first `width` records of a bundle, if they are kept.
    fn get(&self, index: u64, width: usize) -> Option<Records> {
        let (_, records) = self.kept.get(&index)?;
        (records.len() >= width).then(|| Arc::clone(records))
    }

    fn keep(&mut self, index: u64, records: Records) {
        self.clock += 1;
        self.kept.insert(index, (self.clock, records));
        if self.kept.len() > KEPT {
            let oldest = self.kept.iter().min_by_key(|(_, (kept_at, _))| *kept_at);
            if let Some(oldest) = oldest.map(|(index, _)| *index) {
                self.kept.remove(&oldest);
            }
        }
    }
}

impl Feed {
    pub(super) fn new(log: &'static str, service: LogServiceClient<PeerChannel>) -> Feed {
        Feed {
            log,
            service,
            newest: Mutex::default(),
            asked_at: tokio::sync::Mutex::default(),
            bundles: Mutex::default(),
            end_lane: tokio::sync::Mutex::default(),
            past_lane: tokio::sync::Mutex::default(),
        }
    }

    /// Subscribes from a position on.
    ///
    /// # Errors
    /// `NOT_IN_LOG` for a position beyond what is signed; those of the log's service.
    pub(super) async fn subscribe(
        self: &Arc<Feed>,
        from: u64,
        stopping: CancellationToken,
    ) -> Result<Subscription, Status> {
        let known = self.newest().filter(|newest| newest.size >= from);
        let newest = match known {
            Some(newest) => newest,
            None => self.ask().await?,
        };
        if newest.size < from {
            let message = format!("the log has signed {} records", newest.size);
            return Err(api_refusal(ErrorReason::NotInLog, message).into());
        }
        Ok(Subscription { feed: Arc::clone(self), next: from, not_before: None, stopping })
    }

    fn newest(&self) -> Option<Signed> {
        self.newest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks the log's service for its newest checkpoint.
    async fn ask(&self) -> Result<Signed, Status> {
        let request = pb::GetCheckpointRequest { log: self.log.to_owned() };
        let mut service = self.service.clone();
        let answer = timeout(PATIENCE, service.get_checkpoint(request)).await;
        let note = answer.map_err(|_| silent())??.into_inner().checkpoint;
        // The second line of a checkpoint is its size.
        let size = note.lines().nth(1).and_then(|size| size.parse().ok());
        let size = size.ok_or_else(|| corrupt("the log's checkpoint has no size"))?;
        let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
        if newest.as_ref().is_none_or(|known| known.size <= size) {
            *newest = Some(Signed { size, note: note.into() });
        }
        newest.clone().ok_or_else(|| corrupt("the log has no checkpoint"))
    }

    /// Waits until a record at this position is signed. One of those who wait asks for all.
    async fn until_signed(&self, position: u64) -> Result<Signed, Status> {
        let there = || self.newest().filter(|newest| newest.size > position);
        loop {
            if let Some(newest) = there() {
                return Ok(newest);
            }
            let mut asked_at = self.asked_at.lock().await;
            if let Some(newest) = there() {
                return Ok(newest);
            }
            if let Some(last) = *asked_at {
                sleep_until(last + ASKED_EVERY).await;
            }
            *asked_at = Some(Instant::now());
            self.ask().await?;
        }
    }

    /// The first `width` records of a bundle at least, and whether the log's store was asked for
    /// them.
    async fn bundle(&self, index: u64, width: usize, size: u64) -> Result<(Records, bool), Status> {
        let kept = || self.bundles.lock().unwrap_or_else(PoisonError::into_inner).get(index, width);
        if let Some(records) = kept() {
            return Ok((records, false));
        }
        let is_end = index + 2 > size / WIDTH;
        let _turn = if is_end { self.end_lane.lock().await } else { self.past_lane.lock().await };
        if let Some(records) = kept() {
            return Ok((records, false));
        }
        let request = pb::GetEntriesRequest {
            log: self.log.to_owned(),
            index,
            width: u32::try_from(width).unwrap_or(0),
        };
        let mut service = self.service.clone();
        let answer = timeout(PATIENCE, service.get_entries(request)).await;
        let entries = answer.map_err(|_| silent())??.into_inner().entries;
        let records = split(&entries).filter(|records| records.len() == width);
        let records = Arc::new(records.ok_or_else(|| corrupt("the log's records are none"))?);
        let mut bundles = self.bundles.lock().unwrap_or_else(PoisonError::into_inner);
        bundles.keep(index, Arc::clone(&records));
        Ok((records, true))
    }
}

/// Leaf records of an entry bundle, each behind its length.
fn split(mut entries: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut records = Vec::new();
    while let Some((length, rest)) = entries.split_first_chunk() {
        let (record, rest) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
        if record.len() != RECORD {
            return None;
        }
        records.push(record.to_vec());
        entries = rest;
    }
    entries.is_empty().then_some(records)
}

/// Stream of the answers to one subscriber.
pub(crate) type Messages =
    Pin<Box<dyn Stream<Item = Result<pb::SubscribeResponse, Status>> + Send>>;

/// Place of a subscriber in a log.
pub(super) struct Subscription {
    feed: Arc<Feed>,
    /// Position of the next record.
    next: u64,
    /// Earliest time of the next message.
    not_before: Option<Instant>,
    stopping: CancellationToken,
}

impl Subscription {
    /// The messages, each made when it is taken. An error is the last.
    pub(super) fn messages(self) -> Messages {
        let stream = futures_util::stream::unfold(Some(self), |subscription| async move {
            let mut subscription = subscription?;
            let stopping = subscription.stopping.clone();
            let message = tokio::select! {
                message = subscription.message() => message,
                () = stopping.cancelled() => Err(unavailable("the server is stopping").into()),
            };
            let rest = message.is_ok().then_some(subscription);
            Some((message, rest))
        });
        Box::pin(stream)
    }

    async fn message(&mut self) -> Result<pb::SubscribeResponse, Status> {
        if let Some(at) = self.not_before.take() {
            sleep_until(at).await;
        }
        let Ok(newest) = timeout(QUIET, self.feed.until_signed(self.next)).await else {
            let checkpoint = self.feed.newest().map_or_else(String::new, |it| it.note.to_string());
            return Ok(self.answer(Vec::new(), checkpoint));
        };
        let newest = newest?;
        let (index, skipped) = (self.next / WIDTH, self.next % WIDTH);
        let width = WIDTH.min(newest.size - index * WIDTH);
        let [skipped, width] = [skipped, width].map(|it| usize::try_from(it).unwrap_or(usize::MAX));
        let (records, was_read) = self.feed.bundle(index, width, newest.size).await?;
        let is_last = (index + 1) * WIDTH >= newest.size;
        if was_read && !is_last {
            self.not_before = Some(Instant::now() + PAST_PACE);
        }
        let records = records.get(skipped..width).unwrap_or_default().to_vec();
        let checkpoint = if is_last { newest.note.to_string() } else { String::new() };
        Ok(self.answer(records, checkpoint))
    }

    /// Message with the next records; the position moves behind them.
    fn answer(&mut self, leaf_records: Vec<Vec<u8>>, checkpoint: String) -> pb::SubscribeResponse {
        let position = self.next;
        self.next += u64::try_from(leaf_records.len()).unwrap_or(0);
        pb::SubscribeResponse { position, leaf_records, next_position: self.next, checkpoint }
    }
}

fn silent() -> Status {
    unavailable("the log's service does not answer").into()
}

fn corrupt(message: &str) -> Status {
    api_refusal(ErrorReason::Corrupt, message).into()
}

#[cfg(test)]
mod tests;
