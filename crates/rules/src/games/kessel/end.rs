//! The end of a round, of the game, and of one player's part in it.
//!
//! Specification: rules/SPEC.md §12.7, §12.8.

use smallvec::SmallVec;

use crate::cards::Cards;
use crate::player::{Player, PlayerSet};
use crate::rank::Rank;
use crate::settlement::Pot;
use crate::state::{Core, Layer, Ranks, Turn};

use super::chips::Chips;
use super::{Kessel, Phase};

impl Kessel {
    /// Settles a reveal. The best hands take their hand pots back, the others pay, and players
    /// without chips are out. All hands must be known.
    pub(super) fn settle(&mut self, core: &mut Core) {
        let revealed = core.live;
        let winners = revealed
            .strongest(|player| Some(self.worth_of(core, player).strength(self.fix_tokens)));
        for player in revealed.iter() {
            let worth = self.worth_of(core, player);
            let rank = worth.rank(self.fix_tokens);
            let seat = self.player_mut(player);
            seat.hand.clone_from(&core[player].cards);
            seat.rank = Some(rank);
            if winners.contains(player) {
                seat.chips.win();
            } else {
                seat.chips.lose(worth.chips_due());
            }
        }
        for player in revealed.iter() {
            if self.players[player.index()].chips.stock == 0 {
                core.live = core.live.without(player);
                core.record_elimination(player);
            }
        }
        match core.live.len() {
            0 => self.finish(core, winners),
            1 => self.finish(core, core.live),
            _ if self.round >= core.rules.max_rounds => {
                let stock = |player: Player| Some(self.players[player.index()].chips.stock);
                self.finish(core, core.live.strongest(stock));
            }
            _ => self.next_round(core),
        }
    }

    /// Awards the whole credits pot after a reveal, less the rake.
    fn finish(&mut self, core: &mut Core, winners: PlayerSet) {
        let layer = Layer { amount: core.hand_pot, players: core.all_players() };
        core.award(Pot::Credits, layer, winners);
        let ranks: Ranks =
            std::array::from_fn(|index| self.players.get(index).and_then(|seat| seat.rank));
        self.finish_with_last_hands(core, winners, &ranks);
    }

    /// Puts a player out of the game at once, with chips and cards. Does nothing for a player who
    /// is out already.
    pub(super) fn forfeit(&mut self, core: &mut Core, player: Player) {
        if !core.live.contains(player) {
            return;
        }
        core.live = core.live.without(player);
        self.embargoed = self.embargoed.without(player);
        let seat = self.player_mut(player);
        seat.chips = Chips::default();
        seat.hand.clone_from(&core[player].cards);
        seat.rank = Some(Rank::Left);
        if core.live.len() == 1 {
            return self.win_by_forfeit(core);
        }
        if let Phase::Reveal(impostors) = &mut self.phase {
            impostors.retain(|impostor| impostor.player != player);
        }
        if core.turn == Turn::Of(player) {
            core.turn = Turn::Open;
            if let Phase::Turn(_) = self.phase {
                self.end_turn(core, player);
            }
        }
    }

    /// Ends the game because all others left: the remaining player takes the pot without rake, and
    /// their hand gets no rank.
    fn win_by_forfeit(&mut self, core: &mut Core) {
        let mut ranks = Ranks::default();
        for winner in core.live.iter() {
            core.pay_from_hand_pot(winner, Pot::Credits, core.hand_pot);
        }
        for player in core.all_players().minus(core.live).iter() {
            ranks[player.index()] = self.players[player.index()].rank;
        }
        self.finish_with_last_hands(core, core.live, &ranks);
    }

    /// Finishes the hand. The final hand of a player who is out is their last one; it is only
    /// recorded, because its cards may be in other hands by now.
    fn finish_with_last_hands(&mut self, core: &mut Core, winners: PlayerSet, ranks: &Ranks) {
        let out = core.all_players().minus(core.live);
        let held: SmallVec<[Cards; 6]> = out
            .iter()
            .map(|player| {
                let last = self.players[player.index()].hand.clone();
                std::mem::replace(&mut core[player].cards, last)
            })
            .collect();
        core.finish(winners, ranks);
        for (player, held) in out.iter().zip(held) {
            core[player].cards = held;
        }
    }
}
