//! The sixteen shift tokens: when each may be played, and its effect.
//!
//! A token that needs a target is illegal without one. A token that finds nothing to take is spent.
//! No token touches an immune player, except the fix tokens, which change the round for everybody.

use smallvec::SmallVec;

use crate::chance::{Chance, Roll, To, Why};
use crate::legal::{Legal, LegalMoves};
use crate::player::{Player, PlayerSet};
use crate::state::Core;
use crate::token::Token;

use super::ranking::{in_order, pile_of};
use super::{Kessel, Phase};

impl Kessel {
    pub(super) fn legal_tokens(&self, core: &Core, player: Player, moves: &mut LegalMoves) {
        let others = self.within_reach(core, player);
        let seat = &self.seats[player.index()];
        for &token in &seat.tokens {
            let legal = match token {
                Token::FreeDraw
                | Token::Embezzlement
                | Token::GeneralTariff
                | Token::GeneralAudit
                | Token::PrimeSabacc
                | Token::Markdown
                | Token::MajorFraud
                | Token::Immunity => Some(Legal::Token(token)),
                Token::Refund | Token::ExtraRefund => {
                    (seat.purse.pot > 0).then_some(Legal::Token(token))
                }
                Token::CookTheBooks => (!self.fixes.cook).then_some(Legal::Token(token)),
                Token::Embargo => self.next_in_turn(core, player).map(|_| Legal::Token(token)),
                Token::TargetTariff | Token::Exhaustion | Token::DirectTransaction => {
                    aimed(token, others)
                }
                Token::TargetAudit => aimed(token, others.and(self.standing)),
            };
            moves.extend(legal);
        }
    }

    /// The other players whom a stock, tax or disrupt token of `player` touches.
    fn within_reach(&self, core: &Core, player: Player) -> PlayerSet {
        core.live.without(player).minus(self.immune)
    }

    /// Plays a legal token.
    pub(super) fn play_token(
        &mut self,
        core: &mut Core,
        player: Player,
        (token, target): (Token, Option<Player>),
    ) {
        let others = self.within_reach(core, player);
        let aim = target.map_or(PlayerSet::EMPTY, |target| PlayerSet::EMPTY.with(target));
        let seat = self.seat(player);
        seat.tokens.retain(|held| *held != token);
        seat.played.push(token);
        match token {
            Token::FreeDraw => {
                if let Phase::Turn(turn) = &mut self.phase {
                    turn.free = true;
                }
            }
            Token::Refund => seat.purse.refund(2),
            Token::ExtraRefund => seat.purse.refund(3),
            Token::Embezzlement => {
                for other in others.iter() {
                    let chips = self.seat(other).purse.give_one();
                    let purse = &mut self.seat(player).purse;
                    purse.pot = purse.pot.saturating_add(chips);
                }
            }
            Token::GeneralTariff => self.tax(others, 1),
            Token::TargetTariff => self.tax(aim, 2),
            Token::GeneralAudit => self.tax(others.and(self.standing), 2),
            Token::TargetAudit => self.tax(aim, 3),
            Token::PrimeSabacc => {
                let sides = SmallVec::from_slice(&[6, 6]);
                core.expect(Chance::Roll { sides, purpose: Roll::Prime(player) });
            }
            Token::Markdown => self.fixes.markdown = true,
            Token::CookTheBooks => self.fixes.cook = true,
            Token::MajorFraud => self.fixes.fraud = true,
            Token::Embargo => {
                let next = self.next_in_turn(core, player);
                if let Some(next) = next.filter(|&next| others.contains(next)) {
                    self.embargoed = self.embargoed.with(next);
                }
            }
            Token::Immunity => self.immune = self.immune.with(player),
            Token::Exhaustion => aim.iter().for_each(|target| exhaust(core, target)),
            Token::DirectTransaction => {
                for target in aim.iter() {
                    let cards = std::mem::take(&mut core[player].cards);
                    core[player].cards = std::mem::replace(&mut core[target].cards, cards);
                }
            }
        }
    }

    fn tax(&mut self, players: PlayerSet, due: u8) {
        for player in players.iter() {
            self.seat(player).purse.tax(due);
        }
    }
}

fn aimed(token: Token, targets: PlayerSet) -> Option<Legal> {
    (!targets.is_empty()).then_some(Legal::TokenAt(token, targets))
}

/// Discards the target's hand, Sand then Blood, and deals one card of each.
fn exhaust(core: &mut Core, target: Player) {
    let hand = in_order(&core[target].cards);
    core[target].cards.clear();
    for card in hand {
        core.discard(pile_of(card), card);
    }
    core.deal_from_each(To::Player(target), Why::Exhaustion);
}
