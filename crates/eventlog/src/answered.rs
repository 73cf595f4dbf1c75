//! The requests that are remembered in memory, so that asking whether one is new costs nothing.
//!
//! They are the greatest ids, up to a number, and **the floor**: every answered id above it is here. So
//! an id above the floor that is not here is new for certain, whoever made it by whatever clock; only
//! the store can say what it knows of one at the floor or below. Clients make UUIDv7, which grow with
//! time: a fresh one is practically always above. One id from the far future lifts nothing, since the
//! least is forgotten first, and the floor rises no further than to what was forgotten.

use std::collections::BTreeMap;

use primitives::RequestId;

use crate::event::Stored;

/// What is known of a request without asking the store.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Known {
    /// It was not answered.
    Fresh,
    /// It was answered.
    Stored(Stored),
    /// Only the store can say.
    Ask,
}

pub(crate) struct Answered {
    by_id: BTreeMap<RequestId, Stored>,
    /// The greatest id that was forgotten.
    floor: Option<RequestId>,
    capacity: usize,
}

impl Answered {
    pub(crate) const fn new(capacity: usize) -> Answered {
        Answered { by_id: BTreeMap::new(), floor: None, capacity }
    }

    pub(crate) fn known(&self, id: RequestId) -> Known {
        match self.by_id.get(&id) {
            Some(stored) => Known::Stored(stored.clone()),
            None if self.floor.is_none_or(|floor| floor < id) => Known::Fresh,
            None => Known::Ask,
        }
    }

    pub(crate) fn put(&mut self, stored: &Stored) {
        if self.floor.is_some_and(|floor| stored.id <= floor) {
            return;
        }
        self.by_id.insert(stored.id, stored.clone());
        if self.by_id.len() > self.capacity {
            self.floor = self.by_id.pop_first().map(|(least, _)| least);
        }
    }

    /// Whether what is put below what is here already would be forgotten at once.
    pub(crate) const fn is_over(&self) -> bool {
        self.floor.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Position;

    fn stored(n: u8) -> Stored {
        Stored {
            id: RequestId([n; 16]),
            digest: [n; 32],
            first: Position(u64::from(n)),
            answer: vec![n].into(),
        }
    }

    fn known(answered: &Answered) -> [Known; 6] {
        [1, 2, 3, 4, 5, 6].map(|n| answered.known(RequestId([n; 16])))
    }

    #[test]
    fn the_least_is_forgotten_and_the_floor_rises_to_it() {
        use Known::{Ask, Fresh};
        let is = |n| Known::Stored(stored(n));
        let mut answered = Answered::new(2);
        assert_eq!(known(&answered), [Fresh, Fresh, Fresh, Fresh, Fresh, Fresh]);
        answered.put(&stored(2));
        answered.put(&stored(5));
        assert_eq!(known(&answered), [Fresh, is(2), Fresh, Fresh, is(5), Fresh]);
        assert!(!answered.is_over());
        answered.put(&stored(4));
        assert_eq!(known(&answered), [Ask, Ask, Fresh, is(4), is(5), Fresh]);
        assert!(answered.is_over());
        // Below the floor it is not kept; between, it is the next to go.
        answered.put(&stored(1));
        answered.put(&stored(3));
        assert_eq!(known(&answered), [Ask, Ask, Ask, is(4), is(5), Fresh]);
    }

    #[test]
    fn nothing_is_remembered_where_there_is_no_room() {
        let mut answered = Answered::new(0);
        answered.put(&stored(3));
        assert_eq!(known(&answered)[1..4], [Known::Ask, Known::Ask, Known::Fresh]);
    }
}
