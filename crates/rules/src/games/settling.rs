//! Settlement of a reveal that needs no further cards: the games to eleven and to a target.
//!
//! Specification: rules/SPEC.md §5.3.

use crate::player::{Player, PlayerSet};
use crate::settlement::Pot;
use crate::state::Core;

/// Awards each layer to the players with the highest strength in it. A layer in which nobody has
/// any carries over. Returns the winners of the main layer.
pub(super) fn award_layers<K: Ord>(
    core: &mut Core,
    strength: impl Fn(Player) -> Option<K>,
) -> PlayerSet {
    let mut winners = PlayerSet::EMPTY;
    for (at, layer) in core.cut_layers().into_iter().enumerate() {
        let best = layer.players.strongest(&strength);
        if best.is_empty() {
            core.carry_layer(layer.amount);
        } else {
            core.award(Pot::layer(at), layer, best);
        }
        if at == 0 {
            winners = best;
        }
    }
    winners
}
