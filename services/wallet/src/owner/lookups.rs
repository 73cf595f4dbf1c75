//! Tells repeated requests from new ones.
//!
//! Most are recognised in memory. For the others the log's store is queried outside the owner's
//! task, so a slow store, or callers with ids of their own making, delay nobody else. Until the
//! store has answered, the same request is answered "unavailable": if two copies were both found to
//! be new, both would be written, which the store refuses.
//!
//! Specification: ARCHITECTURE.md §2.9.

use std::collections::BTreeMap;

use eventlog::{Authenticator, KnownRequest, ReadError, Recall, RequestKey, RequestLookup};

use super::{Owner, PendingReply};
use crate::answer::Answer;
use crate::wallet::{RequestBatch, WalletError};

/// Concurrent lookups in the store; requests beyond that are answered "unavailable".
const MAX_LOOKUPS: usize = 64;

/// Digest and answer of a command in flight.
pub(super) struct RequestInFlight {
    pub(super) digest: [u8; 32],
    pub(super) answer: Answer,
}

/// Requests that are not new.
pub(super) struct StoredRequests {
    found: BTreeMap<RequestKey, KnownRequest>,
    authenticator: Authenticator,
}

impl StoredRequests {
    /// Finding about a request whose content has this SHA-256; `None` if it is new.
    pub(super) fn recall(&self, key: &RequestKey, digest: &[u8; 32]) -> Option<Recall> {
        let known = self.found.get(key)?;
        Some(known.clone().recall(digest, &self.authenticator))
    }
}

/// Requests, and those of them that are not new.
pub(super) type LookupResult =
    (RequestBatch, Result<BTreeMap<RequestKey, KnownRequest>, ReadError>);

impl Owner {
    /// Returns the requests that can be decided now, and what is known of those that are not new.
    /// Starts lookups for the others.
    pub(super) fn split_repeats(
        &mut self,
        asks: Vec<RequestBatch>,
    ) -> (Vec<RequestBatch>, StoredRequests) {
        let (mut ready, mut before) = (Vec::with_capacity(asks.len()), BTreeMap::new());
        for mut ask in asks {
            // Memory is asked again after a lookup too: it may have changed since.
            let unknown = self.recall_from_memory(&ask, &mut before);
            match ask.stored_answers.take() {
                Some(recalled) => before.extend(recalled),
                None if unknown.is_empty() => {}
                None => {
                    self.start_lookup(ask, unknown);
                    continue;
                }
            }
            ready.push(ask);
        }
        for named in ready.iter().flat_map(|ask| &ask.requests) {
            self.state.lookup_keys.remove(&named.key);
        }
        let authenticator = self.state.log.authenticator().clone();
        (ready, StoredRequests { found: before, authenticator })
    }

    /// Adds the stored answers that are in memory. Returns the keys that only the store knows.
    fn recall_from_memory(
        &self,
        ask: &RequestBatch,
        before: &mut BTreeMap<RequestKey, KnownRequest>,
    ) -> Vec<RequestKey> {
        let mut unknown = Vec::new();
        for named in &ask.requests {
            if self.state.requests_in_flight.contains_key(&named.key) {
                continue;
            }
            match self.state.log.lookup(named.key) {
                RequestLookup::Fresh => {}
                RequestLookup::Answered(stored) => {
                    before.insert(named.key, KnownRequest::Answered(stored));
                }
                RequestLookup::Unknown => unknown.push(named.key),
            }
        }
        unknown
    }

    fn start_lookup(&mut self, ask: RequestBatch, unknown: Vec<RequestKey>) {
        let work = &mut self.state;
        let asked_for = |key| work.lookup_keys.contains(key);
        if work.lookups.len() >= MAX_LOOKUPS || unknown.iter().any(asked_for) {
            return reply_unavailable(ask);
        }
        let keys: Vec<RequestKey> = ask.requests.iter().map(|named| named.key).collect();
        work.lookup_keys.extend(unknown);
        let log = work.log.clone();
        work.lookups.spawn(async move {
            let recalled = log.recall_many(&keys).await;
            (ask, recalled)
        });
    }

    /// Handles the end of a lookup: the requests wait for the next group like all others.
    pub(super) fn finish_lookup(&mut self, (mut ask, recalled): LookupResult) {
        match recalled {
            Ok(recalled) => {
                ask.stored_answers = Some(recalled);
                self.state.receive(ask);
            }
            Err(error) => {
                tracing::warn!(runbook = "deploy/README.md, The database is away", %error, "the log does not say which requests it has answered");
                for named in &ask.requests {
                    self.state.lookup_keys.remove(&named.key);
                }
                reply_unavailable(ask);
            }
        }
    }
}

fn reply_unavailable(ask: RequestBatch) {
    let outcomes = vec![Err(WalletError::Unavailable); ask.requests.len()];
    PendingReply { reply: ask.reply, outcomes, permits: ask.permits }.send();
}
