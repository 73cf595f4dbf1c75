//! Opening of a service's log: it is waited for, signed, and reported in the service's readiness.

use std::sync::Arc;

use chassis::serve::Condition;
use eventlog::{Log, OpenError, Options, Store, WaitReason, WriteHealth};

use crate::Notary;

impl Notary {
    /// Opens the log as soon as no other process owns it, and signs it from then on. `written` is
    /// met while this process owns the log and the database accepts writes, and says what is
    /// missing otherwise.
    ///
    /// # Errors
    /// If the log is corrupt.
    pub async fn open_log(
        &self,
        store: Arc<dyn Store>,
        options: Options,
        written: &Condition,
    ) -> Result<Log, OpenError> {
        let waits = |waits: WaitReason<'_>| match waits {
            WaitReason::Standby(why) => written.set_met_elsewhere(why),
            WaitReason::Outage(why) => written.set_unmet(why),
        };
        let log = Log::open_when_free(store, options, waits).await?;
        let written = written.clone();
        tokio::spawn(log.report_writes(move |writes| match writes {
            WriteHealth::Accepted => written.set_met(),
            WriteHealth::Outage(why) => written.set_unmet(why),
            // Callers are sent to the process that owns the log by now, or come back to this one.
            WriteHealth::LeaseExpired(why) => written.set_met_elsewhere(why),
        }));
        self.follow(&log);
        Ok(log)
    }
}
