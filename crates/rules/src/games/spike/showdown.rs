//! The reveal: layers by the ladder, ties by blind cards, and the Sabacc Pot for a hand that sums
//! to 0.
//!
//! Specification: rules/SPEC.md §14.5.

use crate::c62::value;
use crate::cards::Card;
use crate::chance::{DealReason, Destination};
use crate::games::spike::ladder::Worth;
use crate::player::PlayerSet;
use crate::rank::Rank;
use crate::settlement::Pot;
use crate::state::{Core, Layer, Layers, Ranks};

/// Most blind cards that one player gets in a hand.
const MAX_BLIND_CARDS: usize = 3;

/// A reveal in progress. Layers are settled one after the other, with waits for blind cards.
#[derive(Debug, Clone)]
pub(super) struct Showdown {
    layers: Layers,
    layer_index: usize,
    worth: [Option<Worth>; 8],
    winners: PlayerSet,
}

impl Showdown {
    /// Reveals the hands of all live players.
    pub(super) fn new(core: &mut Core) -> Showdown {
        core.shown = core.live;
        let mut worth = [None; 8];
        for player in core.live.iter() {
            worth[player.index()] = Some(Worth::of(&core[player].cards));
        }
        Showdown { layers: core.cut_layers(), layer_index: 0, worth, winners: PlayerSet::EMPTY }
    }

    /// Settles layers until blind cards are due, or the hand is over.
    pub(super) fn step(&mut self, core: &mut Core) {
        while let Some(&layer) = self.layers.get(self.layer_index) {
            let Some(best) = self.best(core, layer) else { return };
            core.award(Pot::layer(self.layer_index), layer, best);
            if self.layer_index == 0 {
                self.winners = best;
            }
            self.layer_index += 1;
        }
        let worth = self.worth;
        let sums_to_0 = |worth: Worth| worth.sums_to_0();
        // The winners' hands are equal, so either all of them sum to 0 or none does.
        if self.winners.iter().all(|player| worth[player.index()].is_some_and(sums_to_0)) {
            core.award_sabacc(self.winners);
        }
        let mut ranks = Ranks::default();
        for player in core.all_players().iter() {
            let rank = worth[player.index()].map(|worth| Rank::Spike(worth.rung()));
            ranks[player.index()] = rank.or(Some(Rank::Folded));
        }
        core.finish(self.winners, &ranks);
    }

    /// Winners of a layer; none if blind cards are due first. Cards that an earlier layer dealt
    /// count here too, so a player's first blind card is compared with the others' first.
    fn best(&self, core: &mut Core, layer: Layer) -> Option<PlayerSet> {
        let mut tied = layer.players.strongest(|player| self.worth[player.index()]);
        for draw in 0..MAX_BLIND_CARDS {
            if tied.len() < 2 {
                break;
            }
            let without: PlayerSet =
                tied.iter().filter(|&player| core[player].extra.len() <= draw).collect();
            if without.len() > core.piles[0].available() {
                break;
            }
            if !without.is_empty() {
                for player in without.iter() {
                    core.deal(Destination::Player(player), 0, 1, DealReason::TieBreak);
                }
                return None;
            }
            tied = tied.strongest(|player| {
                core[player].extra.get(draw).map(|&card| single_card_key(card))
            });
        }
        Some(tied)
    }
}

/// Sort key of a card that is compared alone, higher is better: closer to 0, then positive.
fn single_card_key(card: Card) -> (i16, i16) {
    let value = value(card);
    (-value.abs(), value)
}
