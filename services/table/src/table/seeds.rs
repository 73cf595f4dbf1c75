//! Pending seeds of a table: of the hand in play, and of hands that are over.
//!
//! With a long reveal delay there are thousands, and most events concern none of them. So copies of
//! a table share them, and they are found by the time at which they are due.
//!
//! Specification: fairness/SPEC.md §3.10.

use proto::common::v1::Commitment;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use primitives::{HandId, StreamId, UnixMicros};
use serde::{Deserialize, Serialize};

/// A seed that is not open yet.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PendingSeed {
    pub hand: HandId,
    /// The commitment that the seed must match.
    #[serde(with = "crate::stored::message")]
    pub commitment: Commitment,
    /// Time from which on the dealer is asked for it; `None` while the hand is played.
    pub due: Option<UnixMicros>,
    /// Whether the hand was burnt or aborted before it was settled.
    pub discarded: bool,
}

/// Pending seeds by hand and by due time. Clones share them until one changes.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct PendingSeeds(Arc<SeedIndex>);

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct SeedIndex {
    by_hand: BTreeMap<u64, Arc<PendingSeed>>,
    due: BTreeSet<(UnixMicros, u64)>,
}

impl PendingSeeds {
    #[must_use]
    pub(crate) fn get(&self, hand_no: u64) -> Option<&PendingSeed> {
        self.0.by_hand.get(&hand_no).map(|seed| &**seed)
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.by_hand.len()
    }

    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.by_hand.is_empty()
    }

    /// Hands whose seeds are due at `now`, the longest due first.
    pub(crate) fn due_by(&self, now: UnixMicros) -> impl Iterator<Item = u64> {
        self.0.due.range(..=(now, u64::MAX)).map(|(_, hand_no)| *hand_no)
    }

    /// Time at which the next seed after `now` becomes due.
    #[must_use]
    pub(crate) fn next_due_after(&self, now: UnixMicros) -> Option<UnixMicros> {
        self.0.due.range((now.plus(std::time::Duration::from_micros(1)), 0)..).next().map(|it| it.0)
    }

    /// Number and seed of the hand with this stream. The newest hands are searched first.
    #[must_use]
    pub(crate) fn in_stream(&self, stream: StreamId) -> Option<(u64, &PendingSeed)> {
        let mut pending = self.0.by_hand.iter().rev();
        let pending = pending.find(|(_, seed)| StreamId::from(seed.hand) == stream)?;
        Some((*pending.0, &**pending.1))
    }

    /// Adds the seed of a hand that has started.
    pub(super) fn started(&mut self, hand_no: u64, hand: HandId, commitment: Commitment) {
        let pending = PendingSeed { hand, commitment, due: None, discarded: false };
        Arc::make_mut(&mut self.0).by_hand.insert(hand_no, Arc::new(pending));
    }

    /// Sets the due time of a hand's seed, once the hand is settled or aborted.
    pub(super) fn ended(&mut self, hand_no: u64, due: UnixMicros, discarded: bool) {
        let all = Arc::make_mut(&mut self.0);
        if let Some(pending) = all.by_hand.get_mut(&hand_no) {
            let pending = Arc::make_mut(pending);
            if let Some(before) = pending.due.replace(due) {
                all.due.remove(&(before, hand_no));
            }
            pending.discarded = discarded;
            all.due.insert((due, hand_no));
        }
    }

    /// Removes the seed of the hand with this stream, once the dealer has opened it or another one
    /// in its place.
    pub(super) fn remove(&mut self, stream: StreamId) -> Option<Arc<PendingSeed>> {
        let (hand_no, _) = self.in_stream(stream)?;
        let all = Arc::make_mut(&mut self.0);
        let pending = all.by_hand.remove(&hand_no)?;
        if let Some(due) = pending.due {
            all.due.remove(&(due, hand_no));
        }
        Some(pending)
    }
}
