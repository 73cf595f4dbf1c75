//! Log lines about a clock that is off: at once, then once a minute, and when it is right again.
//!
//! Specification: ARCHITECTURE.md §2.7.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::store::ClockSkew;

/// Time between two lines about one clock.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(crate) struct ClockAlarm {
    /// Time of the last line, while the clock is off.
    last_logged: Mutex<Option<Instant>>,
}

impl ClockAlarm {
    pub(super) fn report_off(&self, log: &str, off: ClockSkew) {
        let mut last = self.last_logged.lock().unwrap_or_else(PoisonError::into_inner);
        if last.is_none_or(|last| last.elapsed() >= LOG_INTERVAL) {
            *last = Some(Instant::now());
            tracing::error!(log, %off, "a clock is wrong: the log takes nothing");
        }
    }

    pub(super) fn report_right(&mut self, log: &str) {
        let last = self.last_logged.get_mut().unwrap_or_else(PoisonError::into_inner);
        if last.take().is_some() {
            tracing::info!(log, "the clocks agree again: the log goes on");
        }
    }
}
