//! gRPC API of the tables: parses a request, sends it to its table, and returns the answer.
//!
//! Specification: services/table/README.md "Commands".

mod caller;
mod hands;
mod lobby;
mod parse;
mod people;
mod play;
mod revocations;
mod room;
mod rules;
mod sign_in;
mod watch_stream;

use std::pin::Pin;
use std::sync::Arc;

use chassis::auth::{Identity, Role, TokenExpiry};
use chassis::rate_limiter::RateLimiter;
use futures_util::{Stream, StreamExt};
use primitives::UnixMicros;
use proto::common::v1::{ErrorReason, Resolution};
use proto::table::v1 as pb;
use proto::table::v1::table_service_server::{TableService, TableServiceServer};
use proto::wallet::v1::PlayerStanding;
use system::clock::Clock as _;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};
use tracing::Instrument as _;
use wire::{ApiRefusal, api_refusal, field, status};

use crate::actor::{CommandRequest, Query, TableMessage};
use crate::answer::{FromAnswer, Outcome};
use crate::author::Author;
use crate::commands::{Command, Funds};
use crate::publish;
use crate::registry::TableRegistry;
use crate::stops::Resume;

use caller::Caller;
use parse::{commitment_command, decision_command, reveal_command};
use watch_stream::{CLOCK, WatchStream};

pub(crate) use hands::HandsApi;
pub(crate) use people::{MAX_DISPUTE_BYTES, PeopleApi};
pub(crate) use revocations::RevocationsApi;
pub(crate) use room::RoomApi;
pub(crate) use rules::RulesApi;

/// Bytes of a signature.
const SIGNATURE_BYTES: usize = 64;
/// Tables on a page by default, and at most.
const PAGE_SIZES: (usize, usize) = (100, 500);

/// `TableService` over the registry that this process owns at the moment.
pub(crate) struct Api {
    registry: watch::Receiver<Option<Arc<TableRegistry>>>,
    stopping: CancellationToken,
    /// Limits the decisions of each player over streams. Their unary calls are limited at the edge.
    decision_limiter: Arc<RateLimiter<String>>,
    /// Address that links in streams begin with; empty: they begin at the room's own root.
    public_url: Arc<str>,
}

impl Api {
    #[must_use]
    pub(crate) fn service(
        registry: watch::Receiver<Option<Arc<TableRegistry>>>,
        stopping: CancellationToken,
        public_url: Arc<str>,
    ) -> TableServiceServer<Api> {
        let decision_limiter = Arc::new(RateLimiter::new(play::DECISIONS_PER_SECOND));
        TableServiceServer::new(Api { registry, stopping, decision_limiter, public_url })
    }

    fn registry(&self) -> Result<Arc<TableRegistry>, ApiRefusal> {
        let registry = self.registry.borrow().clone();
        registry.ok_or_else(|| status::unavailable("the tables are just being taken up"))
    }

    async fn table(&self, table_id: &str) -> Result<mpsc::Sender<TableMessage>, ApiRefusal> {
        self.registry()?.table(field::table_id(table_id)?).await
    }

    /// Runs a command and waits until it is done.
    async fn run_command<A: FromAnswer>(
        &self,
        caller: &Caller,
        call: CommandCall<'_>,
    ) -> Result<Response<A>, Status> {
        let CommandCall { request_id, table_id, digest, command } = call;
        let registry = self.registry()?;
        let request = registry.bounds().request_id(&caller.actor, request_id, CLOCK.now())?;
        let table = registry.table(field::table_id(table_id)?).await?;
        let author = caller.author(request, digest);
        let answer = send_command(&table, caller, author, caller.arrived, command)?;
        let answer = answer.await.map_err(|_| table_unavailable())??;
        Ok(Response::new(A::from_answer(answer)?))
    }

    /// The wallet's word on a player with a new request; `None` for a repeat, which gets its first
    /// answer.
    async fn player_standing(
        &self,
        caller: &Caller,
        request_id: &str,
        table_id: &str,
    ) -> Result<Option<PlayerStanding>, ApiRefusal> {
        let (registry, request) = (self.registry()?, field::request_id(request_id)?);
        match caller.player.filter(|_| !registry.is_answered(&caller.actor, request)) {
            Some(player) => {
                registry.player_standing(field::table_id(table_id)?, player).await.map(Some)
            }
            None => Ok(None),
        }
    }

    /// First messages and updates for a caller who watches a table.
    async fn start_watch(
        &self,
        caller: &Caller,
        request: pb::WatchTableRequest,
    ) -> Result<WatchStream, ApiRefusal> {
        let pb::WatchTableRequest { table_id, resume_token } = request;
        let id = field::table_id(&table_id)?;
        let resume = if resume_token.is_empty() {
            None
        } else {
            let problem = "not one of this table's: send what the last message gave, or nothing";
            let read = publish::parse_resume_token(id, &resume_token);
            Some(read.ok_or_else(|| wire::BadField::new("resume_token", problem))?)
        };
        let table = self.table(&table_id).await?;
        let (reply, watched) = oneshot::channel();
        send_message(
            &table,
            TableMessage::Query(Query::Watch { viewer: caller.player, resume, reply }),
        )?;
        let (first, live) = watched.await.map_err(|_| table_unavailable())??;
        let stream = WatchStream::new(id, first, live, self.stopping.clone());
        Ok(stream.with_links_from(Arc::clone(&self.public_url)))
    }
}

/// Response with a header for the units that it costs on top of its method's.
fn with_units<T>(units: u32, answer: T) -> Response<T> {
    let mut answer = Response::new(answer);
    if units > 0 {
        let headers = std::mem::take(answer.metadata_mut());
        let mut headers = headers.into_headers();
        headers.insert(chassis::auth::UNITS_HEADER, units.into());
        *answer.metadata_mut() = tonic::metadata::MetadataMap::from_headers(headers);
    }
    answer
}

/// Call of a method that runs a command at a table.
struct CommandCall<'a> {
    request_id: &'a str,
    table_id: &'a str,
    /// Digest of the request's content.
    digest: [u8; 32],
    command: Command,
}

/// Sends a command to its table. The encoded answer arrives once the command is done.
fn send_command(
    table: &mpsc::Sender<TableMessage>,
    caller: &Caller,
    author: Author,
    arrived: UnixMicros,
    command: Command,
) -> Result<oneshot::Receiver<Outcome>, ApiRefusal> {
    let (reply, answer) = oneshot::channel();
    let request = CommandRequest {
        command,
        player: caller.player,
        author,
        arrived,
        span: tracing::Span::current(),
        reply,
    };
    send_message(table, TableMessage::Command(Box::new(request)))?;
    Ok(answer)
}

fn table_unavailable() -> ApiRefusal {
    status::unavailable("the table is changing hands")
}

/// Sends a message to a table. A table that is far behind refuses at once, so that its queue stays
/// short.
fn send_message(
    table: &mpsc::Sender<TableMessage>,
    message: TableMessage,
) -> Result<(), ApiRefusal> {
    match table.try_send(message) {
        Ok(()) => Ok(()),
        Err(mpsc::error::TrySendError::Full(_)) => {
            let message = "this table has too much to do: try again in a moment";
            Err(api_refusal(ErrorReason::Overloaded, message))
        }
        Err(mpsc::error::TrySendError::Closed(_)) => Err(table_unavailable()),
    }
}

#[tonic::async_trait]
impl TableService for Api {
    async fn create_table(
        &self,
        request: Request<pb::CreateTableRequest>,
    ) -> Result<Response<pb::CreateTableResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let registry = self.registry()?;
        let bounds = registry.bounds();
        let id = bounds.request_id(&caller.actor, &message.request_id, CLOCK.now())?;
        let author = caller.author(id, caller.digest("CreateTable", &message));
        let missing = || wire::BadField::new("config", "missing: what kind of table?");
        let config = message.config.ok_or_else(missing)?;
        // In a task of its own: a caller who stops waiting must not leave a table on record that
        // nobody runs, nor its repeat without the answer.
        let creating = async move { registry.create(&config, author).await };
        let created = tokio::spawn(creating.in_current_span()).await;
        let broken = |_| api_refusal(ErrorReason::Corrupt, "this command broke down in the middle");
        Ok(Response::new(created.map_err(broken)??))
    }

    async fn list_tables(
        &self,
        request: Request<pb::ListTablesRequest>,
    ) -> Result<Response<pb::ListTablesResponse>, Status> {
        let caller = Caller::of_anybody(&request);
        Ok(Response::new(self.tables_page(&caller, request.into_inner()).await?))
    }

    async fn list_seats(
        &self,
        request: Request<pb::ListSeatsRequest>,
    ) -> Result<Response<pb::ListSeatsResponse>, Status> {
        let caller = Caller::of(&request)?;
        Ok(Response::new(self.seats_page(&caller, request.into_inner()).await?))
    }

    type WatchLobbyStream = lobby::LobbyMessages;

    async fn watch_lobby(
        &self,
        request: Request<pb::WatchLobbyRequest>,
    ) -> Result<Response<Self::WatchLobbyStream>, Status> {
        let caller = Caller::of_anybody(&request);
        let expiry = TokenExpiry::of(&request).cloned();
        Ok(self.lobby_stream(&caller, request.into_inner(), expiry).await?)
    }

    async fn get_table(
        &self,
        request: Request<pb::GetTableRequest>,
    ) -> Result<Response<pb::GetTableResponse>, Status> {
        let caller = Caller::of_anybody(&request);
        let full = matches!(
            Identity::of(&request).map(|identity| identity.role),
            Some(Role::Operator | Role::Auditor)
        );
        let table = self.table(&request.into_inner().table_id).await?;
        let (reply, view) = oneshot::channel();
        send_message(
            &table,
            TableMessage::Query(Query::View { viewer: caller.player, full, reply }),
        )?;
        let table = Some(view.await.map_err(|_| table_unavailable())?);
        Ok(Response::new(pb::GetTableResponse { table }))
    }

    async fn sit_down(
        &self,
        request: Request<pb::SitDownRequest>,
    ) -> Result<Response<pb::SitDownResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let pb::SitDownRequest { request_id, table_id, seat, buy_in_credits: buy_in } = &message;
        let seat = if *seat == 0 { None } else { Some(field::seat("seat", *seat)?) };
        let buy_in = field::positive("buy_in_credits", *buy_in)?;
        if let Some(player) = caller.player {
            self.registry()?.people().admit(player).await?;
        }
        // A wallet that is away is asked again for the buy-in.
        let found = self.player_standing(&caller, request_id, table_id).await.ok().flatten();
        let funds = found.map(|found| found.available.map_or(Funds::NoAccount, Funds::Available));
        let caller = caller.arriving_now();
        let is_house = caller.is_house;
        let command = Command::SitDown { seat, buy_in, funds, is_house };
        let digest = caller.digest("SitDown", &message);
        self.run_command(&caller, CommandCall { request_id, table_id, digest, command }).await
    }

    async fn stand_up(
        &self,
        request: Request<pb::StandUpRequest>,
    ) -> Result<Response<pb::StandUpResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let pb::StandUpRequest { request_id, table_id, signature } = &message;
        if !signature.is_empty() {
            field::exactly::<SIGNATURE_BYTES>("signature", signature)?;
        }
        let command = Command::StandUp { signature: signature.clone() };
        let digest = caller.digest("StandUp", &message);
        self.run_command(&caller, CommandCall { request_id, table_id, digest, command }).await
    }

    async fn sit_out(
        &self,
        request: Request<pb::SitOutRequest>,
    ) -> Result<Response<pb::SitOutResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let pb::SitOutRequest { request_id, table_id, sit_out } = &message;
        let out = *sit_out;
        // The wallet is asked first about a player who wants to be dealt in again.
        let found =
            if out { None } else { self.player_standing(&caller, request_id, table_id).await? };
        let standing = found.and_then(|found| found.standing);
        let caller = caller.arriving_now();
        let command = Command::SitOut { out, standing };
        let digest = caller.digest("SitOut", &message);
        self.run_command(&caller, CommandCall { request_id, table_id, digest, command }).await
    }

    async fn act(
        &self,
        request: Request<pb::ActRequest>,
    ) -> Result<Response<pb::ActResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let command = decision_command(&message)?;
        let pb::ActRequest { request_id, table_id, .. } = &message;
        let digest = caller.digest("Act", &message);
        self.run_command(&caller, CommandCall { request_id, table_id, digest, command }).await
    }

    async fn close_table(
        &self,
        request: Request<pb::CloseTableRequest>,
    ) -> Result<Response<pb::CloseTableResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let pb::CloseTableRequest { request_id, table_id } = &message;
        let command = Command::Close;
        let digest = caller.digest("CloseTable", &message);
        self.run_command(&caller, CommandCall { request_id, table_id, digest, command }).await
    }

    async fn commit_entropy(
        &self,
        request: Request<pb::CommitEntropyRequest>,
    ) -> Result<Response<pb::CommitEntropyResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let command = commitment_command(&message)?;
        let pb::CommitEntropyRequest { request_id, table_id, .. } = &message;
        let digest = caller.digest("CommitEntropy", &message);
        self.run_command(&caller, CommandCall { request_id, table_id, digest, command }).await
    }

    async fn reveal_entropy(
        &self,
        request: Request<pb::RevealEntropyRequest>,
    ) -> Result<Response<pb::RevealEntropyResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let command = reveal_command(&message)?;
        let pb::RevealEntropyRequest { request_id, table_id, .. } = &message;
        let digest = caller.digest("RevealEntropy", &message);
        self.run_command(&caller, CommandCall { request_id, table_id, digest, command }).await
    }

    async fn resume_table(
        &self,
        request: Request<pb::ResumeTableRequest>,
    ) -> Result<Response<pb::ResumeTableResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let pb::ResumeTableRequest { request_id, table_id, reason, resolution: _ } = &message;
        let resolution = message.resolution();
        if resolution == Resolution::Unspecified {
            let allowed = "allowed: RESOLUTION_RETRY, RESOLUTION_PAY_TO_SUSPENSE";
            return Err(wire::BadField::new("resolution", allowed).into());
        }
        let reason = field::text("reason", reason, 1, 500)?;
        let command = Command::Resume(Resume { reason, resolution });
        let digest = caller.digest("ResumeTable", &message);
        self.run_command(&caller, CommandCall { request_id, table_id, digest, command }).await
    }

    type WatchTableStream =
        Pin<Box<dyn Stream<Item = Result<pb::WatchTableResponse, Status>> + Send>>;

    async fn watch_table(
        &self,
        request: Request<pb::WatchTableRequest>,
    ) -> Result<Response<Self::WatchTableStream>, Status> {
        let caller = Caller::of_anybody(&request);
        let expiry = TokenExpiry::of(&request).cloned();
        // Boxed because it is moved for every message.
        let watch = self.start_watch(&caller, request.into_inner()).await?;
        let watch = Box::new(watch.ending_with(expiry));
        let units = watch.units();
        let stream = futures_util::stream::unfold(watch, |mut watch| async move {
            let message = watch.next().await?;
            Some((Ok(message), watch))
        });
        Ok(with_units(units, Box::pin(stream.fuse())))
    }

    type PlayStream = Pin<Box<dyn Stream<Item = Result<pb::PlayResponse, Status>> + Send>>;

    async fn play(
        &self,
        request: Request<Streaming<pb::PlayRequest>>,
    ) -> Result<Response<Self::PlayStream>, Status> {
        let caller = Caller::of(&request)?;
        let expiry = TokenExpiry::of(&request).cloned();
        let mut requests = request.into_inner();
        let (table_id, watch) = {
            let first = play::first_message(&mut requests).await?;
            (first.table_id.clone(), self.start_watch(&caller, first).await?)
        };
        let watch = watch.ending_with(expiry);
        let units = watch.units();
        let registry = self.registry()?;
        let (bounds, id) = (Arc::clone(registry.bounds()), field::table_id(&table_id)?);
        let (table, public_url) = (registry.table(id).await?, Arc::clone(&self.public_url));
        let context = play::PlayContext { caller, table, table_id, bounds, public_url };
        let limiter = Arc::clone(&self.decision_limiter);
        let playing = Box::new(play::PlayState::new(context, limiter, watch, requests));
        let stream = futures_util::stream::unfold(playing, |mut playing| async move {
            let message = playing.next().await?;
            Some((message, playing))
        });
        Ok(with_units(units, Box::pin(stream.fuse())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_what_it_has_cost_where_it_has() {
        let units = |units| {
            let mut headers = with_units(units, ()).metadata().clone().into_headers();
            chassis::auth::remove_units_header(&mut headers)
        };
        assert_eq!((units(0), units(32)), (0, 32));
        assert!(with_units(0, ()).metadata().is_empty());
    }
}
