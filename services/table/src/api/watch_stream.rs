//! Stream of a watched table: missed updates, live updates, heartbeats, and a typed end.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use chassis::auth::TokenExpiry;
use primitives::TableId;
use proto::table::v1 as pb;
use system::clock::{Clock as _, SystemClock};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::backlog::BacklogReceiver;
use crate::publish;

/// Interval of heartbeats on a stream without updates.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(15);

/// Repeated updates that cost one unit of calls.
const UPDATES_PER_UNIT: usize = 8;

/// State of a watched table's stream.
pub(super) struct WatchStream {
    table: TableId,
    first: std::vec::IntoIter<pb::WatchTableResponse>,
    live: BacklogReceiver,
    /// One future for the whole stream, since all streams share the token that completes it.
    stopping: Pin<Box<WaitForCancellationFutureOwned>>,
    token: Vec<u8>,
    /// One timer for the whole stream, reset only when it fires.
    heartbeat_timer: Pin<Box<Sleep>>,
    last_sent_at: Instant,
    /// Completes when the caller's token is over; never where there is none.
    token_over: Pin<Box<dyn Future<Output = ()> + Send>>,
    is_over: bool,
    /// Trace of the call, for the end of the stream.
    trace: String,
    /// Address that links begin with; empty: they begin at the room's own root.
    public_url: Arc<str>,
}

impl WatchStream {
    pub(super) fn new(
        table: TableId,
        first: Vec<pb::WatchTableResponse>,
        live: BacklogReceiver,
        stopping: CancellationToken,
    ) -> WatchStream {
        WatchStream {
            table,
            first: first.into_iter(),
            live,
            stopping: Box::pin(stopping.cancelled_owned()),
            token: publish::resume_token(table, 0),
            heartbeat_timer: Box::pin(tokio::time::sleep(HEARTBEAT)),
            last_sent_at: Instant::now(),
            token_over: Box::pin(std::future::pending()),
            is_over: false,
            trace: trace_text(),
            public_url: Arc::default(),
        }
    }

    /// Begins links with this address.
    pub(super) fn with_links_from(self, public_url: Arc<str>) -> WatchStream {
        WatchStream { public_url, ..self }
    }

    /// Ends with the caller's token.
    pub(super) fn ending_with(self, expiry: Option<TokenExpiry>) -> WatchStream {
        match expiry {
            Some(expiry) => {
                let over = async move { expiry.wait_until_expired().await };
                WatchStream { token_over: Box::pin(over), ..self }
            }
            None => self,
        }
    }

    /// Units that the beginning of the stream costs on top of the call's own: repeated updates have
    /// to be made again.
    pub(super) fn units(&self) -> u32 {
        let again = |first: &&pb::WatchTableResponse| {
            matches!(first.message, Some(pb::watch_table_response::Message::Update(_)))
        };
        let again = self.first.as_slice().iter().filter(again).count();
        u32::try_from(again / UPDATES_PER_UNIT).unwrap_or(u32::MAX)
    }

    /// The next message; `None` after the end. Cancel safe.
    pub(super) async fn next(&mut self) -> Option<pb::WatchTableResponse> {
        if self.is_over {
            return None;
        }
        let mut message = match self.first.next() {
            Some(message) => message,
            None => self.next_live().await,
        };
        self.token.clone_from(&message.resume_token);
        self.last_sent_at = Instant::now();
        if let Some(pb::watch_table_response::Message::Ended(ended)) = &mut message.message {
            self.is_over = true;
            ended.trace_id.clone_from(&self.trace);
            ended.doc.insert_str(0, &self.public_url);
        }
        Some(message)
    }

    async fn next_live(&mut self) -> pb::WatchTableResponse {
        loop {
            tokio::select! {
                biased;
                () = self.stopping.as_mut() => return self.ended(pb::EndReason::ServerStopping),
                () = self.token_over.as_mut() => return self.ended(pb::EndReason::TokenExpired),
                message = self.live.next() => {
                    return message.unwrap_or_else(|| self.ended(pb::EndReason::TooSlow));
                }
                () = self.heartbeat_timer.as_mut() => {
                    let quiet = self.last_sent_at.elapsed() >= HEARTBEAT;
                    let next = if quiet { Instant::now() } else { self.last_sent_at } + HEARTBEAT;
                    self.heartbeat_timer.as_mut().reset(next);
                    if quiet {
                        return self.heartbeat();
                    }
                }
            }
        }
    }

    fn ended(&self, reason: pb::EndReason) -> pb::WatchTableResponse {
        tracing::debug!(table = %self.table, ?reason, "a stream ends");
        let ended = publish::stream_ended(reason);
        self.message(pb::watch_table_response::Message::Ended(ended))
    }

    fn heartbeat(&self) -> pb::WatchTableResponse {
        let server_time = Some(wire::time::timestamp(CLOCK.now()));
        self.message(pb::watch_table_response::Message::Heartbeat(pb::Heartbeat { server_time }))
    }

    fn message(&self, message: pb::watch_table_response::Message) -> pb::WatchTableResponse {
        pb::WatchTableResponse { message: Some(message), resume_token: self.token.clone() }
    }
}

/// Trace of the current span as text; empty outside any.
pub(super) fn trace_text() -> String {
    match chassis::telemetry::trace_id() {
        id if id == [0; 16] => String::new(),
        id => format!("{:032x}", u128::from_be_bytes(id)),
    }
}

pub(super) static CLOCK: SystemClock = SystemClock::new();

#[cfg(test)]
mod tests {
    use pb::watch_table_response::Message;

    use super::*;
    use crate::backlog::backlog_channel;

    #[tokio::test]
    async fn eight_updates_sent_again_cost_a_unit_and_a_snapshot_none() {
        let following = |first: Vec<Message>| {
            let first = first.into_iter().chain([Message::CaughtUp(pb::CaughtUp {})]);
            let message =
                |message| pb::WatchTableResponse { message: Some(message), resume_token: vec![] };
            let first = first.map(message).collect();
            WatchStream::new(TableId([7; 16]), first, backlog_channel().1, CancellationToken::new())
        };
        let updates = |count| vec![Message::Update(Box::default()); count];
        for (count, units) in [(0, 0), (7, 0), (8, 1), (256, 32)] {
            let mut following = following(updates(count));
            assert_eq!(following.units(), units, "{count}");
            following.next().await;
        }
        assert_eq!(following(vec![Message::Snapshot(Box::default())]).units(), 0);
    }
}
