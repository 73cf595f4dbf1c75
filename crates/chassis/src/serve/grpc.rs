//! Assembly of gRPC services: routing, guard, deadlines, health and reflection.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use http::{Request, Response};
use system::clock::Clock;
use tonic::body::Body;
use tonic::server::NamedService;
use tonic::service::{Routes, RoutesBuilder};
use tower::Service;

use super::deadline::Deadline;
use super::decode_errors::DecodeErrors;
use super::health::Health;
use super::lifetime::Lifetime;
use super::message_limit::MessageLimit;
use super::middleware::Behind;
use super::only_grpc::OnlyGrpc;
use super::stream_limit::StreamLimiter;
use crate::api::{Api, ApiError};
use crate::auth::{Access, AccessError, Guard, IssuerKey, Revocations, Verifier};
use crate::limits::Limits;
use crate::refusal::no_such_method;

/// Services behind their guard, ready for a [`Server`](super::Server).
pub type GrpcApp = OnlyGrpc<
    Behind<
        Guard,
        Behind<
            StreamLimiter,
            Behind<Lifetime, Behind<DecodeErrors, Behind<Deadline, Behind<MessageLimit, Routes>>>>,
        >,
    >,
>;

/// Error of descriptors that name no rights, or cannot be shown by reflection.
#[derive(Debug, thiserror::Error)]
pub enum DescriptorError {
    #[error("this program's own descriptors are damaged: {0}")]
    Access(#[from] AccessError),
    #[error("this program's own descriptors are damaged: {0}")]
    Api(#[from] ApiError),
    #[error("this program's own descriptors are damaged: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
}

/// Builder of one server's services.
pub struct GrpcBuilder {
    routes: RoutesBuilder,
    health: Health,
    services: BTreeSet<&'static str>,
    revocations: Option<Revocations>,
}

impl GrpcBuilder {
    /// Begins with the health service.
    #[must_use]
    pub fn new(health: Health) -> GrpcBuilder {
        let mut routes = RoutesBuilder::default();
        routes.add_service(health.service());
        GrpcBuilder { routes, health, services: BTreeSet::new(), revocations: None }
    }

    /// Adds a service and reports it as serving.
    pub async fn add<S>(mut self, service: S) -> GrpcBuilder
    where
        S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
        S: NamedService + Clone + Send + Sync + 'static,
        S::Future: Send + 'static,
    {
        self.health.set_serving::<S>(true).await;
        self.services.insert(S::NAME);
        self.routes.add_service(service);
        self
    }

    /// Refuses tokens that these revocations name, and ends their streams.
    #[must_use]
    pub fn with_revocations(self, revocations: Option<Revocations>) -> GrpcBuilder {
        GrpcBuilder { revocations, ..self }
    }

    /// API of the services that were added. `descriptors` is an encoded `FileDescriptorSet` that has
    /// them among others.
    ///
    /// # Errors
    /// The descriptors cannot be used.
    pub fn api(&self, descriptors: &[u8], limits: &Limits) -> Result<Arc<Api>, DescriptorError> {
        Ok(Arc::new(Api::new(descriptors, &self.services, limits.message_bytes)?))
    }

    /// Adds reflection (`grpc.reflection.v1`) of the services that were added, open to everybody, and
    /// assembles the layers. `issuers` authenticate callers. `descriptors`, an encoded `FileDescriptorSet`, have the
    /// options that authorize them.
    ///
    /// # Errors
    /// The descriptors cannot be used.
    pub fn build(
        mut self,
        descriptors: &[u8],
        issuers: &[IssuerKey],
        limits: &Limits,
        clock: Arc<dyn Clock>,
    ) -> Result<GrpcApp, DescriptorError> {
        let api = self.api(descriptors, limits)?;
        let access = Arc::new(Access::from_descriptors(descriptors)?);
        let reflection = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(api.files())
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            .build_v1()?;
        self.routes.add_service(reflection);
        let verifier = Verifier::new(issuers.to_vec(), clock).with_revocations(self.revocations);
        let mut routes = self.routes.routes();
        let router = std::mem::take(routes.axum_router_mut());
        // Answers a method that is described and allowed, but whose service is not on this server.
        let fallback = || std::future::ready(no_such_method().into_http::<Body>());
        *routes.axum_router_mut() = router.fallback(fallback);
        let access = || Arc::clone(&access);
        let bodies = MessageLimit { max_message_bytes: limits.message_bytes, access: access() };
        let deadline = Deadline { limit: limits.unary_deadline, access: access() };
        let app = Behind::new(deadline, Behind::new(bodies, routes.prepare()));
        let app = Behind::new(DecodeErrors { access: access() }, app);
        let app = Behind::new(Lifetime { access: access() }, app);
        let app = Behind::new(StreamLimiter { access: access() }, app);
        let app = Behind::new(Guard::new(verifier, access()).with_limits(limits), app);
        Ok(OnlyGrpc::new(api, app))
    }
}
