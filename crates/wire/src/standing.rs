//! Conversion of a player's standing from the ledger's types to the API's.

use ::ledger::{LimitNotice, Measure, ReachedLimit, Restriction, Standing, Window};
use proto::common::v1::{LimitMark, LimitWindow, PlayStanding, StandingKind};

use crate::ledger::measure_to_pb;
use crate::time::timestamp;

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
        Some(Restriction::Excluded(exclusion)) => PlayStanding {
            end_time: exclusion.end().map(timestamp),
            ..kind(StandingKind::Excluded)
        },
        Some(Restriction::Frozen) => kind(StandingKind::Frozen),
        Some(Restriction::Limit(ReachedLimit { measure, window, limit, until })) => PlayStanding {
            end_time: until.map(timestamp),
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

fn notice(notice: &LimitNotice) -> LimitMark {
    let LimitNotice { measure, window, limit, left } = *notice;
    mark(measure, window, limit, left)
}

fn mark(measure: Measure, window: Window, limit: u64, left: u64) -> LimitMark {
    let (measure, window) = (measure_to_pb(measure).into(), window_to_pb(window).into());
    LimitMark { measure, window, limit, left }
}
