//! Players of one hand. p1 has the first dealt-in seat to the dealer's left; the last player has
//! the button.
//!
//! Specification: rules/SPEC.md §3.2.

use std::fmt;

/// A player of this hand, counted from 0 and written from `p1`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Player(u8);

/// Reader of a hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Viewer {
    Player(Player),
    Public,
    /// Sees every card.
    Auditor,
}

/// A set of players of one hand.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct PlayerSet(u8);

impl Player {
    /// Largest number of players.
    pub const MAX: u8 = 8;

    /// Makes a player of an index, 0 to 7.
    #[must_use]
    pub const fn try_new(index: u8) -> Option<Player> {
        if index < Player::MAX { Some(Player(index)) } else { None }
    }

    pub(crate) const fn of(index: u8) -> Player {
        Player(index)
    }

    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Reads `p1` to `p8`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Player> {
        let number = text.strip_prefix('p')?;
        let canonical = number.len() == 1;
        let number = number.parse::<u8>().ok().filter(|_| canonical)?;
        number.checked_sub(1).and_then(Player::try_new)
    }
}

impl fmt::Display for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", self.0 + 1)
    }
}

impl fmt::Debug for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl PlayerSet {
    pub const EMPTY: PlayerSet = PlayerSet(0);

    /// The players p1 to p`count`.
    #[must_use]
    pub fn first(count: u8) -> PlayerSet {
        (0..count.min(Player::MAX)).map(Player).collect()
    }

    #[must_use]
    pub const fn contains(self, player: Player) -> bool {
        self.0 & (1 << player.0) != 0
    }

    #[must_use]
    pub const fn with(self, player: Player) -> PlayerSet {
        PlayerSet(self.0 | 1 << player.0)
    }

    #[must_use]
    pub const fn without(self, player: Player) -> PlayerSet {
        PlayerSet(self.0 & !(1 << player.0))
    }

    #[must_use]
    pub const fn minus(self, other: PlayerSet) -> PlayerSet {
        PlayerSet(self.0 & !other.0)
    }

    #[must_use]
    pub(crate) const fn intersection(self, other: PlayerSet) -> PlayerSet {
        PlayerSet(self.0 & other.0)
    }

    #[must_use]
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The player with the lowest number.
    #[must_use]
    pub fn lowest(self) -> Option<Player> {
        self.iter().next()
    }

    /// The next player after `player` going round; `player` comes last.
    #[must_use]
    pub fn next_clockwise(self, player: Player) -> Option<Player> {
        let later = PlayerSet(self.0 & !(u8::MAX >> (7 - player.0)));
        later.lowest().or_else(|| self.lowest())
    }

    /// The next player with a higher number, without going round.
    #[must_use]
    pub fn next(self, player: Player) -> Option<Player> {
        PlayerSet(self.0 & !(u8::MAX >> (7 - player.0))).lowest()
    }

    /// The players with the highest strength. Players without a strength are left out.
    #[must_use]
    pub(crate) fn strongest<K: Ord>(self, strength: impl Fn(Player) -> Option<K>) -> PlayerSet {
        let best = self.iter().filter_map(&strength).max();
        self.iter().filter(|&player| best.is_some() && strength(player) == best).collect()
    }

    /// Iterates in ascending order, p1 first.
    pub fn iter(self) -> impl Iterator<Item = Player> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let index = u8::try_from(rest.trailing_zeros()).ok().filter(|&index| index < 8)?;
            rest &= rest - 1;
            Some(Player(index))
        })
    }
}

impl FromIterator<Player> for PlayerSet {
    fn from_iter<I: IntoIterator<Item = Player>>(players: I) -> PlayerSet {
        players.into_iter().fold(PlayerSet::EMPTY, PlayerSet::with)
    }
}

impl fmt::Debug for PlayerSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_goes_round() {
        let set: PlayerSet = [1, 4, 7].into_iter().map(Player::of).collect();
        assert_eq!(set.next_clockwise(Player::of(1)), Some(Player::of(4)));
        assert_eq!(set.next_clockwise(Player::of(7)), Some(Player::of(1)));
        assert_eq!(set.next_clockwise(Player::of(0)), Some(Player::of(1)));
        assert_eq!(set.next(Player::of(7)), None);
        assert_eq!(PlayerSet::EMPTY.next_clockwise(Player::of(3)), None);
        assert_eq!(PlayerSet::first(3).len(), 3);
    }

    #[test]
    fn the_best_are_all_who_are_as_strong_as_the_strongest() {
        let set = PlayerSet::first(4);
        let strengths = [Some(3), None, Some(5), Some(5)];
        let best = set.strongest(|player| strengths[player.index()]);
        assert_eq!(best.iter().map(Player::index).collect::<Vec<_>>(), [2, 3]);
        assert!(set.strongest(|_| None::<u8>).is_empty());
    }

    #[test]
    fn names_are_canonical() {
        assert_eq!(Player::parse("p8"), Some(Player::of(7)));
        for bad in ["p0", "p9", "p01", "1", "p", "p+1", "P1"] {
            assert_eq!(Player::parse(bad), None, "{bad}");
        }
    }
}
