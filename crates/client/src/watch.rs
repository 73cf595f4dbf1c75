//! Following a table over a stream that reconnects.
//!
//! A stream breaks when a server stops, a network fails or a reader is slow; a [`Watch`] continues
//! with the last resume token. Updates are numbered without gaps. An update that is missing, comes
//! twice or is malformed is an error, after which following begins again with a snapshot.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use futures_util::Stream;
use primitives::{TableId, UnixMicros};
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use proto::table::v1::table_service_client::TableServiceClient;
use proto::table::v1::table_update::What;
use proto::table::v1::watch_table_response::Message;
use tonic::{Response, Status, Streaming};

use crate::chance::Notice;
use crate::connection::Client;
use crate::error::{Error, Refusal};
use crate::play::{PlayMessage, PlayRequests};
use crate::retry::Attempts;

/// Longest silence of a stream, heartbeats included, before it counts as dead.
const MAX_SILENCE: Duration = Duration::from_secs(60);

/// Longest pause between two attempts of a client that the other players wait for.
const MAX_AWAITED_PAUSE: Duration = Duration::from_millis(300);

/// Message of a followed table.
#[derive(Clone, PartialEq)]
pub enum WatchMessage {
    /// The whole table. Comes first, and again if too many updates were missed.
    Snapshot(Box<pb::TableView>),
    Update(Box<pb::TableUpdate>),
    /// The messages that follow are live.
    CaughtUp,
}

impl WatchMessage {
    /// Whether a hand ended, which is when the logs' checkpoints are best checked.
    #[must_use]
    pub fn is_hand_end(&self) -> bool {
        match self {
            WatchMessage::Update(update) => matches!(update.what, Some(What::HandEnded(_))),
            WatchMessage::Snapshot(_) | WatchMessage::CaughtUp => false,
        }
    }
}

/// Leaves out the cards.
impl fmt::Debug for WatchMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WatchMessage::Snapshot(view) => write!(f, "Snapshot({})", view.sequence),
            WatchMessage::Update(update) => write!(f, "Update({})", update.sequence),
            WatchMessage::CaughtUp => f.write_str("CaughtUp"),
        }
    }
}

/// Followed table.
pub struct Watch {
    client: Client,
    table: TableId,
    resume_token: Vec<u8>,
    /// The last update, received or contained in the snapshot.
    sequence: Option<u64>,
    stream: Option<TableStream>,
    /// Messages to the table, if the stream is one of play.
    pub(crate) requests: Option<PlayRequests>,
    attempts: Attempts,
    /// Earliest time of the next attempt to connect.
    not_before: UnixMicros,
    is_live: bool,
    is_over: bool,
    /// The other players wait: reconnects without long pauses.
    is_awaited: bool,
    /// Notices for the player that were not returned yet.
    notices: VecDeque<Notice>,
}

impl Watch {
    pub(crate) fn new(client: Client, table: TableId, resume_token: Vec<u8>) -> Watch {
        Watch {
            client,
            table,
            resume_token,
            sequence: None,
            stream: None,
            requests: None,
            attempts: Attempts::default(),
            not_before: UnixMicros(0),
            is_live: false,
            is_over: false,
            is_awaited: false,
            notices: VecDeque::new(),
        }
    }

    /// Waits for the next message; none once the table is closed. Cancel-safe.
    ///
    /// # Errors
    /// Returns an error if the server refuses, does not answer within the retry policy, or an
    /// update is missing. The next call tries again.
    pub async fn next(&mut self) -> Result<Option<WatchMessage>, Error> {
        loop {
            match self.receive().await? {
                Some(PlayMessage::Watch(seen)) => return Ok(Some(seen)),
                // A stream that only watches sends nothing that could be answered.
                Some(
                    PlayMessage::Decision(_) | PlayMessage::Entropy(_) | PlayMessage::Notice(_),
                ) => {}
                None => return Ok(None),
            }
        }
    }

    pub(crate) async fn receive(&mut self) -> Result<Option<PlayMessage>, Error> {
        if let Some(deciding) = &mut self.requests {
            deciding.take_failure()?;
        }
        if let Some(notice) = self.next_notice().await {
            return Ok(Some(PlayMessage::Notice(notice)));
        }
        while !self.is_over {
            let Some(stream) = &mut self.stream else {
                self.connect().await?;
                continue;
            };
            let message =
                tokio::time::timeout(MAX_SILENCE, stream.message()).await.unwrap_or(Ok(None));
            match message {
                Ok(Some(StreamMessage::Watch(message))) => {
                    if let Some(seen) = self.accept(message)? {
                        if let Some(deciding) = &mut self.requests {
                            deciding.apply(&seen);
                            self.is_awaited = deciding.is_awaited();
                            if self.is_live {
                                deciding.send_entropy(&self.client, self.table);
                                deciding.fold_blind(&self.client, self.table);
                            }
                        }
                        return Ok(Some(PlayMessage::Watch(seen)));
                    }
                    if let Some(requests) = &mut self.requests {
                        // Time passes while nothing happens at the table.
                        requests.check_time();
                        requests.take_failure()?;
                    }
                }
                Ok(Some(StreamMessage::Acted(acted))) => {
                    let deciding = self.requests.as_mut();
                    if let Some(acted) =
                        deciding.and_then(|deciding| deciding.resolve_decision(acted, &self.client))
                    {
                        return Ok(Some(PlayMessage::Decision(acted)));
                    }
                }
                Ok(Some(StreamMessage::Entropy(taken))) => {
                    let Some(deciding) = &mut self.requests else { continue };
                    let taken = deciding.resolve_entropy(taken);
                    if self.is_live {
                        deciding.send_entropy(&self.client, self.table);
                    }
                    if let Some(taken) = taken {
                        return Ok(Some(PlayMessage::Entropy(taken)));
                    }
                }
                Ok(Some(StreamMessage::Unknown)) => {}
                Ok(None) => self.reconnect_later(&ended())?,
                Err(status) => self.stream_failed(&status)?,
            }
        }
        Ok(None)
    }

    /// Returns the next notice for the player. One whose number is not in a hand sits out: it is
    /// tried again after the next message until the table takes or refuses it.
    async fn next_notice(&mut self) -> Option<Notice> {
        let requests = self.requests.as_mut()?;
        let notices = requests.take_notices();
        self.notices.extend(notices);
        if requests.sits_out && self.is_live {
            match self.client.sit_out(self.table, true).await {
                Err(Error::Unanswered(_)) => {}
                Ok(()) | Err(_) => requests.sits_out = false,
            }
        }
        self.notices.pop_front()
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) const fn table(&self) -> TableId {
        self.table
    }

    /// Returns the messages as a stream.
    pub fn into_stream(self) -> impl Stream<Item = Result<WatchMessage, Error>> + Send {
        futures_util::stream::try_unfold(self, |mut watch| async move {
            Ok(watch.next().await?.map(|seen| (seen, watch)))
        })
    }

    /// Whether the stream has caught up with the table.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.is_live
    }

    /// Says whether others wait for this viewer: if so, a lost stream is opened again within a
    /// second.
    pub fn set_awaited(&mut self, awaited: bool) {
        self.is_awaited = awaited;
    }

    /// Returns a token with which another client can continue from this position.
    #[must_use]
    pub fn resume_token(&self) -> &[u8] {
        &self.resume_token
    }

    async fn connect(&mut self) -> Result<(), Error> {
        self.client.clock().sleep_until(self.not_before).await;
        let watch = pb::WatchTableRequest {
            table_id: self.table.to_string(),
            resume_token: self.resume_token.clone(),
        };
        let mut tables = TableServiceClient::new(self.client.channel());
        let opened = match &mut self.requests {
            None => tables.watch_table(self.client.request(watch)).await.map(watching),
            Some(deciding) => {
                let messages = deciding.request_stream(watch);
                tables.play(self.client.request(messages)).await.map(playing)
            }
        };
        match opened {
            Ok(stream) => self.stream = Some(stream),
            Err(status) => self.stream_failed(&status)?,
        }
        Ok(())
    }

    /// Returns the message for the caller; none for one that concerns only the stream.
    fn accept(&mut self, message: pb::WatchTableResponse) -> Result<Option<WatchMessage>, Error> {
        let pb::WatchTableResponse { message, resume_token } = message;
        let seen = match message {
            Some(Message::Snapshot(view)) => {
                // A snapshot may be ahead of the last update, never behind.
                let seen = self.sequence.unwrap_or(0);
                if view.sequence < seen {
                    return Err(self.gap(seen, view.sequence));
                }
                self.sequence = Some(view.sequence);
                Some(WatchMessage::Snapshot(view))
            }
            Some(Message::Update(update)) => {
                if self.sequence.is_none() && self.resume_token.is_empty() {
                    self.disconnect();
                    return Err(Error::Malformed("an update came before any snapshot"));
                }
                let expected = self.sequence.map(|last| last.saturating_add(1));
                if let Some(expected) = expected.filter(|expected| *expected != update.sequence) {
                    return Err(self.gap(expected, update.sequence));
                }
                if let Some(What::Seat(pb::SeatChanged { seat: None, .. })) = &update.what {
                    self.start_over();
                    return Err(Error::Malformed("a seat changed, and the seat is missing"));
                }
                self.sequence = Some(update.sequence);
                Some(WatchMessage::Update(update))
            }
            Some(Message::CaughtUp(pb::CaughtUp {})) => {
                self.is_live = true;
                Some(WatchMessage::CaughtUp)
            }
            Some(Message::Ended(pb::StreamEnded { reason, text: _, doc: _, trace_id: _ })) => {
                match pb::EndReason::try_from(reason) {
                    Ok(pb::EndReason::TableClosed) => self.is_over = true,
                    Ok(
                        pb::EndReason::Unspecified
                        | pb::EndReason::ServerStopping
                        | pb::EndReason::TooSlow
                        | pb::EndReason::TokenExpired,
                    )
                    | Err(_) => self.reconnect_later(&ended())?,
                }
                None
            }
            Some(Message::Heartbeat(_)) | None => None,
        };
        if !resume_token.is_empty() {
            self.resume_token = resume_token;
        }
        if self.stream.is_some() {
            self.attempts.reset();
        }
        Ok(seen)
    }

    fn stream_failed(&mut self, status: &Status) -> Result<(), Error> {
        if wire::status::reason_of(status) == Some(ErrorReason::TableClosed) {
            self.is_over = true;
            return Ok(());
        }
        if !wire::status::is_retryable(status) {
            self.disconnect();
            return Err(Error::Refused(Refusal::from(status)));
        }
        self.reconnect_later(status)
    }

    /// Plans the next attempt to connect, if the retry policy allows one.
    fn reconnect_later(&mut self, status: &Status) -> Result<(), Error> {
        self.disconnect();
        let now = self.client.clock().now();
        if let Some(at) = self.attempts.next_attempt(self.client.retry_policy(), status, now) {
            let soon = now.plus(MAX_AWAITED_PAUSE);
            self.not_before = if self.is_awaited { at.min(soon) } else { at };
            return Ok(());
        }
        self.attempts.reset();
        Err(Error::Unanswered(Refusal::from(status)))
    }

    fn disconnect(&mut self) {
        self.stream = None;
        self.is_live = false;
    }

    /// Follows on from a snapshot.
    fn start_over(&mut self) {
        self.disconnect();
        self.resume_token.clear();
        self.sequence = None;
    }

    fn gap(&mut self, expected: u64, got: u64) -> Error {
        self.start_over();
        Error::Gap { expected, got }
    }
}

/// Open stream, of either kind.
enum TableStream {
    Watching(Streaming<pb::WatchTableResponse>),
    Playing(Streaming<pb::PlayResponse>),
}

/// Message of a stream.
enum StreamMessage {
    Watch(pb::WatchTableResponse),
    Acted(pb::Acted),
    Entropy(pb::EntropyTaken),
    /// A message of a kind that this client does not know.
    Unknown,
}

fn watching(answer: Response<Streaming<pb::WatchTableResponse>>) -> TableStream {
    TableStream::Watching(answer.into_inner())
}

fn playing(answer: Response<Streaming<pb::PlayResponse>>) -> TableStream {
    TableStream::Playing(answer.into_inner())
}

impl TableStream {
    async fn message(&mut self) -> Result<Option<StreamMessage>, Status> {
        Ok(match self {
            TableStream::Watching(stream) => stream.message().await?.map(StreamMessage::Watch),
            TableStream::Playing(stream) => stream.message().await?.map(|response| match response
                .message
            {
                Some(pb::play_response::Message::Seen(seen)) => StreamMessage::Watch(seen),
                Some(pb::play_response::Message::Acted(acted)) => StreamMessage::Acted(acted),
                Some(pb::play_response::Message::Entropy(taken)) => StreamMessage::Entropy(taken),
                None => StreamMessage::Unknown,
            }),
        })
    }
}

/// Status of a stream that ended without an error.
fn ended() -> Status {
    Status::from_error("the stream ended".into())
}
