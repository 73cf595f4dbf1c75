//! Public and private facts of a Kessel game, apart from cards and credits.
//!
//! Specification: rules/SPEC.md §3.5.

use crate::game::Facts;
use crate::player::{Player, PlayerSet, Viewer};
use crate::rank::Rank;
use crate::state::Core;
use crate::token::ShiftToken;

use super::{Kessel, Phase};

impl Kessel {
    pub(super) fn push_facts(&self, core: &Core, viewer: Viewer, facts: &mut Facts) {
        let mut tell = |name: &str, value: String| facts.push((name.to_owned(), value));
        if let Phase::Turn(_) | Phase::Reveal(_) = self.phase {
            tell("starter", self.starter.to_string());
            tell("lap", self.lap.to_string());
        }
        for (name, pile) in ["sand-discard", "blood-discard"].into_iter().zip(&core.piles) {
            if let Some(card) = pile.top_discard() {
                tell(name, core.rules.variant().deck.code(card).to_owned());
            }
        }
        self.push_round_facts(&mut tell);
        for player in core.all_players().iter() {
            self.push_player_facts(core, player, viewer, &mut tell);
        }
    }

    fn push_round_facts(&self, tell: &mut dyn FnMut(&str, String)) {
        if let Some(prime) = self.fix_tokens.prime {
            tell("prime", prime.to_string());
        }
        let fixes = [
            (ShiftToken::Markdown, self.fix_tokens.markdown),
            (ShiftToken::CookTheBooks, self.fix_tokens.cook_the_books),
            (ShiftToken::MajorFraud, self.fix_tokens.major_fraud),
        ];
        for (token, _) in fixes.into_iter().filter(|(_, on)| *on) {
            tell(token.name(), "on".to_owned());
        }
        let sets =
            [("standing", self.standing), ("immune", self.immune), ("embargoed", self.embargoed)];
        for (name, players) in sets.into_iter().filter(|(_, players)| !players.is_empty()) {
            tell(name, join_players(players));
        }
    }

    fn push_player_facts(
        &self,
        core: &Core,
        player: Player,
        viewer: Viewer,
        tell: &mut dyn FnMut(&str, String),
    ) {
        let seat = &self.players[player.index()];
        let own = viewer == Viewer::Auditor || viewer == Viewer::Player(player);
        tell(&format!("stock {player}"), seat.chips.stock.to_string());
        tell(&format!("hand-pot {player}"), seat.chips.hand_pot.to_string());
        tell(&format!("tokens {player}"), seat.tokens.len().to_string());
        if own && !seat.tokens.is_empty() {
            tell(&format!("holds {player}"), join_tokens(&seat.tokens));
        }
        if !seat.played.is_empty() {
            tell(&format!("played {player}"), join_tokens(&seat.played));
        }
        let code = |card| core.rules.variant().deck.code(card);
        if let Phase::Reveal(impostors) = &self.phase {
            for one in impostors.iter().filter(|one| one.player == player) {
                let card = code(one.card);
                let [a, b] = one.dice;
                if a > 0 {
                    tell(&format!("dice {player} {card}"), format!("{a} {b}"));
                }
                if let Some(value) = one.value.filter(|_| own) {
                    tell(&format!("value {player} {card}"), value.to_string());
                }
            }
        }
        if let Some(rank) = seat.rank.filter(|rank| *rank != Rank::Left) {
            let cards: Vec<&str> = seat.hand.iter().map(|&card| code(card)).collect();
            tell(&format!("revealed {player}"), format!("{}: {rank}", cards.join(" ")));
        }
    }
}

fn join_tokens(tokens: &[ShiftToken]) -> String {
    tokens.iter().map(|token| token.name()).collect::<Vec<_>>().join(" ")
}

fn join_players(players: PlayerSet) -> String {
    players.iter().map(|player| player.to_string()).collect::<Vec<_>>().join(" ")
}
