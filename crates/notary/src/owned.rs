//! Opening of a service's log: it is waited for, signed, and reported in the service's readiness.

use std::sync::Arc;

use chassis::serve::Condition;
use eventlog::{Log, OpenError, Options, Store, Waits, Writes};

use crate::Notary;

impl Notary {
    /// Opens the log as soon as no other process owns it, and signs it from then on. `written` is
    /// met while this process owns the log and the database accepts writes, and says what is
    /// missing otherwise.
    ///
    /// # Errors
    /// If the log is corrupt.
    pub async fn take(
        &self,
        store: Arc<dyn Store>,
        options: Options,
        written: &Condition,
    ) -> Result<Log, OpenError> {
        let waits = |waits: Waits<'_>| match waits {
            Waits::Standby(why) => written.elsewhere(why),
            Waits::Trouble(why) => written.unmet(why),
        };
        let log = Log::open_in_turn(store, options, waits).await?;
        let written = written.clone();
        tokio::spawn(log.report(move |writes| match writes {
            Writes::Taken => written.met(),
            Writes::Trouble(why) => written.unmet(why),
            // Callers are sent to the process that owns the log by now, or come back to this one.
            Writes::Silence(why) => written.elsewhere(why),
        }));
        self.follow(&log);
        Ok(log)
    }
}
