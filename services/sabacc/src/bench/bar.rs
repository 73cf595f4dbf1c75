//! How far a measurement is, for whoever watches: one line on standard error, where that is a
//! terminal, written over again and again and gone at the end.

use std::io::{IsTerminal as _, Write as _};

/// Cells of the bar.
const CELLS: usize = 24;

/// The line.
pub(crate) struct Bar {
    shown: bool,
}

impl Bar {
    /// A bar for people; nothing where nobody looks.
    #[must_use]
    pub(crate) fn new() -> Bar {
        Bar { shown: std::io::stderr().is_terminal() }
    }

    /// Shows that `done` of `all` are done, with a word on it.
    pub(crate) fn show(&self, what: &str, (done, all): (u64, u64), note: &str) {
        if self.shown {
            let _ = write!(std::io::stderr().lock(), "\r\x1b[K{}", text(what, (done, all), note));
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
