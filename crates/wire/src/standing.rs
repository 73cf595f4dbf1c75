//! Conversion of a player's standing from the ledger's types to the API's.

use ::ledger::{LimitNotice, Measure, ReachedLimit, Restriction, Standing, Window};
use primitives::UnixMicros;
use prost_types::Timestamp;
use proto::common::v1::{LimitMark, LimitWindow, PlayStanding, StandingKind};

use crate::ledger::measure_to_pb;

/// Converts a standing to the API's form.
#[must_use]
pub fn play_standing(standing: &Standing) -> PlayStanding {
    let kind = |kind: StandingKind| PlayStanding { kind: kind.into(), ..PlayStanding::default() };
    match standing.restriction {
        None => PlayStanding {
            nearly: standing.notices.iter().map(notice).collect(),
            ..kind(StandingKind::MayPlay)
        },
        Some(Restriction::Closed) => kind(StandingKind::Closed),
        Some(Restriction::Excluded(exclusion)) => {
            PlayStanding { until: exclusion.end().map(timestamp), ..kind(StandingKind::Excluded) }
        }
        Some(Restriction::Frozen) => kind(StandingKind::Frozen),
        Some(Restriction::Limit(ReachedLimit { measure, window, limit, until })) => PlayStanding {
            until: until.map(timestamp),
            limit: Some(mark(measure, window, limit, 0)),
            ..kind(StandingKind::LimitReached)
        },
    }
}

/// Converts a time window to the API's form.
#[must_use]
pub(crate) const fn window_to_pb(window: Window) -> LimitWindow {
    match window {
        Window::Day => LimitWindow::Day,
        Window::Week => LimitWindow::Week,
        Window::Month => LimitWindow::Month,
    }
}

/// Converts an instant to a protobuf timestamp. An instant after the year 9999, which protobuf does
/// not allow, becomes the last second of that year.
#[must_use]
pub fn timestamp(at: UnixMicros) -> Timestamp {
    const LAST: i64 = 253_402_300_799;
    let seconds = i64::try_from(at.0 / 1_000_000).unwrap_or(i64::MAX);
    if seconds > LAST {
        return Timestamp { seconds: LAST, nanos: 0 };
    }
    let nanos = i32::try_from(at.0 % 1_000_000 * 1000).unwrap_or(0);
    Timestamp { seconds, nanos }
}

fn notice(notice: &LimitNotice) -> LimitMark {
    let LimitNotice { measure, window, limit, left } = *notice;
    mark(measure, window, limit, left)
}

fn mark(measure: Measure, window: Window, limit: u64, left: u64) -> LimitMark {
    let (measure, window) = (measure_to_pb(measure).into(), window_to_pb(window).into());
    LimitMark { measure, window, limit, left }
}
