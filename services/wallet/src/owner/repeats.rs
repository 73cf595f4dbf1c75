//! Tells repeated requests from new ones.
//!
//! Most are recognised in memory. For the others the log's store is queried outside the owner's
//! task, so a slow store, or callers with ids of their own making, delay nobody else. Until the
//! store has answered, the same request is answered "unavailable": if two copies were both found to
//! be new, both would be written, which the store refuses.

use std::collections::BTreeMap;

use eventlog::{Known, ReadError, RequestKey, Stored};

use super::{Answer, Owner};
use crate::answer::Done;
use crate::wallet::{Ask, Problem};

/// Concurrent lookups in the store; requests beyond that are answered "unavailable".
const QUESTIONS: usize = 64;

/// Digest and answer of a command in flight.
pub(super) struct Open {
    pub(super) digest: [u8; 32],
    pub(super) done: Done,
}

/// Requests, and the stored answers found for them.
pub(super) type Recalled = (Ask, Result<BTreeMap<RequestKey, Stored>, ReadError>);

impl Owner {
    /// Returns the requests that can be decided now, and the stored answers of their commands.
    /// Starts lookups for the others.
    pub(super) fn told_apart(
        &mut self,
        asks: Vec<Ask>,
    ) -> (Vec<Ask>, BTreeMap<RequestKey, Stored>) {
        let (mut ready, mut before) = (Vec::with_capacity(asks.len()), BTreeMap::new());
        for mut ask in asks {
            // Memory is asked again after a lookup too: it may have changed since.
            let unknown = self.remembered(&ask, &mut before);
            match ask.recalled.take() {
                Some(recalled) => before.extend(recalled),
                None if unknown.is_empty() => {}
                None => {
                    self.ask_store(ask, unknown);
                    continue;
                }
            }
            ready.push(ask);
        }
        for named in ready.iter().flat_map(|ask| &ask.requests) {
            self.work.asked_for.remove(&named.key);
        }
        (ready, before)
    }

    /// Adds the stored answers that are in memory. Returns the keys that only the store can tell.
    fn remembered(&self, ask: &Ask, before: &mut BTreeMap<RequestKey, Stored>) -> Vec<RequestKey> {
        let mut unknown = Vec::new();
        for named in &ask.requests {
            if self.work.open.contains_key(&named.key) {
                continue;
            }
            match self.work.log.known(named.key) {
                Known::Fresh => {}
                Known::Stored(stored) => drop(before.insert(named.key, stored)),
                Known::Ask => unknown.push(named.key),
            }
        }
        unknown
    }

    fn ask_store(&mut self, ask: Ask, unknown: Vec<RequestKey>) {
        let work = &mut self.work;
        let asked_for = |key| work.asked_for.contains(key);
        if work.asking.len() >= QUESTIONS || unknown.iter().any(asked_for) {
            return unavailable(ask);
        }
        let keys: Vec<RequestKey> = ask.requests.iter().map(|named| named.key).collect();
        work.asked_for.extend(unknown);
        let log = work.log.clone();
        work.asking.spawn(async move {
            let recalled = log.recall_many(&keys).await;
            (ask, recalled)
        });
    }

    /// Handles the end of a lookup: the requests wait for the next group like all others.
    pub(super) fn recalled(&mut self, (mut ask, recalled): Recalled) {
        match recalled {
            Ok(recalled) => {
                ask.recalled = Some(recalled);
                self.work.hear(ask);
            }
            Err(error) => {
                tracing::warn!(runbook = "deploy/README.md, The database is away", %error, "the log does not say which requests it has answered");
                for named in &ask.requests {
                    self.work.asked_for.remove(&named.key);
                }
                unavailable(ask);
            }
        }
    }
}

fn unavailable(ask: Ask) {
    let outcomes = vec![Err(Problem::Unavailable); ask.requests.len()];
    Answer { to: ask.answer, outcomes, room: ask.room }.tell();
}
