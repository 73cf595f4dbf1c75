//! Opened archives and pages of their tables, those used last, bounded by bytes.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::file::ArchiveFile;
use super::listing::ListedFile;

/// Most bytes in the cache.
const MAX_BYTES: usize = 32 << 20;
/// Bytes that an entry takes besides its content, about.
const ENTRY_OVERHEAD: usize = 256;

/// Name and stamp of a file, and the number of a page of its table; none for the file itself.
type Key = (Arc<str>, Arc<str>, Option<u64>);

#[derive(Clone)]
enum Content {
    File(Arc<ArchiveFile>),
    Page(Bytes),
}

struct Entry {
    content: Content,
    bytes: usize,
    used: u64,
}

#[derive(Default)]
pub(super) struct Cache {
    entries: BTreeMap<Key, Entry>,
    /// Keys by the time of their last use.
    by_use: BTreeMap<u64, Key>,
    bytes: usize,
    uses: u64,
}

impl Cache {
    pub(super) fn file(&mut self, of: &ListedFile) -> Option<Arc<ArchiveFile>> {
        match self.get(of, None)? {
            Content::File(file) => Some(file),
            Content::Page(_) => None,
        }
    }

    pub(super) fn put_file(&mut self, file: Arc<ArchiveFile>) {
        let (key, bytes) = (key(&file.listed, None), file.weight());
        self.put(key, Content::File(file), bytes);
    }

    pub(super) fn page(&mut self, of: &ListedFile, number: u64) -> Option<Bytes> {
        match self.get(of, Some(number))? {
            Content::Page(page) => Some(page),
            Content::File(_) => None,
        }
    }

    pub(super) fn put_page(&mut self, of: &ListedFile, number: u64, page: Bytes) {
        let bytes = page.len();
        self.put(key(of, Some(number)), Content::Page(page), bytes);
    }

    fn get(&mut self, of: &ListedFile, page: Option<u64>) -> Option<Content> {
        let key = key(of, page);
        let entry = self.entries.get_mut(&key)?;
        self.by_use.remove(&entry.used);
        self.uses += 1;
        entry.used = self.uses;
        self.by_use.insert(self.uses, key);
        Some(entry.content.clone())
    }

    fn put(&mut self, key: Key, content: Content, bytes: usize) {
        self.remove(&key);
        let bytes = bytes + ENTRY_OVERHEAD;
        self.uses += 1;
        self.by_use.insert(self.uses, key.clone());
        self.entries.insert(key, Entry { content, bytes, used: self.uses });
        self.bytes += bytes;
        while self.bytes > MAX_BYTES {
            let Some((_, oldest)) = self.by_use.pop_first() else { return };
            self.remove(&oldest);
        }
    }

    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.by_use.remove(&entry.used);
            self.bytes -= entry.bytes;
        }
    }
}

fn key(of: &ListedFile, page: Option<u64>) -> Key {
    let (name, stamp) = of.key();
    (name, stamp, page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_stays_within_the_bound() {
        let (mut cache, page) = (Cache::default(), Bytes::from(vec![0; 1 << 20]));
        let key = |n: u64| (Arc::from("a"), Arc::from("b"), Some(n));
        for n in 0..31 {
            cache.put(key(n), Content::Page(page.clone()), page.len());
        }
        assert_eq!(cache.entries.len(), 31);
        // The same again is not counted twice.
        cache.put(key(0), Content::Page(page.clone()), page.len());
        for n in 31..60 {
            cache.put(key(n), Content::Page(page.clone()), page.len());
            assert!(cache.bytes <= MAX_BYTES && cache.entries.len() == cache.by_use.len());
        }
        assert!(!cache.entries.contains_key(&key(1)) && cache.entries.contains_key(&key(59)));
    }
}
