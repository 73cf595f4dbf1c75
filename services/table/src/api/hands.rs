//! gRPC API of the list of hands.

use std::sync::Arc;

use proto::audit::v1 as pb;
use proto::audit::v1::hand_service_server::{HandService, HandServiceServer};
use tokio::sync::watch;
use tonic::{Request, Response, Status};
use wire::{BadField, field, status};

use super::people;
use crate::hand_list::Scope;
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
        let bad =
            |error: crate::hand_list::NoCursor| BadField::new("page_token", error.to_string());
        let from = from.transpose().map_err(bad)?;
        let registry = self.registry.borrow().clone();
        let registry =
            registry.ok_or_else(|| status::unavailable("the tables are just being taken up"))?;
        Ok(Response::new(registry.hand_list().page(scope, from, take)?))
    }
}
