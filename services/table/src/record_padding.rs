//! Padding of records whose length would tell what they say. Lengths are public at once, with the
//! leaf records of the log; see the events' field `padding`.
//!
//! Specification: fairness/SPEC.md §18.1.

use prost::Message;
use prost::bytes::Bytes;

/// Step of the lengths of records about players and stopped effects, in bytes. A standing with a
/// mark for each limit, and the wallet's words for a refused buy-in, fit into one.
pub(crate) const STEP: usize = 512;

/// Step of the lengths of decisions that others do not see, in bytes. Five cards, or three names of
/// tokens, fit into one.
pub(crate) const DECISION_STEP: usize = 320;

/// Bytes of the field's number and length: its number is below 16, and its length takes two bytes.
const FIELD_BYTES: usize = 3;

/// Least padding whose length takes two bytes, so that every length can be reached.
const LEAST: usize = 128;

/// Zeros for the field `padding` of a record that has none yet: with them its length is a multiple of
/// `step`.
#[must_use]
pub(crate) fn zeros(record: &impl Message, step: usize) -> Bytes {
    let bare = record.encoded_len() + FIELD_BYTES;
    let padded = (bare + LEAST).next_multiple_of(step);
    vec![0; padded - bare].into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use primitives::SeatNo;
    use proto::common::v1::{LimitMark, PlayStanding, StandingKind};
    use proto::event::v1 as pb;

    use super::*;
    use crate::standing::found_event;

    #[test]
    fn every_length_becomes_a_multiple_of_the_step() {
        let mut lengths = BTreeSet::new();
        for length in 0..2 * STEP {
            let text = "x".repeat(length);
            let mut refused = pb::SeatRefused { text, ..pb::SeatRefused::default() };
            refused.padding = zeros(&refused, STEP);
            assert_eq!(refused.encoded_len() % STEP, 0, "{length}");
            lengths.insert(refused.encoded_len());
        }
        assert_eq!(lengths, [STEP, 2 * STEP, 3 * STEP].into());
    }

    /// fairness/SPEC.md §18.1.
    #[test]
    fn the_length_of_a_standing_reveals_nothing_of_it() {
        let mark = LimitMark { measure: 3, window: 3, limit: 1 << 53, left: 1 << 53 };
        let until = Some(wire::time::timestamp(primitives::UnixMicros(1 << 52)));
        let most = PlayStanding {
            kind: StandingKind::LimitReached.into(),
            end_time: until,
            limit: Some(mark),
            // Three measures in three windows.
            nearly: vec![mark; 9],
        };
        let free = PlayStanding { kind: StandingKind::MayPlay.into(), ..PlayStanding::default() };
        let barred = PlayStanding { kind: StandingKind::Frozen.into(), ..PlayStanding::default() };
        let seat = SeatNo::try_new(8).unwrap();
        let length = |standing: &PlayStanding| found_event(seat, standing).encoded_len();
        assert_eq!([&free, &barred, &most].map(length), [STEP; 3]);
    }

    #[test]
    fn the_words_of_the_wallet_fit_into_one_step() {
        let mut refused = pb::SeatRefused {
            seat: 8,
            reason: "TRANSFER_REFUSED".to_owned(),
            text: "x".repeat(300),
            ..pb::SeatRefused::default()
        };
        refused.padding = zeros(&refused, STEP);
        assert_eq!(refused.encoded_len(), STEP);
    }
}
