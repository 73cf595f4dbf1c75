//! Whether we serve, as load balancers ask it (`grpc.health.v1`).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use tonic::server::NamedService;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};

/// The health of one server and of each service on it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Health {
    reporter: HealthReporter,
    names: Arc<Mutex<BTreeSet<&'static str>>>,
}

impl Default for Health {
    fn default() -> Health {
        Health::new()
    }
}

impl Health {
    /// Of a server that serves; each service says so for itself.
    #[must_use]
    pub fn new() -> Health {
        Health { reporter: HealthReporter::new(), names: Arc::default() }
    }

    /// The service that answers the question.
    #[must_use]
    pub fn service(&self) -> HealthServer<HealthService> {
        HealthServer::new(HealthService::from_health_reporter(self.reporter.clone()))
    }

    /// The service `S` serves, or does not for the time being.
    pub async fn set<S: NamedService>(&self, serves: bool) {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).insert(S::NAME);
        let status = if serves { ServingStatus::Serving } else { ServingStatus::NotServing };
        self.reporter.set_service_status(S::NAME, status).await;
    }

    /// Says for everything that it serves no more, and ends the streams of those who watch: they
    /// would hold their connections open.
    pub(super) async fn stop(&self) {
        let named = self.names.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for name in named.into_iter().chain([""]) {
            self.reporter.set_service_status(name, ServingStatus::NotServing).await;
            self.reporter.clone().clear_service_status(name).await;
        }
    }
}
