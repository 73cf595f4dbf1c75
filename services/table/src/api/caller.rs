//! Callers of requests.

use std::sync::Arc;

use chassis::auth::{Identity, Role};
use chassis::request_ids::ANYBODY;
use primitives::{PlayerId, RequestId, UnixMicros};
use prost::Message;
use proto::common::v1::ErrorReason;
use system::clock::Clock as _;
use tonic::{Request, Status};
use wire::api_refusal;

use super::watch_stream::CLOCK;
use crate::author::{Author, request_digest};
use crate::room_delay;

/// Header with the time at which a request arrived at the edge, in microseconds since 1970; see
/// [`room_delay::arrival_time`].
const ARRIVAL_HEADER: &str = "x-sabacc-received";

/// Caller of a request.
pub(super) struct Caller {
    pub(super) player: Option<PlayerId>,
    /// Whether the issuer marks the player as the house's own.
    pub(super) is_house: bool,
    pub(super) actor: Arc<str>,
    /// Time at which the call arrived.
    pub(super) arrived: UnixMicros,
}

impl Caller {
    /// Caller with a token.
    ///
    /// # Errors
    /// `TOKEN_MISSING`.
    pub(super) fn of<T>(request: &Request<T>) -> Result<Caller, Status> {
        if Identity::of(request).is_none() {
            let message = "this call has no verified token";
            return Err(api_refusal(ErrorReason::TokenMissing, message).into());
        }
        Ok(Caller::of_anybody(request))
    }

    /// Caller with or without a token. Only methods that are open to anybody ask for it.
    pub(super) fn of_anybody<T>(request: &Request<T>) -> Caller {
        let identity = Identity::of(request);
        let edge = request.metadata().get(ARRIVAL_HEADER).and_then(|value| value.to_str().ok());
        let edge = edge.and_then(|text| text.parse().ok()).map(UnixMicros);
        Caller {
            player: identity.and_then(Identity::player),
            is_house: identity.is_some_and(|identity| identity.is_house),
            actor: identity.map_or_else(|| ANYBODY.into(), |identity| identity.actor().into()),
            arrived: room_delay::arrival_time(edge, CLOCK.now()),
        }
    }

    /// The player whose refresh token came with a call.
    #[must_use]
    pub(super) fn refreshing(self, player: PlayerId) -> Caller {
        let identity = Identity::new(Role::Player, player.to_string());
        Caller { player: Some(player), is_house: false, actor: identity.actor().into(), ..self }
    }

    /// Sets the time of arrival anew: the time that another service took to answer is no delay of
    /// the tables.
    #[must_use]
    pub(super) fn arriving_now(self) -> Caller {
        Caller { arrived: CLOCK.now(), ..self }
    }

    /// Digest of a request by this caller.
    pub(super) fn digest(&self, method: &str, message: &impl Message) -> [u8; 32] {
        request_digest(method, &self.actor, message)
    }

    /// Author of a command by this caller.
    pub(super) fn author(&self, request: RequestId, digest: [u8; 32]) -> Author {
        let trace = chassis::telemetry::trace_id();
        Author { actor: Arc::clone(&self.actor), trace, request, digest }
    }
}
