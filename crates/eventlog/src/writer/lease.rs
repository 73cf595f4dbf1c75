//! Renewal and release of the lease.
//!
//! Specification: ARCHITECTURE.md §2.3.

use std::time::Duration;

use tokio::time::Instant;

use super::{MAX_PAUSE, OwnershipLost, Writer};
use crate::log::Health;
use crate::store::{Renewal, StoreError};

impl Writer {
    /// Renews the lease. A store that cannot be reached is asked again soon.
    pub(super) async fn renew(&mut self) -> Result<(), OwnershipLost> {
        match self.store.renew(&self.renewal(self.options.lease)).await {
            Ok(true) => {
                self.record_write();
                Ok(())
            }
            Ok(false) => {
                tracing::error!(log = %self.options.name, epoch = self.epoch, "another owner has the log: it stops here");
                Err(OwnershipLost)
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
                self.renew_at = Instant::now() + (self.options.lease / 6).min(MAX_PAUSE);
                Ok(())
            }
        }
    }

    /// Releases the lease, so that the next owner need not wait. If that fails the lease ends by
    /// itself.
    pub(super) async fn release(&self) {
        if let Err(error) = self.store.renew(&self.renewal(Duration::ZERO)).await {
            tracing::warn!(log = %self.options.name, %error, "the lease was not released: it will end by itself");
        }
    }

    /// Renewal for so long, with the owner's clock and the size of its tree.
    pub(super) fn renewal(&self, lease: Duration) -> Renewal {
        Renewal {
            log: self.options.name.clone(),
            epoch: self.epoch,
            lease,
            clock: self.options.reading(),
            is_serving: true,
            size: self.tree.size(),
        }
    }

    /// Records that the store has just taken a write.
    pub(super) fn record_write(&mut self) {
        let now = Instant::now();
        self.renew_at = now + self.options.lease / 3;
        self.clock_alarm.report_right(&self.options.name);
        self.health.send_replace(Health { written: now, outage: None });
    }
}
