//! gRPC API of the room as a whole. What it says is this service's part: the gateway adds its own, and
//! what the logs say.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use chassis::auth::{Identity, Role};
use futures_util::Stream;
use proto::table::v1 as pb;
use proto::table::v1::room_service_server::{RoomService, RoomServiceServer};
use system::clock::Clock as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};
use wire::{ApiRefusal, BadField, field, status};

use super::watch_stream::CLOCK;
use super::{Caller, send_command, table_unavailable};
use crate::answer::FromAnswer;
use crate::author::Author;
use crate::commands::Command;
use crate::people::text_checks;
use crate::registry::TableRegistry;
use crate::room::games::GameChange;

/// Time between two messages of a stream.
const INTERVAL: Duration = Duration::from_secs(5);
/// Name of this service in answers.
const SERVICE: &str = "table";

/// `RoomService` over the registry that this process owns at the moment.
#[derive(Clone)]
pub(crate) struct RoomApi {
    registry: watch::Receiver<Option<Arc<TableRegistry>>>,
    stopping: CancellationToken,
}

/// An operator's command, its request and its content.
struct OperatorCall<'a> {
    caller: &'a Caller,
    request_id: &'a str,
    digest: [u8; 32],
}

impl RoomApi {
    #[must_use]
    pub(crate) fn service(
        registry: watch::Receiver<Option<Arc<TableRegistry>>>,
        stopping: CancellationToken,
    ) -> RoomServiceServer<RoomApi> {
        RoomServiceServer::new(RoomApi { registry, stopping })
    }

    fn registry(&self) -> Result<Arc<TableRegistry>, ApiRefusal> {
        let registry = self.registry.borrow().clone();
        registry.ok_or_else(|| status::unavailable("the tables are just being taken up"))
    }

    /// This service's part of the room; `full` includes its activity.
    async fn room(&self, full: bool) -> Result<pb::Room, ApiRefusal> {
        let registry = self.registry()?;
        // The program's file is read at the first call.
        let running = tokio::task::spawn_blocking(chassis::build::running).await;
        let chassis::build::Build { version, commit, sha256 } =
            running.map_err(|_| table_unavailable())?;
        let build = pb::ServiceBuild {
            service: SERVICE.to_owned(),
            version: (*version).to_owned(),
            commit: (*commit).to_owned(),
            program_sha256: sha256.clone(),
        };
        Ok(pb::Room {
            read_time: Some(wire::time::timestamp(CLOCK.now())),
            builds: vec![build],
            games: registry.games(),
            activity: full.then(|| registry.activity()),
            ..pb::Room::default()
        })
    }

    /// Runs an operator's command at a table.
    async fn run_at_table<A: FromAnswer>(
        &self,
        call: OperatorCall<'_>,
        table_id: &str,
        command: Command,
    ) -> Result<Response<A>, Status> {
        let registry = self.registry()?;
        let author = author(&registry, &call)?;
        let table = registry.table(field::table_id(table_id)?).await?;
        let answer = send_command(&table, call.caller, author, call.caller.arrived, command)?;
        let answer = answer.await.map_err(|_| table_unavailable())??;
        Ok(Response::new(A::from_answer(answer)?))
    }

    /// Changes whether a game is disabled. Runs in a task of its own, so that a caller who stops
    /// waiting leaves no table without word of what is durable.
    async fn change_game<A: prost::Message + Default + 'static>(
        &self,
        call: OperatorCall<'_>,
        change: GameChange,
    ) -> Result<Response<A>, Status> {
        let registry = self.registry()?;
        let author = author(&registry, &call)?;
        let change =
            tokio::spawn(async move { registry.change_game(change, &A::default(), author).await });
        change.await.map_err(|_| table_unavailable())??;
        Ok(Response::new(A::default()))
    }
}

fn author(registry: &TableRegistry, call: &OperatorCall<'_>) -> Result<Author, ApiRefusal> {
    let OperatorCall { caller, request_id, digest } = *call;
    let request = registry.bounds().request_id(&caller.actor, request_id, CLOCK.now())?;
    Ok(caller.author(request, digest))
}

/// Change of a game that this program knows.
fn game_change(variant: &str, reason: &str, disable: bool) -> Result<GameChange, BadField> {
    let unknown = || {
        let ids: Vec<&str> = ::rules::ALL.iter().map(|variant| variant.id).collect();
        BadField::new("variant", format!("there is no such game; there are {}", ids.join(", ")))
    };
    let variant = ::rules::variant(variant).ok_or_else(unknown)?.id.to_owned();
    Ok(GameChange { variant, reason: text_checks::reason(reason)?, disable })
}

#[tonic::async_trait]
impl RoomService for RoomApi {
    async fn get_room(
        &self,
        request: Request<pb::GetRoomRequest>,
    ) -> Result<Response<pb::GetRoomResponse>, Status> {
        let role = Identity::of(&request).map(|identity| identity.role);
        let full = matches!(role, Some(Role::Operator | Role::Auditor));
        Ok(Response::new(pb::GetRoomResponse { room: Some(self.room(full).await?) }))
    }

    type WatchRoomStream =
        Pin<Box<dyn Stream<Item = Result<pb::WatchRoomResponse, Status>> + Send>>;

    async fn watch_room(
        &self,
        _: Request<pb::WatchRoomRequest>,
    ) -> Result<Response<Self::WatchRoomStream>, Status> {
        let stream =
            futures_util::stream::unfold((self.clone(), true), |(api, is_first)| async move {
                let pause = tokio::time::sleep(INTERVAL);
                if !is_first && api.stopping.run_until_cancelled(pause).await.is_none() {
                    return None;
                }
                let message =
                    api.room(true).await.map(|room| pb::WatchRoomResponse { room: Some(room) });
                Some((message.map_err(Status::from), (api, false)))
            });
        Ok(Response::new(Box::pin(stream)))
    }

    async fn disable_table(
        &self,
        request: Request<pb::DisableTableRequest>,
    ) -> Result<Response<pb::DisableTableResponse>, Status> {
        let caller = &Caller::of(&request)?;
        let message = request.into_inner();
        let pb::DisableTableRequest { request_id, table_id, reason } = &message;
        let command = Command::Disable(text_checks::reason(reason)?);
        let digest = caller.digest("DisableTable", &message);
        self.run_at_table(OperatorCall { caller, request_id, digest }, table_id, command).await
    }

    async fn enable_table(
        &self,
        request: Request<pb::EnableTableRequest>,
    ) -> Result<Response<pb::EnableTableResponse>, Status> {
        let caller = &Caller::of(&request)?;
        let message = request.into_inner();
        let pb::EnableTableRequest { request_id, table_id, reason } = &message;
        let command = Command::Enable(text_checks::reason(reason)?);
        let digest = caller.digest("EnableTable", &message);
        self.run_at_table(OperatorCall { caller, request_id, digest }, table_id, command).await
    }

    async fn disable_game(
        &self,
        request: Request<pb::DisableGameRequest>,
    ) -> Result<Response<pb::DisableGameResponse>, Status> {
        let caller = &Caller::of(&request)?;
        let message = request.into_inner();
        let pb::DisableGameRequest { request_id, variant, reason } = &message;
        let change = game_change(variant, reason, true)?;
        let digest = caller.digest("DisableGame", &message);
        self.change_game(OperatorCall { caller, request_id, digest }, change).await
    }

    async fn enable_game(
        &self,
        request: Request<pb::EnableGameRequest>,
    ) -> Result<Response<pb::EnableGameResponse>, Status> {
        let caller = &Caller::of(&request)?;
        let message = request.into_inner();
        let pb::EnableGameRequest { request_id, variant, reason } = &message;
        let change = game_change(variant, reason, false)?;
        let digest = caller.digest("EnableGame", &message);
        self.change_game(OperatorCall { caller, request_id, digest }, change).await
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt as _;
    use primitives::TableId;
    use proto::common::v1::ErrorReason;
    use system::ids::IdMaker;

    use super::*;
    use crate::registry::tests::{Fixture, dependencies};

    async fn api() -> RoomApi {
        let room = Fixture::new();
        let registry = room.open_in(dependencies(&room.store).await).await;
        let (_, registry) = watch::channel(Some(registry));
        RoomApi { registry, stopping: CancellationToken::new() }
    }

    fn from<T>(role: Role, message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.extensions_mut().insert(Identity::new(role, "somebody"));
        request
    }

    fn reason<T>(answer: Result<Response<T>, Status>) -> Option<ErrorReason> {
        status::reason_of(&answer.err().unwrap())
    }

    #[tokio::test]
    async fn only_the_staff_see_how_busy_the_room_is() {
        let api = api().await;
        let request = || pb::GetRoomRequest {};
        let nobody = api.get_room(Request::new(request())).await.unwrap().into_inner();
        assert_eq!(nobody.room.unwrap().activity, None);
        for (role, full) in [(Role::Player, false), (Role::Operator, true), (Role::Auditor, true)] {
            let answer = api.get_room(from(role, request())).await.unwrap().into_inner();
            let room = answer.room.unwrap();
            assert_eq!((room.games.len(), room.builds.len()), (::rules::ALL.len(), 1));
            assert_eq!(room.activity.is_some(), full, "{role:?}");
        }
        let watch = from(Role::Auditor, pb::WatchRoomRequest {});
        let mut stream = api.watch_room(watch).await.unwrap().into_inner();
        let first = stream.next().await.unwrap().unwrap();
        assert!(first.room.unwrap().activity.is_some());
        api.stopping.cancel();
        assert!(stream.next().await.is_none(), "it ends with its server");
    }

    #[tokio::test]
    async fn commands_name_what_there_is_say_why_and_are_made_once() {
        let api = api().await;
        let id = || IdMaker::system().request_id().to_string();
        let game = |request_id: String, variant: &str, reason: &str| {
            let (variant, reason) = (variant.to_owned(), reason.to_owned());
            from(Role::Operator, pb::DisableGameRequest { request_id, variant, reason })
        };
        for (variant, why) in [("kesel", "a fault"), ("kessel", ""), ("kessel", "two\nlines")] {
            let refused = api.disable_game(game(id(), variant, why)).await;
            assert_eq!(reason(refused), Some(ErrorReason::BadField), "{variant} {why}");
        }
        let once = id();
        for _ in 0..2 {
            api.disable_game(game(once.clone(), "kessel", "a fault")).await.unwrap();
        }
        let other = api.disable_game(game(once, "kessel", "another")).await;
        assert_eq!(reason(other), Some(ErrorReason::RequestIdReused));
        let table_id = TableId([9; 16]).to_string();
        let (request_id, why) = (id(), "a fault".to_owned());
        let table = pb::DisableTableRequest { request_id, table_id, reason: why };
        let unknown = api.disable_table(from(Role::Operator, table)).await;
        assert_eq!(reason(unknown), Some(ErrorReason::TableUnknown));
        let token = Request::new(pb::EnableGameRequest::default());
        assert_eq!(reason(api.enable_game(token).await), Some(ErrorReason::TokenMissing));
    }
}
