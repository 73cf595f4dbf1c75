//! gRPC API of the list of hands.

use std::sync::Arc;

use primitives::UnixMicros;
use prost_types::Timestamp;
use proto::audit::v1 as pb;
use proto::audit::v1::hand_service_server::{HandService, HandServiceServer};
use tokio::sync::watch;
use tonic::{Request, Response, Status};
use wire::{ApiRefusal, BadField, field, status};

use super::Caller;
use super::lobby::own_or_named;
use super::people;
use crate::hand_list::{NoCursor, Scope};
use crate::player_hands::{HandsQuery, result_sign};
use crate::registry::TableRegistry;

/// `HandService` over the registry that this process owns at the moment.
pub(crate) struct HandsApi {
    registry: watch::Receiver<Option<Arc<TableRegistry>>>,
}

impl HandsApi {
    #[must_use]
    pub(crate) fn service(
        registry: watch::Receiver<Option<Arc<TableRegistry>>>,
    ) -> HandServiceServer<HandsApi> {
        HandServiceServer::new(HandsApi { registry })
    }
}

#[tonic::async_trait]
impl HandService for HandsApi {
    async fn list_hands(
        &self,
        request: Request<pb::ListHandsRequest>,
    ) -> Result<Response<pb::ListHandsResponse>, Status> {
        let message = request.into_inner();
        let pb::ListHandsRequest { table_id, player_id, page_size, page_token } = &message;
        let given = |id: &String| !id.is_empty();
        let scope = Scope {
            table: given(table_id).then(|| field::table_id(table_id)).transpose()?,
            player: given(player_id).then(|| field::player_id(player_id)).transpose()?,
        };
        let (_, take) = people::page(*page_size, "")?;
        let from = if page_token.is_empty() { None } else { Some(page_token.parse()) };
        let from = from.transpose().map_err(bad_token)?;
        let registry = self.registry()?;
        let mut page = registry.hand_list().page(scope, from, take)?;
        for withheld in page.hands.iter_mut().flat_map(|row| &mut row.withheld) {
            let player = field::player_id(&withheld.player_id);
            withheld.bot = player.is_ok_and(|player| registry.people().is_bot(player));
        }
        Ok(Response::new(page))
    }

    async fn list_player_hands(
        &self,
        request: Request<pb::ListPlayerHandsRequest>,
    ) -> Result<Response<pb::ListPlayerHandsResponse>, Status> {
        let caller = Caller::of(&request)?;
        let query = player_query(&caller, request.into_inner())?;
        Ok(Response::new(self.registry()?.player_hands(query).await?))
    }
}

impl HandsApi {
    fn registry(&self) -> Result<Arc<TableRegistry>, ApiRefusal> {
        let registry = self.registry.borrow().clone();
        registry.ok_or_else(|| status::unavailable("the tables are just being taken up"))
    }
}

fn bad_token(error: NoCursor) -> BadField {
    BadField::new("page_token", error.to_string())
}

fn player_query(
    caller: &Caller,
    request: pb::ListPlayerHandsRequest,
) -> Result<HandsQuery, ApiRefusal> {
    let pb::ListPlayerHandsRequest {
        player_id,
        table_id,
        variant,
        result,
        start_time,
        end_time,
        page_size,
        page_token,
    } = request;
    if !variant.is_empty() && rules::variant(&variant).is_none() {
        return Err(BadField::new("variant", "no such game: ListVariants lists them").into());
    }
    let (_, take) = people::page(page_size, "")?;
    let before = (!page_token.is_empty()).then(|| page_token.parse()).transpose();
    Ok(HandsQuery {
        player: own_or_named(caller.player, &player_id)?,
        table: (!table_id.is_empty()).then(|| field::table_id(&table_id)).transpose()?,
        variant: Some(variant).filter(|variant| !variant.is_empty()),
        result: result_sign(result)?,
        start: instant("start_time", start_time)?.unwrap_or_default(),
        end: instant("end_time", end_time)?.unwrap_or(UnixMicros(u64::MAX)),
        before: before.map_err(bad_token)?,
        scan: 0,
        take,
    })
}

/// Time of a field. Times are recorded to the microsecond, so one in between counts as the next.
fn instant(name: &str, time: Option<Timestamp>) -> Result<Option<UnixMicros>, BadField> {
    let Some(time) = time else { return Ok(None) };
    let is_between = u64::from(time.nanos % 1000 != 0);
    let at = wire::time::instant(time).ok_or_else(|| BadField::new(name, "no time since 1970"))?;
    Ok(Some(UnixMicros(at.0.saturating_add(is_between))))
}
