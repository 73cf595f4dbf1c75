//! gRPC API of the lobby: pages of open tables, their stream, and a player's seats.

use std::pin::Pin;
use std::time::Duration;

use chassis::auth::TokenExpiry;
use futures_util::{Stream, StreamExt as _};
use primitives::{PlayerId, TableId};
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use proto::table::v1::watch_lobby_response::Message;
use system::clock::Clock as _;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tonic::{Response, Status};
use wire::{ApiRefusal, BadField, api_refusal, field};

use super::parse::page_after;
use super::watch_stream::{CLOCK, HEARTBEAT, trace_text};
use super::{Api, Caller, send_message, with_units};
use crate::actor::{Query, TableMessage};
use crate::lobby::{Filter, LobbyWatch};
use crate::publish;

/// Time for which a list waits for one table.
const TABLE_TIMEOUT: Duration = Duration::from_millis(500);

pub(super) type LobbyMessages =
    Pin<Box<dyn Stream<Item = Result<pb::WatchLobbyResponse, Status>> + Send>>;

impl Api {
    pub(super) async fn tables_page(
        &self,
        caller: &Caller,
        request: pb::ListTablesRequest,
    ) -> Result<pb::ListTablesResponse, ApiRefusal> {
        let pb::ListTablesRequest { page_size, page_token, filter } = request;
        let (after, size) = page_after(page_size, &page_token)?;
        let filter = Filter::parse(filter.as_ref(), caller.player)?;
        let registry = self.registry()?;
        registry.wait_for_lobby().await;
        let (tables, next) = registry.lobby().page(&filter, after, size);
        let next_page_token = next.map_or_else(String::new, |next| next.to_string());
        Ok(pb::ListTablesResponse { tables, next_page_token })
    }

    pub(super) async fn seats_page(
        &self,
        caller: &Caller,
        request: pb::ListSeatsRequest,
    ) -> Result<pb::ListSeatsResponse, ApiRefusal> {
        let pb::ListSeatsRequest { player_id, page_size, page_token } = request;
        let player = own_or_named(caller.player, &player_id)?;
        let (after, size) = page_after(page_size, &page_token)?;
        let registry = self.registry()?;
        let behind = |table: &TableId| after.is_none_or(|after| *table > after);
        let mut tables = registry.tables_of(player);
        tables.retain(behind);
        let more = tables.len() > size;
        tables.truncate(size);
        let next = tables.last().filter(|_| more).map(ToString::to_string);
        let mut seats = Vec::with_capacity(tables.len());
        for id in tables {
            // A table that does not answer must not hide the others.
            let Some(table) = registry.running_table(id) else { continue };
            let (reply, seat) = oneshot::channel();
            let query = Query::Seat { player, reply };
            if send_message(&table, TableMessage::Query(query)).is_ok() {
                let seat = tokio::time::timeout(TABLE_TIMEOUT, seat).await;
                seats.extend(seat.ok().and_then(Result::ok).flatten());
            }
        }
        Ok(pb::ListSeatsResponse { seats, next_page_token: next.unwrap_or_default() })
    }

    pub(super) async fn lobby_stream(
        &self,
        caller: &Caller,
        request: pb::WatchLobbyRequest,
        expiry: Option<TokenExpiry>,
    ) -> Result<Response<LobbyMessages>, ApiRefusal> {
        let pb::WatchLobbyRequest { filter, resume_token } = request;
        let filter = Filter::parse(filter.as_ref(), caller.player)?;
        let registry = self.registry()?;
        registry.wait_for_lobby().await;
        let watch = LobbyWatch::new(registry.lobby().clone(), filter, &resume_token)?;
        let units = watch.units();
        let stream = LobbyStream {
            watch,
            stopping: self.stopping.clone(),
            log_stopped: registry.log_stopped(),
            expiry,
            last_sent_at: Instant::now(),
            is_over: false,
            trace: trace_text(),
        };
        let messages = futures_util::stream::unfold(Box::new(stream), |mut stream| async move {
            let message = stream.next().await?;
            Some((Ok(message), stream))
        });
        Ok(with_units(units, Box::pin(messages.fuse())))
    }
}

/// Player that a caller may ask about: players about themselves, staff about a player they name.
///
/// # Errors
/// Another player's id, or none where staff call.
pub(super) fn own_or_named(
    caller: Option<PlayerId>,
    player_id: &str,
) -> Result<PlayerId, ApiRefusal> {
    let named = (!player_id.is_empty()).then(|| field::player_id(player_id)).transpose()?;
    match (caller, named) {
        (Some(own), None) => Ok(own),
        (Some(own), Some(named)) if own == named => Ok(own),
        (Some(_), Some(_)) => {
            let text = "players see their own alone: leave player_id empty";
            Err(api_refusal(ErrorReason::RoleNotAllowed, text).field("player_id"))
        }
        (None, Some(named)) => Ok(named),
        (None, None) => Err(BadField::new("player_id", "missing: whose?").into()),
    }
}

/// Stream of a watched lobby: the watcher's messages, heartbeats, and a typed end.
struct LobbyStream {
    watch: LobbyWatch,
    stopping: CancellationToken,
    /// Fires when this process owns the log no more.
    log_stopped: CancellationToken,
    expiry: Option<TokenExpiry>,
    last_sent_at: Instant,
    is_over: bool,
    /// Trace of the call, for the end of the stream.
    trace: String,
}

impl LobbyStream {
    /// The next message; `None` after the end.
    async fn next(&mut self) -> Option<pb::WatchLobbyResponse> {
        if self.is_over {
            return None;
        }
        let heartbeat_at = self.last_sent_at + HEARTBEAT;
        let expired = async {
            match &self.expiry {
                Some(expiry) => expiry.wait_until_expired().await,
                None => std::future::pending().await,
            }
        };
        let ended = tokio::select! {
            biased;
            () = self.stopping.cancelled() => Some(pb::EndReason::ServerStopping),
            () = self.log_stopped.cancelled() => Some(pb::EndReason::ServerStopping),
            () = expired => Some(pb::EndReason::TokenExpired),
            message = self.watch.next() => {
                self.last_sent_at = Instant::now();
                return Some(message);
            }
            () = tokio::time::sleep_until(heartbeat_at) => None,
        };
        self.last_sent_at = Instant::now();
        let message = match ended {
            Some(reason) => {
                self.is_over = true;
                let trace_id = self.trace.clone();
                let ended = publish::stream_ended(reason);
                Message::Ended(pb::StreamEnded { trace_id, ..ended })
            }
            None => {
                let server_time = Some(wire::time::timestamp(CLOCK.now()));
                Message::Heartbeat(pb::Heartbeat { server_time })
            }
        };
        Some(self.watch.message(message))
    }
}
