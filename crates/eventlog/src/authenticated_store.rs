//! Store as the owner of a log sees it: each event that it reads was written by an owner.
//!
//! Specification: ARCHITECTURE.md §2.2.

use std::sync::Arc;

use async_trait::async_trait;
use eventlog_core::{Event, Position, Version};
use merkle::Tree;
use primitives::StreamId;

use crate::authenticator::Authenticator;
use crate::event::{AnsweredRequest, StreamEnd};
use crate::key::RequestKey;
use crate::store::{AppendOutcome, Batch, Claim, ClaimOutcome, Fence, Renewal, Store, StoreError};

/// Store whose reads give [`StoreError::Corrupt`] for an event that is not authentic, and no tag for an
/// answer without an event of its request. Tags are checked where answers are used, by
/// [`Authenticator::answers`].
pub(crate) struct AuthenticatedStore {
    store: Arc<dyn Store>,
    authenticator: Authenticator,
}

impl AuthenticatedStore {
    pub(crate) const fn new(
        store: Arc<dyn Store>,
        authenticator: Authenticator,
    ) -> AuthenticatedStore {
        AuthenticatedStore { store, authenticator }
    }

    fn check(&self, events: Vec<Event>) -> Result<Vec<Event>, StoreError> {
        self.check_each(&events)?;
        Ok(events)
    }

    /// An archived end has no code. The store has compared it with the tile.
    fn check_ends(&self, ends: Vec<StreamEnd>) -> Result<Vec<StreamEnd>, StoreError> {
        self.check_each(ends.iter().filter_map(|end| match end {
            StreamEnd::Stored(event) => Some(event),
            StreamEnd::Archived(_) => None,
        }))?;
        Ok(ends)
    }

    fn check_each<'a>(
        &self,
        events: impl IntoIterator<Item = &'a Event>,
    ) -> Result<(), StoreError> {
        match events.into_iter().find(|event| !self.authenticator.is_authentic(event)) {
            None => Ok(()),
            Some(forged) => {
                let Position(at) = forged.position;
                let what = format!(
                    "the event at position {at} is not as it was written with this log's key: somebody or a \
                     disk has changed the database, or the service has another key than before"
                );
                tracing::error!(
                    runbook = "deploy/README.md, Events that no owner has written",
                    position = at,
                    stream = %forged.stream,
                    "{what}"
                );
                Err(StoreError::Corrupt(what.into()))
            }
        }
    }

    /// Whether the log has the event that a stored answer belongs to. An answer to a request whose
    /// batch was given back has a good tag, and its position is another event's. Where the event was
    /// archived, the tag alone decides.
    async fn has_event(&self, log: &str, answered: &AnsweredRequest) -> Result<bool, StoreError> {
        let found = self.store.read(log, answered.first, 1).await?.pop();
        match found.filter(|event| event.position == answered.first) {
            Some(event) => {
                let key = event.request_id.map(|id| RequestKey::new(&event.actor, id));
                Ok(key == Some(answered.key) && self.authenticator.is_authentic(&event))
            }
            None => {
                let cut = self.store.cut(log).await?;
                Ok(cut.is_some_and(|cut| answered.first.0 < cut.size()))
            }
        }
    }
}

#[async_trait]
impl Store for AuthenticatedStore {
    async fn claim(&self, claim: &Claim) -> Result<ClaimOutcome, StoreError> {
        self.store.claim(claim).await
    }

    async fn renew(&self, renewal: &Renewal) -> Result<bool, StoreError> {
        self.store.renew(renewal).await
    }

    async fn fence(&self, log: &str) -> Result<Option<Fence>, StoreError> {
        self.store.fence(log).await
    }

    async fn size(&self, log: &str) -> Result<u64, StoreError> {
        self.store.size(log).await
    }

    async fn append(&self, batch: &Batch) -> Result<AppendOutcome, StoreError> {
        self.store.append(batch).await
    }

    fn pipelines_entries(&self) -> bool {
        self.store.pipelines_entries()
    }

    async fn stream_ends(&self, log: &str, of: &[StreamId]) -> Result<Vec<StreamEnd>, StoreError> {
        self.check_ends(self.store.stream_ends(log, of).await?)
    }

    async fn stream_end(
        &self,
        log: &str,
        stream: StreamId,
    ) -> Result<Option<StreamEnd>, StoreError> {
        let end = self.store.stream_end(log, stream).await?;
        Ok(self.check_ends(end.into_iter().collect())?.pop())
    }

    async fn requests(
        &self,
        log: &str,
        of: &[RequestKey],
    ) -> Result<Vec<AnsweredRequest>, StoreError> {
        let mut stored = self.store.requests(log, of).await?;
        for answered in &mut stored {
            if !self.has_event(log, answered).await? {
                tracing::error!(
                    runbook = "deploy/README.md, Events that no owner has written",
                    position = answered.first.0,
                    "an answer is stored that belongs to no event: nobody gets it"
                );
                answered.tag = None;
            }
        }
        Ok(stored)
    }

    async fn cut(&self, log: &str) -> Result<Option<Tree>, StoreError> {
        self.store.cut(log).await
    }

    async fn forgotten(&self, log: &str) -> Result<Option<RequestKey>, StoreError> {
        self.store.forgotten(log).await
    }

    async fn latest_keys(
        &self,
        log: &str,
        below: Option<RequestKey>,
        limit: usize,
    ) -> Result<Vec<RequestKey>, StoreError> {
        self.store.latest_keys(log, below, limit).await
    }

    async fn read(
        &self,
        log: &str,
        from: Position,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        self.check(self.store.read(log, from, limit).await?)
    }

    async fn read_stream(
        &self,
        log: &str,
        stream: StreamId,
        from: Version,
        limit: usize,
    ) -> Result<Vec<Event>, StoreError> {
        self.check(self.store.read_stream(log, stream, from, limit).await?)
    }
}
