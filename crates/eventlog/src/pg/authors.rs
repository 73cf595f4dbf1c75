//! Numbers that stand for authors in rows of events.
//!
//! An author gets a number when they first write, in a commit before that of their events, and
//! keeps it. The least recently added numbers are dropped from the cache and asked for again. Each
//! connection has a cache of its own, which ends with it: the database may have failed over to a copy
//! that lags and has lost the newest numbers.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use eventlog_core::Event;
use sqlx::postgres::PgConnection;

use super::sql;

/// Authors that are cached.
const CAPACITY: usize = 20_000;
/// Queries for numbers. Another writer may add the same author at the same moment; its number is
/// seen by the next query.
const TRIES: u32 = 3;

/// Numbers by author.
#[derive(Default)]
pub(super) struct AuthorNumbers {
    by_actor: BTreeMap<Arc<str>, i32>,
    /// Authors in the order in which they were added.
    added: VecDeque<Arc<str>>,
}

impl AuthorNumbers {
    /// Number of an author, which must have been added.
    pub(super) fn of(&self, actor: &str) -> Result<i32, sqlx::Error> {
        let number = self.by_actor.get(actor).copied();
        number.ok_or_else(|| sqlx::Error::Encode("an author without a number".into()))
    }

    /// Numbers of those of the events' authors that are known.
    pub(super) fn numbers_of(&self, events: &[Event]) -> AuthorNumbers {
        let mut numbers = AuthorNumbers::default();
        for event in events {
            if let Some(number) = self.by_actor.get(&event.actor) {
                numbers.put(event.actor.clone(), *number);
            }
        }
        numbers
    }

    /// Adds the numbers of the events' authors that are missing. `false` if none was.
    pub(super) async fn add(
        &mut self,
        link: &mut PgConnection,
        events: &[Event],
    ) -> Result<bool, sqlx::Error> {
        for tried in 0..=TRIES {
            let missing: Vec<&str> = events
                .iter()
                .map(|event| &*event.actor)
                .filter(|actor| !self.by_actor.contains_key(*actor))
                .collect();
            if missing.is_empty() {
                return Ok(tried > 0);
            }
            if tried < TRIES {
                for (actor, number) in sql::author_numbers(&mut *link, &missing).await? {
                    self.put(actor.into(), number);
                }
            }
        }
        Err(sqlx::Error::Io(std::io::Error::other("an author got no number")))
    }

    /// Adds the numbers of another set, and drops those that were added first beyond the capacity.
    pub(super) fn extend(&mut self, others: &AuthorNumbers) {
        for (actor, number) in &others.by_actor {
            self.put(actor.clone(), *number);
        }
        while self.added.len() > CAPACITY {
            let Some(oldest) = self.added.pop_front() else { return };
            self.by_actor.remove(&oldest);
        }
    }

    fn put(&mut self, actor: Arc<str>, number: i32) {
        if self.by_actor.insert(actor.clone(), number).is_none() {
            self.added.push_back(actor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_bounded_and_drops_what_was_added_first() {
        let mut cache = AuthorNumbers::default();
        for n in 0..=CAPACITY {
            let mut one = AuthorNumbers::default();
            one.put(format!("player:{n}").into(), i32::try_from(n).unwrap());
            cache.extend(&one);
        }
        assert_eq!(cache.by_actor.len(), CAPACITY);
        assert!(cache.of("player:0").is_err());
        assert_eq!(cache.of("player:1").unwrap(), 1);
        assert_eq!(cache.of(&format!("player:{CAPACITY}")).unwrap(), 20_000);
    }
}
