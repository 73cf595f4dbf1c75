//! List of a log's archives in a storage. It is made anew when something is not found in it, at most
//! once in some seconds.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use object_store::ObjectMeta;
use object_store::path::Path;
use tokio::time::{Instant, timeout};

use super::TimedOut;
use super::storage::ArchiveStorage;
use crate::error::Source;

/// Shortest time between two listings.
const REFRESH_INTERVAL: Duration = Duration::from_secs(3);
/// Longest time for a listing.
const LIST_TIMEOUT: Duration = Duration::from_secs(6);
/// Files that are looked at in one listing.
const MAX_LISTED: usize = 65_536;

/// File whose name is that of an archive: nothing but the name is known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ListedFile {
    pub(super) path: Path,
    pub(super) name: Arc<str>,
    /// Positions that its name claims.
    pub(super) range: Range<u64>,
    pub(super) bytes: u64,
    /// Changes when the file does.
    stamp: Arc<str>,
}

impl ListedFile {
    /// Name and stamp.
    pub(super) fn key(&self) -> (Arc<str>, Arc<str>) {
        (Arc::clone(&self.name), Arc::clone(&self.stamp))
    }

    /// File `<service>-<from>-<to>.archive`.
    fn parse(service: &str, meta: ObjectMeta) -> Option<ListedFile> {
        let name = meta.location.filename()?;
        let rest = name.strip_prefix(service)?.strip_prefix('-')?.strip_suffix(".archive")?;
        let (from, to) = rest.split_once('-')?;
        let range = from.parse().ok()?..to.parse().ok()?;
        if range.is_empty() {
            return None;
        }
        let stamp = meta.e_tag.unwrap_or_else(|| meta.last_modified.to_rfc3339());
        let (name, stamp) = (name.into(), stamp.into());
        Some(ListedFile { name, range, bytes: meta.size, stamp, path: meta.location })
    }
}

/// The archives of one log.
pub(super) struct Listing {
    /// Beginning of the files' names.
    service: Arc<str>,
    files: Mutex<Files>,
    /// Held by the one task that lists.
    refreshing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Files {
    /// The longest first.
    listed: Vec<ListedFile>,
    at: Option<Instant>,
}

impl Listing {
    pub(super) fn new(log: &str) -> Listing {
        let service = log.split_once('/').map_or(log, |(service, _)| service);
        Listing {
            service: service.into(),
            files: Mutex::default(),
            refreshing: tokio::sync::Mutex::default(),
        }
    }

    /// Files that claim to cover a position, the longest first. Lists them anew if that was never
    /// done, or with `refresh` if it was done some seconds ago.
    pub(super) async fn covering(
        &self,
        storage: &ArchiveStorage,
        position: u64,
        refresh: bool,
    ) -> Result<Vec<ListedFile>, Source> {
        let is_due = || {
            let at = self.files().at;
            at.is_none_or(|at| refresh && at.elapsed() >= REFRESH_INTERVAL)
        };
        if is_due() {
            let _refreshing = self.refreshing.lock().await;
            if is_due() {
                let mut listed = self.list(storage).await?;
                listed.sort_by_key(|file| {
                    (std::cmp::Reverse(file.range.end - file.range.start), file.range.start)
                });
                *self.files() = Files { listed, at: Some(Instant::now()) };
            }
        }
        let files = self.files();
        let covering = files.listed.iter().filter(|file| file.range.contains(&position));
        Ok(covering.cloned().collect())
    }

    /// Forgets a file that is gone.
    pub(super) fn forget(&self, gone: &ListedFile) {
        self.files().listed.retain(|file| file != gone);
    }

    async fn list(&self, storage: &ArchiveStorage) -> Result<Vec<ListedFile>, Source> {
        let list = async {
            let mut listed = Vec::new();
            let mut found = storage.store.list(Some(&storage.folder)).take(MAX_LISTED);
            while let Some(meta) = found.next().await {
                let meta = meta.map_err(|error| Arc::new(error) as Source)?;
                // Files in folders of the folder are none of it.
                let is_here = meta
                    .location
                    .prefix_match(&storage.folder)
                    .is_some_and(|parts| parts.count() == 1);
                listed.extend(is_here.then(|| ListedFile::parse(&self.service, meta)).flatten());
            }
            Ok(listed)
        };
        match timeout(LIST_TIMEOUT, list).await {
            Ok(listed) => listed,
            Err(_) => Err(Arc::new(TimedOut(LIST_TIMEOUT))),
        }
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
