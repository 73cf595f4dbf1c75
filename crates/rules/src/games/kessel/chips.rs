//! Chips: a player's stock, and the hand pot of chips invested in this round.
//!
//! Chips only move between stocks and hand pots, or are lost for good: nothing makes new ones.

/// Chips of one player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Purse {
    pub(super) stock: u8,
    /// The hand pot of this round.
    pub(super) pot: u8,
}

impl Purse {
    pub(super) const fn of(stock: u8) -> Purse {
        Purse { stock, pot: 0 }
    }

    /// Pays one chip for a draw. The stock must not be empty.
    pub(super) const fn invest(&mut self) {
        self.stock = self.stock.saturating_sub(1);
        self.pot = self.pot.saturating_add(1);
    }

    /// Takes up to `most` chips back from the hand pot.
    pub(super) fn refund(&mut self, most: u8) {
        let chips = most.min(self.pot);
        self.pot = self.pot.saturating_sub(chips);
        self.stock = self.stock.saturating_add(chips);
    }

    /// Takes `due` chips of the stock for good, or as many as there are.
    pub(super) const fn tax(&mut self, due: u8) {
        self.stock = self.stock.saturating_sub(due);
    }

    /// Takes one chip out of the hand pot, to be given away. Returns how many there were, 0 or 1.
    pub(super) fn give_one(&mut self) -> u8 {
        let chips = self.pot.min(1);
        self.pot = self.pot.saturating_sub(chips);
        chips
    }

    /// Wins the round: the hand pot goes back to the stock.
    pub(super) fn win(&mut self) {
        self.refund(self.pot);
    }

    /// Loses the round: the hand pot, and `due` chips of the stock.
    pub(super) const fn lose(&mut self, due: u8) {
        self.pot = 0;
        self.tax(due);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies `when` to a given stock and hand pot, and compares the result.
    fn check(given: (u8, u8), when: impl FnOnce(&mut Purse), then: (u8, u8)) {
        let mut purse = Purse { stock: given.0, pot: given.1 };
        when(&mut purse);
        assert_eq!((purse.stock, purse.pot), then, "from {given:?}");
    }

    #[test]
    fn chips_move_and_are_lost_but_never_made() {
        check((5, 1), Purse::invest, (4, 2));
        check((5, 3), |purse| purse.refund(2), (7, 1));
        check((5, 1), |purse| purse.refund(2), (6, 0));
        check((5, 1), |purse| purse.tax(2), (3, 1));
        check((1, 1), |purse| purse.tax(3), (0, 1));
        check((5, 2), |purse| assert_eq!(purse.give_one(), 1), (5, 1));
        check((5, 0), |purse| assert_eq!(purse.give_one(), 0), (5, 0));
        check((5, 3), Purse::win, (8, 0));
        check((5, 3), |purse| purse.lose(4), (1, 0));
        check((5, 3), |purse| purse.lose(6), (0, 0));
    }
}
