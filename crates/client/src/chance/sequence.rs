//! The order of a table's hand numbers: none is skipped or comes again, each ends before the next
//! opens, and the seeds of those that have ended are opened in time.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use primitives::UnixMicros;

use super::violation::ViolationKind;

/// Time after which a seed that is due and shut counts as withheld, as verifiers judge it.
const SEED_GRACE: Duration = Duration::from_secs(60 * 60);

/// Number of hand numbers that broken ones are counted in.
const WINDOW: usize = 20;
/// Broken ones among them that a player is warned at.
pub(super) const WARNING: usize = 3;

/// Time by the table's word, and by the client's own clock: a table that reports no time, or a slow one,
/// keeps no seed shut by that.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Times {
    pub(super) reported: UnixMicros,
    pub(super) own: UnixMicros,
}

impl Times {
    fn plus(self, span: Duration) -> Times {
        Times { reported: self.reported.plus(span), own: self.own.plus(span) }
    }

    fn is_after(self, due: Times) -> bool {
        self.reported > due.reported || self.own > due.own
    }
}

/// Hand numbers of one table, as far as the client has followed it.
#[derive(Default)]
pub(super) struct Sequence {
    /// The last number that has opened; none before the first snapshot.
    last: Option<u64>,
    /// The number that has opened and not ended.
    running: Option<u64>,
    /// The latest time.
    now: Times,
    /// Numbers that have ended and whose seed is shut, with the time at which it is due.
    shut: BTreeMap<u64, Times>,
    /// Whether each of the last numbers was burnt or aborted.
    recent: VecDeque<bool>,
}

impl Sequence {
    /// Continues from a snapshot, which names the last number, the one that collects entropy, and
    /// the one in play. Numbers that have passed meanwhile cannot be judged, nor seeds that may have
    /// been opened meanwhile.
    pub(super) fn snapshot(
        &mut self,
        last: u64,
        open: Option<u64>,
        in_play: Option<u64>,
    ) -> Result<(), ViolationKind> {
        if let (Some(open), Some(before)) = (open, in_play)
            && open != before
        {
            return Err(ViolationKind::NotEnded { before });
        }
        let running = open.or(in_play);
        if running.is_some_and(|hand_no| self.has_ended(hand_no)) {
            return Err(ViolationKind::NumberRepeated);
        }
        self.shut.clear();
        self.last = Some(self.last.map_or(last, |before| before.max(last)));
        self.running = running;
        Ok(())
    }

    /// Notes the time. Returns a number whose seed is overdue.
    pub(super) fn advance_time(&mut self, at: Times) -> Option<u64> {
        let Times { reported, own } = self.now;
        self.now = Times { reported: reported.max(at.reported), own: own.max(at.own) };
        let overdue = |due: &Times| self.now.is_after(due.plus(SEED_GRACE));
        let found = self.shut.iter().find(|(_, due)| overdue(due)).map(|(hand_no, _)| *hand_no)?;
        self.shut.remove(&found);
        Some(found)
    }

    /// Judges the number of a promise: the one after the last that has opened.
    pub(super) fn promised(&self, hand_no: u64) -> Result<(), ViolationKind> {
        let Some(last) = self.last else { return Ok(()) };
        if hand_no <= last {
            return Err(ViolationKind::NumberRepeated);
        }
        let expected = last.saturating_add(1);
        if hand_no == expected { Ok(()) } else { Err(ViolationKind::NumberSkipped { expected }) }
    }

    /// Opens a number, or goes on with it.
    pub(super) fn opened(&mut self, hand_no: u64) -> Result<(), ViolationKind> {
        if self.running == Some(hand_no) {
            return Ok(());
        }
        if let Some(before) = self.running.filter(|before| *before < hand_no) {
            return Err(ViolationKind::NotEnded { before });
        }
        self.promised(hand_no)?;
        (self.last, self.running) = (Some(hand_no), Some(hand_no));
        Ok(())
    }

    /// Whether the number is open, and all before it have ended.
    pub(super) fn is_running(&self, hand_no: u64) -> bool {
        self.running == Some(hand_no)
    }

    /// Whether the number has passed, as far as the client has followed the table.
    pub(super) fn has_ended(&self, hand_no: u64) -> bool {
        self.last.is_some_and(|last| hand_no <= last) && !self.is_running(hand_no)
    }

    /// Whether the seed of a number may be opened: it has passed, or nothing is known yet.
    pub(super) fn may_open(&self, hand_no: u64) -> bool {
        self.last.is_none_or(|last| hand_no <= last) && !self.is_running(hand_no)
    }

    /// Judges the end of a number: only the one that is open ends.
    pub(super) fn may_end(&self, hand_no: u64) -> Result<(), ViolationKind> {
        let Some(last) = self.last.filter(|_| !self.is_running(hand_no)) else { return Ok(()) };
        let expected = self.running.unwrap_or(last.saturating_add(1));
        if self.has_ended(hand_no) {
            return Err(ViolationKind::NumberRepeated);
        }
        if hand_no == expected {
            return Err(ViolationKind::Missing("the opening of a number"));
        }
        Err(ViolationKind::NumberSkipped { expected })
    }

    /// Ends a number. True if the player is to be warned of how many numbers are broken.
    pub(super) fn ended(&mut self, hand_no: u64, broken: bool) -> bool {
        self.running.take_if(|running| *running <= hand_no);
        self.last = self.last.max(Some(hand_no));
        let before = self.broken();
        self.recent.push_back(broken);
        if self.recent.len() > WINDOW {
            self.recent.pop_front();
        }
        broken && self.broken() >= WARNING && before < self.broken()
    }

    /// Broken numbers among the last twenty.
    pub(super) fn broken(&self) -> usize {
        self.recent.iter().filter(|broken| **broken).count()
    }

    /// Expects the seed of a number that has ended within `delay`.
    pub(super) fn expect_seed(&mut self, hand_no: u64, delay: Duration) {
        self.shut.insert(hand_no, self.now.plus(delay));
    }

    /// Expects the seed of a number no more.
    pub(super) fn seed_opened(&mut self, hand_no: u64) {
        self.shut.remove(&hand_no);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(60 * 60);

    fn at(hand_no: u64) -> Sequence {
        let mut sequence = Sequence::default();
        sequence.snapshot(hand_no, None, None).unwrap();
        sequence
    }

    #[test]
    fn numbers_come_one_after_the_other() {
        let mut sequence = at(4);
        assert_eq!(sequence.promised(5), Ok(()));
        assert_eq!(sequence.promised(6), Err(ViolationKind::NumberSkipped { expected: 5 }));
        assert_eq!(sequence.opened(7), Err(ViolationKind::NumberSkipped { expected: 5 }));
        assert_eq!(sequence.opened(4), Err(ViolationKind::NumberRepeated));
        assert_eq!(sequence.opened(5), Ok(()));
        assert_eq!(sequence.opened(5), Ok(()));
        assert!(sequence.is_running(5));
        assert_eq!(sequence.promised(6), Ok(()));
        assert_eq!(sequence.opened(6), Err(ViolationKind::NotEnded { before: 5 }));
        assert_eq!(sequence.may_end(5), Ok(()));
        assert!(sequence.may_open(4) && !sequence.may_open(5) && !sequence.may_open(6));
        sequence.ended(5, false);
        assert!(sequence.may_open(5) && !sequence.may_open(6));
        assert_eq!(sequence.may_end(5), Err(ViolationKind::NumberRepeated));
        let unopened = ViolationKind::Missing("the opening of a number");
        assert_eq!(sequence.may_end(6), Err(unopened));
        assert_eq!(sequence.may_end(12), Err(ViolationKind::NumberSkipped { expected: 6 }));
        assert_eq!(sequence.opened(5), Err(ViolationKind::NumberRepeated));
        assert_eq!(sequence.opened(6), Ok(()));
        assert_eq!(Sequence::default().opened(9), Ok(()), "nothing is known yet");
    }

    fn reported(reported: UnixMicros) -> Times {
        Times { reported, own: UnixMicros(0) }
    }

    #[test]
    fn a_snapshot_shows_one_number_that_has_not_ended_here() {
        let mut sequence = at(4);
        let both = sequence.snapshot(6, Some(6), Some(5));
        assert_eq!(both, Err(ViolationKind::NotEnded { before: 5 }));
        assert_eq!(sequence.snapshot(5, Some(5), None), Ok(()));
        assert_eq!(sequence.snapshot(5, None, Some(5)), Ok(()), "it goes on");
        sequence.ended(5, false);
        for (open, in_play) in [(Some(5), None), (None, Some(5)), (Some(4), None)] {
            let again = sequence.snapshot(5, open, in_play);
            assert_eq!(again, Err(ViolationKind::NumberRepeated));
        }
        assert!(!sequence.is_running(5));
        assert_eq!(sequence.snapshot(9, Some(9), None), Ok(()), "others have passed meanwhile");
        assert!(sequence.is_running(9));
    }

    #[test]
    fn a_seed_is_open_an_hour_after_it_was_due() {
        let mut sequence = at(4);
        let start = UnixMicros(1_700_000_000_000_000);
        assert_eq!(sequence.advance_time(reported(start)), None);
        sequence.expect_seed(5, Duration::ZERO);
        sequence.expect_seed(6, 24 * HOUR);
        assert_eq!(sequence.advance_time(reported(start.plus(HOUR))), None);
        let late = start.plus(HOUR).plus(Duration::from_micros(1));
        assert_eq!(sequence.advance_time(reported(late)), Some(5));
        assert_eq!(sequence.advance_time(reported(start)), None, "told once");
        sequence.seed_opened(6);
        assert_eq!(sequence.advance_time(reported(start.plus(26 * HOUR))), None);
    }

    #[test]
    fn a_table_that_reports_no_time_is_held_to_the_own_clock() {
        let own = |own| Times { reported: UnixMicros(0), own };
        let mut sequence = at(4);
        sequence.advance_time(own(UnixMicros(7)));
        sequence.expect_seed(5, Duration::ZERO);
        assert_eq!(sequence.advance_time(own(UnixMicros(7).plus(HOUR))), None);
        assert_eq!(sequence.advance_time(own(UnixMicros(8).plus(HOUR))), Some(5));
    }

    /// The seed may have been opened while the stream was away.
    #[test]
    fn after_a_snapshot_no_seed_is_overdue_that_was_shut_before() {
        let mut sequence = at(4);
        let start = UnixMicros(1_700_000_000_000_000);
        sequence.advance_time(reported(start));
        sequence.expect_seed(5, Duration::ZERO);
        sequence.snapshot(9, None, None).unwrap();
        assert_eq!(sequence.advance_time(reported(start.plus(2 * HOUR))), None);
        sequence.expect_seed(10, Duration::ZERO);
        assert_eq!(sequence.advance_time(reported(start.plus(4 * HOUR))), Some(10));
    }

    #[test]
    fn the_third_broken_number_in_twenty_warns() {
        let mut sequence = at(0);
        let mut end = |hand_no, broken| sequence.ended(hand_no, broken);
        assert!(!end(1, true) && !end(2, true));
        assert!((3..20).all(|hand_no| !end(hand_no, false)));
        assert!(end(20, true), "three of the numbers 1 to 20");
        assert!(!end(21, true), "the first is too long ago");
        assert!((22..40).all(|hand_no| !end(hand_no, false)));
        assert!(!end(40, true), "two of the numbers 21 to 40");
    }
}
