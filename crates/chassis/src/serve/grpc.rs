//! Assembly of gRPC services: routing, guard, deadlines, health and reflection.

use std::convert::Infallible;
use std::sync::Arc;

use http::{Request, Response};
use system::clock::Clock;
use tonic::Code;
use tonic::body::Body;
use tonic::server::NamedService;
use tonic::service::{Routes, RoutesBuilder};
use tower::{Layer, Service};

use super::deadline::{Deadline, DeadlineLayer};
use super::decode_errors::{DecodeErrorLayer, DecodeErrorService};
use super::health::Health;
use super::lifetime::{Lifetime, LifetimeLayer};
use super::message_limit::{MessageLimit, MessageLimitLayer};
use super::stream_limit::{StreamLimitLayer, StreamLimitService};
use crate::auth::{Access, AccessError, Guard, GuardedService, IssuerKey, Verifier};
use crate::limits::Limits;
use crate::refusal::refusal;

/// Services behind their guard, ready for a [`Server`](super::Server).
pub type GrpcApp = GuardedService<
    StreamLimitService<Lifetime<DecodeErrorService<Deadline<MessageLimit<Routes>>>>>,
>;

/// Error of descriptors that name no rights, or cannot be shown by reflection.
#[derive(Debug, thiserror::Error)]
pub enum DescriptorError {
    #[error("this program's own descriptors are damaged: {0}")]
    Access(#[from] AccessError),
    #[error("this program's own descriptors are damaged: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
}

/// Builder of one server's services.
pub struct GrpcBuilder {
    routes: RoutesBuilder,
    health: Health,
}

impl GrpcBuilder {
    /// Begins with the health service.
    #[must_use]
    pub fn new(health: Health) -> GrpcBuilder {
        let mut routes = RoutesBuilder::default();
        routes.add_service(health.service());
        GrpcBuilder { routes, health }
    }

    /// Adds a service and reports it as serving.
    pub async fn add<S>(mut self, service: S) -> GrpcBuilder
    where
        S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
        S: NamedService + Clone + Send + Sync + 'static,
        S::Future: Send + 'static,
    {
        self.health.set_serving::<S>(true).await;
        self.routes.add_service(service);
        self
    }

    /// Adds reflection (`grpc.reflection.v1`), open to everybody, and assembles the layers.
    /// `issuers` authenticate callers. `descriptors`, an encoded `FileDescriptorSet`, have the
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
        let access = Arc::new(Access::from_descriptors(descriptors)?);
        let reflection = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(descriptors)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
            .build_v1()?;
        self.routes.add_service(reflection);
        let verifier = Verifier::new(issuers.to_vec(), clock);
        let deadline = DeadlineLayer::new(limits.unary_deadline, Arc::clone(&access));
        let mut routes = self.routes.routes();
        let router = std::mem::take(routes.axum_router_mut());
        *routes.axum_router_mut() = router.fallback(|| std::future::ready(no_such_method()));
        let bodies = MessageLimitLayer::new(limits.message_bytes, Arc::clone(&access));
        let lifetime = LifetimeLayer::new(Arc::clone(&access));
        let readable = DecodeErrorLayer::new(Arc::clone(&access));
        let streams = StreamLimitLayer::new(Arc::clone(&access));
        let guard = Guard::new(verifier, access).with_limits(limits);
        let answered = readable.layer(deadline.layer(bodies.layer(routes.prepare())));
        Ok(guard.layer(streams.layer(lifetime.layer(answered))))
    }
}

/// Answer for a method that is described and allowed, but whose service is not on this server.
fn no_such_method() -> Response<Body> {
    refusal(Code::Unimplemented, "NO_SUCH_METHOD", "this server does not have this method")
        .into_http()
}
