//! Streams whose last event is damaged: their entries are given back, and the log goes on for all
//! others. Otherwise one bad row would stop the log as often as somebody writes to its stream.

use std::collections::BTreeSet;
use std::slice;
use std::sync::Arc;

use primitives::StreamId;
use tokio::time::Instant;

use super::{OwnershipLost, Writer, retry_while_unavailable, streams};
use crate::error::AppendError;
use crate::queue::QueuedAppend;
use crate::store::StoreError;

/// Reason why an entry is given back.
#[derive(Debug, thiserror::Error)]
#[error("the end of stream {0} is damaged")]
struct DamagedStream(StreamId);

impl Writer {
    /// Gives back the entries of a batch that touch a damaged stream, and returns the others. An error
    /// if no stream is damaged: then the store contradicts itself.
    pub(super) async fn refuse_damaged(
        &mut self,
        batch: Vec<QueuedAppend>,
        why: StoreError,
        give_up: Instant,
    ) -> Result<Vec<QueuedAppend>, OwnershipLost> {
        let mut damaged = BTreeSet::new();
        for stream in streams(&batch) {
            if self.heads.get(stream).is_some() {
                continue;
            }
            let (log, one) = (&self.options.name, [stream]);
            let end = retry_while_unavailable(give_up, || self.store.stream_ends(log, &one));
            if matches!(end.await, Err(StoreError::Corrupt(_))) {
                damaged.insert(stream);
            }
        }
        if damaged.is_empty() {
            return self.refuse_batch(batch, why).map(|()| Vec::new());
        }
        let mut rest = Vec::with_capacity(batch.len());
        for waiting in batch {
            let touched = streams(slice::from_ref(&waiting));
            match touched.into_iter().find(|stream| damaged.contains(stream)) {
                Some(stream) => {
                    let source = Some(Arc::new(DamagedStream(stream)) as _);
                    waiting.refuse(AppendError::Unavailable { source });
                }
                None => rest.push(waiting),
            }
        }
        Ok(rest)
    }
}
