//! Reaction to a fault of the entropy: the dealer is not ready any more, and its log says why.
//!
//! Specification: fairness/SPEC.md §13.1.

use std::time::Duration;

use chassis::serve::Condition;
use chassis::telemetry::metrics;
use eventlog::derived_id;
use proto::event::v1 as pb;
use system::entropy::health::Unhealthy;
use system::entropy::{EntropyError, Fault, Generator};
use system::ids::IdMaker;
use tokio::sync::watch;

use crate::dealer::Dealer;

/// Pause before a failure that is not on record is written again.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

impl Dealer {
    /// Puts the failure of the entropy on record, once there is one and the log is ours.
    pub fn record_entropy_failure(&self) -> impl Future<Output = ()> + Send + use<> {
        let dealer = self.clone();
        // A failure of this process and no other: a restart tests anew.
        let life = IdMaker::system().request_id();
        async move {
            let Some(failure) = failure(&mut dealer.entropy_failure()).await else { return };
            let began_at = life.created_at().unwrap_or_default();
            let id = derived_id("entropy-failed", began_at, &[&life.0]);
            let event = to_pb(failure);
            loop {
                if let Ok(handler) = dealer.handler()
                    && handler.record_chance(id, vec![event.into()]).await
                {
                    return;
                }
                tokio::time::sleep(RETRY_PAUSE).await;
            }
        }
    }
}

/// Keeps the readiness of the dealer equal to the state of its entropy.
pub(crate) async fn report(dealer: Dealer, condition: Condition) {
    condition.set_met();
    metrics::gauge("sabacc.chance.entropy_failed", 0);
    if let Some(failure) = failure(&mut dealer.entropy_failure()).await {
        metrics::gauge("sabacc.chance.entropy_failed", 1);
        condition.set_unmet(&format!(
            "no secret can be made on this machine: {failure}; look at its generators and start the \
             dealer again"
        ));
    }
}

/// The failure, once there is one; none if the dealer is gone.
async fn failure(watch: &mut watch::Receiver<Option<EntropyError>>) -> Option<EntropyError> {
    *watch.wait_for(Option::is_some).await.ok()?
}

fn to_pb(failure: EntropyError) -> pb::EntropyFailed {
    let EntropyError { generator, fault } = failure;
    let generator = match generator {
        Generator::OperatingSystem => pb::EntropyGenerator::OperatingSystem,
        Generator::Process => pb::EntropyGenerator::Process,
    };
    let fault = match fault {
        Fault::NoBytes => pb::EntropyFault::NoBytes,
        Fault::Unhealthy(Unhealthy::Stuck { .. }) => pb::EntropyFault::Stuck,
        Fault::Unhealthy(Unhealthy::Preferred { .. }) => pb::EntropyFault::Preferred,
        Fault::Unhealthy(Unhealthy::Repeated) => pb::EntropyFault::Repeated,
    };
    pb::EntropyFailed { generator: generator.into(), fault: fault.into() }
}
