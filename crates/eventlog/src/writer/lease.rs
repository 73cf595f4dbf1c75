//! Renewal and release of the lease.
//!
//! Renewals run beside the batches: a log that is always busy renews as often as an idle one, and a
//! slow commit holds no renewal up. They also save the tree, so that the next start reads few events.
//!
//! Specification: ARCHITECTURE.md §2.3.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep_until};

use super::{MAX_PAUSE, Writer};
use crate::store::{Renewal, StoreError};

/// Next renewal, or the one in flight.
pub(crate) enum LeaseTimer {
    Due(Instant),
    InFlight { sent_at: Instant, renewal: BoxFuture<'static, Result<bool, StoreError>> },
}

/// Step of the lease.
pub(super) enum LeaseStep {
    /// A renewal is due.
    Due,
    /// A renewal has ended.
    Ended { sent_at: Instant, renewed: Result<bool, StoreError> },
}

impl LeaseTimer {
    /// A renewal is due at once.
    pub(crate) fn new() -> LeaseTimer {
        LeaseTimer::Due(Instant::now())
    }

    /// Waits until a renewal is due or has ended. Cancel safe; the step must be taken before the
    /// next call.
    pub(super) async fn next(&mut self) -> LeaseStep {
        match self {
            LeaseTimer::Due(at) => {
                sleep_until(*at).await;
                LeaseStep::Due
            }
            LeaseTimer::InFlight { sent_at, renewal } => {
                LeaseStep::Ended { sent_at: *sent_at, renewed: renewal.await }
            }
        }
    }
}

impl Writer {
    /// Sends a renewal that is due, or notes the outcome of one. A store that cannot be reached is
    /// asked again soon.
    pub(super) fn take_lease_step(&mut self, step: LeaseStep) {
        let LeaseStep::Ended { sent_at, renewed } = step else {
            let (store, renewal) = (Arc::clone(&self.store), self.renewal(self.options.lease));
            let renewal = Box::pin(async move { store.renew(&renewal).await });
            self.lease = LeaseTimer::InFlight { sent_at: Instant::now(), renewal };
            return;
        };
        let lease = self.options.lease;
        let mut pause = lease / 3;
        match renewed {
            Ok(true) => {
                self.health.send_modify(|health| health.renewed = sent_at);
                self.record_write();
            }
            Ok(false) => {
                tracing::error!(log = %self.options.name, epoch = self.epoch, "another owner has the log: it stops here");
                self.is_lost = true;
            }
            Err(error) => {
                match error {
                    StoreError::Clock(off) => self.clock_alarm.report_off(&self.options.name, off),
                    StoreError::Unavailable(_)
                    | StoreError::InDoubt(_)
                    | StoreError::Refused(_)
                    | StoreError::Corrupt(_) => {
                        tracing::warn!(runbook = "deploy/README.md, The database is away", log = %self.options.name, %error, "the lease could not be renewed");
                    }
                }
                self.health.send_modify(|health| health.outage = Some(error.to_string().into()));
                pause = (lease / 6).min(MAX_PAUSE);
            }
        }
        self.lease = LeaseTimer::Due(Instant::now() + pause);
    }

    /// Releases the lease, so that the next owner need not wait. If that fails the lease ends by
    /// itself.
    pub(super) async fn release(&mut self) {
        if let LeaseTimer::InFlight { renewal, .. } = &mut self.lease
            // It would prolong the lease if it came after the release.
            && let Err(error) = renewal.await
        {
            tracing::warn!(log = %self.options.name, %error, "the lease was not released: it will end by itself");
            return;
        }
        if let Err(error) = self.store.renew(&self.renewal(Duration::ZERO)).await {
            tracing::warn!(log = %self.options.name, %error, "the lease was not released: it will end by itself");
        }
    }

    /// Renewal for so long, with the owner's clock and its tree.
    pub(super) fn renewal(&self, lease: Duration) -> Renewal {
        Renewal {
            log: self.options.name.clone(),
            epoch: self.epoch,
            lease,
            clock: self.options.reading(),
            is_serving: true,
            size: self.tree.size(),
            tree: Some(self.tree.peaks().to_vec()),
        }
    }

    /// Records that the store has just taken a write.
    pub(super) fn record_write(&mut self) {
        self.clock_alarm.report_right(&self.options.name);
        self.health.send_modify(|health| health.outage = None);
    }
}
