//! Progress of a measurement, on standard error: one line that is overwritten on a terminal and
//! removed at the end; elsewhere a line every few seconds.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use primitives::UnixMicros;
use system::clock::{Clock as _, SystemClock};

/// Number of cells of the bar.
const CELLS: usize = 24;

/// Time between two lines without a terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(5);

/// Progress bar.
pub struct ProgressBar {
    is_terminal: bool,
    clock: SystemClock,
    last_line_at: Mutex<UnixMicros>,
}

impl ProgressBar {
    /// Creates a bar that shows nothing yet.
    #[must_use]
    pub fn new() -> ProgressBar {
        let clock = SystemClock::new();
        let written = Mutex::new(clock.now());
        ProgressBar { is_terminal: std::io::stderr().is_terminal(), clock, last_line_at: written }
    }

    /// Shows that `done` of `all` are done, with a note.
    pub fn show(&self, what: &str, done: u64, all: u64, note: &str) {
        if self.is_terminal {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K{}", text(what, done, all, note));
            return;
        }
        let mut written = self.last_line_at.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        if now.since(*written) >= LINE_INTERVAL {
            *written = now;
            let _ = writeln!(std::io::stderr().lock(), "{what}: {done} of {all} {note}");
        }
    }

    /// Removes the line.
    pub(crate) fn clear(&self) {
        if self.is_terminal {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K");
        }
    }
}

impl Default for ProgressBar {
    fn default() -> ProgressBar {
        ProgressBar::new()
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Writes one line to standard error.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

fn text(what: &str, done: u64, all: u64, note: &str) -> String {
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
        assert!(text("warm-up", 0, 10, "").contains("[........................] 0/10"));
        assert!(text("measuring", 5, 10, "x").ends_with("[############............] 5/10 x"));
        assert!(text("done", 12, 10, "").contains("[########################]"));
        assert!(text("nothing", 0, 0, "").contains("0/0"));
    }
}
