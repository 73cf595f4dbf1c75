//! Steps of a service's clock as events, in their own stream of each service's log.

use std::fmt;

use eventlog_core::{Event, NewEvent};
use primitives::{StreamId, UnixMicros};
use proto::event::v1 as pb;

use crate::records::{PayloadError, Record as _, record};

record! {
    /// Event of a service's clock, in the log of each service.
    ClockRecord of "service": ClockStepped
}

/// Step of a clock, or the sum of several.
///
/// Invariant: `after` is `before` plus the step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    before: UnixMicros,
    after: UnixMicros,
    count: u64,
}

/// Error of a stored event that no service writes about its clock.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Foreign {
    #[error(transparent)]
    Unreadable(PayloadError),
    #[error("a step of the clock lies in stream {0}, and belongs into {clock}", clock = StreamId::CLOCK)]
    Stream(StreamId),
    #[error("{0} lies in the stream of the service's clock")]
    Kind(String),
    #[error("a step of the clock does not lead from its time before to its time after")]
    Sum,
}

impl From<PayloadError> for Foreign {
    fn from(error: PayloadError) -> Foreign {
        match error {
            PayloadError::Foreign(_, name) => Foreign::Kind(name),
            PayloadError::Kind(_)
            | PayloadError::Schema(_)
            | PayloadError::Corrupt(_)
            | PayloadError::Sealing(_) => Foreign::Unreadable(error),
        }
    }
}

impl Step {
    /// Makes a step, or a sum of `count` steps, of so many microseconds to the time `after`. Bounded so
    /// that the time before it is not below 0.
    #[must_use]
    pub fn new(micros: i64, after: UnixMicros, count: u64) -> Step {
        let before = UnixMicros(after.0.saturating_add_signed(micros.saturating_neg()));
        Step { before, after, count }
    }

    /// Time that the clock would have shown.
    #[must_use]
    pub const fn before(&self) -> UnixMicros {
        self.before
    }

    /// Time that the clock showed instead.
    #[must_use]
    pub const fn after(&self) -> UnixMicros {
        self.after
    }

    /// Microseconds, positive forward.
    #[must_use]
    pub fn micros(&self) -> i64 {
        let length = |later: UnixMicros, earlier: UnixMicros| {
            i64::try_from(later.0.abs_diff(earlier.0)).unwrap_or(i64::MAX)
        };
        let micros = length(self.after, self.before);
        if self.after < self.before { micros.saturating_neg() } else { micros }
    }

    /// Number of steps in the sum.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }
}

impl TryFrom<&pb::ClockStepped> for Step {
    type Error = Foreign;

    fn try_from(event: &pb::ClockStepped) -> Result<Step, Foreign> {
        let pb::ClockStepped { step_micros, before_micros, after_micros, steps } = *event;
        let (before, after) = (UnixMicros(before_micros), UnixMicros(after_micros));
        let step = Step { before, after, count: steps };
        if step.micros() == step_micros && steps > 0 { Ok(step) } else { Err(Foreign::Sum) }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Step { before, after, count } = self;
        let micros = self.micros();
        f.write_str("the clock of this service stepped ")?;
        if *count > 1 {
            write!(f, "{count} times, in all ")?;
        }
        let (seconds, rest) =
            (micros.unsigned_abs() / 1_000_000, micros.unsigned_abs() % 1_000_000);
        write!(f, "{seconds}")?;
        if rest > 0 {
            write!(f, ".{}", format!("{rest:06}").trim_end_matches('0'))?;
        }
        f.write_str(match micros {
            0 => " s",
            1.. => " s forward",
            ..0 => " s back",
        })?;
        write!(f, ", from {before} to {after}")
    }
}

/// Makes the event of a step.
#[must_use]
pub fn new_event(step: &Step) -> NewEvent {
    let Step { before, after, count } = step;
    let event = pb::ClockStepped {
        step_micros: step.micros(),
        before_micros: before.0,
        after_micros: after.0,
        steps: *count,
    };
    ClockRecord::from(event).on_stream(StreamId::CLOCK)
}

/// Parses the step of a stored event; `None` if the event is about something else.
///
/// # Errors
/// If no service can have written it: a step in another stream than the clock's, another event in
/// that stream, or a step whose sum is wrong.
pub fn parse(stored: &Event) -> Result<Option<Step>, Foreign> {
    let is_step = i32::from(stored.kind) == i32::from(pb::EventType::ClockStepped);
    if !is_step && stored.stream != StreamId::CLOCK {
        return Ok(None);
    }
    let ClockRecord::ClockStepped(event) = ClockRecord::try_from(stored)?;
    if stored.stream == StreamId::CLOCK {
        Step::try_from(&event).map(Some)
    } else {
        Err(Foreign::Stream(stored.stream))
    }
}

#[cfg(test)]
mod tests {
    use eventlog_core::{Position, Version};

    use super::*;
    use crate::TableRecord;

    const AT: UnixMicros = UnixMicros(1_700_000_000_000_000);

    fn stored(new: NewEvent) -> Event {
        let NewEvent { stream, kind, schema, sealed, payload } = new;
        Event {
            position: Position(0),
            recorded_at: AT,
            stream,
            version: Version(1),
            kind,
            schema,
            sealed,
            payload,
            salt: [0; 16],
            author_hash: [0; 32],
            request_id: None,
            actor: "service:test".into(),
            trace: [0; 16],
            previous: [0; 32],
        }
    }

    #[test]
    fn a_step_is_read_as_it_was_written() {
        for micros in [3_600_000_000, -3_600_000_000, 0, i64::MAX, i64::MIN] {
            let step = Step::new(micros, AT, 1);
            assert_eq!(parse(&stored(new_event(&step))), Ok(Some(step)), "{micros}");
        }
        let other = TableRecord::from(pb::TableClosed {});
        assert_eq!(parse(&stored(other.on_stream(StreamId([1; 16])))), Ok(None));
    }

    #[test]
    fn a_step_that_no_service_writes_is_refused() {
        let event = |step_micros, steps| {
            let (before_micros, after_micros) = (AT.0, AT.0 + 5);
            ClockRecord::from(pb::ClockStepped { step_micros, before_micros, after_micros, steps })
        };
        let of = |event: ClockRecord, stream| parse(&stored(event.on_stream(stream)));
        assert!(of(event(5, 1), StreamId::CLOCK).is_ok());
        assert_eq!(of(event(-5, 1), StreamId::CLOCK), Err(Foreign::Sum));
        assert_eq!(of(event(5, 0), StreamId::CLOCK), Err(Foreign::Sum));
        let elsewhere = StreamId([1; 16]);
        assert_eq!(of(event(5, 1), elsewhere), Err(Foreign::Stream(elsewhere)));
        let closed = TableRecord::from(pb::TableClosed {}).on_stream(StreamId::CLOCK);
        assert_eq!(parse(&stored(closed)), Err(Foreign::Kind("TableClosed".to_owned())));
    }

    #[test]
    fn a_step_is_described_in_words() {
        let words = |micros, count| Step::new(micros, AT, count).to_string();
        let forward = "the clock of this service stepped 3600 s forward, \
             from 2023-11-14T21:13:20.000Z to 2023-11-14T22:13:20.000Z";
        assert_eq!(words(3_600_000_000, 1), forward);
        assert!(words(-750_000, 1).starts_with("the clock of this service stepped 0.75 s back,"));
        let summed = "the clock of this service stepped 3 times, in all 5 s back,";
        assert!(words(-5_000_000, 3).starts_with(summed));
        assert!(words(0, 2).contains("stepped 2 times, in all 0 s, from"));
    }
}
