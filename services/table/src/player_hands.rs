//! Hands of each player, newest first: what became of each, and what it moved for them.
//!
//! They lie in tables of the database ([`crate::repo`]), because a room has many more of them than
//! fit into memory. A task follows the log and writes them behind it ([`follow`]); what it writes of
//! an event is in [`rows`]. Tables that are emptied, lost, or ahead of the log are written anew.
//!
//! A page is found by a key and looks at [`MAX_SCANNED`] hands at most, so its cost does not depend
//! on how many a player has.
//!
//! Specification: services/table/README.md "A player's hands".

pub(crate) mod rows;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use eventlog::{Event, Log, Position, ReadError, Reader};
use futures_util::StreamExt as _;
use primitives::{HandId, PlayerId, TableId, UnixMicros};
use proto::audit::v1 as pb;
use proto::common::v1::ErrorReason;
use tokio::sync::{Semaphore, watch};
use wire::{ApiRefusal, BadField, api_refusal, status};

use crate::hand_list::NoCursor;
use crate::log_follower::RETRY_PAUSE;
use crate::repo::Repo;
use rows::HandRows;

/// Hands of a player that one page looks at, where a filter passes few of many.
const MAX_SCANNED: usize = 2000;
/// Events that are written at one time.
const MAX_EVENTS: usize = 1000;
/// Pause between two writes, in which events gather: a write costs a commit, however few it has.
const WRITE_PAUSE: Duration = Duration::from_millis(100);
/// Pages that are read at one time, and the time for which others wait.
const MAX_READS: usize = 4;
const READ_WAIT: Duration = Duration::from_secs(1);
/// Longest wait of a reader for the tables to have what was committed before.
const FOLLOW_TIMEOUT: Duration = Duration::from_millis(500);

/// Lists of players' hands. Clones share them.
#[derive(Clone)]
pub(crate) struct PlayerHands {
    /// `None` where there is no database, as in tests of other things.
    repo: Option<Repo>,
    log_size: watch::Sender<u64>,
    read_permits: Arc<Semaphore>,
}

/// Key of a hand among those of a player. Its text is a page's token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HandKey {
    /// Unix microseconds.
    pub started_at: u64,
    /// Position of the hand's first record.
    pub position: u64,
}

/// Hands that are asked for.
#[derive(Debug, Clone)]
pub(crate) struct HandsQuery {
    pub player: PlayerId,
    pub table: Option<TableId>,
    pub variant: Option<String>,
    /// Sign of the net.
    pub result: Option<i16>,
    /// Hands that started at `start` or later, and before `end`.
    pub start: UnixMicros,
    pub end: UnixMicros,
    /// The hand that the page begins behind.
    pub before: Option<HandKey>,
    /// Hands to look at.
    pub scan: usize,
    pub take: usize,
}

/// Hands that were found.
#[derive(Debug)]
pub(crate) struct FoundHands {
    pub hands: Vec<StoredHand>,
    /// `None` where there was none to look at.
    pub scanned: Option<ScannedHands>,
    pub log_size: u64,
}

/// Hands that were looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScannedHands {
    pub last: HandKey,
    pub count: usize,
}

/// A hand of a player.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredHand {
    pub key: HandKey,
    pub table: TableId,
    pub table_name: String,
    pub variant: String,
    pub hand_no: u64,
    pub hand: HandId,
    pub seat: u32,
    pub net: i64,
    /// A number of [`pb::HandOutcome`].
    pub outcome: i16,
    pub ended_at: Option<UnixMicros>,
}

impl fmt::Display for HandKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.started_at, self.position)
    }
}

impl FromStr for HandKey {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<HandKey, NoCursor> {
        let (started_at, position) = text.split_once(':').ok_or(NoCursor)?;
        let number = |text: &str| text.parse().map_err(|_| NoCursor);
        Ok(HandKey { started_at: number(started_at)?, position: number(position)? })
    }
}

impl PlayerHands {
    #[must_use]
    pub(crate) fn new(repo: Option<Repo>) -> PlayerHands {
        let read_permits = Arc::new(Semaphore::new(MAX_READS));
        PlayerHands { repo, log_size: watch::Sender::new(0), read_permits }
    }

    /// Page of a player's hands, with those of the first `log_size` records where they are written in
    /// time.
    pub(crate) async fn page(
        &self,
        query: HandsQuery,
        log_size: u64,
    ) -> Result<pb::ListPlayerHandsResponse, ApiRefusal> {
        let away = || status::unavailable("the lists of players' hands cannot be read");
        let repo = self.repo.as_ref().ok_or_else(away)?;
        // Whoever waits for what is written last takes nobody's turn to read.
        let mut written = self.log_size.subscribe();
        let reached = written.wait_for(|size| *size >= log_size);
        let _ = tokio::time::timeout(FOLLOW_TIMEOUT, reached).await;
        let permit = tokio::time::timeout(READ_WAIT, self.read_permits.acquire()).await;
        let _permit = permit.ok().and_then(Result::ok).ok_or_else(|| {
            let message = "as many lists are being read as may be: try again in a moment";
            api_refusal(ErrorReason::Overloaded, message)
        })?;
        let take = query.take;
        let is_filtered =
            query.table.is_some() || query.variant.is_some() || query.result.is_some();
        // One more tells whether there is a next page.
        let scan = if is_filtered { MAX_SCANNED } else { take + 1 };
        let found = repo.page(&HandsQuery { scan, take: take + 1, ..query }).await;
        let found = found.map_err(|_| away())?;
        Ok(response(found, take, scan))
    }
}

/// Page of `take` hands out of those that were found among `scan`.
fn response(found: FoundHands, take: usize, scan: usize) -> pb::ListPlayerHandsResponse {
    let FoundHands { mut hands, scanned, log_size } = found;
    let more_found = hands.len() > take;
    hands.truncate(take);
    let more_to_scan = scanned.filter(|scanned| scanned.count >= scan).map(|scanned| scanned.last);
    let next = if more_found { hands.last().map(|hand| hand.key) } else { more_to_scan };
    pb::ListPlayerHandsResponse {
        hands: hands.into_iter().map(row).collect(),
        next_page_token: next.map_or_else(String::new, |next| next.to_string()),
        log_size,
    }
}

fn row(hand: StoredHand) -> pb::PlayerHand {
    let StoredHand { key, table, table_name, variant, hand_no, hand, seat, net, outcome, ended_at } =
        hand;
    let outcome = pb::HandOutcome::try_from(i32::from(outcome)).unwrap_or_default();
    let result = match (outcome, net.signum()) {
        (pb::HandOutcome::InPlay, _) => pb::HandResult::Unspecified,
        (_, 1) => pb::HandResult::Won,
        (_, -1) => pb::HandResult::Lost,
        (_, _) => pb::HandResult::Even,
    };
    pb::PlayerHand {
        table_id: table.to_string(),
        table_name,
        variant,
        hand_no,
        hand_id: hand.to_string(),
        seat,
        net_credits: net,
        result: result.into(),
        outcome: outcome.into(),
        start_time: Some(wire::time::timestamp(UnixMicros(key.started_at))),
        end_time: ended_at.map(wire::time::timestamp),
    }
}

/// Sign of the net of hands with a result; `None` for all hands.
pub(crate) fn result_sign(result: i32) -> Result<Option<i16>, BadField> {
    match pb::HandResult::try_from(result) {
        Ok(pb::HandResult::Unspecified) => Ok(None),
        Ok(pb::HandResult::Won) => Ok(Some(1)),
        Ok(pb::HandResult::Lost) => Ok(Some(-1)),
        Ok(pb::HandResult::Even) => Ok(Some(0)),
        Err(_) => Err(BadField::new("result", "WON, LOST or EVEN")),
    }
}

/// Follows the log and writes the hands of its events, until the log is lost or closed.
pub(crate) async fn follow(log: Log, hands: PlayerHands) {
    let Some(repo) = hands.repo.clone() else { return };
    let stopped = log.stopped();
    let mut outage = Outage::default();
    let begun = loop {
        match repo.begin(log.size()).await {
            Ok(from) => break from,
            Err(error) => outage.report(&error),
        }
        if stopped.run_until_cancelled(tokio::time::sleep(RETRY_PAUSE)).await.is_none() {
            return;
        }
    };
    let mut writer = Writer { repo, reader: log.reader().clone(), written: begun, outage };
    while let Ok(Some(cut)) = writer.reader.cut().await
        && writer.written < cut.size()
    {
        let skipped = Box::pin(writer.skip_to(cut.size()));
        if stopped.run_until_cancelled(skipped).await.is_none() {
            return;
        }
    }
    let mut events = log.subscribe(Position(writer.written)).ready_chunks(MAX_EVENTS);
    // The log's handle must not keep the log open.
    drop(log);
    while let Some(chunk) = events.next().await {
        let is_behind = chunk.len() == MAX_EVENTS;
        let (mut read, mut is_stopped) = (Vec::new(), false);
        for event in chunk {
            match event {
                Ok(event) => read.push(event),
                Err(ReadError::Stopped) => is_stopped = true,
                Err(error) => writer.outage.report(&error),
            }
        }
        if read.is_empty() && !is_stopped {
            tokio::time::sleep(RETRY_PAUSE).await;
        }
        let written = Box::pin(writer.write_all(&read));
        if stopped.run_until_cancelled(written).await.is_none() || is_stopped {
            return;
        }
        hands.log_size.send_replace(writer.written);
        let pause = tokio::time::sleep(WRITE_PAUSE);
        if !is_behind && stopped.run_until_cancelled(pause).await.is_none() {
            return;
        }
    }
}

/// Outage of the database: one line in the log when it begins, one when it is over.
#[derive(Default)]
struct Outage {
    has_begun: bool,
}

impl Outage {
    fn report(&mut self, error: &ReadError) {
        if !std::mem::replace(&mut self.has_begun, true) {
            tracing::warn!(%error, "the lists of players' hands wait for the database");
        }
    }

    fn end(&mut self) {
        if std::mem::take(&mut self.has_begun) {
            tracing::info!("the lists of players' hands go on");
        }
    }
}

/// Writer of rows behind the log.
struct Writer {
    repo: Repo,
    reader: Reader,
    /// Events that the tables have.
    written: u64,
    outage: Outage,
}

impl Writer {
    /// Writes the rows of consecutive events, and before them those of events that the tables lack
    /// because somebody has emptied them.
    async fn write_all(&mut self, events: &[Event]) {
        let (Some(first), Some(last)) = (events.first(), events.last()) else { return };
        while self.written <= last.position.0 {
            if self.written >= first.position.0 {
                self.write(events).await;
                continue;
            }
            match self.reader.read(Position(self.written), MAX_EVENTS).await {
                Ok(missing) => self.write(&missing).await,
                Err(ReadError::Archived { size }) => self.skip_to(size).await,
                Err(error) => self.wait(&error).await,
            }
        }
    }

    /// Writes the rows of those of consecutive events that the tables do not have. Where another
    /// process has written in between, or the database is away, nothing is written.
    async fn write(&mut self, events: &[Event]) {
        let from = self.written;
        let new = || events.iter().filter(|event| event.position.0 >= from);
        let Some(last) = new().next_back() else { return };
        let mut rows = HandRows::default();
        new().for_each(|event| rows.add(event));
        let added = match self.repo.add(from, last.position.0 + 1, &rows).await {
            // They do not say how far they go: they were emptied.
            Ok(written) if written == from => self.repo.begin(u64::MAX).await,
            added => added,
        };
        match added {
            Ok(written) => {
                self.written = written;
                self.outage.end();
            }
            Err(error) => self.wait(&error).await,
        }
    }

    /// Goes on behind the log's cut: the hands before it are in archives, and not in the lists.
    async fn skip_to(&mut self, cut: u64) {
        tracing::warn!(cut, "the lists of players' hands begin at the log's cut");
        match self.repo.add(self.written, cut, &HandRows::default()).await {
            Ok(written) => self.written = written,
            Err(error) => self.wait(&error).await,
        }
    }

    async fn wait(&mut self, error: &ReadError) {
        self.outage.report(error);
        tokio::time::sleep(RETRY_PAUSE).await;
    }
}
