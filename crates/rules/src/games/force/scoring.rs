//! Settlement of the layers of Force sabacc, and the tie cards that it needs.
//!
//! Each layer is judged among its own players by the hands they showed. A tie needs a card for each
//! tied player; then the layer is judged again from the start, with those cards. A player gets at
//! most one tie card in a hand, and it counts only in a tie. A player who bombs with it is out of
//! this layer alone.
//!
//! Specification: rules/SPEC.md §11.3.

use crate::chance::{DealReason, Destination};
use crate::games::force::sides::{Sides, opposite};
use crate::moves::Side;
use crate::player::{Player, PlayerSet};
use crate::rank::Rank;
use crate::s76::{Worth, total, value};
use crate::settlement::Pot;
use crate::state::{Core, Layers, Ranks};

#[derive(Debug, Clone)]
pub(super) struct Scoring {
    layers: Layers,
    layer_index: usize,
    /// Hands as they were shown; none for players who are not live.
    hands: [Option<ShownHand>; 8],
    /// Winners of the main layer.
    winners: PlayerSet,
}

/// A hand after its showdown.
#[derive(Debug, Clone, Copy)]
struct ShownHand {
    worth: Worth,
    total: i16,
    side: Side,
}

/// Result of judging a layer.
enum Verdict {
    /// The winners; if empty, the layer carries over.
    Won(PlayerSet),
    /// Players who need a tie card before the layer can be judged.
    NeedsTieCards(PlayerSet),
}

impl Scoring {
    /// Starts the scoring. Every live player has shown the hand.
    pub(super) fn new(core: &mut Core, sides: &Sides) -> Scoring {
        let mut hands = [None; 8];
        for player in core.live.iter() {
            let cards = &core[player].cards;
            let side = sides.of(player).unwrap_or(Side::Light);
            let shown = ShownHand { worth: Worth::of(cards), total: total(cards), side };
            hands[player.index()] = Some(shown);
        }
        Scoring { layers: core.cut_layers(), layer_index: 0, hands, winners: PlayerSet::EMPTY }
    }

    /// Settles layers until one needs tie cards, or the hand is over.
    pub(super) fn step(&mut self, core: &mut Core) {
        while let Some(&layer) = self.layers.get(self.layer_index) {
            match self.judge(core, layer.players) {
                Verdict::NeedsTieCards(players) => {
                    for player in players.iter() {
                        core.deal(Destination::Player(player), 0, 1, DealReason::TieBreak);
                    }
                    return;
                }
                Verdict::Won(winners) => {
                    if self.layer_index == 0 {
                        self.winners = winners;
                    }
                    if winners.is_empty() {
                        core.carry_layer(layer.amount);
                    } else {
                        core.award(Pot::layer(self.layer_index), layer, winners);
                    }
                    self.layer_index += 1;
                }
            }
        }
        let mut ranks = Ranks::default();
        for player in core.all_players().iter() {
            ranks[player.index()] = Some(self.hand(player).map_or(Rank::Folded, ShownHand::rank));
        }
        core.finish(self.winners, &ranks);
    }

    fn hand(&self, player: Player) -> Option<ShownHand> {
        self.hands[player.index()]
    }

    fn players_with(&self, players: PlayerSet, like: impl Fn(ShownHand) -> bool) -> PlayerSet {
        players.iter().filter(|&player| self.hand(player).is_some_and(&like)).collect()
    }

    /// Judges the special kinds of hand first, then the stronger side, then the other one.
    fn judge(&self, core: &Core, players: PlayerSet) -> Verdict {
        let mut rest = self.players_with(players, |hand| !matches!(hand.worth, Worth::Bombed(_)));
        let kinds: [fn(ShownHand) -> bool; 2] =
            [|hand| hand.worth == Worth::IdiotsArray, |hand| matches!(hand.worth, Worth::Pure(_))];
        for kind in kinds {
            let same = self.players_with(rest, kind);
            if let Some(verdict) = break_tie(core, same) {
                return verdict;
            }
            rest = rest.minus(same);
        }
        let stronger = self.stronger_side(rest);
        for side in [stronger, opposite(stronger)] {
            let mut members = self.players_with(rest, |hand| hand.side == side);
            while !members.is_empty() {
                let best = members.strongest(|player| Some(strength(self.hand(player)?.total)));
                if let Some(verdict) = break_tie(core, best) {
                    return verdict;
                }
                members = members.minus(best);
            }
        }
        Verdict::Won(PlayerSet::EMPTY)
    }

    /// Side with the higher score; then the side with the single highest total without its sign;
    /// then dark. A side without players has no score.
    fn stronger_side(&self, players: PlayerSet) -> Side {
        let score = |side: Side| {
            let members = self.players_with(players, |hand| hand.side == side);
            let totals = || members.iter().filter_map(|player| Some(self.hand(player)?.total));
            let sum: i16 = totals().sum();
            let sum = match side {
                Side::Light => sum,
                Side::Dark => -sum,
            };
            totals().map(i16::abs).max().map(|highest| (sum, highest))
        };
        if score(Side::Light) > score(Side::Dark) { Side::Light } else { Side::Dark }
    }
}

/// Sort key of a total: higher without its sign is better; of two such, the negative one.
const fn strength(total: i16) -> i16 {
    2 * total.abs() + if total < 0 { 1 } else { 0 }
}

/// Breaks a tie: a single player wins; otherwise each needs a tie card, and the best with it wins.
/// All tied players win if there is not a card for each. None if nobody is tied, or if all bomb.
fn break_tie(core: &Core, tied: PlayerSet) -> Option<Verdict> {
    if tied.len() <= 1 {
        return (!tied.is_empty()).then_some(Verdict::Won(tied));
    }
    let without: PlayerSet = tied.iter().filter(|&player| core[player].extra.is_empty()).collect();
    if without.len() > core.piles[0].available() {
        return Some(Verdict::Won(tied));
    }
    if !without.is_empty() {
        return Some(Verdict::NeedsTieCards(without));
    }
    let with_card = |player: Player| {
        let place = &core[player];
        let total = total(&place.cards) + place.extra.iter().map(|&card| value(card)).sum::<i16>();
        let bombed = matches!(Worth::of_total(total), Worth::Bombed(_));
        (!bombed).then_some(strength(total))
    };
    let best = tied.strongest(with_card);
    (!best.is_empty()).then_some(Verdict::Won(best))
}

impl ShownHand {
    const fn rank(self) -> Rank {
        match (self.worth, self.side) {
            (Worth::IdiotsArray, _) => Rank::IdiotsArray,
            (Worth::Pure(total), _) => Rank::Natural(total),
            (Worth::Bombed(total), _) => Rank::Bombed(total),
            (Worth::Total(total), Side::Light) => Rank::Light(total),
            (Worth::Total(total), Side::Dark) => Rank::Dark(total),
        }
    }
}
