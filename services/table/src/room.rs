//! The room as a whole: which games are disabled in it, and how busy its tables are.
//!
//! [`games`] folds the room's stream. Hands and decisions are counted as their records come out of
//! the log (`hand_list`), where no table can leave one out and no table waits for it; latencies are
//! noted by the tables, each with one addition to an atomic number.

pub(crate) mod games;

use std::sync::Arc;

use chassis::activity::{Activity, Latency, Window};
use primitives::UnixMicros;
use proto::table::v1::{self as pb, ActivityKind, LatencyStep};
use wire::time::timestamp;

/// Kinds that this service counts.
const KINDS: &[ActivityKind] = &[
    ActivityKind::HandsStarted,
    ActivityKind::HandsPlayed,
    ActivityKind::HandsBurnt,
    ActivityKind::HandsBrokenOff,
    ActivityKind::HandsSuspended,
    ActivityKind::Decisions,
    ActivityKind::Records,
];
/// Steps whose latency this service notes.
const STEPS: &[LatencyStep] =
    &[LatencyStep::Queue, LatencyStep::Append, LatencyStep::Dealer, LatencyStep::Wallet];

/// Activity of this process, over all ownerships of the log.
pub(crate) type RoomActivity = Activity<ActivityKind, LatencyStep>;

/// Begins to count.
#[must_use]
pub(crate) fn activity(now: UnixMicros) -> Arc<RoomActivity> {
    Arc::new(Activity::new(KINDS, STEPS, now))
}

/// Activity as an answer shows it.
#[must_use]
pub(crate) fn activity_view(activity: &RoomActivity) -> pb::ServiceActivity {
    let since_time = Some(timestamp(activity.since()));
    pb::ServiceActivity { since_time, windows: activity.windows().map(window).into() }
}

fn window(window: Window<ActivityKind, LatencyStep>) -> pb::ActivityWindow {
    let Window { length, covered, counts, steps } = window;
    let steps = steps.into_iter().map(|(step, latency)| step_latency(step, latency)).collect();
    wire::activity::window(length, covered, counts, steps)
}

fn step_latency(step: LatencyStep, latency: Latency) -> pb::StepLatency {
    let Latency { count, mean_micros, p50_micros, p95_micros, p99_micros } = latency;
    pb::StepLatency {
        step: step.into(),
        count,
        mean_us: mean_micros,
        p50_us: p50_micros,
        p95_us: p95_micros,
        p99_us: p99_micros,
    }
}
