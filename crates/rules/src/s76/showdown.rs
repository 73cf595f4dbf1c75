//! The reveal of the games that play to 23: bomb-out penalties, layers, Sudden Demise, Sabacc Pot.
//!
//! Specification: rules/SPEC.md §9.5, §9.6.

use crate::cards::{CardSet, Cards};
use crate::chance::{DealReason, Destination};
use crate::player::{Player, PlayerSet};
use crate::rank::Rank;
use crate::ruleset::BombOut;
use crate::s76::{Worth, total};
use crate::settlement::Pot;
use crate::state::{Core, Layer, Layers, Ranks};

/// Rule for a layer whose tied players all bomb in the Sudden Demise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AllBomb {
    /// The next best hand at the reveal wins, without the Sabacc Pot.
    NextBest,
    /// The tied hand closest to 23 or -23 wins.
    Closest,
}

/// A reveal in progress. Layers are settled one after the other, with waits for demise cards.
#[derive(Debug, Clone)]
pub(crate) struct Showdown {
    all_bomb: AllBomb,
    layers: Layers,
    layer_index: usize,
    /// Values at the reveal; a demise card never changes them.
    worth: [Option<Worth>; 8],
    winners: PlayerSet,
    takes_sabacc: PlayerSet,
}

/// Result of settling a layer.
#[derive(PartialEq, Eq)]
enum Progress {
    Settled,
    CardsDue,
}

impl Showdown {
    /// Reveals the hands of all live players and takes the penalties.
    pub(crate) fn new(core: &mut Core, all_bomb: AllBomb) -> Showdown {
        core.shown = core.live;
        let mut worth = [None; 8];
        for player in core.live.iter() {
            worth[player.index()] = Some(worth_of(core, player, &core[player].cards));
        }
        let penalty = match core.rules.bomb_out {
            BombOut::MatchPot => core.hand_pot,
            BombOut::Fixed => core.rules.bomb_out_amount,
            BombOut::None => primitives::Credits::ZERO,
        };
        for player in core.live.iter() {
            if matches!(worth[player.index()], Some(Worth::Bombed(_))) {
                core.pay_sabacc(player, penalty);
            }
        }
        Showdown {
            all_bomb,
            layers: core.cut_layers(),
            layer_index: 0,
            worth,
            winners: PlayerSet::EMPTY,
            takes_sabacc: PlayerSet::EMPTY,
        }
    }

    /// Settles layers until a demise needs cards, or the hand is over.
    pub(crate) fn step(&mut self, core: &mut Core) {
        while let Some(&layer) = self.layers.get(self.layer_index) {
            if self.settle(core, layer) == Progress::CardsDue {
                return;
            }
            self.layer_index += 1;
        }
        core.award_sabacc(self.takes_sabacc);
        let mut ranks = Ranks::default();
        for player in core.all_players().iter() {
            let worth = self.worth[player.index()].map(Rank::from);
            ranks[player.index()] = worth.or(Some(Rank::Folded));
        }
        core.finish(self.winners, &ranks);
    }

    fn settle(&mut self, core: &mut Core, layer: Layer) -> Progress {
        let ranking = core.rules.ranking;
        let at_reveal = |player: Player| self.worth[player.index()]?.strength(ranking);
        let best = layer.players.strongest(at_reveal);
        if best.is_empty() {
            core.move_layer(Pot::layer(self.layer_index), layer.amount);
            return Progress::Settled;
        }
        if best.len() == 1 {
            return self.award(core, layer, best, true);
        }
        let without: PlayerSet =
            best.iter().filter(|&player| core[player].extra.is_empty()).collect();
        if without.len() > core.piles[0].available() {
            return self.award(core, layer, best, true);
        }
        if !without.is_empty() {
            for player in without.iter() {
                core.deal(Destination::Player(player), 0, 1, DealReason::TieBreak);
            }
            return Progress::CardsDue;
        }
        let modified = best.strongest(|player| demise_worth(core, player).strength(ranking));
        if !modified.is_empty() {
            return self.award(core, layer, modified, true);
        }
        match self.all_bomb {
            AllBomb::NextBest => {
                let next = layer.players.minus(best).strongest(at_reveal);
                if next.is_empty() {
                    core.move_layer(Pot::layer(self.layer_index), layer.amount);
                    return Progress::Settled;
                }
                self.award(core, layer, next, false)
            }
            AllBomb::Closest => {
                let off = |player| -((demise_total(core, player).abs() - 23).abs());
                let closest = best.strongest(|player| Some(off(player)));
                self.award(core, layer, closest, true)
            }
        }
    }

    /// Awards a layer. `sabacc` says whether these winners may take the Sabacc Pot, if this is the
    /// main layer and their hands at the reveal were special.
    fn award(&mut self, core: &mut Core, layer: Layer, to: PlayerSet, sabacc: bool) -> Progress {
        core.award(Pot::layer(self.layer_index), layer, to);
        if self.layer_index == 0 {
            self.winners = to;
            let special =
                |player: &Player| self.worth[player.index()].is_some_and(Worth::is_special);
            self.takes_sabacc = to.iter().filter(|player| sabacc && special(player)).collect();
        }
        Progress::Settled
    }
}

/// Value of a hand, with the field of the other live players if the rules let it count.
fn worth_of(core: &Core, player: Player, cards: &[crate::cards::Card]) -> Worth {
    if !core.rules.holdem {
        return Worth::of(cards);
    }
    let others = core.live.without(player).iter();
    let field = others.fold(CardSet::EMPTY, |all, other| all.union(core[other].face_up));
    Worth::best_with(cards, field, core.rules.ranking)
}

fn with_extra(core: &Core, player: Player) -> Cards {
    let mut cards = core[player].cards.clone();
    cards.extend_from_slice(&core[player].extra);
    cards
}

fn demise_worth(core: &Core, player: Player) -> Worth {
    worth_of(core, player, &with_extra(core, player))
}

fn demise_total(core: &Core, player: Player) -> i16 {
    total(&with_extra(core, player))
}
