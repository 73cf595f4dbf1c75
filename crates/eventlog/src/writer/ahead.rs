//! Batches that are sent ahead of their turn.
//!
//! What waits behind the batch on its way is stamped and sent while that is written,
//! where it is a group that an engine has decided or a crowd of entries: the database takes its rows in on
//! its other processor, and only the moving of the fence waits. Without that one processor worked and the
//! other waited: of 230 seconds of processor 143 were used, for 43,000 transfers a second. It is one step
//! ahead and no more, and what the batch before comes to decides over both: where that is not written
//! neither is this, and what is not known of this while that is known not to be written ends the log.
//! Entries that could fill two crowds are sent as two, and a crowd that waits is no smaller than the one
//! before it, since a small batch costs the database nearly as much as a large one: 64 callers append 50,000
//! entries a second instead of 46,000, 256 callers 62,000 instead of 53,000. That is done where this process
//! leaves processors to spare (`spare`): where it does not, more commits are only more work, and 200 tables
//! of bots played 7 % less.

use std::collections::BTreeMap;

use primitives::StreamId;

use super::Writer;
use super::flight::Flight;
use crate::batch::{Start, stamp};
use crate::heads::{Head, Heads};
use crate::queue::Waiting;

/// Entries that are worth a batch of their own while another is on its way.
pub(super) const CROWD: usize = 32;

impl Writer {
    /// Whether a crowd that begins there could go ahead, as far as can be told.
    pub(super) fn could_go_ahead(&mut self, from: usize) -> bool {
        let mut crowd = self.backlog.iter().skip(from).take(CROWD);
        self.store.takes_entries_ahead()
            && self.spare.is_there()
            && crowd.all(|it| it.place().is_none() && it.streams().all(|it| self.heads.knows(it)))
    }

    /// Whether what waits is worth a batch of its own behind the one on its way: a group always is.
    pub(super) fn is_worth_it(&mut self, before: &Flight) -> bool {
        let Some(first) = self.backlog.front() else { return false };
        let enough = self.backlog.len() >= CROWD.max(before.waiting.len());
        first.place().is_some() || (enough && self.takes_crowds(before))
    }

    /// Whether to listen to the queue while a batch is on its way. Whatever is heard wakes this task, so
    /// nobody is listened to in vain.
    pub(super) fn hears(&mut self, before: &Flight) -> bool {
        let room = self.backlog.len() < self.options.limits.batch_events;
        !self.closing && (self.backlog.is_empty() || (room && self.takes_crowds(before)))
    }

    /// Whether entries may go ahead behind this one.
    fn takes_crowds(&mut self, before: &Flight) -> bool {
        before.is_plain() && self.store.takes_entries_ahead() && self.spare.is_there()
    }

    /// What waits, on its way behind the batch that is on its way already. Nothing where it has to wait
    /// until that is written.
    pub(super) fn ahead(&mut self, before: &Flight) -> Option<Flight> {
        let first = self.backlog.front()?;
        let (least, most, at) = match first.place() {
            Some((place, at)) => {
                (1, usize::from(first.goes_ahead() && place.0 == before.end()), at)
            }
            None => (CROWD, self.backlog.len(), (self.options.clock)()),
        };
        let (mut fit, mut heads) = (0, BTreeMap::new());
        for waiting in self.backlog.iter().take(most) {
            let again = before.answers(waiting) || self.known(waiting).is_some();
            if again || !follow(waiting, before, &mut self.heads, &mut heads) {
                break;
            }
            fit += 1;
        }
        let batch = if fit < least { None } else { self.gather(fit) }?;
        let recorded_at = before.stamped.recorded_at.max(at);
        let start = Start { tree: &before.stamped.tree, recorded_at, heads };
        let stamped = stamp(batch.iter().flat_map(Waiting::entries), start);
        Some(self.send(batch, stamped, Some(before.batch.first)))
    }

    /// What went ahead of a batch that was not written waits again.
    pub(super) fn call_back(&mut self, next: Option<Flight>) {
        for waiting in next.into_iter().flat_map(|next| next.waiting).rev() {
            self.backlog.push_front(waiting);
        }
    }
}

/// Adds where an entry's streams will end once `before` is written. Whether that is remembered of all.
fn follow(
    waiting: &Waiting,
    before: &Flight,
    remembered: &mut Heads,
    heads: &mut BTreeMap<StreamId, Head>,
) -> bool {
    waiting.streams().all(|stream| {
        if heads.contains_key(&stream) {
            return true;
        }
        let head = before.stamped.heads.get(&stream).copied();
        let head = head.or_else(|| remembered.get(stream));
        head.is_some_and(|head| heads.insert(stream, head).is_none())
    })
}
