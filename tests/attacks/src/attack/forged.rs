//! Forged tokens from four addresses, as fast as refusals come back; and idle connections from a
//! fifth.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use chassis::auth::{Role, TokenIssuer};
use primitives::TableId;
use proto::table::v1::GetTableRequest;
use proto::table::v1::table_service_client::TableServiceClient;
use system::entropy::SystemEntropy;
use system::ids::IdMaker;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tonic::Request;
use tonic::transport::Channel;
use transport::Bearer;

use super::{AttackContext, Outcome};
use crate::caller::{CallCounts, answered, connection};
use crate::room::token;

const ADDRESSES: std::ops::Range<u8> = 2..6;
const CONNECTIONS: usize = 4;
/// Calls in flight on each connection.
const IN_FLIGHT_PER_CONNECTION: usize = 8;
/// Maximum number of calls in total.
const MAX_CALLS: u64 = 200_000;
/// Number of different tokens: each has to be verified.
const TOKENS: usize = 256;
/// Number of idle connections.
const SILENT: usize = 400;
const SILENT_FROM: u8 = 6;

pub(super) async fn run(stage: AttackContext<'_>) -> anyhow::Result<Outcome> {
    let issuer = TokenIssuer::generate("up", &SystemEntropy);
    let forged = (0..TOKENS).map(|_| {
        let player = IdMaker::system().player_id().to_string();
        Bearer::new(&token(&issuer, Role::Player, &player))
    });
    let forged: Arc<[Bearer]> = forged.collect();
    let count = Arc::new(AtomicU64::new(0));
    let mut calling = JoinSet::new();
    for address in ADDRESSES {
        for _ in 0..CONNECTIONS {
            let channel = connection(stage.room, address)?;
            for _ in 0..IN_FLIGHT_PER_CONNECTION {
                let flood = Flood {
                    channel: channel.clone(),
                    table: stage.crew.table,
                    forged: Arc::clone(&forged),
                    count: Arc::clone(&count),
                    stop: stage.stop.clone(),
                };
                calling.spawn(flood.run());
            }
        }
    }
    let silent = open_idle_connections(&stage.room.url).await?;
    stage.stop.cancelled().await;
    let mut outcome = Outcome::default();
    while let Some(sent) = calling.join_next().await {
        outcome.sent.add_all(sent?);
    }
    outcome.note(format!("{} connections on which nothing was said", silent.len()));
    outcome.at_most("forged tokens that were believed", outcome.sent.accepted, 0);
    Ok(outcome)
}

struct Flood {
    channel: Channel,
    table: TableId,
    forged: Arc<[Bearer]>,
    count: Arc<AtomicU64>,
    stop: CancellationToken,
}

impl Flood {
    async fn run(self) -> CallCounts {
        let mut sent = CallCounts::default();
        let mut client = TableServiceClient::new(self.channel);
        while !self.stop.is_cancelled() {
            let number = self.count.fetch_add(1, Ordering::Relaxed);
            if number >= MAX_CALLS {
                break;
            }
            let mut request = Request::new(GetTableRequest { table_id: self.table.to_string() });
            let at = usize::try_from(number).unwrap_or(0) % self.forged.len();
            self.forged[at].add_to(&mut request);
            let answer = answered(client.get_table(request)).await;
            // Without a connection there is no answer to wait for.
            let refused =
                answer.as_ref().err().is_some_and(|it| wire::status::reason_of(it).is_none());
            sent.count(answer);
            if refused {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        sent
    }
}

/// Opens idle connections, which last as long as the returned values.
async fn open_idle_connections(url: &str) -> anyhow::Result<Vec<TcpStream>> {
    let address = url.trim_start_matches("http://");
    let address: SocketAddr = address.parse().with_context(|| format!("{url} is no address"))?;
    let mut open = Vec::new();
    for _ in 0..SILENT {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from((Ipv4Addr::new(127, 0, 0, SILENT_FROM), 0)))?;
        let opened = tokio::time::timeout(Duration::from_secs(1), socket.connect(address)).await;
        let Ok(Ok(stream)) = opened else { break };
        open.push(stream);
    }
    Ok(open)
}
