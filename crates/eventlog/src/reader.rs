//! Reading a log without owning it: auditors, tools, and the owner's own reads.

use std::sync::Arc;

use eventlog_core::{Event, Position, Version};
use merkle::Tree;
use primitives::StreamId;

use crate::error::ReadError;
use crate::event::Stored;
use crate::key::RequestKey;
use crate::store::Store;

/// A log to read. It takes no lease and needs no right to write.
#[derive(Clone)]
pub struct Reader {
    store: Arc<dyn Store>,
    log: Arc<str>,
}

impl Reader {
    /// `log` is a name such as `table/0`; one that does not exist reads as an empty log.
    pub fn new(store: Arc<dyn Store>, log: impl Into<Arc<str>>) -> Reader {
        Reader { store, log: log.into() }
    }

    /// The log's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.log
    }

    /// The number of events.
    pub async fn size(&self) -> Result<u64, ReadError> {
        Ok(self.store.size(&self.log).await?)
    }

    /// Events from a position on, in order, at most `limit`: fewer only where the log ends.
    /// [`ReadError::Archived`] where some of them are in the store no longer.
    pub async fn read(&self, from: Position, limit: usize) -> Result<Vec<Event>, ReadError> {
        let events = self.store.read(&self.log, from, limit).await?;
        let gap = events.iter().zip(from.0..).find(|(event, at)| event.position.0 != *at);
        if let Some((_, at)) = gap {
            return Err(self.missing(Some(at), &format!("position {at}")).await);
        }
        Ok(events)
    }

    /// Why an event is missing before others, and its position where that is known. The log's last event is
    /// never removed, nor is that of a stream: what ends is not cut there.
    async fn missing(&self, position: Option<u64>, at: &str) -> ReadError {
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

    /// The tree where the log was cut; nothing where all its events are in the store.
    pub async fn cut(&self) -> Result<Option<Tree>, ReadError> {
        Ok(self.store.cut(&self.log).await?.filter(|tree| tree.size() > 0))
    }

    /// Events of a stream from a version on, in order, at most `limit`: fewer only where it ends.
    pub async fn read_stream(
        &self,
        stream: StreamId,
        from: Version,
        limit: usize,
    ) -> Result<Vec<Event>, ReadError> {
        let events = self.store.read_stream(&self.log, stream, from, limit).await?;
        let gap = events.iter().zip(from.0.max(1)..).find(|(event, at)| event.version.0 != *at);
        if let Some((_, at)) = gap {
            return Err(self.missing(None, &format!("version {at} of stream {stream}")).await);
        }
        Ok(events)
    }

    /// The last event of a stream; nothing where it has none.
    pub async fn last_of_stream(&self, stream: StreamId) -> Result<Option<Event>, ReadError> {
        Ok(self.store.last_of_stream(&self.log, stream).await?)
    }

    /// The answered request of this key.
    pub async fn request(&self, key: RequestKey) -> Result<Option<Stored>, ReadError> {
        Ok(self.store.requests(&self.log, &[key]).await?.pop())
    }

    /// The answered requests among these, in any order.
    pub async fn requests(&self, keys: &[RequestKey]) -> Result<Vec<Stored>, ReadError> {
        Ok(self.store.requests(&self.log, keys).await?)
    }
}
