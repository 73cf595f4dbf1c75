//! Storage of archives, and reads of ranges from it, each bounded in time.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt as _, coalesce_ranges};
use tokio::time::timeout;

use super::TimedOut;
use super::listing::ListedFile;
use crate::error::Source;

/// Longest time for one request to the storage.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(4);

/// Folder or bucket with archives.
#[derive(Clone)]
pub struct ArchiveStorage {
    pub store: Arc<dyn ObjectStore>,
    /// Path of the folder in the store; empty for its root.
    pub folder: Path,
}

impl fmt::Debug for ArchiveStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ArchiveStorage({})", self.folder)
    }
}

/// Reason why something was not read from a file.
#[derive(Debug)]
pub(super) enum Failure {
    /// There is no such file any more, or another one.
    Missing,
    Unavailable(Source),
    /// The file says something that cannot be so; with the position that it is about.
    Damaged(u64, &'static str),
}

impl ArchiveStorage {
    /// Bytes of a range of a file; `None` if the file is shorter.
    pub(super) async fn range(
        &self,
        file: &ListedFile,
        range: Range<u64>,
    ) -> Result<Option<Bytes>, Failure> {
        let length = range.end - range.start;
        let bytes = self.fetch(file, range).await?;
        Ok((bytes.len() as u64 == length).then_some(bytes))
    }

    /// Bytes of several ranges of a file. Those with a gap of at most `gap` between them are read
    /// together. Where the file is shorter, so are they.
    pub(super) async fn ranges(
        &self,
        file: &ListedFile,
        ranges: &[Range<u64>],
        gap: u64,
    ) -> Result<Vec<Bytes>, Failure> {
        coalesce_ranges(ranges, |range| self.fetch(file, range), gap).await
    }

    async fn fetch(&self, file: &ListedFile, range: Range<u64>) -> Result<Bytes, Failure> {
        let read = timeout(REQUEST_TIMEOUT, self.store.get_range(&file.path, range));
        let error = match read.await {
            Ok(Ok(bytes)) => return Ok(bytes),
            Ok(Err(Error::NotFound { .. })) => return Err(Failure::Missing),
            Ok(Err(error)) => error,
            Err(_) => return Err(Failure::Unavailable(Arc::new(TimedOut(REQUEST_TIMEOUT)))),
        };
        // A file that became shorter has no such range; that is no failure of the storage.
        match timeout(REQUEST_TIMEOUT, self.store.head(&file.path)).await {
            Ok(Ok(now)) if now.size != file.bytes => Err(Failure::Missing),
            Ok(Err(Error::NotFound { .. })) => Err(Failure::Missing),
            Ok(Ok(_) | Err(_)) | Err(_) => Err(Failure::Unavailable(Arc::new(error))),
        }
    }
}
