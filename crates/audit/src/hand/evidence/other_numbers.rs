//! Receipts for other numbers of the table than the file's hand.

use fairness::Context;
use primitives::PlayerId;
use wire::TableRecord;

use super::Examination;
use super::positions::AtPosition;

impl Examination<'_> {
    /// Contradiction of a reveal receipt and an exclusion for a number that was burnt before.
    pub(super) fn excluded(&self, context: &Context, seat: u8, player: PlayerId) -> Option<String> {
        let origin = self.origin()?;
        let numbers = self.decoded.table.iter().filter_map(|read| {
            let TableRecord::SeatExcluded(it) = &read.recorded else { return None };
            let same = it.seat == u32::from(seat) && it.player_id == player.bytes()[..];
            same.then_some(it.burnt_hand_no)
        });
        // The file names the rules of this number alone.
        let own = |no: &u64| {
            *context == Context::new(origin, self.promise.table, *no, &self.promise.rules_hash)
        };
        let burnt = numbers.into_iter().find(own)?;
        Some(format!(
            "the TABLE signed that seat {seat} had revealed in number {burnt}, and shut it out because \
             it had not"
        ))
    }

    /// Contradiction of a receipt for another number with what the file shows at its position.
    pub(super) fn foreign(
        &self,
        position: u64,
        may_be: impl Fn(&TableRecord) -> bool,
    ) -> Option<String> {
        let AtPosition::Shown(shown) = self.at_position(position) else { return None };
        (!may_be(shown)).then(|| {
            format!(
                "the TABLE signed that a record of another number stands at position {position} of its \
                 log, and something else stands there"
            )
        })
    }
}
