//! Pots: every movement of credits within a hand.
//!
//! The sum of all credits of a hand is checked to be in range before it begins, and they only move,
//! so no sum here can leave the range. Nobody pays more than their stack: what a rule demands
//! beyond it is recorded as short. Antes leave no line; everything else does, except zero amounts.
//!
//! Specification: rules/SPEC.md §3.1, §5.

use std::num::NonZeroU8;

use primitives::Credits;
use smallvec::SmallVec;

use crate::player::{Player, PlayerSet};
use crate::settlement::{Pot, SettlementItem};
use crate::state::Core;

/// A part of the Hand Pot with the live players who paid into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layer {
    pub(crate) amount: Credits,
    pub(crate) players: PlayerSet,
}

/// Layers, the lowest (`main`) first; never empty.
pub(crate) type Layers = SmallVec<[Layer; 8]>;

/// Adds credits of one hand: the sum cannot leave the range.
pub(crate) fn add(a: Credits, b: Credits) -> Credits {
    a.plus(b).expect("the credits of a hand were summed before it began")
}

impl Core {
    /// Takes the antes of all players. Nobody is dealt in who cannot pay them.
    pub(crate) fn take_antes(&mut self) {
        let sabacc = self.rules.sabacc_ante_due(self.sabacc_pot);
        for player in self.all_players().iter() {
            self.pay_pot(player, self.rules.hand_ante);
            self.move_to_sabacc(player, sabacc);
        }
    }

    /// Pays up to `amount` from the stack into the Hand Pot. Returns what was paid.
    pub(crate) fn pay_pot(&mut self, player: Player, amount: Credits) -> Credits {
        let amount = amount.min(self[player].stack);
        let place = &mut self[player];
        place.stack = place.stack.saturating_minus(amount);
        place.contribution = add(place.contribution, amount);
        self.hand_pot = add(self.hand_pot, amount);
        amount
    }

    /// Takes a penalty of `due` into the Sabacc Pot, as far as the stack goes.
    pub(crate) fn pay_sabacc(&mut self, player: Player, due: Credits) {
        if due.is_zero() {
            return;
        }
        let amount = self.move_to_sabacc(player, due);
        self.line(SettlementItem::PaysSabacc {
            player,
            amount,
            short: due.saturating_minus(amount),
        });
    }

    fn move_to_sabacc(&mut self, player: Player, due: Credits) -> Credits {
        let amount = due.min(self[player].stack);
        self[player].stack = self[player].stack.saturating_minus(amount);
        self.sabacc_pot = add(self.sabacc_pot, amount);
        amount
    }

    /// Returns the amount by which the highest contribution exceeds the second highest to its
    /// player.
    pub(crate) fn return_uncalled(&mut self) {
        let (mut highest, mut second) = (Credits::ZERO, Credits::ZERO);
        let mut who = None;
        for player in self.all_players().iter() {
            let paid = self[player].contribution;
            if paid > highest {
                (second, highest, who) = (highest, paid, Some(player));
            } else if paid > second {
                second = paid;
            }
        }
        let amount = highest.saturating_minus(second);
        let Some(player) = who.filter(|_| !amount.is_zero()) else { return };
        self.hand_pot = self.hand_pot.saturating_minus(amount);
        let place = &mut self[player];
        place.contribution = second;
        place.stack = add(place.stack, amount);
        self.line(SettlementItem::Returned { player, amount });
    }

    /// Adds the carried pot to this hand's pot, and so to its main layer.
    pub(crate) fn add_carried_pot(&mut self) {
        self.hand_pot = add(self.hand_pot, std::mem::take(&mut self.carried_pot));
    }

    /// Cuts the Hand Pot, a carried pot included, into layers at the distinct contributions of live
    /// players. Contributions of folded players fill the layers from below.
    pub(crate) fn cut_layers(&mut self) -> Layers {
        let carried = self.carried_pot;
        self.add_carried_pot();
        let mut levels: SmallVec<[Credits; 8]> = self
            .live
            .iter()
            .map(|player| self[player].contribution)
            .filter(|paid| !paid.is_zero())
            .collect();
        levels.sort_unstable();
        levels.dedup();
        if levels.is_empty() {
            return SmallVec::from_slice(&[Layer { amount: self.hand_pot, players: self.live }]);
        }
        let mut layers = Layers::new();
        let (mut below, mut cut) = (Credits::ZERO, Credits::ZERO);
        for level in levels {
            let up_to = self
                .players
                .iter()
                .fold(carried, |sum, place| add(sum, place.contribution.min(level)));
            let players =
                self.live.iter().filter(|&player| self[player].contribution > below).collect();
            layers.push(Layer { amount: up_to.saturating_minus(cut), players });
            (below, cut) = (level, up_to);
        }
        if let Some(highest) = layers.last_mut() {
            highest.amount = add(highest.amount, self.hand_pot.saturating_minus(cut));
        }
        layers
    }

    /// Gives a layer to `winners`, who must not be empty, less the rake if two or more players
    /// reached the reveal with it.
    pub(crate) fn award(&mut self, pot: Pot, layer: Layer, winners: PlayerSet) {
        let rake =
            if layer.players.len() >= 2 { self.rake_of(layer.amount) } else { Credits::ZERO };
        self.hand_pot = self.hand_pot.saturating_minus(rake);
        self.rake = add(self.rake, rake);
        for (player, share) in shares(layer.amount.saturating_minus(rake), winners) {
            self.pay_from_hand_pot(player, pot, share);
        }
    }

    /// Gives credits of the Hand Pot to a player.
    pub(crate) fn pay_from_hand_pot(&mut self, player: Player, pot: Pot, amount: Credits) {
        self.hand_pot = self.hand_pot.saturating_minus(amount);
        self.pay_winnings(player, pot, amount);
    }

    /// Adds winnings to a stack, and their line.
    fn pay_winnings(&mut self, player: Player, pot: Pot, amount: Credits) {
        if amount.is_zero() {
            return;
        }
        self[player].stack = add(self[player].stack, amount);
        self.line(SettlementItem::Wins { player, pot, amount });
    }

    /// Moves a layer that nobody could win to the Sabacc Pot.
    pub(crate) fn move_layer(&mut self, pot: Pot, amount: Credits) {
        if amount.is_zero() {
            return;
        }
        self.hand_pot = self.hand_pot.saturating_minus(amount);
        self.sabacc_pot = add(self.sabacc_pot, amount);
        self.line(SettlementItem::MovesToSabacc { pot, amount });
    }

    /// Carries a layer that nobody could win to the next hand. One line at the end shows the sum.
    pub(crate) fn carry_layer(&mut self, amount: Credits) {
        self.hand_pot = self.hand_pot.saturating_minus(amount);
        self.carried_pot = add(self.carried_pot, amount);
    }

    /// Gives the whole Sabacc Pot to `winners`, after all layers.
    pub(crate) fn award_sabacc(&mut self, winners: PlayerSet) {
        if winners.is_empty() {
            return;
        }
        let pot = std::mem::take(&mut self.sabacc_pot);
        for (player, share) in shares(pot, winners) {
            self.pay_winnings(player, Pot::Sabacc, share);
        }
    }

    /// Adds the line of an eliminated player, which moves no credits.
    pub(crate) fn record_elimination(&mut self, player: Player) {
        self.line(SettlementItem::Eliminated { player });
    }

    fn rake_of(&self, amount: Credits) -> Credits {
        let share = amount.portion(u64::from(self.rules.rake_bps), 10_000).unwrap_or(Credits::ZERO);
        if self.rules.rake_cap.is_zero() {
            share
        } else {
            share.min(self.rules.rake_cap.saturating_minus(self.rake))
        }
    }

    /// Sum of stacks, pots and rake: equal at every event of a hand.
    pub(crate) fn total(&self) -> Credits {
        let stacks = self.players.iter().map(|place| place.stack);
        Credits::sum(stacks.chain([self.hand_pot, self.sabacc_pot, self.carried_pot, self.rake]))
            .unwrap_or(Credits::MAX)
    }
}

/// Equal shares. Odd credits go out singly in the order p1, p2 ….
fn shares(amount: Credits, winners: PlayerSet) -> SmallVec<[(Player, Credits); 8]> {
    let ways = u8::try_from(winners.len()).ok().and_then(NonZeroU8::new);
    let Some(ways) = ways else { return SmallVec::new() };
    let (share, odd) = amount.split(ways);
    let odd = usize::try_from(odd.get()).unwrap_or(0);
    let share_of = |at| if at < odd { add(share, Credits::of(1)) } else { share };
    winners.iter().enumerate().map(|(at, player)| (player, share_of(at))).collect()
}
