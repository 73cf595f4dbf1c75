//! `sabacc.table.v1.RoomService`: the room as a whole, from what each service says of itself.
//!
//! The table service says its part by the same method. Each log says its keys and its newest
//! checkpoint. The gateway adds the limits of its port and the calls that it forwards. All of it is
//! collected once a second at the most, whoever asks, and a service that does not answer in time is
//! named and holds nothing up. An operator's commands are forwarded to the table like any other call.
//!
//! Specification: services/gateway/README.md "The room".

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use chassis::auth::{Identity, Role};
use chassis::channel::{self, CredentialInterceptor, PeerChannel};
use chassis::config::ServiceConfig;
use futures_util::Stream;
use http::{Request, Response};
use proto::audit::v1::GetCheckpointRequest;
use proto::audit::v1::GetCheckpointResponse;
use proto::audit::v1::log_service_client::LogServiceClient;
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use proto::table::v1::room_service_client::RoomServiceClient;
use system::clock::Clock;
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::server::{Grpc, NamedService, ServerStreamingService, UnaryService};
use tonic::{Request as Call, Response as Answer, Status};
use tonic_prost::ProstCodec;
use transport::ChannelError;
use wire::api_refusal;

use crate::audits;
use crate::forward::{self, Forward};
use crate::meter::{Meter, OpenStream};

/// Path of the call for the room now.
const GET: &str = "/sabacc.table.v1.RoomService/GetRoom";
/// Path of the call that follows the room.
const WATCH: &str = "/sabacc.table.v1.RoomService/WatchRoom";
/// Name of this service in answers.
const SERVICE: &str = "gateway";
/// Age at which what was collected is collected anew.
const MAX_AGE: Duration = Duration::from_secs(1);
/// Time for a service to answer.
const PEER_TIMEOUT: Duration = Duration::from_secs(1);
/// Time between two messages of a stream.
const INTERVAL: Duration = Duration::from_secs(5);
/// Streams that are open at once.
const MAX_WATCHERS: usize = 32;
/// Time after which a caller who was refused a stream tries again.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// `RoomService`. Clones share it.
#[derive(Clone)]
pub(crate) struct Room {
    forward: Forward<forward::Room>,
    shared: Arc<Shared>,
}

struct Shared {
    sources: Sources,
    limits: pb::PortLimits,
    meter: Arc<Meter>,
    clock: Arc<dyn Clock>,
    collected: Mutex<Option<Collected>>,
    watchers: Arc<Semaphore>,
    stopping: CancellationToken,
}

/// Services that are asked.
struct Sources {
    table: RoomServiceClient<PeerChannel>,
    logs: [LogSource; 3],
}

/// Service of a log; none where this gateway has no address of it.
struct LogSource {
    log: &'static str,
    client: Option<LogServiceClient<PeerChannel>>,
}

/// The room as it was collected.
struct Collected {
    at: Instant,
    room: Arc<pb::Room>,
}

/// Dependencies of the service besides its configuration.
pub(crate) struct Dependencies {
    pub(crate) forward: Forward<forward::Room>,
    pub(crate) meter: Arc<Meter>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) stopping: CancellationToken,
}

impl Room {
    /// Creates the service for a gateway whose table service is at `table`.
    ///
    /// # Errors
    /// A peer's address or certificate cannot be used.
    pub(crate) fn new(
        config: &ServiceConfig,
        table: &http::Uri,
        dependencies: Dependencies,
    ) -> Result<Room, ChannelError> {
        let Dependencies { forward, meter, clock, stopping } = dependencies;
        let peers = &config.peers;
        let token = audits::own_token(config);
        let to = |uri: &http::Uri| {
            let own = token.clone().map(CredentialInterceptor::OwnToken);
            let credential = own.unwrap_or(CredentialInterceptor::NoToken);
            channel::connect_lazy(uri, peers.tls.as_ref(), credential)
        };
        let source = |log, uri: Option<&http::Uri>| -> Result<LogSource, ChannelError> {
            Ok(LogSource { log, client: uri.map(&to).transpose()?.map(LogServiceClient::new) })
        };
        let sources = Sources {
            table: RoomServiceClient::new(to(table)?),
            logs: [
                source("table", Some(table))?,
                source("dealer", peers.dealer.as_ref())?,
                source("wallet", peers.wallet.as_ref())?,
            ],
        };
        let shared = Shared {
            sources,
            limits: limits_view(&config.limits),
            meter,
            clock,
            collected: Mutex::default(),
            watchers: Arc::new(Semaphore::new(MAX_WATCHERS)),
            stopping,
        };
        Ok(Room { forward, shared: Arc::new(shared) })
    }
}

impl Shared {
    /// The room, a second old at the most. Whoever asks while it is collected waits for that.
    async fn room(&self) -> Arc<pb::Room> {
        let mut collected = self.collected.lock().await;
        if let Some(kept) = collected.as_ref().filter(|kept| kept.at.elapsed() < MAX_AGE) {
            return Arc::clone(&kept.room);
        }
        let room = Arc::new(self.collect().await);
        *collected = Some(Collected { at: Instant::now(), room: Arc::clone(&room) });
        room
    }

    async fn collect(&self) -> pb::Room {
        let [one, two, three] = &self.sources.logs;
        let (table, one, two, three) =
            tokio::join!(self.sources.table_part(), one.ask(), two.ask(), three.ask());
        let mut room = table.unwrap_or_else(|| silent_room("table"));
        // The program's file is read at the first call.
        if let Ok(running) = tokio::task::spawn_blocking(chassis::build::running).await {
            room.builds.insert(0, own_build(running));
        }
        room.limits = Some(self.limits);
        let mut activity = room.activity.take().unwrap_or_default();
        for (source, answer) in self.sources.logs.iter().zip([one, two, three]) {
            match answer {
                Some(answer) => add_log(&mut room, &mut activity, source.log, answer),
                None => name_silent(&mut room, source.log),
            }
        }
        activity.gateway = Some(self.meter.view());
        activity.open_streams = self.meter.open_streams();
        room.activity = Some(activity);
        room.read_time = Some(wire::time::timestamp(self.clock.now()));
        room
    }
}

impl Sources {
    /// The table service's part of the room; `None` where it does not answer.
    async fn table_part(&self) -> Option<pb::Room> {
        let mut table = self.table.clone();
        let asked = tokio::time::timeout(PEER_TIMEOUT, table.get_room(pb::GetRoomRequest {})).await;
        asked.ok()?.ok()?.into_inner().room
    }
}

impl LogSource {
    /// Newest checkpoint of the log; `None` where its service does not answer.
    async fn ask(&self) -> Option<GetCheckpointResponse> {
        let mut client = self.client.clone()?;
        let request = GetCheckpointRequest { log: self.log.to_owned() };
        let asked = tokio::time::timeout(PEER_TIMEOUT, client.get_checkpoint(request)).await;
        Some(asked.ok()?.ok()?.into_inner())
    }
}

fn silent_room(service: &str) -> pb::Room {
    pb::Room { silent: vec![service.to_owned()], ..pb::Room::default() }
}

/// Names a service that has not answered, once.
fn name_silent(room: &mut pb::Room, service: &str) {
    if !room.silent.iter().any(|named| named == service) {
        room.silent.push(service.to_owned());
    }
}

fn own_build(running: &chassis::build::Build) -> pb::ServiceBuild {
    let chassis::build::Build { version, commit, sha256 } = running;
    pb::ServiceBuild {
        service: SERVICE.to_owned(),
        version: (*version).to_owned(),
        commit: (*commit).to_owned(),
        program_sha256: sha256.clone(),
    }
}

/// Adds what a log says of itself.
fn add_log(
    room: &mut pb::Room,
    activity: &mut pb::RoomActivity,
    log: &str,
    answer: GetCheckpointResponse,
) {
    let GetCheckpointResponse { checkpoint, key, witness_keys } = answer;
    let log = log.to_owned();
    let (size, cosigned_by) = read_checkpoint(&checkpoint);
    room.log_keys.push(pb::LogKeys { log: log.clone(), key, witness_keys });
    activity.logs.push(pb::LogActivity { log, size, checkpoint, cosigned_by });
}

/// Size that a checkpoint is of, and the names of its signers other than the log itself. Signatures
/// are not verified: the note is there for whoever does.
fn read_checkpoint(note: &str) -> (u64, Vec<String>) {
    let mut lines = note.lines();
    let origin = lines.next().unwrap_or_default();
    let size = lines.next().and_then(|size| size.parse().ok()).unwrap_or_default();
    let signers = lines.filter_map(|line| line.strip_prefix("\u{2014} ")?.split(' ').next());
    (size, signers.filter(|name| *name != origin).map(str::to_owned).collect())
}

fn limits_view(limits: &chassis::limits::Limits) -> pb::PortLimits {
    fn long(number: usize) -> u64 {
        u64::try_from(number).unwrap_or(u64::MAX)
    }
    let open = |limit: Option<usize>| limit.map_or(0, long);
    let units = |limit: Option<std::num::NonZeroU32>| limit.map_or(0, std::num::NonZeroU32::get);
    let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let is_endless = limits.max_connection_age >= chassis::limits::Limits::NEVER;
    pb::PortLimits {
        message_bytes: long(limits.message_bytes),
        header_bytes: limits.header_bytes,
        unary_deadline_ms: millis(limits.unary_deadline),
        player_units: units(limits.player_calls),
        player_open: open(limits.player_open),
        player_streams: open(limits.player_streams),
        address_units: units(limits.address_calls),
        address_connections: open(limits.address_connections),
        address_streams: open(limits.address_streams),
        address_anonymous_streams: open(limits.address_anonymous_streams),
        anonymous_streams: open(limits.anonymous_streams),
        wrong_tokens: units(limits.wrong_tokens),
        connections: open(limits.connections),
        connection_streams: limits.streams,
        connection_calls: long(limits.connection_calls),
        connection_age_ms: if is_endless { 0 } else { millis(limits.max_connection_age) },
        stream_stall_ms: millis(limits.stream_stall_timeout),
    }
}

/// Handler of one call for the room now.
struct GetRoom(Arc<Shared>);

impl UnaryService<pb::GetRoomRequest> for GetRoom {
    type Response = pb::GetRoomResponse;
    type Future = Pin<Box<dyn Future<Output = Result<Answer<pb::GetRoomResponse>, Status>> + Send>>;

    fn call(&mut self, request: Call<pb::GetRoomRequest>) -> Self::Future {
        let role = Identity::of(&request).map(|identity| identity.role);
        let full = matches!(role, Some(Role::Operator | Role::Auditor));
        let shared = Arc::clone(&self.0);
        Box::pin(async move {
            let mut room = pb::Room::clone(&*shared.room().await);
            room.activity = room.activity.filter(|_| full);
            Ok(Answer::new(pb::GetRoomResponse { room: Some(room) }))
        })
    }
}

/// Handler of one call that follows the room.
struct WatchRoom(Arc<Shared>);

/// State of a stream.
struct Watcher {
    shared: Arc<Shared>,
    is_first: bool,
    _permit: OwnedSemaphorePermit,
    _counted: OpenStream,
}

impl Watcher {
    /// The next message; `None` where the gateway stops.
    async fn next(&mut self) -> Option<pb::WatchRoomResponse> {
        let pause = if self.is_first { Duration::ZERO } else { INTERVAL };
        self.is_first = false;
        let stopping = &self.shared.stopping;
        stopping.run_until_cancelled(tokio::time::sleep(pause)).await?;
        let room = pb::Room::clone(&*self.shared.room().await);
        Some(pb::WatchRoomResponse { room: Some(room) })
    }
}

type WatchStream = Pin<Box<dyn Stream<Item = Result<pb::WatchRoomResponse, Status>> + Send>>;

impl ServerStreamingService<pb::WatchRoomRequest> for WatchRoom {
    type Response = pb::WatchRoomResponse;
    type ResponseStream = WatchStream;
    type Future = std::future::Ready<Result<Answer<WatchStream>, Status>>;

    fn call(&mut self, _: Call<pb::WatchRoomRequest>) -> Self::Future {
        let shared = Arc::clone(&self.0);
        let Ok(permit) = Arc::clone(&shared.watchers).try_acquire_owned() else {
            let words = "as many follow the room as may: try again later, or call GetRoom";
            let refusal = api_refusal(ErrorReason::Overloaded, words).retry_after(RETRY_AFTER);
            return std::future::ready(Err(refusal.into()));
        };
        let counted = shared.meter.open_stream();
        let watcher = Watcher { shared, is_first: true, _permit: permit, _counted: counted };
        let stream = futures_util::stream::unfold(watcher, |mut watcher| async move {
            let message = watcher.next().await?;
            Some((Ok(message), watcher))
        });
        std::future::ready(Ok(Answer::new(Box::pin(stream))))
    }
}

impl NamedService for Room {
    const NAME: &'static str = <Forward<forward::Room> as NamedService>::NAME;
}

impl Service<Request<Body>> for Room {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let shared = Arc::clone(&self.shared);
        match request.uri().path() {
            GET => Box::pin(async move {
                Ok(Grpc::new(ProstCodec::default()).unary(GetRoom(shared), request).await)
            }),
            WATCH => Box::pin(async move {
                let mut grpc = Grpc::new(ProstCodec::default());
                Ok(grpc.server_streaming(WatchRoom(shared), request).await)
            }),
            _ => self.forward.call(request),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_names_its_size_and_its_witnesses() {
        let note = "room/table\n17\nAAAA\n\n\u{2014} room/table AbCd\n\u{2014} w1 EfGh\n";
        assert_eq!(read_checkpoint(note), (17, vec!["w1".to_owned()]));
        assert_eq!(read_checkpoint(""), (0, Vec::new()));
    }

    #[test]
    fn limits_are_shown_as_they_are_configured() {
        let public = limits_view(&chassis::limits::Limits::public());
        assert_eq!((public.message_bytes, public.player_units), (65_536, 20));
        assert_eq!((public.connection_age_ms, public.address_streams), (1_800_000, 64));
        let internal = limits_view(&chassis::limits::Limits::internal());
        assert_eq!((internal.player_units, internal.connection_age_ms), (0, 0));
    }
}
