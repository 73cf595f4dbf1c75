//! Reader of a log without ownership: for auditors, tools, and the owner itself.
//!
//! Specification: ARCHITECTURE.md §2.8.

use std::ops::Range;
use std::sync::Arc;

use eventlog_core::{Event, Position, Version};
use merkle::Tree;
use primitives::StreamId;

use crate::error::ReadError;
use crate::event::AnsweredRequest;
use crate::key::RequestKey;
use crate::pages::Pages;
use crate::store::Store;

/// Read access to a log. It takes no lease and needs no right to write.
#[derive(Clone)]
pub struct Reader {
    store: Arc<dyn Store>,
    log: Arc<str>,
}

impl Reader {
    /// `log` is a name such as `table/0`. A log that does not exist reads as empty.
    pub fn new(store: Arc<dyn Store>, log: impl Into<Arc<str>>) -> Reader {
        Reader { store, log: log.into() }
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

    /// Reads events from a position on, in order, at most `limit`, and none behind [`READ_BYTES`](crate::store::READ_BYTES) of
    /// payloads; none at all only at the end of the log. [`ReadError::Archived`] if some of them
    /// were removed from the store.
    pub async fn read(&self, from: Position, limit: usize) -> Result<Vec<Event>, ReadError> {
        let events = self.store.read(&self.log, from, limit).await?;
        let gap = events.iter().zip(from.0..).find(|(event, at)| event.position.0 != *at);
        if let Some((_, at)) = gap {
            return Err(self.gap_error(Some(at), &format!("position {at}")).await);
        }
        Ok(events)
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

    /// Reason for a gap before other events; `position` is that of the gap, if known. The last
    /// event of the log or of a stream is never removed, so a missing end is not due to a cut.
    async fn gap_error(&self, position: Option<u64>, at: &str) -> ReadError {
        match self.cut().await {
            Ok(Some(tree)) if position.is_none_or(|position| position < tree.size()) => {
                ReadError::Archived { size: tree.size() }
            }
            Ok(_) => {
                let what = format!("{} has no event at {at}, nor has an archive", self.log);
                ReadError::Corrupt(what.into())
            }
            Err(error) => error,
        }
    }

    /// Tree at the log's cut; `None` if all its events are in the store.
    pub async fn cut(&self) -> Result<Option<Tree>, ReadError> {
        Ok(self.store.cut(&self.log).await?.filter(|tree| tree.size() > 0))
    }

    /// Reads events of a stream from a version on, in order, at most `limit`, and none behind
    /// [`READ_BYTES`](crate::store::READ_BYTES) of payloads; none at all only at its end.
    pub async fn read_stream(
        &self,
        stream: StreamId,
        from: Version,
        limit: usize,
    ) -> Result<Vec<Event>, ReadError> {
        let events = self.store.read_stream(&self.log, stream, from, limit).await?;
        let gap = events.iter().zip(from.0.max(1)..).find(|(event, at)| event.version.0 != *at);
        if let Some((_, at)) = gap {
            return Err(self.gap_error(None, &format!("version {at} of stream {stream}")).await);
        }
        Ok(events)
    }

    /// Last event of a stream; `None` if it has none.
    pub async fn last_of_stream(&self, stream: StreamId) -> Result<Option<Event>, ReadError> {
        Ok(self.store.last_of_stream(&self.log, stream).await?)
    }

    /// Answered request with this key.
    pub async fn request(&self, key: RequestKey) -> Result<Option<AnsweredRequest>, ReadError> {
        Ok(self.store.requests(&self.log, &[key]).await?.pop())
    }

    /// Answered requests among these keys, in any order.
    pub async fn requests(&self, keys: &[RequestKey]) -> Result<Vec<AnsweredRequest>, ReadError> {
        Ok(self.store.requests(&self.log, keys).await?)
    }
}
