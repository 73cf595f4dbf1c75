//! How far a measurement is, for whoever watches, on standard error: one line where that is a terminal,
//! written over again and again and gone at the end; elsewhere a line now and then, so that nobody waits
//! for minutes without a word.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use primitives::UnixMicros;
use system::clock::{Clock as _, SystemClock};

/// Cells of the bar.
const CELLS: usize = 24;

/// Between two lines where there is no terminal.
const NOW_AND_THEN: Duration = Duration::from_secs(5);

/// The line.
pub(crate) struct Bar {
    shown: bool,
    clock: SystemClock,
    written: Mutex<UnixMicros>,
}

impl Bar {
    /// A bar that shows nothing yet.
    #[must_use]
    pub(crate) fn new() -> Bar {
        let clock = SystemClock::new();
        let written = Mutex::new(clock.now());
        Bar { shown: std::io::stderr().is_terminal(), clock, written }
    }

    /// Shows that `done` of `all` are done, with a word on it.
    pub(crate) fn show(&self, what: &str, (done, all): (u64, u64), note: &str) {
        if self.shown {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K{}", text(what, (done, all), note));
            return;
        }
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        if now.since(*written) >= NOW_AND_THEN {
            *written = now;
            let _ = writeln!(std::io::stderr().lock(), "{what}: {done} of {all} {note}");
        }
    }

    /// Takes the line away.
    pub(crate) fn clear(&self) {
        if self.shown {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}

fn text(what: &str, (done, all): (u64, u64), note: &str) -> String {
    let cells = usize::try_from(done.min(all).saturating_mul(CELLS as u64) / all.max(1));
    let cells = cells.unwrap_or(CELLS).min(CELLS);
    let (full, empty) = ("#".repeat(cells), ".".repeat(CELLS - cells));
    format!("{what:<10} [{full}{empty}] {done}/{all} {note}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_fills() {
        assert!(text("warm-up", (0, 10), "").contains("[........................] 0/10"));
        assert!(text("measuring", (5, 10), "x").ends_with("[############............] 5/10 x"));
        assert!(text("done", (12, 10), "").contains("[########################]"));
        assert!(text("nothing", (0, 0), "").contains("0/0"));
    }
}
