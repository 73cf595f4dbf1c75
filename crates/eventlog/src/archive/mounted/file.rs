//! One archive in a storage: its trailer and fences in memory, everything else read by ranges.
//! Whatever the file says is checked for what it may be here, and for being true by the caller.

use std::ops::Range;

use bytes::Bytes;
use eventlog_core::Event;
use primitives::StreamId;

use super::listing::ListedFile;
use super::storage::{ArchiveStorage, Failure};
use crate::archive::format::ArchiveReader;
use crate::archive::index::{
    ENTRY_BYTES, HASH_BYTES, Layout, OFFSET_BYTES, PAGE_ENTRIES, POSITION_BYTES, TRAILER_BYTES,
};
use crate::store::READ_BYTES;

/// Most bytes of fences, of a file with a quarter of a billion streams.
const MAX_FENCE_BYTES: u64 = 16 << 20;
/// Most bytes of one event: far more than a commit may have.
const MAX_EVENT_BYTES: u64 = 8 << 20;
/// Gaps that are read along rather than asked around: between offsets, and between events.
const OFFSET_GAP: u64 = 4096;
const EVENT_GAP: u64 = 16 << 10;

/// Archive that was opened.
pub(super) struct ArchiveFile {
    pub(super) listed: ListedFile,
    layout: Layout,
    fences: Vec<StreamId>,
}

/// Events of a stream in one archive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct StreamEntry {
    pub(super) versions: Range<u64>,
    /// Number of positions listed before those of the stream.
    listed_before: u64,
}

impl ArchiveFile {
    pub(super) async fn open(
        storage: &ArchiveStorage,
        listed: &ListedFile,
        log: &str,
    ) -> Result<ArchiveFile, Failure> {
        let damaged = |what| Failure::Damaged(listed.range.start, what);
        let short = || damaged("it is too short");
        let tail = TRAILER_BYTES as u64 + HASH_BYTES;
        let at = listed.bytes.checked_sub(tail).ok_or_else(short)?;
        let trailer = storage.range(listed, at..at + TRAILER_BYTES as u64).await?;
        let trailer = trailer.as_deref().and_then(<[u8]>::first_chunk).ok_or_else(short)?;
        let layout = Layout::parse(trailer, listed.bytes, log).map_err(damaged)?;
        if layout.range != listed.range {
            return Err(damaged("it does not hold the positions in its name"));
        }
        if layout.fence_bytes() > MAX_FENCE_BYTES {
            return Err(damaged("it has too many streams"));
        }
        let fences = layout.fences..layout.fences + layout.fence_bytes();
        let fences = storage.range(listed, fences).await?.ok_or_else(short)?;
        let (fences, _) = fences.as_chunks();
        let fences = fences.iter().map(|id| StreamId(*id)).collect();
        Ok(ArchiveFile { listed: listed.clone(), layout, fences })
    }

    /// Bytes that it takes in memory, about.
    pub(super) fn weight(&self) -> usize {
        size_of::<ArchiveFile>()
            + 2 * self.listed.path.as_ref().len()
            + size_of_val(&self.fences[..])
    }

    /// Events at ascending positions of the file: as many as have [`READ_BYTES`], at least the first.
    pub(super) async fn events(
        &self,
        storage: &ArchiveStorage,
        positions: &[u64],
    ) -> Result<Vec<Event>, Failure> {
        let first = self.layout.range.start;
        let places = positions.iter().map(|position| {
            let place = self.layout.offsets + OFFSET_BYTES * (position - first);
            place..place + 2 * OFFSET_BYTES
        });
        let places: Vec<_> = places.collect();
        let offsets = storage.ranges(&self.listed, &places, OFFSET_GAP).await?;
        let (mut spans, mut bytes) = (Vec::new(), 0);
        for (position, offsets) in positions.iter().zip(offsets) {
            if bytes >= READ_BYTES {
                break;
            }
            let span = self.span(&offsets);
            let what = "its index points to no event";
            let span = span.ok_or(Failure::Damaged(*position, what))?;
            bytes += span.end - span.start;
            spans.push(span);
        }
        let parts = storage.ranges(&self.listed, &spans, EVENT_GAP).await?;
        positions.iter().zip(parts).map(|(position, part)| parse(*position, &part)).collect()
    }

    /// Bytes from an offset to the next, if an event may have them.
    fn span(&self, offsets: &[u8]) -> Option<Range<u64>> {
        let (offsets, []) = offsets.as_chunks() else { return None };
        let [begin, end] = offsets else { return None };
        let (begin, end) = (u64::from_be_bytes(*begin), u64::from_be_bytes(*end));
        let bytes = end.checked_sub(begin)?;
        (bytes > 0 && bytes <= MAX_EVENT_BYTES && end <= self.layout.offsets).then_some(begin..end)
    }

    /// Number of the page of the table in which a stream is, if it is in the file.
    pub(super) fn table_page(&self, stream: StreamId) -> Option<u64> {
        let after = self.fences.partition_point(|fence| *fence <= stream);
        Some(after.checked_sub(1)? as u64)
    }

    /// Reads a page of the table, with the entry behind it where there is one.
    pub(super) async fn read_table_page(
        &self,
        storage: &ArchiveStorage,
        number: u64,
    ) -> Result<Bytes, Failure> {
        let first = number * PAGE_ENTRIES;
        let end = (first + PAGE_ENTRIES + 1).min(self.layout.stream_count);
        let place = |entry: u64| self.layout.streams + ENTRY_BYTES * entry;
        let page = storage.range(&self.listed, place(first)..place(end)).await?;
        page.ok_or(Failure::Damaged(self.layout.range.start, "it is too short"))
    }

    /// Entry of a stream in a page of the table.
    pub(super) fn entry_in(
        &self,
        page: &[u8],
        number: u64,
        stream: StreamId,
    ) -> Result<Option<StreamEntry>, Failure> {
        let (entries, _) = page.as_chunks::<32>();
        let at = entries.partition_point(|entry| entry[..16] < stream.0[..]);
        let Some(entry) = entries.get(at).filter(|entry| entry[..16] == stream.0[..]) else {
            return Ok(None);
        };
        let number_at = |entry: &[u8; 32], at: usize| {
            let bytes = entry[at..].first_chunk().expect("an entry has three parts");
            u64::from_be_bytes(*bytes)
        };
        let (version, before) = (number_at(entry, 16), number_at(entry, 24));
        let is_last = number * PAGE_ENTRIES + at as u64 + 1 == self.layout.stream_count;
        let after = match entries.get(at + 1) {
            Some(next) => Some(number_at(next, 24)),
            None => is_last.then_some(self.layout.events()),
        };
        let entry = after.and_then(|after| {
            let count = after.checked_sub(before).filter(|count| *count > 0)?;
            let end = version.checked_add(count)?;
            (version > 0 && after <= self.layout.events())
                .then_some(StreamEntry { versions: version..end, listed_before: before })
        });
        let what = "its table of streams contradicts itself";
        entry.map(Some).ok_or(Failure::Damaged(self.layout.range.start, what))
    }

    /// Positions of the events of a stream with these versions, which the entry has.
    pub(super) async fn stream_positions(
        &self,
        storage: &ArchiveStorage,
        entry: &StreamEntry,
        versions: Range<u64>,
    ) -> Result<Vec<u64>, Failure> {
        let damaged = |what| Failure::Damaged(self.layout.range.start, what);
        let place = |version: u64| {
            let number = entry.listed_before + (version - entry.versions.start);
            self.layout.positions + POSITION_BYTES * number
        };
        let range = place(versions.start)..place(versions.end);
        let bytes = storage.range(&self.listed, range).await?;
        let bytes = bytes.ok_or_else(|| damaged("it is too short"))?;
        let (numbers, _) = bytes.as_chunks();
        let numbers: Vec<u64> = numbers.iter().map(|n| u32::from_be_bytes(*n).into()).collect();
        let is_ascending = numbers.is_sorted_by(|a, b| a < b);
        if !is_ascending || numbers.last().is_some_and(|last| *last >= self.layout.events()) {
            return Err(damaged("its table of streams names positions that it has not"));
        }
        Ok(numbers.into_iter().map(|number| self.layout.range.start + number).collect())
    }
}

/// Event at a position from its bytes in the file.
fn parse(position: u64, bytes: &[u8]) -> Result<Event, Failure> {
    let mut rest = bytes;
    let event = ArchiveReader::new(&mut rest).event(position);
    match event {
        Ok(event) if rest.is_empty() => Ok(event),
        Ok(_) | Err(_) => Err(Failure::Damaged(position, "there is no event")),
    }
}
