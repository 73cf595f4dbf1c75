//! Log lines about a clock that is off: at once, then once a minute, and when it is right again.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::store::ClockOff;

/// Time between two lines about one clock.
const QUIET: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(crate) struct ClockTrouble {
    /// Time of the last line, while the clock is off.
    told: Mutex<Option<Instant>>,
}

impl ClockTrouble {
    pub(super) fn is_off(&self, log: &str, off: ClockOff) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_none_or(|told| told.elapsed() >= QUIET) {
            *told = Some(Instant::now());
            tracing::error!(log, %off, "a clock is wrong: the log takes nothing");
        }
    }

    pub(super) fn is_right(&mut self, log: &str) {
        let told = self.told.get_mut().unwrap_or_else(PoisonError::into_inner);
        if told.take().is_some() {
            tracing::info!(log, "the clocks agree again: the log goes on");
        }
    }
}
