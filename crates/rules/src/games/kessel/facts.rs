//! Public and private facts of a Kessel game, apart from cards and credits.

use crate::game::Facts;
use crate::player::{Player, PlayerSet, Viewer};
use crate::rank::Rank;
use crate::state::Core;
use crate::token::Token;

use super::{Kessel, Phase, Seat};

impl Kessel {
    pub(super) fn tell(&self, core: &Core, viewer: Viewer, facts: &mut Facts) {
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
        self.tell_round(&mut tell);
        for player in core.everybody().iter() {
            let seat = &self.seats[player.index()];
            self.tell_seat(core, (player, seat), viewer, &mut tell);
        }
    }

    fn tell_round(&self, tell: &mut dyn FnMut(&str, String)) {
        if let Some(prime) = self.fixes.prime {
            tell("prime", prime.to_string());
        }
        let fixes = [
            (Token::Markdown, self.fixes.markdown),
            (Token::CookTheBooks, self.fixes.cook),
            (Token::MajorFraud, self.fixes.fraud),
        ];
        for (token, _) in fixes.into_iter().filter(|(_, on)| *on) {
            tell(token.name(), "on".to_owned());
        }
        let sets =
            [("standing", self.standing), ("immune", self.immune), ("embargoed", self.embargoed)];
        for (name, players) in sets.into_iter().filter(|(_, players)| !players.is_empty()) {
            tell(name, listed(players));
        }
    }

    fn tell_seat(
        &self,
        core: &Core,
        (player, seat): (Player, &Seat),
        viewer: Viewer,
        tell: &mut dyn FnMut(&str, String),
    ) {
        let own = viewer == Viewer::Auditor || viewer == Viewer::Player(player);
        tell(&format!("stock {player}"), seat.purse.stock.to_string());
        tell(&format!("hand-pot {player}"), seat.purse.pot.to_string());
        tell(&format!("tokens {player}"), seat.tokens.len().to_string());
        if own && !seat.tokens.is_empty() {
            tell(&format!("holds {player}"), names(&seat.tokens));
        }
        if !seat.played.is_empty() {
            tell(&format!("played {player}"), names(&seat.played));
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

fn names(tokens: &[Token]) -> String {
    tokens.iter().map(|token| token.name()).collect::<Vec<_>>().join(" ")
}

fn listed(players: PlayerSet) -> String {
    players.iter().map(|player| player.to_string()).collect::<Vec<_>>().join(" ")
}
