//! Raw callers: connections from chosen loopback addresses, without retries, and counts of
//! outcomes.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use anyhow::Context as _;
use client::Error;
use primitives::PlayerId;
use proto::audit::v1::audit_service_client::AuditServiceClient;
use proto::table::v1::table_service_client::TableServiceClient;
use proto::wallet::v1::wallet_service_client::WalletServiceClient;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status};
use transport::Bearer;

use crate::room::{Guest, Room};

/// Longest wait for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes that an unread stream takes before its sender has to wait.
const STREAM_WINDOW: u32 = 65_535;
const CONNECTION_WINDOW: u32 = 32 << 20;

/// Opens a connection to a room from 127.0.0.`address`, on first use.
///
/// # Errors
/// The room's address is malformed.
pub fn connection(room: &Room, address: u8) -> anyhow::Result<Channel> {
    let endpoint = Endpoint::from_shared(room.url.clone()).context("the room's address")?;
    Ok(endpoint
        .local_address(Some(IpAddr::V4(Ipv4Addr::new(127, 0, 0, address))))
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .connect_timeout(Duration::from_secs(2))
        .connect_lazy())
}

/// Caller with a token and a connection.
#[derive(Clone)]
pub struct Caller {
    pub id: PlayerId,
    pub guest: Guest,
    channel: Channel,
    bearer: Bearer,
}

impl Caller {
    /// Creates a new player who calls from 127.0.0.`address`.
    ///
    /// # Errors
    /// The room refuses an account.
    pub async fn new(room: &Room, address: u8) -> anyhow::Result<Caller> {
        Caller::of(room, room.guest().await?, address)
    }

    /// Creates a caller for an existing player.
    ///
    /// # Errors
    /// The room's address is malformed.
    pub fn of(room: &Room, guest: Guest, address: u8) -> anyhow::Result<Caller> {
        let (channel, bearer) = (connection(room, address)?, Bearer::new(&guest.token));
        Ok(Caller { id: guest.id, guest, channel, bearer })
    }

    /// Opens another connection for this player.
    ///
    /// # Errors
    /// The room's address is malformed.
    pub fn reconnect(&self, room: &Room, address: u8) -> anyhow::Result<Caller> {
        Caller::of(room, self.guest.clone(), address)
    }

    #[must_use]
    pub fn table(&self) -> TableServiceClient<Channel> {
        TableServiceClient::new(self.channel.clone())
    }

    #[must_use]
    pub fn wallet(&self) -> WalletServiceClient<Channel> {
        WalletServiceClient::new(self.channel.clone())
    }

    #[must_use]
    pub fn audit(&self) -> AuditServiceClient<Channel> {
        AuditServiceClient::new(self.channel.clone())
    }

    /// Returns the connection, for other services.
    #[must_use]
    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// Wraps a message in a request with the caller's token.
    pub fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        self.bearer.add_to(&mut request);
        request
    }
}

/// Counts of calls by outcome.
#[derive(Debug, Clone, Default)]
pub struct CallCounts {
    pub accepted: u64,
    /// Refused calls by reason; `NO_ANSWER` without an answer.
    pub refused: BTreeMap<String, u64>,
}

impl CallCounts {
    #[must_use]
    pub fn all(&self) -> u64 {
        self.accepted + self.refused.values().sum::<u64>()
    }

    /// Counts a call, and returns its answer, if there is one.
    pub fn count<A>(&mut self, answer: Result<Response<A>, Status>) -> Option<A> {
        match answer {
            Ok(answer) => {
                self.accepted += 1;
                Some(answer.into_inner())
            }
            Err(status) => {
                self.refuse(&reason(&status));
                None
            }
        }
    }

    /// Counts a call of the client, and returns its answer, if there is one.
    pub fn count_client<A>(&mut self, answer: Result<A, Error>) -> Option<A> {
        match answer {
            Ok(answer) => {
                self.accepted += 1;
                Some(answer)
            }
            Err(error) => {
                let reason =
                    error.reason().map(|reason| wire::status::reason_name(reason).to_owned());
                self.refuse(&reason.unwrap_or_else(|| "NO_ANSWER".to_owned()));
                None
            }
        }
    }

    fn refuse(&mut self, reason: &str) {
        *self.refused.entry(reason.to_owned()).or_default() += 1;
    }

    /// Adds other counts.
    pub fn add_all(&mut self, other: CallCounts) {
        self.accepted += other.accepted;
        for (reason, count) in other.refused {
            *self.refused.entry(reason).or_default() += count;
        }
    }
}

/// Returns the reason of a refusal.
#[must_use]
pub fn reason(status: &Status) -> String {
    let reason = wire::status::reason_of(status);
    reason.map_or_else(
        || "NO_ANSWER".to_owned(),
        |reason| wire::status::reason_name(reason).to_owned(),
    )
}

/// Waits for an answer, with a timeout.
pub async fn answered<A>(
    call: impl Future<Output = Result<Response<A>, Status>>,
) -> Result<Response<A>, Status> {
    let late = || Status::from_error("no answer within ten seconds".into());
    tokio::time::timeout(ANSWER_TIMEOUT, call).await.unwrap_or_else(|_| Err(late()))
}
