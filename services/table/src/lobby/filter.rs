//! Choice of tables of the list.

use std::ops::RangeInclusive;

use primitives::PlayerId;
use prost::Message as _;
use proto::table::v1 as pb;
use sha2::{Digest as _, Sha256};
use wire::BadField;

use super::index::{ListedTable, TableTerms};

/// Choice of tables: those that pass every part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Filter {
    variant: Option<String>,
    ante: RangeInclusive<u64>,
    buy_in: RangeInclusive<u64>,
    min_free_seats: u32,
    /// Only tables where this player has a seat.
    player: Option<PlayerId>,
    /// First bytes of the SHA-256 of what was asked for, and by whom where that matters.
    pub(super) tag: [u8; 8],
}

impl Filter {
    /// Reads a filter of a caller; none asks for all tables.
    ///
    /// # Errors
    /// A game that does not exist, a range without a number in it, or `mine` of a caller who is no
    /// player.
    pub(crate) fn parse(
        filter: Option<&pb::LobbyFilter>,
        caller: Option<PlayerId>,
    ) -> Result<Filter, BadField> {
        let default = pb::LobbyFilter::default();
        let message = filter.unwrap_or(&default);
        let pb::LobbyFilter {
            variant,
            min_ante_credits,
            max_ante_credits,
            min_buy_in_credits,
            max_buy_in_credits,
            min_free_seats,
            mine,
        } = message;
        let variant = Some(variant.clone()).filter(|variant| !variant.is_empty());
        if variant.as_ref().is_some_and(|variant| rules::variant(variant).is_none()) {
            return Err(BadField::new("filter.variant", "no such game: ListVariants lists them"));
        }
        let player = match (mine, caller) {
            (false, _) => None,
            (true, Some(player)) => Some(player),
            (true, None) => {
                return Err(BadField::new("filter.mine", "needs the token of a player"));
            }
        };
        Ok(Filter {
            variant,
            ante: range("filter.max_ante_credits", *min_ante_credits, *max_ante_credits)?,
            buy_in: range("filter.max_buy_in_credits", *min_buy_in_credits, *max_buy_in_credits)?,
            min_free_seats: *min_free_seats,
            player,
            tag: tag(message, player),
        })
    }

    /// The player whose tables alone pass; `None` for all tables.
    #[must_use]
    pub(super) const fn player(&self) -> Option<PlayerId> {
        self.player
    }

    /// Whether a table passes by what never changes of it.
    #[must_use]
    pub(super) fn passes_terms(&self, terms: &TableTerms) -> bool {
        self.variant.as_ref().is_none_or(|variant| *variant == terms.variant)
            && self.ante.contains(&terms.ante)
            && *self.buy_in.start() <= terms.max_buy_in
            && *self.buy_in.end() >= terms.min_buy_in
    }

    /// Whether a table passes, as it is seated now.
    #[must_use]
    pub(super) fn passes(&self, table: &ListedTable) -> bool {
        self.passes_terms(&table.terms)
            && table.free_seats() >= self.min_free_seats
            && self.player.is_none_or(|player| table.has_seat(player))
    }
}

fn range(field: &str, min: u64, max: Option<u64>) -> Result<RangeInclusive<u64>, BadField> {
    let max = max.unwrap_or(u64::MAX);
    if max < min {
        return Err(BadField::new(field, "smaller than the least that was asked for"));
    }
    Ok(min..=max)
}

fn tag(message: &pb::LobbyFilter, player: Option<PlayerId>) -> [u8; 8] {
    let mut hash = Sha256::new();
    hash.update(player.map_or([0; 16], |player| player.0));
    hash.update(message.encode_to_vec());
    let digest: [u8; 32] = hash.finalize().into();
    let mut tag = [0; 8];
    tag.copy_from_slice(&digest[..8]);
    tag
}
