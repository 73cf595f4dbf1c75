//! What the program says on its standard output, and nothing else says anything there.

use std::io::Write as _;
use std::time::Duration;

use primitives::UnixMicros;
use system::clock::{Clock, SystemClock};

/// Writes one line. A reader that has gone away ends nothing: the room goes on.
pub(crate) fn line(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}

/// Writes text that is a whole answer: who asked for it wants to know where it did not get there.
pub(crate) fn text(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Says what was done, and when since the start.
pub(crate) struct Progress {
    clock: SystemClock,
    start: UnixMicros,
    quiet: bool,
}

impl Progress {
    #[must_use]
    pub(crate) fn start() -> Progress {
        let clock = SystemClock::new();
        let start = clock.now();
        Progress { clock, start, quiet: false }
    }

    /// Keeps the time and says nothing: for commands whose output is their figures.
    #[must_use]
    pub(crate) fn quiet() -> Progress {
        Progress { quiet: true, ..Progress::start() }
    }

    #[must_use]
    pub(crate) fn elapsed(&self) -> Duration {
        self.clock.now().since(self.start)
    }

    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            line(&format!("{:>7.2} s  {text}", self.elapsed().as_secs_f64()));
        }
    }
}

/// Writes one line where errors are written.
pub(crate) fn error(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
