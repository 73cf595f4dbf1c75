//! Chips: a player's stock, and the hand pot of chips invested in this round.
//!
//! Chips only move between stocks and hand pots, or are lost for good: nothing makes new ones.
//!
//! Specification: rules/SPEC.md §12.1.

/// Chips of one player.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Chips {
    pub(super) stock: u8,
    /// The hand pot of this round.
    pub(super) hand_pot: u8,
}

impl Chips {
    pub(super) const fn of(stock: u8) -> Chips {
        Chips { stock, hand_pot: 0 }
    }

    /// Pays one chip for a draw. The stock must not be empty.
    pub(super) const fn invest(&mut self) {
        self.stock = self.stock.saturating_sub(1);
        self.hand_pot = self.hand_pot.saturating_add(1);
    }

    /// Takes up to `most` chips back from the hand pot.
    pub(super) fn refund(&mut self, most: u8) {
        let chips = most.min(self.hand_pot);
        self.hand_pot = self.hand_pot.saturating_sub(chips);
        self.stock = self.stock.saturating_add(chips);
    }

    /// Takes `due` chips of the stock for good, or as many as there are.
    pub(super) const fn tax(&mut self, due: u8) {
        self.stock = self.stock.saturating_sub(due);
    }

    /// Takes one chip out of the hand pot, to be given away. Returns how many there were, 0 or 1.
    pub(super) fn give_one(&mut self) -> u8 {
        let chips = self.hand_pot.min(1);
        self.hand_pot = self.hand_pot.saturating_sub(chips);
        chips
    }

    /// Wins the round: the hand pot goes back to the stock.
    pub(super) fn win(&mut self) {
        self.refund(self.hand_pot);
    }

    /// Loses the round: the hand pot, and `due` chips of the stock.
    pub(super) const fn lose(&mut self, due: u8) {
        self.hand_pot = 0;
        self.tax(due);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Applies `when` to a given stock and hand pot, and compares the result.
    fn check(given: (u8, u8), when: impl FnOnce(&mut Chips), then: (u8, u8)) {
        let mut purse = Chips { stock: given.0, hand_pot: given.1 };
        when(&mut purse);
        assert_eq!((purse.stock, purse.hand_pot), then, "from {given:?}");
    }

    #[test]
    fn chips_move_and_are_lost_but_never_made() {
        check((5, 1), Chips::invest, (4, 2));
        check((5, 3), |purse| purse.refund(2), (7, 1));
        check((5, 1), |purse| purse.refund(2), (6, 0));
        check((5, 1), |purse| purse.tax(2), (3, 1));
        check((1, 1), |purse| purse.tax(3), (0, 1));
        check((5, 2), |purse| assert_eq!(purse.give_one(), 1), (5, 1));
        check((5, 0), |purse| assert_eq!(purse.give_one(), 0), (5, 0));
        check((5, 3), Chips::win, (8, 0));
        check((5, 3), |purse| purse.lose(4), (1, 0));
        check((5, 3), |purse| purse.lose(6), (0, 0));
    }
}
