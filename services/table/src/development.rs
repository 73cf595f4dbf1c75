//! Marks of a room for developers, for the tables that it opens. No setting gives them: only a
//! program that runs the services itself, as `sabacc up` does.
//!
//! Both stand in the settings of each such table, whose hash is in every hand: no hand hides them.

use primitives::TableId;
use rules::TableSettings;
use sha2::{Digest as _, Sha256};

/// Milliseconds since 1970 in the id of the first table of a room with fixed seeds.
const FIRST_TABLE_MS: u64 = 1_700_000_000_000;

/// Differences of a room for developers from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Development {
    /// Factor by which the clocks of new tables run faster, 1 to 100.
    pub time_scale: u32,
    /// Number that the dealer's seeds follow from, and the ids of new tables too.
    pub fixed_seed: Option<[u8; 32]>,
}

impl Default for Development {
    fn default() -> Development {
        Development { time_scale: 1, fixed_seed: None }
    }
}

impl Development {
    /// Marks the settings of a new table.
    pub(crate) fn mark(&self, settings: &mut TableSettings) {
        settings.time_scale = self.time_scale;
        settings.insecure_fixed_seed = u32::from(self.fixed_seed.is_some());
    }

    /// Id of a new table in a room with fixed seeds, which has this many already: a UUIDv7 in form,
    /// ascending, and the same in each room with that number.
    #[must_use]
    pub(crate) fn table_id(&self, already: usize) -> Option<TableId> {
        let number = u64::try_from(already).unwrap_or(u64::MAX);
        let hash = Sha256::new()
            .chain_update(b"sabacc/fixed-table-id/v1")
            .chain_update(self.fixed_seed?)
            .chain_update(number.to_be_bytes())
            .finalize();
        let mut id = [0; 16];
        id.copy_from_slice(&hash[..16]);
        id[..6].copy_from_slice(&FIRST_TABLE_MS.saturating_add(number).to_be_bytes()[2..]);
        id[6] = id[6] & 0x0f | 0x70;
        id[8] = id[8] & 0x3f | 0x80;
        Some(TableId(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_that_is_none_for_developers_marks_nothing() {
        let mut settings = TableSettings::default();
        Development::default().mark(&mut settings);
        assert_eq!(settings, TableSettings::default());
        assert_eq!(Development::default().table_id(0), None);
        let marked = Development { time_scale: 20, fixed_seed: Some([1; 32]) };
        marked.mark(&mut settings);
        assert_eq!((settings.time_scale, settings.insecure_fixed_seed), (20, 1));
    }

    #[test]
    fn tables_of_fixed_seeds_have_fixed_ids_in_the_order_of_their_opening() {
        let ids = |seed| {
            let room = Development { fixed_seed: Some([seed; 32]), ..Development::default() };
            (0..3).map(|number| room.table_id(number).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(ids(1), ids(1));
        assert!(ids(1).is_sorted() && ids(1).iter().all(|id| !ids(2).contains(id)));
        assert!(ids(1).iter().all(|id| (id.0[6] >> 4, id.0[8] >> 6) == (7, 0b10)));
    }
}
