//! Health of the server, as load balancers ask for it (`grpc.health.v1`).
//!
//! `""` is the server's readiness. Each service's name is the status of that service, which never
//! serves while the server is not ready. `"liveness"` says only that the process is alive.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tonic::server::NamedService;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};

use super::readiness::{Condition, Readiness};

/// Name of the process's liveness.
pub const LIVENESS: &str = "liveness";

/// Health of one server and of its services. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Health {
    reporter: HealthReporter,
    readiness: Readiness,
    /// Whether each service serves while the server is ready.
    services: Arc<Mutex<BTreeMap<&'static str, bool>>>,
}

impl Default for Health {
    fn default() -> Health {
        Health::new()
    }
}

impl Health {
    /// Health of a server without conditions. Services are added with [`Health::set_serving`].
    #[must_use]
    pub fn new() -> Health {
        let (reporter, readiness) = (HealthReporter::new(), Readiness::default());
        Health { reporter, readiness, services: Arc::default() }
    }

    /// The gRPC health service.
    #[must_use]
    pub fn service(&self) -> HealthServer<HealthService> {
        HealthServer::new(HealthService::from_health_reporter(self.reporter.clone()))
    }

    /// Adds a condition of the server's readiness. It is not met until it is reported to be.
    #[must_use]
    pub fn condition(&self, name: &str, why: &str) -> Condition {
        self.readiness.condition(name, why)
    }

    /// Readiness of the server.
    #[must_use]
    pub const fn readiness(&self) -> &Readiness {
        &self.readiness
    }

    /// Reports whether the service `S` serves.
    pub async fn set_serving<S: NamedService>(&self, serves: bool) {
        self.services.lock().unwrap_or_else(PoisonError::into_inner).insert(S::NAME, serves);
        let ready = *self.readiness.watch().borrow();
        self.reporter.set_service_status(S::NAME, status(serves && ready)).await;
    }

    /// Publishes changes of the readiness, for ever.
    pub(super) async fn publish_readiness(&self) {
        let mut readiness = self.readiness.watch();
        self.reporter.set_service_status(LIVENESS, ServingStatus::Serving).await;
        let mut was_ready = false;
        loop {
            let ready = *readiness.borrow_and_update();
            self.reporter.set_service_status("", status(ready)).await;
            for (name, serves) in self.services() {
                self.reporter.set_service_status(name, status(serves && ready)).await;
            }
            if was_ready && !ready {
                let missing = self.readiness.unmet_conditions().join("; ");
                tracing::warn!(%missing, "not ready");
            } else if ready && !was_ready {
                tracing::info!("ready");
            }
            was_ready = ready;
            if readiness.changed().await.is_err() {
                return;
            }
        }
    }

    fn services(&self) -> BTreeMap<&'static str, bool> {
        self.services.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Reports everything as not serving, and ends the streams of watchers, which would hold their
    /// connections open.
    pub(super) async fn stop(&self) {
        self.readiness.condition("server", "it is stopping").set_unmet("it is stopping");
        for name in self.services().into_keys().chain(["", LIVENESS]) {
            self.reporter.set_service_status(name, ServingStatus::NotServing).await;
            self.reporter.clone().clear_service_status(name).await;
        }
    }
}

const fn status(serves: bool) -> ServingStatus {
    if serves { ServingStatus::Serving } else { ServingStatus::NotServing }
}
