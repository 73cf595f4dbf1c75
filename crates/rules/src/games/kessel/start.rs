//! The start of a game: stakes, tokens and the starter.
//!
//! Specification: rules/SPEC.md §12.2.

use crate::chance::{Chance, PickPurpose, SamplePurpose};
use crate::game::Game;
use crate::player::{Player, PlayerSet};
use crate::ruleset::TokenDeal;
use crate::state::Core;

use super::chips::Chips;
use super::ranking::FixTokens;
use super::{Kessel, KesselPlayer, Phase};

/// Number of kinds of token.
const TOKEN_KINDS: u32 = 16;

pub(super) fn open(core: &mut Core) -> Box<dyn Game> {
    let rules = core.rules;
    let seat = KesselPlayer { chips: Chips::of(rules.chips), ..KesselPlayer::default() };
    let mut game = Kessel {
        phase: Phase::Draft,
        round: 0,
        lap: 1,
        starter: Player::of(0),
        players: std::array::from_fn(|_| seat.clone()),
        fix_tokens: FixTokens::default(),
        immune: PlayerSet::EMPTY,
        embargoed: PlayerSet::EMPTY,
        standing: PlayerSet::EMPTY,
        stood: PlayerSet::EMPTY,
    };
    if let (TokenDeal::Assigned, Some(tokens)) = (rules.tokens, rules.assigned_tokens) {
        for player in core.all_players().iter() {
            game.players[player.index()].tokens = tokens.of_player(player).into_iter().collect();
        }
    }
    for player in core.all_players().iter() {
        core.pay_pot(player, rules.stake());
    }
    if rules.tokens == TokenDeal::Random {
        for player in core.all_players().iter() {
            core.request(Chance::Sample {
                n: TOKEN_KINDS,
                k: 3,
                purpose: SamplePurpose::Tokens(player),
            });
        }
    }
    if rules.tokens != TokenDeal::Chosen {
        game.draw_starter(core);
    }
    Box::new(game)
}

impl Kessel {
    /// Next player who has to choose tokens.
    pub(super) fn next_to_draft(&self, core: &Core) -> Option<Player> {
        core.live.iter().find(|player| self.players[player.index()].tokens.is_empty())
    }

    /// Has the shoe draw the starter, and deals the first round. Everybody must have tokens.
    pub(super) fn draw_starter(&mut self, core: &mut Core) {
        let n = u32::try_from(core.live.len()).unwrap_or(0);
        core.request(Chance::Pick { n, purpose: PickPurpose::Starter });
        for pile in [0, 1] {
            core.fresh_shuffle(pile);
        }
        self.deal_round(core);
    }
}
