//! A round: fresh piles, laps of one turn each from the starter, and the end of the last lap.
//!
//! Turns go clockwise from the starter, even after the starter has left. Deals and rolls always go
//! p1 first.
//!
//! Specification: rules/SPEC.md §12.1.

use crate::cards::Cards;
use crate::chance::{DealReason, Destination};
use crate::player::{Player, PlayerSet};
use crate::state::Core;

use super::ranking::{FixTokens, pile_of};
use super::turn::TurnState;
use super::{Kessel, Phase};

/// Largest number of laps in a round.
pub(crate) const MAX_LAPS: u8 = 3;

impl Kessel {
    /// Starts the next round. All hands go back first.
    pub(super) fn next_round(&mut self, core: &mut Core) {
        self.starter = core.live.next_clockwise(self.starter).unwrap_or(self.starter);
        for pile in [0, 1] {
            let mut cards = core.piles[usize::from(pile)].take_discards();
            for place in core.players() {
                cards.extend(place.cards.iter().copied().filter(|&card| pile_of(card) == pile));
            }
            core.shuffle_in(pile, cards);
        }
        self.deal_round(core);
    }

    /// Deals a round. The piles are about to be shuffled.
    pub(super) fn deal_round(&mut self, core: &mut Core) {
        self.phase = Phase::Dealing;
        self.round = self.round.saturating_add(1);
        self.lap = 1;
        self.fix_tokens = FixTokens::default();
        self.immune = PlayerSet::EMPTY;
        self.embargoed = PlayerSet::EMPTY;
        self.standing = PlayerSet::EMPTY;
        core.deal_from_each(Destination::Table, DealReason::Flip);
        for player in core.live.iter() {
            core.deal_from_each(Destination::Player(player), DealReason::OpeningHand);
        }
    }

    pub(super) fn start_lap(&mut self, core: &Core) {
        self.stood = PlayerSet::EMPTY;
        self.phase = Phase::Turn(TurnState::new(self.first_of_lap(core)));
    }

    pub(super) fn end_turn(&mut self, core: &mut Core, player: Player) {
        self.embargoed = self.embargoed.without(player);
        match self.next_of_lap(core, player) {
            Some(next) => self.phase = Phase::Turn(TurnState::new(next)),
            None if self.lap == MAX_LAPS || core.live.minus(self.stood).is_empty() => {
                self.reveal(core);
            }
            None => {
                self.lap = self.lap.saturating_add(1);
                self.start_lap(core);
            }
        }
    }

    /// Player of the turn after that of `player` in this round; none at the last turn of the round.
    pub(super) fn next_in_turn(&self, core: &Core, player: Player) -> Option<Player> {
        let next_lap = (self.lap < MAX_LAPS).then(|| self.first_of_lap(core));
        self.next_of_lap(core, player).or(next_lap)
    }

    fn first_of_lap(&self, core: &Core) -> Player {
        let next = core.live.next_clockwise(self.starter).unwrap_or(self.starter);
        if core.live.contains(self.starter) { self.starter } else { next }
    }

    fn next_of_lap(&self, core: &Core, player: Player) -> Option<Player> {
        let size = core.all_players().len();
        let clockwise = |player: Player| (player.index() + size - self.starter.index()) % size;
        core.live.next_clockwise(player).filter(|&next| clockwise(next) > clockwise(player))
    }
}

/// Takes the cards of a shuffled pile out of all hands.
pub(super) fn take_from_hands(core: &mut Core, pile: u8) {
    for player in core.all_players().iter() {
        let held: Cards = std::mem::take(&mut core[player].cards);
        core[player].cards = held.into_iter().filter(|&card| pile_of(card) != pile).collect();
    }
    // Revealed hands stay visible until the last pile is shuffled.
    if pile == 1 {
        core.shown = PlayerSet::EMPTY;
    }
}
