//! Reading a log without owning it: auditors, tools, and the owner's own reads.

use std::sync::Arc;

use primitives::{RequestId, StreamId};

use crate::error::ReadError;
use crate::event::{Event, Position, Stored, Version};
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
        Ok(self.store.fence(&self.log).await?.map_or(0, |fence| fence.size))
    }

    /// Events from a position on, in order, at most `limit`: fewer only where the log ends.
    pub async fn read(&self, from: Position, limit: usize) -> Result<Vec<Event>, ReadError> {
        Ok(self.store.read(&self.log, from, limit).await?)
    }

    /// Events of a stream from a version on, in order, at most `limit`: fewer only where it ends.
    pub async fn read_stream(
        &self,
        stream: StreamId,
        from: Version,
        limit: usize,
    ) -> Result<Vec<Event>, ReadError> {
        Ok(self.store.read_stream(&self.log, stream, from, limit).await?)
    }

    /// The answered request of this id.
    pub async fn request(&self, id: RequestId) -> Result<Option<Stored>, ReadError> {
        Ok(self.store.requests(&self.log, &[id]).await?.pop())
    }

    /// The answered requests among these, in any order.
    pub async fn requests(&self, ids: &[RequestId]) -> Result<Vec<Stored>, ReadError> {
        Ok(self.store.requests(&self.log, ids).await?)
    }
}
