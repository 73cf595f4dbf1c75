//! Encoding of an archive: header, events, tail. The index behind them is in `index`.

use std::io::{Read, Write};
use std::sync::Arc;

use bytes::Bytes;
use eventlog_core::{Event, Position, Version};
use merkle::{Hash, Tree};
use primitives::{RequestId, StreamId, UnixMicros};
use sha2::{Digest, Sha256};

use super::index::IndexBuilder;
use super::{ArchiveError, Header};

const MAGIC: &[u8; 8] = b"SLARCH3\n";
/// Bytes of the index that are compared at a time.
const COMPARED_BYTES: usize = 1 << 16;

/// Writer that hashes and counts what it writes.
pub(super) struct ArchiveWriter<W> {
    to: W,
    hash: Sha256,
    written: u64,
    index: IndexBuilder,
}

impl<W: Write> ArchiveWriter<W> {
    pub(super) fn new(to: W) -> ArchiveWriter<W> {
        ArchiveWriter { to, hash: Sha256::new(), written: 0, index: IndexBuilder::default() }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), ArchiveError> {
        self.hash.update(bytes);
        self.written += bytes.len() as u64;
        Ok(self.to.write_all(bytes)?)
    }

    fn put_length_prefixed(&mut self, bytes: &[u8]) -> Result<(), ArchiveError> {
        let length = u32::try_from(bytes.len()).map_err(|_| ArchiveError::Corrupt("over 4 GiB"))?;
        self.put(&length.to_be_bytes())?;
        self.put(bytes)
    }

    fn put_hashes(&mut self, hashes: &[Hash]) -> Result<(), ArchiveError> {
        self.put_length_prefixed(&hashes.concat())
    }

    pub(super) fn header(&mut self, header: &Header) -> Result<(), ArchiveError> {
        self.put(MAGIC)?;
        self.put_length_prefixed(header.log.as_bytes())?;
        self.put(&header.range.start.to_be_bytes())?;
        self.put(&header.range.end.to_be_bytes())?;
        self.put_hashes(header.before.peaks())
    }

    pub(super) fn event(&mut self, event: &Event) -> Result<(), ArchiveError> {
        let Event { position: _, recorded_at, stream, version, kind, schema, .. } = event;
        let Event { sealed, payload, salt, request_id, actor, trace, previous, .. } = event;
        self.index.add(event, self.written);
        self.put(&recorded_at.0.to_be_bytes())?;
        self.put(&stream.0)?;
        self.put(&version.0.to_be_bytes())?;
        self.put(&kind.to_be_bytes())?;
        self.put(&schema.to_be_bytes())?;
        self.put(&[u8::from(*sealed), u8::from(request_id.is_some())])?;
        self.put(&request_id.map_or([0; 16], |id| id.0))?;
        self.put(trace)?;
        self.put(salt)?;
        self.put(previous)?;
        self.put_length_prefixed(actor.as_bytes())?;
        self.put_length_prefixed(payload)
    }

    pub(super) fn tail(
        &mut self,
        header: &Header,
        head: (u64, Hash),
        path: &[Hash],
    ) -> Result<(), ArchiveError> {
        let ends = self.written;
        self.put(&head.0.to_be_bytes())?;
        self.put(&head.1)?;
        self.put_hashes(path)?;
        let index = std::mem::take(&mut self.index).encode(header, ends, self.written);
        self.put(&index)?;
        let hash = self.hash.clone().finalize();
        self.to.write_all(&hash)?;
        Ok(self.to.flush()?)
    }
}

/// Reader that hashes and counts what it reads.
pub(super) struct HashingReader<R> {
    from: R,
    hash: Sha256,
    read: u64,
}

impl<R> HashingReader<R> {
    pub(super) fn new(from: R) -> HashingReader<R> {
        HashingReader { from, hash: Sha256::new(), read: 0 }
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = self.from.read(buffer)?;
        self.hash.update(&buffer[..length]);
        self.read += length as u64;
        Ok(length)
    }
}

/// Decoder of an archive, or of events of one.
pub(super) struct ArchiveReader<R> {
    from: R,
}

impl<R: Read> ArchiveReader<R> {
    pub(super) const fn new(from: R) -> ArchiveReader<R> {
        ArchiveReader { from }
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], ArchiveError> {
        let mut bytes = [0; N];
        self.from.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn number(&mut self) -> Result<u64, ArchiveError> {
        Ok(u64::from_be_bytes(self.take()?))
    }

    /// Reads a length and that many bytes. Allocates no more memory than there are bytes, whatever
    /// the length says.
    fn take_length_prefixed(&mut self) -> Result<Vec<u8>, ArchiveError> {
        let length = u64::from(u32::from_be_bytes(self.take()?));
        let mut bytes = Vec::new();
        let got = (&mut self.from).take(length).read_to_end(&mut bytes)?;
        if got as u64 == length { Ok(bytes) } else { Err(ArchiveError::Corrupt("it is cut short")) }
    }

    fn text(&mut self) -> Result<Arc<str>, ArchiveError> {
        let text = String::from_utf8(self.take_length_prefixed()?);
        text.map(Arc::from).map_err(|_| ArchiveError::Corrupt("a text is no text"))
    }

    fn hashes(&mut self) -> Result<Vec<Hash>, ArchiveError> {
        let bytes = self.take_length_prefixed()?;
        let (hashes, rest) = bytes.as_chunks();
        if rest.is_empty() {
            Ok(hashes.to_vec())
        } else {
            Err(ArchiveError::Corrupt("half a hash"))
        }
    }

    fn flag(byte: u8) -> Result<bool, ArchiveError> {
        match byte {
            0 => Ok(false),
            1 => Ok(true),
            2.. => Err(ArchiveError::Corrupt("a flag is 0 or 1")),
        }
    }

    pub(super) fn header(&mut self) -> Result<Header, ArchiveError> {
        if self.take::<8>()? != *MAGIC {
            return Err(ArchiveError::Corrupt("it does not begin as an archive does"));
        }
        let log = self.text()?;
        let range = self.number()?..self.number()?;
        let before = Tree::restore(range.start, self.hashes()?)
            .map_err(|_| ArchiveError::Corrupt("its tree does not fit its range"))?;
        if range.is_empty() {
            return Err(ArchiveError::Corrupt("its range is empty"));
        }
        Ok(Header { log, range, before })
    }

    pub(super) fn event(&mut self, position: u64) -> Result<Event, ArchiveError> {
        let recorded_at = UnixMicros(self.number()?);
        let stream = StreamId(self.take()?);
        let version = Version(self.number()?);
        let kind = u16::from_be_bytes(self.take()?);
        let schema = u16::from_be_bytes(self.take()?);
        let [sealed, asked] = self.take()?;
        let request = RequestId(self.take()?);
        let request_id = Self::flag(asked)?.then_some(request);
        let (trace, salt, previous) = (self.take()?, self.take()?, self.take()?);
        let actor = self.text()?;
        Ok(Event {
            position: Position(position),
            recorded_at,
            stream,
            version,
            kind,
            schema,
            sealed: Self::flag(sealed)?,
            salt,
            author_hash: Event::hash_author(&actor, request_id, &trace),
            request_id,
            actor,
            trace,
            previous,
            payload: Bytes::from(self.take_length_prefixed()?),
        })
    }
}

impl<R: Read> ArchiveReader<HashingReader<R>> {
    /// Bytes that were read.
    pub(super) const fn offset(&self) -> u64 {
        self.from.read
    }

    /// Reads what is behind the events, and compares the index with what they say.
    pub(super) fn tail(
        &mut self,
        header: &Header,
        index: IndexBuilder,
    ) -> Result<((u64, Hash), Vec<Hash>), ArchiveError> {
        let ends = self.offset();
        let head = (self.number()?, self.take()?);
        let path = self.hashes()?;
        let expected = index.encode(header, ends, self.offset());
        for part in expected.chunks(COMPARED_BYTES) {
            let mut bytes = vec![0; part.len()];
            self.from.read_exact(&mut bytes)?;
            if bytes != part {
                return Err(ArchiveError::Corrupt("its index is not what its events say"));
            }
        }
        let hash = self.from.hash.clone().finalize();
        if self.take::<32>()? != <[u8; 32]>::from(hash) {
            return Err(ArchiveError::Corrupt("its bytes are not as they were written"));
        }
        match self.from.read(&mut [0])? {
            0 => Ok((head, path)),
            _ => Err(ArchiveError::Corrupt("something follows its end")),
        }
    }
}
