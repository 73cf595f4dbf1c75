//! Batches that are sent ahead of their turn.
//!
//! Entries that wait behind the batch being written are stamped and sent meanwhile, if they are a
//! group of an engine, or enough plain entries to be worthwhile. The database inserts their rows in
//! parallel; only the move of the fence waits. There is one batch ahead and no more. The outcome of
//! the previous batch decides over both: if it is not written, neither is this one; and if the
//! outcome of this one is unknown while the previous one is known not to be written, the log stops.
//! Enough entries for two such batches are split in two, and a batch sent ahead is no smaller than
//! the previous one, since a small batch costs the database nearly as much as a large one. Plain
//! entries are sent ahead only while this process leaves processor time unused
//! (`cpu_headroom`): otherwise more commits are only more work.
//!
//! Specification: ARCHITECTURE.md §2.5.

use std::collections::BTreeMap;

use primitives::StreamId;

use super::Writer;
use super::in_flight::InFlight;
use crate::batch::{BatchStart, stamp};
use crate::queue::QueuedAppend;
use crate::stream_heads::{StreamHead, StreamHeads};

/// Fewest plain entries that are worth a batch of their own while another is being written.
pub(super) const MIN_PIPELINED_ENTRIES: usize = 32;

impl Writer {
    /// Whether a batch that begins at `from` in the backlog could go ahead, as far as the caches
    /// tell.
    pub(super) fn can_pipeline(&mut self, from: usize) -> bool {
        let mut waiting = self.backlog.iter().skip(from).take(MIN_PIPELINED_ENTRIES);
        self.store.pipelines_entries()
            && self.cpu_headroom.is_available()
            && waiting.all(|it| {
                it.group_start().is_none() && it.streams().all(|it| self.heads.contains(it))
            })
    }

    /// Whether the backlog is worth a batch behind the one being written. A group always is.
    pub(super) fn is_worth_pipelining(&mut self, before: &InFlight) -> bool {
        let Some(first) = self.backlog.front() else { return false };
        let enough = self.backlog.len() >= MIN_PIPELINED_ENTRIES.max(before.waiting.len());
        first.group_start().is_some() || (enough && self.pipelines_entries_after(before))
    }

    /// Whether to receive from the queue while a batch is being written. Each command wakes this
    /// task, so it only receives if that may lead to another batch.
    pub(super) fn should_receive(&mut self, before: &InFlight) -> bool {
        let room = self.backlog.len() < self.options.limits.batch_events;
        !self.closing && (self.backlog.is_empty() || (room && self.pipelines_entries_after(before)))
    }

    /// Whether plain entries may go ahead behind this batch.
    fn pipelines_entries_after(&mut self, before: &InFlight) -> bool {
        before.is_plain() && self.store.pipelines_entries() && self.cpu_headroom.is_available()
    }

    /// Sends the backlog behind the batch that is being written. `None` if it has to wait until
    /// that is written.
    pub(super) fn send_pipelined(&mut self, before: &InFlight) -> Option<InFlight> {
        let first = self.backlog.front()?;
        let (least, most, at) = match first.group_start() {
            Some((place, at)) => {
                (1, usize::from(first.can_pipeline() && place.0 == before.end()), at)
            }
            None => (MIN_PIPELINED_ENTRIES, self.backlog.len(), (self.options.clock)()),
        };
        let (mut fit, mut heads) = (0, BTreeMap::new());
        for waiting in self.backlog.iter().take(most) {
            let again =
                before.shares_request_with(waiting) || self.find_answered(waiting).is_some();
            if again || !extend_heads(waiting, before, &mut self.heads, &mut heads) {
                break;
            }
            fit += 1;
        }
        let batch = if fit < least { None } else { self.take_batch(fit) }?;
        let recorded_at = before.stamped.recorded_at.max(at);
        let authenticator = &self.options.authenticator;
        let start = BatchStart { tree: &before.stamped.tree, recorded_at, authenticator, heads };
        let stamped = stamp(batch.iter().flat_map(QueuedAppend::entries), start);
        Some(self.send(batch, stamped, Some(before.batch.first)))
    }

    /// Puts the entries of a batch sent ahead back into the backlog, after the batch before it was
    /// not written.
    pub(super) fn requeue(&mut self, next: Option<InFlight>) {
        for waiting in next.into_iter().flat_map(|next| next.waiting).rev() {
            self.backlog.push_front(waiting);
        }
    }
}

/// Adds the heads that an entry's streams will have once `before` is written. `false` if one is not
/// cached.
fn extend_heads(
    waiting: &QueuedAppend,
    before: &InFlight,
    remembered: &mut StreamHeads,
    heads: &mut BTreeMap<StreamId, StreamHead>,
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
