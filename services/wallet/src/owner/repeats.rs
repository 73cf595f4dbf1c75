//! Requests that were answered before, told from new ones.

use std::collections::BTreeMap;

use eventlog::{Known, Log, ReadError, RequestKey, Stored};

use crate::answer::Done;
use crate::wallet::Ask;

/// Content of a command that is on its way, and its answer.
pub(super) struct Open {
    pub(super) digest: [u8; 32],
    pub(super) done: Done,
}

/// Requests among these that the log has answered: at most one question to its store.
pub(super) async fn answered_before(
    log: &Log,
    open: &BTreeMap<RequestKey, Open>,
    asks: &[Ask],
) -> Result<BTreeMap<RequestKey, Stored>, ReadError> {
    let (mut before, mut ask) = (BTreeMap::new(), Vec::new());
    for named in asks.iter().flat_map(|ask| &ask.requests) {
        let key = named.key;
        if open.contains_key(&key) {
            continue;
        }
        match log.known(key) {
            Known::Fresh => {}
            Known::Stored(stored) => drop(before.insert(key, stored)),
            Known::Ask => ask.push(key),
        }
    }
    if !ask.is_empty() {
        before.extend(log.recall_many(&ask).await?);
    }
    Ok(before)
}
