//! The start of a game: stakes, tokens and the starter.

use crate::chance::{Chance, Pick, Sample};
use crate::game::Game;
use crate::player::{Player, PlayerSet};
use crate::ruleset::TokenDeal;
use crate::state::Core;

use super::chips::Purse;
use super::ranking::Fixes;
use super::{Kessel, Phase, Seat};

/// Number of kinds of token.
const KINDS: u32 = 16;

pub(super) fn open(core: &mut Core) -> Box<dyn Game> {
    let rules = core.rules;
    let seat = Seat { purse: Purse::of(rules.chips), ..Seat::default() };
    let mut game = Kessel {
        phase: Phase::Draft,
        round: 0,
        lap: 1,
        starter: Player::of(0),
        seats: std::array::from_fn(|_| seat.clone()),
        fixes: Fixes::default(),
        immune: PlayerSet::EMPTY,
        embargoed: PlayerSet::EMPTY,
        standing: PlayerSet::EMPTY,
        stood: PlayerSet::EMPTY,
    };
    if let (TokenDeal::Assigned, Some(tokens)) = (rules.tokens, rules.assigned_tokens) {
        for player in core.everybody().iter() {
            game.seats[player.index()].tokens = tokens.of_player(player).into_iter().collect();
        }
    }
    for player in core.everybody().iter() {
        core.pay_pot(player, rules.stake());
    }
    if rules.tokens == TokenDeal::Random {
        for player in core.everybody().iter() {
            core.expect(Chance::Sample { n: KINDS, k: 3, purpose: Sample::Tokens(player) });
        }
    }
    if rules.tokens != TokenDeal::Chosen {
        game.draw_starter(core);
    }
    Box::new(game)
}

impl Kessel {
    /// Next player who has to choose tokens.
    pub(super) fn drafting(&self, core: &Core) -> Option<Player> {
        core.live.iter().find(|player| self.seats[player.index()].tokens.is_empty())
    }

    /// Has the shoe draw the starter, and deals the first round. Everybody must have tokens.
    pub(super) fn draw_starter(&mut self, core: &mut Core) {
        let n = u32::try_from(core.live.len()).unwrap_or(0);
        core.expect(Chance::Pick { n, purpose: Pick::Starter });
        for pile in [0, 1] {
            core.fresh_shuffle(pile);
        }
        self.open_round(core);
    }
}
