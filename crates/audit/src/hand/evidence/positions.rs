//! Records that a file shows at positions of the table's log.

use wire::TableRecord;

use super::Examination;

/// Record that the file has at a position of the table's log.
pub(super) enum AtPosition<'a> {
    /// The file does not reach the position.
    Beyond,
    Withheld,
    /// Neither in the hand's stream nor in the table's.
    Absent,
    Shown(&'a TableRecord),
}

impl Examination<'_> {
    /// Whether something else than a record of this hand stands at a position, or nothing does.
    pub(super) fn differs(&self, position: u64, is_it: impl Fn(&TableRecord) -> bool) -> bool {
        match self.at_position(position) {
            AtPosition::Beyond | AtPosition::Withheld => false,
            AtPosition::Absent => true,
            AtPosition::Shown(shown) => !is_it(shown),
        }
    }

    /// The records reach from the first of the table's stream to the last of that or the hand's.
    pub(super) fn at_position(&self, position: u64) -> AtPosition<'_> {
        let records = self.decoded.records;
        let all = || records.hand.iter().chain(&records.table);
        let last = all().map(|event| event.position.0).max();
        let first = records.table.first().map(|event| event.position.0);
        let reached =
            first.zip(last).is_some_and(|(first, last)| (first..=last).contains(&position));
        let mut decoded = self.decoded.hand.iter().chain(&self.decoded.table);
        match decoded.find(|read| read.event.position.0 == position) {
            Some(read) => AtPosition::Shown(&read.recorded),
            None if all().any(|event| event.position.0 == position) => AtPosition::Withheld,
            None if !reached => AtPosition::Beyond,
            None => AtPosition::Absent,
        }
    }
}
