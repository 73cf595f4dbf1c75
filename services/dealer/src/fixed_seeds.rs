//! Seeds that an option fixes, for rooms of developers: a run can be repeated, and whoever knows the
//! option knows every card.
//!
//! No setting turns this on: only a program that runs the dealer itself gives it, as `sabacc up`
//! does for a fresh folder. The dealer's log has a name of its own for it, which is in the context of
//! every hand and in every checkpoint. A dealer takes fixed seeds under such a name alone, and under
//! such a name takes no others, so no room changes from one to the other.
//!
//! Specification: fairness/SPEC.md §3.12.

use sha2::{Digest as _, Sha512};
use zeroize::Zeroizing;

use crate::hand::HandName;

/// Beginning of the origin of every log of a room with fixed seeds.
pub const ORIGIN_PREFIX: &str = "insecure-fixed-seed-";

/// Number that all seeds of a room follow from.
#[derive(Clone)]
pub struct FixedSeeds(Zeroizing<[u8; 32]>);

/// A log's name and the option contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FixedSeedError {
    #[error("seeds are fixed in rooms alone whose logs are named for it, from the beginning on")]
    OtherRoom,
    #[error("this room's seeds are fixed by an option, and it is not given")]
    Missing,
}

impl FixedSeeds {
    #[must_use]
    pub fn new(number: [u8; 32]) -> FixedSeeds {
        FixedSeeds(Zeroizing::new(number))
    }

    /// Seed of a hand: SHA-512 over a label, the number, the table's id and the hand's number.
    #[must_use]
    pub(crate) fn seed(&self, hand: HandName) -> Zeroizing<[u8; 64]> {
        let hash = Sha512::new()
            .chain_update(b"sabacc/insecure-fixed-seed/v1")
            .chain_update(&self.0[..])
            .chain_update(hand.table.0)
            .chain_update(hand.number.to_be_bytes());
        Zeroizing::new(hash.finalize().into())
    }
}

/// Checks that a log of this origin is dealt on as it was begun.
pub(crate) fn check(origin: &str, fixed: Option<&FixedSeeds>) -> Result<(), FixedSeedError> {
    match (origin.starts_with(ORIGIN_PREFIX), fixed) {
        (true, Some(_)) | (false, None) => Ok(()),
        (false, Some(_)) => Err(FixedSeedError::OtherRoom),
        (true, None) => Err(FixedSeedError::Missing),
    }
}

#[cfg(test)]
mod tests {
    use primitives::TableId;

    use super::*;

    #[test]
    fn a_seed_follows_from_the_number_and_the_hand() {
        let hand = |table, number| HandName { table: TableId([table; 16]), number };
        let seed =
            |fixed: u8, table, number| *FixedSeeds::new([fixed; 32]).seed(hand(table, number));
        assert_eq!(seed(1, 1, 1), seed(1, 1, 1));
        let others = [seed(2, 1, 1), seed(1, 2, 1), seed(1, 1, 2)];
        assert!(others.iter().all(|other| *other != seed(1, 1, 1)));
    }

    #[test]
    fn no_room_changes_from_one_to_the_other() {
        let fixed = FixedSeeds::new([1; 32]);
        let named = format!("{ORIGIN_PREFIX}00.local/dealer");
        assert_eq!(check(&named, Some(&fixed)), Ok(()));
        assert_eq!(check("room.example/dealer", None), Ok(()));
        assert_eq!(check("room.example/dealer", Some(&fixed)), Err(FixedSeedError::OtherRoom));
        assert_eq!(check(&named, None), Err(FixedSeedError::Missing));
    }
}
