//! The seeds that the dealer owes a table: of the hand in play, and of hands that are over.
//!
//! Where seeds are opened late there are thousands, while most of what happens at a table concerns none
//! of them: so they are shared between copies of a table, and found by when they are due.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use primitives::{HandId, StreamId, UnixMicros};
use proto::dealer::v1::Commitment;

/// A seed that is not open yet.
#[derive(Debug, Clone)]
pub struct SeedOwed {
    pub hand: HandId,
    /// What it must open.
    pub commitment: Commitment,
    /// From when on the dealer is asked for it; none while the hand is played.
    pub due: Option<UnixMicros>,
    /// The hand was burnt or aborted before it was settled.
    pub discarded: bool,
}

/// See the module.
#[derive(Debug, Clone, Default)]
pub struct Seeds(Arc<Owed>);

#[derive(Debug, Clone, Default)]
struct Owed {
    by_hand: BTreeMap<u64, Arc<SeedOwed>>,
    due: BTreeSet<(UnixMicros, u64)>,
}

impl Seeds {
    #[must_use]
    pub fn get(&self, hand_no: u64) -> Option<&SeedOwed> {
        self.0.by_hand.get(&hand_no).map(|owed| &**owed)
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.0.by_hand.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.by_hand.is_empty()
    }

    /// The hands whose seeds are due by some time, the longest due first.
    pub fn due_by(&self, now: UnixMicros) -> impl Iterator<Item = u64> {
        self.0.due.range(..=(now, u64::MAX)).map(|(_, hand_no)| *hand_no)
    }

    /// When the next one becomes due after some time.
    #[must_use]
    pub fn next_after(&self, now: UnixMicros) -> Option<UnixMicros> {
        self.0.due.range((now.plus(std::time::Duration::from_micros(1)), 0)..).next().map(|it| it.0)
    }

    /// The seed whose hand has this stream, and its number. The newest are looked at first.
    #[must_use]
    pub fn in_stream(&self, stream: StreamId) -> Option<(u64, &SeedOwed)> {
        let mut owed = self.0.by_hand.iter().rev();
        let owed = owed.find(|(_, owed)| StreamId::from(owed.hand) == stream)?;
        Some((*owed.0, &**owed.1))
    }

    /// A hand has started.
    pub(super) fn started(&mut self, hand_no: u64, hand: HandId, commitment: Commitment) {
        let owed = SeedOwed { hand, commitment, due: None, discarded: false };
        Arc::make_mut(&mut self.0).by_hand.insert(hand_no, Arc::new(owed));
    }

    /// A hand is settled, or came to nothing.
    pub(super) fn ended(&mut self, hand_no: u64, due: UnixMicros, discarded: bool) {
        let all = Arc::make_mut(&mut self.0);
        if let Some(owed) = all.by_hand.get_mut(&hand_no) {
            let owed = Arc::make_mut(owed);
            if let Some(before) = owed.due.replace(due) {
                all.due.remove(&(before, hand_no));
            }
            owed.discarded = discarded;
            all.due.insert((due, hand_no));
        }
    }

    /// A seed was opened, or another one in its place: it is no longer owed.
    pub(super) fn opened(&mut self, stream: StreamId) {
        let Some((hand_no, owed)) = self.in_stream(stream) else { return };
        let due = owed.due;
        let all = Arc::make_mut(&mut self.0);
        all.by_hand.remove(&hand_no);
        if let Some(due) = due {
            all.due.remove(&(due, hand_no));
        }
    }
}
