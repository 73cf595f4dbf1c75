//! Assigned tokens of Kessel: one set of three kinds for everybody, or one set for each player.

use crate::player::Player;
use crate::token::ShiftToken;

/// Most players that a list can be for.
const MAX_SETS: usize = 6;
/// Number of kinds of token that each player starts with.
const TOKENS_EACH: usize = 3;

/// Kinds of token by player (rules/SPEC.md §12.2): three names for everybody, or three for each
/// player in turn from p1, in one flat list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AssignedTokens {
    /// The first `sets` entries count; the rest repeat the first.
    kinds: [[ShiftToken; TOKENS_EACH]; MAX_SETS],
    sets: u8,
}

impl AssignedTokens {
    /// Reads a flat list; the error says what it must be.
    pub(crate) fn parse(names: &[String]) -> Result<Option<AssignedTokens>, String> {
        if names.is_empty() {
            return Ok(None);
        }
        let list: Option<Vec<ShiftToken>> =
            names.iter().map(|name| ShiftToken::parse(name)).collect();
        list.and_then(|list| AssignedTokens::of(&list)).map(Some).ok_or_else(|| {
            format!(
                "must be empty, or three different names of tokens for everybody, or three for each \
                 player in turn, of at most {MAX_SETS}"
            )
        })
    }

    fn of(list: &[ShiftToken]) -> Option<AssignedTokens> {
        let (sets, rest) = list.as_chunks::<TOKENS_EACH>();
        let different = |[a, b, c]: &[ShiftToken; TOKENS_EACH]| a != b && a != c && b != c;
        if !rest.is_empty() || sets.len() > MAX_SETS || !sets.iter().all(different) {
            return None;
        }
        let mut kinds = [*sets.first()?; MAX_SETS];
        kinds[..sets.len()].copy_from_slice(sets);
        Some(AssignedTokens { kinds, sets: u8::try_from(sets.len()).ok()? })
    }

    /// Number of players of a hand; none if everybody gets one common set.
    pub(crate) const fn players(&self) -> Option<u8> {
        if self.sets > 1 { Some(self.sets) } else { None }
    }

    /// Kinds of token of a player whom the list reaches.
    pub(crate) const fn of_player(&self, player: Player) -> [ShiftToken; TOKENS_EACH] {
        self.kinds[player.index()]
    }

    /// The sets, p1's first.
    pub(crate) fn sets(&self) -> &[[ShiftToken; TOKENS_EACH]] {
        &self.kinds[..usize::from(self.sets)]
    }

    /// The flat list of names.
    pub(crate) fn names(&self) -> Vec<String> {
        self.sets().iter().flatten().map(|token| token.name().to_owned()).collect()
    }
}
