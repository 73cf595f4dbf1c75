//! Rules of a log that a monitor has found broken.

use merkle::record::RecordError;
use primitives::StreamId;

use super::FollowedLog;
use super::tables::HandName;

/// A record that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {log}'s log, position {position}: {kind}")]
pub struct Violation {
    pub log: FollowedLog,
    pub position: u64,
    pub kind: ViolationKind,
}

/// The rule that is broken. `earlier` is the position of the record that the other contradicts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ViolationKind {
    #[error("this is no leaf record: {0}")]
    Record(#[from] RecordError),
    #[error("the record says that it is at position {found}")]
    Position { found: u64 },
    #[error("the record is older than the one before it")]
    Time,
    #[error("version {found} of stream {stream}, where {due} belongs")]
    Version { stream: StreamId, due: u64, found: u64, earlier: Option<u64> },
    #[error("version {version} of stream {stream} does not name the record before it there")]
    Chain { stream: StreamId, version: u64, earlier: Option<u64> },
    #[error("the type {kind} of record does not belong into this log")]
    OtherLog { kind: u16 },
    #[error("the type {kind} of record stands in stream {stream}, where it does not belong")]
    OtherStream { kind: u16, stream: StreamId },
    #[error("stream {stream} begins a second time")]
    SecondBeginning { stream: StreamId },
    #[error("{due} is due, and {found} is opened: hand numbers have a gap")]
    Gap { due: HandName, found: HandName },
    #[error("a hand is opened in stream {stream}, which is no table's next hand")]
    NoHandOfTable { stream: StreamId },
    #[error("{hand} is opened without having been started")]
    NotStarted { hand: HandName },
    #[error("{hand} was started and never opened: hand numbers have a gap")]
    NeverOpened { hand: HandName },
    #[error("{hand} starts, and the dealer has not promised it")]
    NotPromised { hand: HandName },
    #[error("{hand} starts while its table is disabled")]
    StartedWhileDisabled { hand: HandName },
    #[error("{hand} is promised before the number before it has started: a second promise")]
    SecondPromise { hand: HandName },
    #[error("{hand} has not ended, and the next one starts")]
    NoEnd { hand: HandName },
    #[error("{hand} ends a second time")]
    SecondEnd { hand: HandName, earlier: u64 },
    #[error("{hand} finishes without an end, or a second time")]
    FinishedTwice { hand: HandName },
    #[error("{hand} goes on after its end")]
    AfterEnd { hand: HandName, earlier: u64 },
    #[error("the commitments to {hand} are closed a second time")]
    SecondClosing { hand: HandName, earlier: u64 },
    #[error("a seat's number of {hand} is revealed before the commitments are closed")]
    RevealBeforeClosing { hand: HandName },
    #[error("the dealer closes the commitments of stream {stream} a second time")]
    SecondDealerClosing { stream: StreamId, earlier: u64 },
    #[error("the dealer closes the commitments of stream {stream} after its seal")]
    ClosingAfterSeal { stream: StreamId, earlier: u64 },
    #[error("the dealer seals stream {stream} a second time")]
    SecondSeal { stream: StreamId, earlier: u64 },
    #[error("the dealer opens the seed of stream {stream} a second time")]
    SecondSeed { stream: StreamId, earlier: u64 },
    #[error("{hand} was opened, and its dealer has never promised it")]
    NeverPromised { hand: HandName },
}

impl Violation {
    pub(super) const fn at(log: FollowedLog, position: u64, kind: ViolationKind) -> Violation {
        Violation { log, position, kind }
    }

    /// Returns the position of the record that this one contradicts, if it is one.
    #[must_use]
    pub const fn earlier(&self) -> Option<u64> {
        match &self.kind {
            ViolationKind::Version { earlier, .. } | ViolationKind::Chain { earlier, .. } => {
                *earlier
            }
            ViolationKind::SecondEnd { earlier, .. }
            | ViolationKind::AfterEnd { earlier, .. }
            | ViolationKind::SecondClosing { earlier, .. }
            | ViolationKind::SecondDealerClosing { earlier, .. }
            | ViolationKind::ClosingAfterSeal { earlier, .. }
            | ViolationKind::SecondSeal { earlier, .. }
            | ViolationKind::SecondSeed { earlier, .. } => Some(*earlier),
            ViolationKind::Record(_)
            | ViolationKind::Position { .. }
            | ViolationKind::Time
            | ViolationKind::OtherLog { .. }
            | ViolationKind::OtherStream { .. }
            | ViolationKind::SecondBeginning { .. }
            | ViolationKind::Gap { .. }
            | ViolationKind::NoHandOfTable { .. }
            | ViolationKind::NotStarted { .. }
            | ViolationKind::NeverOpened { .. }
            | ViolationKind::NotPromised { .. }
            | ViolationKind::StartedWhileDisabled { .. }
            | ViolationKind::SecondPromise { .. }
            | ViolationKind::NoEnd { .. }
            | ViolationKind::FinishedTwice { .. }
            | ViolationKind::RevealBeforeClosing { .. }
            | ViolationKind::NeverPromised { .. } => None,
        }
    }
}
