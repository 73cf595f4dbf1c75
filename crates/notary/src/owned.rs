//! A service's log, as its shell takes it: waited for, signed, and seen in the service's readiness.

use std::sync::Arc;

use chassis::serve::Condition;
use eventlog::{Log, OpenError, Options, Store, Waits, Writes};

use crate::Notary;

impl Notary {
    /// Takes the log as soon as it can be had and signs it from then on. `written` is met while the log
    /// is owned here and the database takes what is written, and says what is missing otherwise.
    ///
    /// # Errors
    /// The log is corrupt.
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
            // Callers go on to whoever has the log by now, and find this one again where nobody has.
            Writes::Silence(why) => written.elsewhere(why),
        }));
        self.follow(&log);
        Ok(log)
    }
}
