//! Pure part of a commit: turns entries and the end of the log into the rows to write.
//!
//! Specification: ARCHITECTURE.md §2.1, §2.2.

use std::collections::BTreeMap;
use std::sync::Arc;

use eventlog_core::record::{SALT_LEN, chain_hash};
use eventlog_core::{Event, NewEvent, Position, Version};
use merkle::Tree;
use primitives::{StreamId, UnixMicros};

use crate::authenticator::Authenticator;
use crate::event::{AnsweredRequest, Entry, Receipt};
use crate::key::RequestKey;
use crate::stream_heads::StreamHead;

/// State of the log at the beginning of a batch.
pub(crate) struct BatchStart<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) recorded_at: UnixMicros,
    pub(crate) authenticator: &'a Authenticator,
    /// Heads of all streams of the batch.
    pub(crate) heads: BTreeMap<StreamId, StreamHead>,
}

/// Batch with positions and versions, not committed yet.
pub(crate) struct StampedBatch {
    pub(crate) recorded_at: UnixMicros,
    pub(crate) events: Arc<[Event]>,
    pub(crate) requests: Arc<[AnsweredRequest]>,
    /// One receipt for each entry.
    pub(crate) receipts: Vec<Receipt>,
    /// Tree including the batch.
    pub(crate) tree: Tree,
    /// Stream heads including the batch.
    pub(crate) heads: BTreeMap<StreamId, StreamHead>,
}

pub(crate) fn stamp<'a>(
    entries: impl Iterator<Item = &'a Entry>,
    start: BatchStart<'_>,
) -> StampedBatch {
    let BatchStart { tree, recorded_at, authenticator, heads } = start;
    let mut stamp =
        BatchStamper { recorded_at, authenticator, events: Vec::new(), tree: tree.clone(), heads };
    let (mut requests, mut receipts) = (Vec::new(), Vec::new());
    for entry in entries {
        let first = Position(stamp.tree.size());
        let request_id = entry.request.as_ref().map(|request| request.id);
        let author_hash = Event::hash_author(&entry.actor, request_id, &entry.trace);
        let versions = entry.events.iter().map(|new| stamp.add(new, entry, author_hash)).collect();
        receipts.push(Receipt { first, recorded_at, versions });
        requests.extend(entry.request.as_ref().map(|request| {
            let (key, answer) = (RequestKey::new(&entry.actor, request.id), request.answer.clone());
            let tag = authenticator.tag(key, &request.digest, first, &answer);
            AnsweredRequest { key, tag: Some(tag), first, answer }
        }));
    }
    let BatchStamper { events, tree, heads, .. } = stamp;
    StampedBatch {
        recorded_at,
        events: events.into(),
        requests: requests.into(),
        receipts,
        tree,
        heads,
    }
}

/// Batch being stamped.
struct BatchStamper<'a> {
    recorded_at: UnixMicros,
    authenticator: &'a Authenticator,
    events: Vec<Event>,
    tree: Tree,
    heads: BTreeMap<StreamId, StreamHead>,
}

impl BatchStamper<'_> {
    fn add(&mut self, new: &NewEvent, entry: &Entry, author_hash: [u8; 32]) -> Version {
        let head = self.heads.entry(new.stream).or_default();
        let mut event = Event {
            position: Position(self.tree.size()),
            recorded_at: self.recorded_at,
            stream: new.stream,
            version: Version(head.version.0 + 1),
            kind: new.kind,
            schema: new.schema,
            sealed: new.sealed,
            payload: new.payload.clone(),
            salt: [0; SALT_LEN],
            author_hash,
            request_id: entry.request.as_ref().map(|request| request.id),
            actor: entry.actor.clone(),
            trace: entry.trace,
            previous: head.hash,
        };
        event.salt = self.authenticator.salt(&event);
        let record = event.record();
        *head = StreamHead { version: event.version, hash: chain_hash(&record) };
        self.tree.push(&record);
        self.events.push(event);
        head.version
    }
}
