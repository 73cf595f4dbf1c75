//! Reader of a log without ownership: for auditors, tools, and the owner itself.
//!
//! A reader with mounted archives answers for removed events as before they were removed: the same
//! events, in pages of the same bounds. One without them says from where on the log is there. What a
//! service folds is read without, so that no start depends on a storage of archives.
//!
//! Specification: ARCHITECTURE.md §2.8, §2.11.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use eventlog_core::{Event, Position, Version};
use merkle::Tree;
use primitives::StreamId;

use crate::archive::MountedArchives;
use crate::error::ReadError;
use crate::event::{AnsweredRequest, KnownRequest, StreamEnd};
use crate::key::RequestKey;
use crate::pages::Pages;
use crate::store::{READ_BYTES, Store};

/// Read access to a log. It takes no lease and needs no right to write.
#[derive(Clone)]
pub struct Reader {
    store: Arc<dyn Store>,
    log: Arc<str>,
    archives: Option<Arc<MountedArchives>>,
}

impl Reader {
    /// `log` is a name such as `table/0`. A log that does not exist reads as empty.
    pub fn new(store: Arc<dyn Store>, log: impl Into<Arc<str>>) -> Reader {
        Reader { store, log: log.into(), archives: None }
    }

    /// Reader that reads removed events from archives.
    #[must_use]
    pub fn with_archives(self, archives: Arc<MountedArchives>) -> Reader {
        Reader { archives: Some(archives), ..self }
    }

    /// Name of the log.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.log
    }

    /// Number of events.
    pub async fn size(&self) -> Result<u64, ReadError> {
        Ok(self.store.size(&self.log).await?)
    }

    /// Reads events from a position on, in order, at most `limit`, and none behind [`READ_BYTES`] of
    /// payloads; none at all only at the end of the log. [`ReadError::Archived`] if some of them
    /// were removed from the store, and no archive has the first of them.
    pub async fn read(&self, from: Position, limit: usize) -> Result<Vec<Event>, ReadError> {
        let events = self.store.read(&self.log, from, limit).await?;
        let gap = events.iter().zip(from.0..).find(|(event, at)| event.position.0 != *at);
        let Some((_, at)) = gap else { return Ok(events) };
        let archived = |size| ReadError::Archived { size };
        match self.removed(Some(at), &format!("position {at}")).await? {
            (size, None) => Err(archived(size)),
            (size, Some(archives)) => {
                // In a box: the futures of all readers would have room for it.
                let found = Box::pin(self.read_across(archives, from.0..size, limit)).await?;
                found.ok_or_else(|| archived(size))
            }
        }
    }

    /// Reads events of a range, whose end is the cut, from archives, and those behind it from the
    /// store. `None` if no archive has the first. Few of a range are in the store too, so that none of
    /// it is read there.
    async fn read_across(
        &self,
        archives: &MountedArchives,
        range: Range<u64>,
        limit: usize,
    ) -> Result<Option<Vec<Event>>, ReadError> {
        let wanted = range.start.saturating_add(limit as u64);
        let found = archives.read(range.start..wanted.min(range.end)).await?;
        let Some(mut events) = found else { return Ok(None) };
        let next = range.start + events.len() as u64;
        if next == range.end && next < wanted && payload_bytes(&events) < READ_BYTES {
            let rest = self.store.read(&self.log, Position(next), limit - events.len()).await?;
            append_within_bound(&mut events, rest);
        }
        Ok(Some(events))
    }

    /// Events of a range of positions, page by page; fewer only at the end of the log.
    #[must_use]
    pub fn pages(&self, range: Range<Position>) -> Pages {
        Pages::new(self.clone(), range)
    }

    /// Passes `count` events from a position on to `take`, in order; fewer only at the end of the
    /// log. Two pages of them are in memory at a time.
    ///
    /// # Errors
    /// The log cannot be read, or `take` refuses an event.
    pub async fn for_each<E: From<ReadError>>(
        &self,
        from: Position,
        count: usize,
        mut take: impl FnMut(Event) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut pages = self.pages(from..Position(from.0.saturating_add(count as u64)));
        while let Some(page) = pages.next().await? {
            page.into_iter().try_for_each(&mut take)?;
        }
        Ok(())
    }

    /// Position of the cut behind a gap before other events, and the archives that may fill the gap;
    /// `position` is that of the gap, if known. An error where no cut explains the gap. The last event
    /// of the log is never removed, so a missing end is not due to a cut.
    async fn removed(
        &self,
        position: Option<u64>,
        at: &str,
    ) -> Result<(u64, Option<&MountedArchives>), ReadError> {
        match self.cut().await? {
            Some(tree) if position.is_none_or(|position| position < tree.size()) => {
                Ok((tree.size(), self.archives.as_deref()))
            }
            Some(_) | None => {
                let what = format!("{} has no event at {at}, nor has an archive", self.log);
                Err(ReadError::Corrupt(what.into()))
            }
        }
    }

    /// Tree at the log's cut; `None` if all its events are in the store.
    pub async fn cut(&self) -> Result<Option<Tree>, ReadError> {
        Ok(self.store.cut(&self.log).await?.filter(|tree| tree.size() > 0))
    }

    /// Reads events of a stream from a version on, in order, at most `limit`, and none behind
    /// [`READ_BYTES`] of payloads; none at all only at its end.
    /// [`ReadError::Archived`] as in [`Reader::read`].
    pub async fn read_stream(
        &self,
        stream: StreamId,
        from: Version,
        limit: usize,
    ) -> Result<Vec<Event>, ReadError> {
        let mut stored = self.store.read_stream(&self.log, stream, from, limit).await?;
        let first = from.0.max(1);
        let mut events: Vec<Event> = Vec::new();
        loop {
            let next = first + events.len() as u64;
            let gap = stored.iter().zip(next..).position(|(event, at)| event.version.0 != at);
            let behind = stored.split_off(gap.unwrap_or(stored.len()));
            append_within_bound(&mut events, std::mem::replace(&mut stored, behind));
            let next = first + events.len() as u64;
            if !has_room(&events, limit) {
                events.truncate(limit);
                return Ok(events);
            }
            let behind = match stored.first() {
                Some(behind) => (behind.version.0, behind.position.0),
                None => match self.stream_end(stream).await? {
                    Some(StreamEnd::Archived(last)) if last.version >= next => {
                        (last.version.saturating_add(1), last.position.saturating_add(1))
                    }
                    // Appended, or restored, since it was read.
                    Some(StreamEnd::Stored(last)) if last.version.0 >= next => {
                        let rest = limit - events.len();
                        stored =
                            self.store.read_stream(&self.log, stream, Version(next), rest).await?;
                        if stored.is_empty() {
                            return Ok(events);
                        }
                        continue;
                    }
                    Some(_) | None => return Ok(events),
                },
            };
            let at = format!("version {next} of stream {stream}");
            let (size, archives) = self.removed(None, &at).await?;
            let end = behind.0.min(first.saturating_add(limit as u64));
            let found = match archives {
                Some(archives) => {
                    let before = behind.1.min(size);
                    Box::pin(archives.read_stream(stream, next..end, before)).await?
                }
                None => None,
            };
            match found {
                Some(found) => append_within_bound(&mut events, found),
                None if archives.is_some() && !events.is_empty() => return Ok(events),
                None => return Err(ReadError::Archived { size }),
            }
        }
    }

    /// First version of a range that can be read, as can all behind it: the oldest are archived first.
    /// The range's end if none before it can.
    pub async fn first_kept(
        &self,
        stream: StreamId,
        range: Range<Version>,
    ) -> Result<Version, ReadError> {
        let Range { start, end } = range;
        if start >= end || self.is_kept(stream, start).await? {
            return Ok(start);
        }
        let (mut archived, mut kept) = (start.0, end.0);
        while kept - archived > 1 {
            let middle = archived + (kept - archived) / 2;
            match self.is_kept(stream, Version(middle)).await? {
                true => kept = middle,
                false => archived = middle,
            }
        }
        Ok(Version(kept))
    }

    /// Whether a version of a stream is not archived, or is not there at all.
    async fn is_kept(&self, stream: StreamId, version: Version) -> Result<bool, ReadError> {
        match self.read_stream(stream, version, 1).await {
            Ok(_) => Ok(true),
            Err(ReadError::Archived { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// End of a stream; `None` if it has no event.
    pub async fn stream_end(&self, stream: StreamId) -> Result<Option<StreamEnd>, ReadError> {
        Ok(self.store.stream_end(&self.log, stream).await?)
    }

    /// Answered request with this key.
    pub async fn request(&self, key: RequestKey) -> Result<Option<AnsweredRequest>, ReadError> {
        Ok(self.store.requests(&self.log, &[key]).await?.pop())
    }

    /// Answered requests among these keys, in any order.
    pub async fn requests(&self, keys: &[RequestKey]) -> Result<Vec<AnsweredRequest>, ReadError> {
        Ok(self.store.requests(&self.log, keys).await?)
    }

    /// Those of these keys that are not new.
    pub async fn known_requests(
        &self,
        keys: &[RequestKey],
    ) -> Result<BTreeMap<RequestKey, KnownRequest>, ReadError> {
        let answered = self.requests(keys).await?.into_iter();
        let mut known: BTreeMap<_, _> =
            answered.map(|stored| (stored.key, KnownRequest::Answered(stored))).collect();
        let mut too_old: Vec<RequestKey> =
            keys.iter().copied().filter(|key| key.is_forgotten_with_events()).collect();
        too_old.retain(|key| !known.contains_key(key));
        if too_old.is_empty() {
            return Ok(known);
        }
        // Asked after the answers: a removal first says what it forgets.
        let forgotten = self.store.forgotten(&self.log).await?;
        too_old.retain(|key| Some(*key) <= forgotten);
        known.extend(too_old.into_iter().map(|key| (key, KnownRequest::TooOld)));
        Ok(known)
    }
}

fn payload_bytes(events: &[Event]) -> u64 {
    events.iter().map(|event| event.payload.len() as u64).sum()
}

/// Whether a page may have more events.
fn has_room(events: &[Event], limit: usize) -> bool {
    events.len() < limit && payload_bytes(events) < READ_BYTES
}

/// Appends events for as long as those before them have fewer than [`READ_BYTES`] of payloads.
fn append_within_bound(events: &mut Vec<Event>, more: Vec<Event>) {
    let mut bytes = payload_bytes(events);
    for event in more {
        if bytes >= READ_BYTES {
            return;
        }
        bytes += event.payload.len() as u64;
        events.push(event);
    }
}
