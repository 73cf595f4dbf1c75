//! gRPC handlers: parse the request, call the dealer, answer.

use std::sync::Arc;

use chassis::auth::Identity;
use eventlog::request_digest;
use prost::Message;
use proto::common::v1::ErrorReason;
use proto::dealer::v1::dealer_service_server::{DealerService, DealerServiceServer};
use proto::dealer::v1::{
    CloseRequest, CloseResponse, CommitRequest, CommitResponse, ListKeysRequest, ListKeysResponse,
    PerformRequest, PerformResponse, RevealRequest, RevealResponse, SealRequest, SealResponse,
};
use tonic::{Request, Response, Status};
use wire::api_refusal;
use wire::field::{exactly, request_id};

use crate::dealer::{Dealer, RequestMetadata};
use crate::messages;

/// gRPC service of a dealer.
pub struct Api(Dealer);

/// Makes the service to put on a server.
#[must_use]
pub fn service(dealer: Dealer) -> DealerServiceServer<Api> {
    DealerServiceServer::new(Api(dealer))
}

#[tonic::async_trait]
impl DealerService for Api {
    async fn commit(
        &self,
        request: Request<CommitRequest>,
    ) -> Result<Response<CommitResponse>, Status> {
        let caller = Caller::of("Commit", &request)?;
        let CommitRequest { request_id, table_id, hand_no, rules_hash, before } =
            request.into_inner();
        let call = caller.call(&request_id)?;
        let hand = messages::parse_hand_name(&table_id, hand_no)?;
        let rules_hash = exactly("rules_hash", &rules_hash)?;
        let before = messages::parse_promise_before(hand, before)?;
        let committed = self.0.commit(call, hand, rules_hash, before).await?;
        let commitment = Some(messages::commitment_to_pb(&committed));
        Ok(Response::new(CommitResponse { commitment }))
    }

    async fn close(
        &self,
        request: Request<CloseRequest>,
    ) -> Result<Response<CloseResponse>, Status> {
        let caller = Caller::of("Close", &request)?;
        let CloseRequest { request_id, table_id, hand_no, rows } = request.into_inner();
        let call = caller.call(&request_id)?;
        let hand = messages::parse_hand_name(&table_id, hand_no)?;
        let closed = self.0.close(call, hand, messages::parse_closing_rows(rows)?).await?;
        Ok(Response::new(CloseResponse { closing: Some(messages::closing_to_pb(&closed)) }))
    }

    async fn seal(&self, request: Request<SealRequest>) -> Result<Response<SealResponse>, Status> {
        let caller = Caller::of("Seal", &request)?;
        let SealRequest { request_id, table_id, hand_no, beacon, rows } = request.into_inner();
        let call = caller.call(&request_id)?;
        let hand = messages::parse_hand_name(&table_id, hand_no)?;
        let sealing = messages::parse_seal_input(&beacon, rows)?;
        let transcript = self.0.seal(call, hand, sealing).await?;
        Ok(Response::new(SealResponse { transcript: transcript.0.to_vec() }))
    }

    async fn perform(
        &self,
        request: Request<PerformRequest>,
    ) -> Result<Response<PerformResponse>, Status> {
        let caller = Caller::of("Perform", &request)?;
        let PerformRequest { request_id, table_id, hand_no, operations, openings } =
            request.into_inner();
        let call = caller.call(&request_id)?;
        let hand = messages::parse_hand_name(&table_id, hand_no)?;
        let asked = messages::parse_perform(operations, openings)?;
        let performed = self.0.perform(call, hand, asked).await?;
        Ok(Response::new(messages::performed_to_pb(performed)))
    }

    async fn reveal(
        &self,
        request: Request<RevealRequest>,
    ) -> Result<Response<RevealResponse>, Status> {
        let caller = Caller::of("Reveal", &request)?;
        let RevealRequest { request_id, table_id, hand_no, discarded } = request.into_inner();
        let call = caller.call(&request_id)?;
        let hand = messages::parse_hand_name(&table_id, hand_no)?;
        let seed = self.0.reveal(call, hand, discarded).await?;
        Ok(Response::new(RevealResponse { seed: seed.expose().to_vec() }))
    }

    async fn list_keys(
        &self,
        request: Request<ListKeysRequest>,
    ) -> Result<Response<ListKeysResponse>, Status> {
        let ListKeysRequest {} = request.into_inner();
        let public_keys = self.0.public_keys().iter().map(|key| key.to_vec()).collect();
        Ok(Response::new(ListKeysResponse { public_keys }))
    }
}

/// Properties of a call apart from its fields.
struct Caller {
    digest: [u8; 32],
    actor: Arc<str>,
    trace: [u8; 16],
}

impl Caller {
    /// Describes the call of a caller whom a guard has identified.
    fn of<M: Message>(method: &str, request: &Request<M>) -> Result<Caller, Status> {
        let identity = Identity::of(request).ok_or_else(|| {
            Status::from(api_refusal(ErrorReason::TokenMissing, "this call has no verified token"))
        })?;
        let digest = request_digest(method, &[&request.get_ref().encode_to_vec()]);
        let actor = identity.actor().into();
        Ok(Caller { digest, actor, trace: chassis::telemetry::trace_id() })
    }

    fn call(self, id: &[u8]) -> Result<RequestMetadata, Status> {
        let Caller { digest, actor, trace } = self;
        Ok(RequestMetadata { id: request_id(id)?, digest, actor, trace })
    }
}

#[cfg(test)]
mod tests {
    use chassis::auth::Role;
    use ed25519_dalek::SigningKey;
    use keyring::{Keyring, SecretStore};
    use system::entropy::SeededEntropy;
    use zeroize::Zeroizing;

    use super::*;
    use crate::dealer::Dependencies;

    fn dealer_without_log() -> Api {
        let dealer = Dealer::try_new(Dependencies {
            seeds: SecretStore::memory(),
            keyring: Keyring::new(&Zeroizing::new([3; 32]), &[]),
            entropy: Arc::new(SeededEntropy::new(1)),
            key: SigningKey::from_bytes(&[4; 32]),
            origin: "test/dealer".into(),
            max_cached_hands: 2,
        });
        Api(dealer.unwrap())
    }

    fn request<M: Default>(caller: Option<&Identity>) -> Request<M> {
        let mut request = Request::new(M::default());
        if let Some(caller) = caller {
            request.extensions_mut().insert(caller.clone());
        }
        request
    }

    #[tokio::test]
    async fn a_caller_without_identity_is_refused() {
        let api = dealer_without_log();
        let table = Identity::new(Role::Service, "table");
        for (caller, expected) in
            [(None, ErrorReason::TokenMissing), (Some(&table), ErrorReason::BadField)]
        {
            let refused = [
                api.commit(request(caller)).await.err(),
                api.seal(request(caller)).await.err(),
                api.perform(request(caller)).await.err(),
                api.reveal(request(caller)).await.err(),
            ];
            for status in refused {
                assert_eq!(wire::status::reason_of(&status.unwrap()), Some(expected));
            }
        }
    }
}
