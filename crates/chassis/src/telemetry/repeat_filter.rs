//! Rate limit of warnings that repeat during an outage.
//!
//! Such a warning has a field `runbook`, which names the section of `deploy/README.md` that says
//! what to do. The first one is logged at once, and after it one a minute for each callsite and
//! section. Warnings of the database driver, which logs a line for each of its connections, are
//! limited too. Other warnings are all logged.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Filter};

/// Time between two lines of one kind.
const LOG_INTERVAL: Duration = Duration::from_mins(1);
/// Kinds that are remembered. There are fewer sections.
const MAX_KINDS: usize = 1000;

/// Passes one warning of a kind a minute.
pub(super) struct RepeatFilter {
    last_logged: Mutex<BTreeMap<Kind, Instant>>,
}

/// File, line and runbook section.
type Kind = (&'static str, u32, String);

impl RepeatFilter {
    pub(super) const fn new() -> RepeatFilter {
        RepeatFilter { last_logged: Mutex::new(BTreeMap::new()) }
    }

    /// Whether a warning of this kind is logged now.
    fn is_due(&self, kind: Kind, now: Instant) -> bool {
        let mut logged = self.last_logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.get(&kind).is_some_and(|last| now.duration_since(*last) < LOG_INTERVAL) {
            return false;
        }
        if logged.len() >= MAX_KINDS {
            logged.retain(|_, last| now.duration_since(*last) < LOG_INTERVAL);
        }
        logged.insert(kind, now);
        true
    }
}

impl<S: Subscriber> Filter<S> for RepeatFilter {
    fn enabled(&self, _: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        true
    }

    fn event_enabled(&self, event: &Event<'_>, _: &Context<'_, S>) -> bool {
        let of = event.metadata();
        if of.fields().field("runbook").is_none() && !of.target().starts_with("sqlx") {
            return true;
        }
        let mut section = Section(String::new());
        event.record(&mut section);
        let place = (of.file().unwrap_or_else(|| of.name()), of.line().unwrap_or_default());
        self.is_due((place.0, place.1, section.0), Instant::now())
    }
}

/// Value of the field `runbook`.
struct Section(String);

impl Visit for Section {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "runbook" {
            value.clone_into(&mut self.0);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use tracing_subscriber::Layer as _;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn outage(minute: &str) {
        for (log, section) in [("table", "One"), ("wallet", "One"), ("table", "Two")] {
            tracing::warn!(runbook = section, log, minute, "repeats");
        }
        tracing::warn!(minute, "each counts");
        tracing::warn!(target: "sqlx_core::pool", minute, "a connection broke");
    }

    #[test]
    fn a_warning_that_repeats_is_logged_once_a_minute_for_each_section() {
        let _alone = crate::telemetry::tests::lock_subscriber();
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build().unwrap();
        let lines = Lines::default();
        let writer = lines.clone();
        let layer = tracing_subscriber::fmt::layer().with_writer(move || writer.clone());
        let layer = layer.with_ansi(false).without_time();
        let subscriber =
            tracing_subscriber::registry().with(layer.with_filter(RepeatFilter::new()));
        let _guard = tracing::subscriber::set_default(subscriber);
        runtime.block_on(async {
            for _ in 0..100 {
                outage("first");
                tokio::time::advance(Duration::from_millis(500)).await;
            }
            tokio::time::advance(Duration::from_secs(10)).await;
            outage("second");
        });
        let log = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        let count = |words: &str| log.lines().filter(|line| line.contains(words)).count();
        assert_eq!(count("repeats"), 4, "{log}");
        assert_eq!((count("\"One\""), count("\"Two\"")), (2, 2), "{log}");
        assert_eq!(count("each counts"), 101);
        assert_eq!(count("a connection broke"), 2);
        assert_eq!(count("second"), 4);
    }
}
