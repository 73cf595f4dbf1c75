//! Requests that were answered before, told from new ones.
//!
//! Of most of them memory tells. Of the others the log's store is asked, beside the owner's task: a slow
//! store, or a crowd with ids of their own making, holds up nobody else. Until it has answered, the same
//! request comes in vain: two that both were found to be new would be written twice, which the store refuses.

use std::collections::BTreeMap;

use eventlog::{Known, ReadError, RequestKey, Stored};

use super::{Answer, Owner};
use crate::answer::Done;
use crate::wallet::{Ask, Problem};

/// Questions to the store at a time; whoever comes beyond that is asked to come again.
const QUESTIONS: usize = 64;

/// Content of a command that is on its way, and its answer.
pub(super) struct Open {
    pub(super) digest: [u8; 32],
    pub(super) done: Done,
}

/// Commands and which of them the store has answered.
pub(super) type Recalled = (Ask, Result<BTreeMap<RequestKey, Stored>, ReadError>);

impl Owner {
    /// Those among the commands that can be decided, and what was answered before of them.
    pub(super) fn told_apart(
        &mut self,
        asks: Vec<Ask>,
    ) -> (Vec<Ask>, BTreeMap<RequestKey, Stored>) {
        let (mut ready, mut before) = (Vec::with_capacity(asks.len()), BTreeMap::new());
        for mut ask in asks {
            // Also of those that come from the store: what memory tells may have changed since.
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

    /// Adds what memory knows of the requests; those of which it knows nothing.
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

    /// The store has answered: the commands wait for the next group like all others.
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
