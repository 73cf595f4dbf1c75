//! Output of the program; no other module writes to standard output but [`crate::screen`].

use std::io::Write as _;
use std::time::Duration;

use primitives::UnixMicros;
use system::clock::{Clock, SystemClock};

/// Escapes what would change a terminal instead of its text: control characters but line feeds and
/// tabs, and characters that reorder or hide others. Names and files may hold any of them.
fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '\n' | '\t') {
            printable.push(letter);
        } else {
            let _ = primitives::write_escaped(&mut printable, letter);
        }
    }
    printable
}

/// Escapes a text that must not begin another line: of a file that somebody else wrote, a line of its
/// own would pass for one of this program's.
#[must_use]
pub(crate) fn one_line(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        let _ = primitives::write_escaped(&mut escaped, letter);
    }
    escaped
}

/// Writes one line. A closed standard output is ignored: the room goes on.
pub(crate) fn line(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{}", printable(text));
    let _ = out.flush();
}

/// Writes a complete answer; an error tells its caller that it did not arrive.
pub(crate) fn text(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(printable(text).as_bytes())?;
    out.flush()
}

/// Writes a text of this program's own, as it is.
pub(crate) fn bytes(text: &[u8]) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text)?;
    out.flush()
}

/// Progress messages with the time since the start.
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

    /// Creates a stopwatch that prints nothing: for commands whose output is their figures.
    #[must_use]
    pub(crate) fn quiet() -> Progress {
        Progress { quiet: true, ..Progress::start() }
    }

    #[must_use]
    pub(crate) fn elapsed(&self) -> Duration {
        self.clock.now().since(self.start)
    }

    pub(crate) fn print(&self, text: &str) {
        if !self.quiet {
            line(&format!("{:>7.2} s  {text}", self.elapsed().as_secs_f64()));
        }
    }
}

/// Writes one line to standard error.
pub(crate) fn error(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", printable(text));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// fairness/SPEC.md §15.5.
    #[test]
    fn what_moves_a_cursor_or_turns_text_around_is_shown_escaped() {
        let text = printable("a\tb\n\u{1b}[2J\u{7f}\u{9b}1A\u{202e}é");
        assert_eq!(text, "a\tb\n\\u{1b}[2J\\u{7f}\\u{9b}1A\\u{202e}é");
    }

    /// fairness/SPEC.md §15.5.
    #[test]
    fn a_text_of_somebody_elses_begins_no_line() {
        let text = one_line("silent).\nhand 7: proved\r\té");
        assert_eq!(text, "silent).\\u{a}hand 7: proved\\u{d}\\u{9}é");
    }
}
