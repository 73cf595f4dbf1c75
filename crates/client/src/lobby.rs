//! Lists of open tables and of a player's seats, and the followed list of open tables.

use std::fmt;

use primitives::PlayerId;
use proto::table::v1 as pb;
use proto::table::v1::table_service_client::TableServiceClient;
use proto::table::v1::watch_lobby_response::Message;
use tonic::{Status, Streaming};

use crate::accounts::player_id_text;
use crate::connection::Client;
use crate::error::{Error, Refusal};
use crate::retry::Attempts;

/// Rows of a page: as many as there may be.
const PAGE_SIZE: i32 = 500;

impl Client {
    /// Returns all open tables, in the order they were opened, from all pages.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn list_tables(&self) -> Result<Vec<pb::TableSummary>, Error> {
        self.list_tables_where(pb::LobbyFilter::default()).await
    }

    /// Returns the open tables that pass a filter, in the order they were opened, from all pages.
    ///
    /// # Errors
    /// See [`Error`]; `BAD_FIELD` for a game that does not exist.
    pub async fn list_tables_where(
        &self,
        filter: pb::LobbyFilter,
    ) -> Result<Vec<pb::TableSummary>, Error> {
        let mut tables = Vec::new();
        let mut request = pb::ListTablesRequest {
            page_size: PAGE_SIZE,
            page_token: String::new(),
            filter: Some(filter),
        };
        loop {
            let page = self
                .call_with_retries(request.clone(), |channel, request| async move {
                    TableServiceClient::new(channel).list_tables(request).await
                })
                .await?;
            tables.extend(page.tables);
            if page.next_page_token.is_empty() {
                return Ok(tables);
            }
            request.page_token = page.next_page_token;
        }
    }

    /// Returns a player's seats at all tables, from all pages. A player of `None` means the bearer
    /// of the token.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn list_seats(&self, player: Option<PlayerId>) -> Result<Vec<pb::PlayerSeat>, Error> {
        let mut seats = Vec::new();
        let mut request = pb::ListSeatsRequest {
            player_id: player_id_text(player),
            page_size: PAGE_SIZE,
            page_token: String::new(),
        };
        loop {
            let page = self
                .call_with_retries(request.clone(), |channel, request| async move {
                    TableServiceClient::new(channel).list_seats(request).await
                })
                .await?;
            seats.extend(page.seats);
            if page.next_page_token.is_empty() {
                return Ok(seats);
            }
            request.page_token = page.next_page_token;
        }
    }

    /// Follows the open tables that pass a filter; from the position of a
    /// [`LobbyWatch::resume_token`], or anew with an empty one.
    #[must_use]
    pub fn watch_lobby(&self, filter: pb::LobbyFilter, resume_token: Vec<u8>) -> LobbyWatch {
        let attempts = Attempts::default();
        LobbyWatch { client: self.clone(), filter, resume_token, stream: None, attempts }
    }
}

/// Message of the followed list.
#[derive(Debug, Clone, PartialEq)]
pub enum LobbyMessage {
    /// The list begins: whatever was listed before is void.
    Started,
    /// An open table as it stands: new in the list, or changed.
    Table(Box<pb::TableSummary>),
    /// A table is in the list no more.
    Delisted(pb::TableDelisted),
    /// The messages that follow are live.
    CaughtUp,
}

/// Followed list of open tables. A stream that breaks is continued with the last resume token.
pub struct LobbyWatch {
    client: Client,
    filter: pb::LobbyFilter,
    resume_token: Vec<u8>,
    stream: Option<Streaming<pb::WatchLobbyResponse>>,
    attempts: Attempts,
}

/// Leaves out the client's token.
impl fmt::Debug for LobbyWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LobbyWatch").field("filter", &self.filter).finish_non_exhaustive()
    }
}

impl LobbyWatch {
    /// Token to continue behind the last message.
    #[must_use]
    pub fn resume_token(&self) -> &[u8] {
        &self.resume_token
    }

    /// Returns the next message. Cancel safe.
    ///
    /// # Errors
    /// See [`Error`]; the next call tries again.
    pub async fn next(&mut self) -> Result<LobbyMessage, Error> {
        loop {
            if self.stream.is_none() {
                self.connect().await?;
            }
            let Some(stream) = &mut self.stream else { continue };
            match stream.message().await {
                Ok(Some(message)) => {
                    if let Some(message) = self.accept(message) {
                        return Ok(message);
                    }
                }
                Ok(None) => self.stream = None,
                Err(status) => self.failed(&status).await?,
            }
        }
    }

    async fn connect(&mut self) -> Result<(), Error> {
        let (filter, resume_token) = (Some(self.filter.clone()), self.resume_token.clone());
        let request = self.client.request(pb::WatchLobbyRequest { filter, resume_token });
        match TableServiceClient::new(self.client.channel()).watch_lobby(request).await {
            Ok(stream) => self.stream = Some(stream.into_inner()),
            Err(status) => self.failed(&status).await?,
        }
        Ok(())
    }

    /// The message for the caller; none for one that concerns only the stream.
    fn accept(&mut self, message: pb::WatchLobbyResponse) -> Option<LobbyMessage> {
        let pb::WatchLobbyResponse { message, resume_token } = message;
        self.attempts.reset();
        self.resume_token = resume_token;
        match message? {
            Message::Started(_) => Some(LobbyMessage::Started),
            Message::Table(table) => Some(LobbyMessage::Table(Box::new(table))),
            Message::Delisted(delisted) => Some(LobbyMessage::Delisted(delisted)),
            Message::CaughtUp(_) => Some(LobbyMessage::CaughtUp),
            Message::Heartbeat(_) => None,
            Message::Ended(_) => {
                self.stream = None;
                None
            }
        }
    }

    /// Waits before the next attempt, if the retry policy allows one.
    async fn failed(&mut self, status: &Status) -> Result<(), Error> {
        self.stream = None;
        if !wire::status::is_retryable(status) {
            return Err(Error::Refused(Refusal::from(status)));
        }
        let (policy, now) = (self.client.retry_policy(), self.client.clock().now());
        let Some(at) = self.attempts.next_attempt(policy, status, now) else {
            self.attempts.reset();
            return Err(Error::Unanswered(Refusal::from(status)));
        };
        self.client.clock().sleep_until(at).await;
        Ok(())
    }
}
