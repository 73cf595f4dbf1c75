//! Index of an archive, behind its events: a reader of ranges finds one event, or the events of one
//! stream, without reading the file.
//!
//! Numbers are big-endian. In this order:
//! - for each event its offset in the file, and the end of the last: u64 each;
//! - streams, in the order of their ids, each with the positions of its events, ascending: u32 each,
//!   counted from the first position of the file;
//! - the table of streams, in the order of their ids: id, version of the first of its events here,
//!   and the number of positions listed before its own: 16 + 8 + 8 bytes each;
//! - fences: the first id of each 256 entries of the table;
//! - the trailer of [`TRAILER_BYTES`]: SHA-256 of the log's name, first position, position after the
//!   last, time at which the first and the last event were recorded, number of streams, offset of the
//!   index, and the magic of the file.
//!
//! Every size follows from the trailer, and their sum must be that of the file. So a forged file can
//! have nothing allocated for it that it does not have bytes for.

use std::collections::BTreeMap;
use std::ops::Range;

use eventlog_core::Event;
use primitives::{StreamId, UnixMicros};
use sha2::{Digest as _, Sha256};

use super::Header;

/// Most events in a file: a position within it has four bytes.
pub(super) const MAX_EVENTS: u64 = u32::MAX as u64;
/// Entries of the table of streams behind one fence.
pub(super) const PAGE_ENTRIES: u64 = 256;
pub(super) const OFFSET_BYTES: u64 = 8;
pub(super) const POSITION_BYTES: u64 = 4;
pub(super) const ENTRY_BYTES: u64 = 32;
pub(super) const FENCE_BYTES: u64 = 16;
pub(super) const TRAILER_BYTES: usize = 88;
/// Bytes of the SHA-256 that ends a file.
pub(super) const HASH_BYTES: u64 = 32;

const TRAILER_MAGIC: &[u8; 8] = b"SLARCH3\n";

/// Index that grows with the events of a file.
#[derive(Default)]
pub(super) struct IndexBuilder {
    offsets: Vec<u64>,
    streams: BTreeMap<StreamId, ListedStream>,
    first_at: Option<UnixMicros>,
    last_at: UnixMicros,
}

struct ListedStream {
    first_version: u64,
    positions: Vec<u32>,
}

impl IndexBuilder {
    /// Adds the next event, which begins at an offset of the file.
    pub(super) fn add(&mut self, event: &Event, begins: u64) {
        let position = u32::try_from(self.offsets.len()).unwrap_or(u32::MAX);
        let new = || ListedStream { first_version: event.version.0, positions: Vec::new() };
        self.streams.entry(event.stream).or_insert_with(new).positions.push(position);
        self.offsets.push(begins);
        self.first_at.get_or_insert(event.recorded_at);
        self.last_at = event.recorded_at;
    }

    /// Bytes of the index, which begins at the offset `index`, of events that end at the offset
    /// `ends`.
    pub(super) fn encode(self, header: &Header, ends: u64, index: u64) -> Vec<u8> {
        let IndexBuilder { offsets, streams, first_at, last_at } = self;
        let mut bytes = Vec::new();
        let put = |bytes: &mut Vec<u8>, number: u64| bytes.extend(number.to_be_bytes());
        offsets.into_iter().chain([ends]).for_each(|offset| put(&mut bytes, offset));
        let listed = streams.values().flat_map(|stream| &stream.positions);
        listed.for_each(|position| bytes.extend(position.to_be_bytes()));
        let mut before = 0;
        for (id, stream) in &streams {
            bytes.extend(id.0);
            put(&mut bytes, stream.first_version);
            put(&mut bytes, before);
            before += stream.positions.len() as u64;
        }
        let page = usize::try_from(PAGE_ENTRIES).unwrap_or(usize::MAX);
        streams.keys().step_by(page).for_each(|id| bytes.extend(id.0));
        bytes.extend(Sha256::digest(header.log.as_bytes()));
        let times = [first_at.unwrap_or(last_at).0, last_at.0];
        let range = [header.range.start, header.range.end];
        let rest = [streams.len() as u64, index];
        range.into_iter().chain(times).chain(rest).for_each(|number| put(&mut bytes, number));
        bytes.extend(TRAILER_MAGIC);
        bytes
    }
}

/// Places of an index's parts, as a trailer says them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Layout {
    pub(super) range: Range<u64>,
    pub(super) stream_count: u64,
    /// Offset of the offsets, which is where the events and what follows them end.
    pub(super) offsets: u64,
    pub(super) positions: u64,
    pub(super) streams: u64,
    pub(super) fences: u64,
}

impl Layout {
    /// Parses a trailer of a file with so many bytes, of the log with this name.
    pub(super) fn parse(
        trailer: &[u8; TRAILER_BYTES],
        file_bytes: u64,
        log: &str,
    ) -> Result<Layout, &'static str> {
        let (of_log, rest) = trailer.split_at(32);
        let (numbers, magic) = rest.split_at(48);
        if magic != TRAILER_MAGIC {
            return Err("it does not end as an archive does");
        }
        if of_log != &Sha256::digest(log.as_bytes())[..] {
            return Err("it is of another log");
        }
        let (numbers, _) = numbers.as_chunks();
        let numbers: Vec<u64> = numbers.iter().map(|bytes| u64::from_be_bytes(*bytes)).collect();
        let [from, to, _, _, stream_count, offsets] = numbers[..] else {
            return Err("its trailer is none");
        };
        let layout = Layout::new(from..to, stream_count, offsets);
        let layout = layout.ok_or("its trailer counts more than a file can have")?;
        if layout.bytes() != Some(file_bytes) {
            return Err("its trailer does not fit its length");
        }
        Ok(layout)
    }

    fn new(range: Range<u64>, stream_count: u64, offsets: u64) -> Option<Layout> {
        let events = range.end.checked_sub(range.start)?;
        if events == 0 || events > MAX_EVENTS || stream_count == 0 || stream_count > events {
            return None;
        }
        // Counts are below 2^32, so that only the sums can overflow.
        let positions = offsets.checked_add(OFFSET_BYTES * (events + 1))?;
        let streams = positions.checked_add(POSITION_BYTES * events)?;
        let fences = streams.checked_add(ENTRY_BYTES * stream_count)?;
        Some(Layout { range, stream_count, offsets, positions, streams, fences })
    }

    /// Number of events.
    pub(super) const fn events(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Bytes of all fences.
    pub(super) const fn fence_bytes(&self) -> u64 {
        FENCE_BYTES * self.stream_count.div_ceil(PAGE_ENTRIES)
    }

    /// Bytes of the whole file.
    fn bytes(&self) -> Option<u64> {
        let trailer = self.fences.checked_add(self.fence_bytes())?;
        trailer.checked_add(TRAILER_BYTES as u64 + HASH_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trailer(numbers: [u64; 6]) -> [u8; TRAILER_BYTES] {
        let mut bytes = Sha256::digest(b"table/0").to_vec();
        numbers.iter().for_each(|number| bytes.extend(number.to_be_bytes()));
        bytes.extend(TRAILER_MAGIC);
        bytes.try_into().unwrap()
    }

    #[test]
    fn a_trailer_fits_its_file_or_is_refused() {
        let good = [256, 512, 1, 2, 300, 0];
        assert!(Layout::parse(&trailer(good), 0, "table/0").is_err(), "more streams than events");
        let good = [256, 512, 1, 2, 3, 1000];
        let bytes = 1000 + 8 * 257 + 4 * 256 + 32 * 3 + 16 + 88 + 32;
        let layout = Layout::parse(&trailer(good), bytes, "table/0").unwrap();
        assert_eq!((layout.range.clone(), layout.stream_count), (256..512, 3));
        for wrong in [bytes - 1, bytes + 1, 0, u64::MAX] {
            assert!(Layout::parse(&trailer(good), wrong, "table/0").is_err(), "{wrong}");
        }
        assert!(Layout::parse(&trailer(good), bytes, "table/1").is_err());
        for at in 0..6 {
            for huge in [u64::MAX, u64::MAX / 2, 1 << 33] {
                let mut numbers = good;
                numbers[at] = huge;
                let parsed = Layout::parse(&trailer(numbers), bytes, "table/0");
                assert!(parsed.is_err() || (2..4).contains(&at), "{at} {huge}");
            }
        }
    }
}
