//! gRPC API of people: names, disputes, erasure. Sign-in is in `sign_in`.
//!
//! Every command runs in a task of its own. Otherwise a caller who stops waiting could leave memory
//! behind what is durable.

use std::sync::Arc;

use primitives::PlayerId;
use prost::Message;
use proto::audit::v1 as audit;
use proto::audit::v1::dispute_service_server::{DisputeService, DisputeServiceServer};
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use proto::table::v1::people_service_server::{PeopleService, PeopleServiceServer};
use system::clock::Clock as _;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tonic::{Request, Response, Status};
use wire::{ApiRefusal, BadField, api_refusal, field, status};

use super::watch_stream::CLOCK;
use super::{Caller, PAGE_SIZES};
use crate::author::Author;
use crate::people::Wanted;
use crate::registry::TableRegistry;

/// Commands that run or wait at one time; more are refused.
const MAX_COMMANDS: usize = 256;
/// Commands among them that are reserved for operators and auditors, so that many players cannot
/// keep them out.
const STAFF_PERMITS: usize = 16;
/// Renames that run or wait at one time. One is written after the other, with sign-ins and refreshes
/// of tokens, so that these wait for a few renames at the most, however many players rename.
const MAX_RENAMES: usize = 4;

/// Bytes of the longest request to open a dispute, the limit of its method: evidence, and words.
pub(crate) const MAX_DISPUTE_BYTES: usize = 327_680;

/// Header with the hash of the room's own bundle of a disputed hand. The gateway sets it, and takes
/// away what a caller has set.
const BUNDLE_HEADER: &str = "x-sabacc-bundle-bin";

/// `PeopleService` and `DisputeService` over the registry that this process owns at the moment.
/// Clones share their permits.
#[derive(Clone)]
pub(crate) struct PeopleApi {
    registry: watch::Receiver<Option<Arc<TableRegistry>>>,
    permits: Arc<Semaphore>,
    staff_permits: Arc<Semaphore>,
    rename_permits: Arc<Semaphore>,
}

impl PeopleApi {
    #[must_use]
    pub(crate) fn services(
        registry: watch::Receiver<Option<Arc<TableRegistry>>>,
    ) -> (PeopleServiceServer<PeopleApi>, DisputeServiceServer<PeopleApi>) {
        let api = PeopleApi::new(registry);
        (PeopleServiceServer::new(api.clone()), DisputeServiceServer::new(api))
    }

    fn new(registry: watch::Receiver<Option<Arc<TableRegistry>>>) -> PeopleApi {
        let room = Arc::new(Semaphore::new(MAX_COMMANDS - STAFF_PERMITS));
        PeopleApi {
            registry,
            permits: room,
            staff_permits: Arc::new(Semaphore::new(STAFF_PERMITS)),
            rename_permits: Arc::new(Semaphore::new(MAX_RENAMES)),
        }
    }

    /// Permit for a command; `None` where too many run or wait.
    fn permit(&self, caller: &Caller) -> Option<OwnedSemaphorePermit> {
        let staff =
            caller.player.is_none().then(|| Arc::clone(&self.staff_permits).try_acquire_owned());
        let place = staff.and_then(Result::ok);
        place.or_else(|| Arc::clone(&self.permits).try_acquire_owned().ok())
    }

    fn rename_permit(&self) -> Result<OwnedSemaphorePermit, ApiRefusal> {
        Arc::clone(&self.rename_permits).try_acquire_owned().map_err(|_| overloaded())
    }

    pub(super) fn registry(&self) -> Result<Arc<TableRegistry>, ApiRefusal> {
        let registry = self.registry.borrow().clone();
        registry.ok_or_else(|| status::unavailable("the tables are just being taken up"))
    }

    /// Runs a command to its end, even if its caller stops waiting.
    pub(super) async fn run_to_end<A: Send + 'static>(
        &self,
        caller: &Caller,
        doing: impl Future<Output = Result<A, ApiRefusal>> + Send + 'static,
    ) -> Result<Response<A>, Status> {
        let place = self.permit(caller).ok_or_else(overloaded)?;
        let task = tokio::spawn(async move {
            let answer = doing.await;
            drop(place);
            answer
        });
        let broken = |_| api_refusal(ErrorReason::Corrupt, "this command broke down in the middle");
        Ok(Response::new(task.await.map_err(broken)??))
    }
}

fn overloaded() -> ApiRefusal {
    let message = "too much is being asked about people: try again in a moment";
    api_refusal(ErrorReason::Overloaded, message)
}

fn author(
    registry: &TableRegistry,
    caller: &Caller,
    method: &str,
    request_id: &str,
    content: &impl Message,
) -> Result<Author, ApiRefusal> {
    let request = registry.bounds().request_id(&caller.actor, request_id, CLOCK.now())?;
    Ok(caller.author(request, caller.digest(method, content)))
}

/// Hash of the hand's bundle that the gateway names; `None` where it has none.
fn named_bundle<T>(request: &Request<T>) -> Option<[u8; 32]> {
    let named = request.metadata().get_bin(BUNDLE_HEADER)?.to_bytes().ok()?;
    <[u8; 32]>::try_from(&named[..]).ok()
}

pub(super) fn calling_player(caller: &Caller) -> Result<PlayerId, ApiRefusal> {
    let nobody = || api_refusal(ErrorReason::RoleNotAllowed, "this is for players only");
    caller.player.ok_or_else(nobody)
}

#[tonic::async_trait]
impl PeopleService for PeopleApi {
    async fn set_name(
        &self,
        request: Request<pb::SetNameRequest>,
    ) -> Result<Response<pb::SetNameResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let (registry, player) = (self.registry()?, calling_player(&caller)?);
        let by = author(&registry, &caller, "SetName", &message.request_id, &message)?;
        let turn = self.rename_permit()?;
        self.run_to_end(&caller, async move {
            let _turn = turn;
            registry.set_name(player, &message.name, by).await
        })
        .await
    }

    async fn get_player(
        &self,
        request: Request<pb::GetPlayerRequest>,
    ) -> Result<Response<pb::GetPlayerResponse>, Status> {
        let caller = Caller::of_anybody(&request);
        let pb::GetPlayerRequest { player_id } = request.into_inner();
        let player = match caller.player {
            Some(own) if player_id.is_empty() => own,
            Some(_) | None => field::player_id(&player_id)?,
        };
        Ok(Response::new(self.registry()?.people().player(player).await?))
    }

    async fn mark_player(
        &self,
        request: Request<pb::MarkPlayerRequest>,
    ) -> Result<Response<pb::MarkPlayerResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let registry = self.registry()?;
        let by = author(&registry, &caller, "MarkPlayer", &message.request_id, &message)?;
        let player = field::player_id(&message.player_id)?;
        self.run_to_end(&caller, async move { registry.mark_player(player, message.bot, by).await })
            .await
    }

    async fn sign_in_as_guest(
        &self,
        request: Request<pb::SignInAsGuestRequest>,
    ) -> Result<Response<pb::SignInAsGuestResponse>, Status> {
        self.sign_in(request).await
    }

    async fn refresh(
        &self,
        request: Request<pb::RefreshRequest>,
    ) -> Result<Response<pb::RefreshResponse>, Status> {
        self.refresh_tokens(request).await
    }

    async fn sign_out(
        &self,
        request: Request<pb::SignOutRequest>,
    ) -> Result<Response<pb::SignOutResponse>, Status> {
        self.revoke_own(request).await
    }

    async fn revoke_tokens(
        &self,
        request: Request<pb::RevokeTokensRequest>,
    ) -> Result<Response<pb::RevokeTokensResponse>, Status> {
        self.revoke(request).await
    }

    async fn erase_player(
        &self,
        request: Request<pb::ErasePlayerRequest>,
    ) -> Result<Response<pb::ErasePlayerResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let registry = self.registry()?;
        let by = author(&registry, &caller, "ErasePlayer", &message.request_id, &message)?;
        let player = field::player_id(&message.player_id)?;
        let people = Arc::clone(registry.people());
        self.run_to_end(&caller, async move { people.erase(player, &message.reason, by).await })
            .await
    }
}

#[tonic::async_trait]
impl DisputeService for PeopleApi {
    async fn open_dispute(
        &self,
        request: Request<audit::OpenDisputeRequest>,
    ) -> Result<Response<audit::OpenDisputeResponse>, Status> {
        let caller = Caller::of(&request)?;
        let bundle = named_bundle(&request);
        let message = request.into_inner();
        let registry = self.registry()?;
        let by = author(&registry, &caller, "OpenDispute", &message.request_id, &message)?;
        let (people, player) = (Arc::clone(registry.people()), calling_player(&caller)?);
        self.run_to_end(
            &caller,
            async move { people.open_dispute(player, &message, bundle, by).await },
        )
        .await
    }

    async fn list_disputes(
        &self,
        request: Request<audit::ListDisputesRequest>,
    ) -> Result<Response<audit::ListDisputesResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let (skip, take) = page(message.page_size, &message.page_token)?;
        let people = Arc::clone(self.registry()?.people());
        let unknown = |_| BadField::new("state", "one of DisputeState, or unset for all");
        let state = audit::DisputeState::try_from(message.state).map_err(unknown)?;
        let wanted = Wanted { state, own: message.own };
        Ok(Response::new(people.list_disputes(caller.player, wanted, skip, take)))
    }

    async fn get_dispute(
        &self,
        request: Request<audit::GetDisputeRequest>,
    ) -> Result<Response<audit::GetDisputeResponse>, Status> {
        let caller = Caller::of(&request)?;
        let audit::GetDisputeRequest { dispute_id } = request.into_inner();
        let id = field::id("dispute_id", &dispute_id)?;
        let dispute = self.registry()?.people().get_dispute(id, caller.player).await?;
        Ok(Response::new(audit::GetDisputeResponse { dispute: Some(dispute) }))
    }

    async fn answer_dispute(
        &self,
        request: Request<audit::AnswerDisputeRequest>,
    ) -> Result<Response<audit::AnswerDisputeResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let registry = self.registry()?;
        let by = author(&registry, &caller, "AnswerDispute", &message.request_id, &message)?;
        let people = Arc::clone(registry.people());
        self.run_to_end(&caller, async move { people.answer_dispute(&message, by).await }).await
    }
}

/// Number of the first row of a page, and the size of the page.
pub(super) fn page(size: i32, token: &str) -> Result<(usize, usize), BadField> {
    let (default, most) = PAGE_SIZES;
    let size = field::page_size(size, default, most)?;
    let skip = if token.is_empty() { Ok(0) } else { token.parse::<usize>() };
    let skip = skip.map_err(|_| {
        BadField::new("page_token", "not one of ours: send what the page before gave")
    })?;
    Ok((skip, size))
}

#[cfg(test)]
mod tests {
    use primitives::UnixMicros;

    use super::*;

    #[test]
    fn a_few_renames_wait_at_one_time_and_more_are_refused() {
        let api = PeopleApi::new(watch::channel(None).1);
        let turns: Vec<_> = (0..MAX_RENAMES).map(|_| api.rename_permit().unwrap()).collect();
        assert_eq!(api.rename_permit().unwrap_err().reason(), ErrorReason::Overloaded);
        drop(turns);
        assert!(api.rename_permit().is_ok());
    }

    #[test]
    fn many_players_leave_places_to_operators_and_auditors() {
        let api = PeopleApi::new(watch::channel(None).1);
        let places = |player| {
            let caller = Caller {
                player,
                is_house: false,
                actor: "somebody".into(),
                arrived: UnixMicros(0),
            };
            std::iter::from_fn(|| api.permit(&caller)).collect::<Vec<_>>()
        };
        let players = places(Some(PlayerId([1; 16])));
        assert_eq!(players.len(), MAX_COMMANDS - STAFF_PERMITS);
        let staff = places(None);
        assert_eq!(staff.len(), STAFF_PERMITS);
        drop(players);
        assert_eq!(
            places(None).len(),
            MAX_COMMANDS - STAFF_PERMITS,
            "they may have the others' too"
        );
    }
}
