//! Bar of a command that takes its time: how far it is, how fast, and how long it has to go.
//!
//! It stands on standard error, only where that is a terminal, and only once a second has passed; it is
//! gone when the command prints its answer.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use primitives::UnixMicros;
use system::clock::{Clock as _, SystemClock};

/// Time after which a bar is shown, and time between two of its states.
const FIRST: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(200);
/// Columns of the bar itself.
const COLUMNS: u64 = 24;

/// Bar of one command. Threads may share it.
pub(crate) struct ProgressBar {
    what: &'static str,
    /// Number of steps; none: not known.
    total: Option<u64>,
    clock: SystemClock,
    start: UnixMicros,
    state: Mutex<State>,
}

struct State {
    done: u64,
    next: UnixMicros,
    is_shown: bool,
}

impl ProgressBar {
    /// Begins; `what` is a word for the steps, such as `hands`.
    pub(crate) fn start(what: &'static str, total: Option<u64>) -> ProgressBar {
        let clock = SystemClock::new();
        let start = clock.now();
        let next = start.plus(FIRST);
        let state = Mutex::new(State { done: 0, next, is_shown: false });
        ProgressBar { what, total, clock, start, state }
    }

    /// Counts steps that are done.
    pub(crate) fn advance(&self, steps: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done = state.done.saturating_add(steps);
        let now = self.clock.now();
        if now < state.next || !std::io::stderr().is_terminal() {
            return;
        }
        state.next = now.plus(STEP);
        state.is_shown = true;
        let text = line(self.what, state.done, self.total, now.since(self.start));
        write(&format!("\r{text}\u{1b}[K"));
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if state.is_shown {
            write("\r\u{1b}[K");
        }
    }
}

fn write(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// The bar as a line.
fn line(what: &str, done: u64, total: Option<u64>, elapsed: Duration) -> String {
    let millis = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).max(1);
    let rate = done.saturating_mul(1000) / millis;
    let Some(total) = total.filter(|total| *total > 0) else {
        return format!("{done} {what}  {rate} a second");
    };
    let filled = done.min(total).saturating_mul(COLUMNS) / total;
    let bar = |sign: &str, count: u64| sign.repeat(usize::try_from(count).unwrap_or(0));
    let bar = format!("{}{}", bar("━", filled), bar("┄", COLUMNS - filled));
    let left = (total.saturating_sub(done)).saturating_mul(millis) / done.max(1) / 1000;
    let left = match left {
        _ if done == 0 => "…".to_owned(),
        ..120 => format!("{left} s left"),
        120..7200 => format!("{} min left", left.div_ceil(60)),
        _ => format!("{} h left", left.div_ceil(3600)),
    };
    format!("{bar}  {done} of {total} {what}  {rate} a second  {left}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_says_how_far_how_fast_and_how_long() {
        let check = |done, total, seconds, expected: &str| {
            let text = line("hands", done, total, Duration::from_secs(seconds));
            assert_eq!(text.trim_start_matches(['━', '┄', ' ']), expected);
        };
        check(50, Some(200), 10, "50 of 200 hands  5 a second  30 s left");
        check(1, Some(1000), 10, "1 of 1000 hands  0 a second  3 h left");
        check(0, Some(200), 2, "0 of 200 hands  0 a second  …");
        check(200, Some(200), 10, "200 of 200 hands  20 a second  0 s left");
        check(500, None, 10, "500 hands  50 a second");
        let half = line("hands", 1, Some(2), Duration::from_secs(1));
        assert!(half.starts_with(&"━".repeat(12)) && half.contains(&"┄".repeat(12)), "{half}");
    }
}
