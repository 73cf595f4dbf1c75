//! The sixteen shift tokens: when each may be played, and its effect.
//!
//! A token that needs a target is illegal without one. A token that finds nothing to take is spent.
//! No token touches an immune player, except the fix tokens, which change the round for everybody.
//!
//! Specification: rules/SPEC.md §12.5.

use smallvec::SmallVec;

use crate::chance::{Chance, DealReason, Destination, RollPurpose};
use crate::legal::{Choices, Legal, LegalMoves};
use crate::moves::MoveKind;
use crate::player::{Player, PlayerSet};
use crate::state::Core;
use crate::token::ShiftToken;

use super::ranking::{pile_of, sand_then_blood};
use super::{Kessel, Phase};

impl Kessel {
    pub(super) fn legal_tokens(&self, core: &Core, player: Player, moves: &mut LegalMoves) {
        let others = self.touchable_players(core, player);
        let seat = &self.players[player.index()];
        for &token in &seat.tokens {
            let at = |targets| Some(Legal::new(MoveKind::Token, Choices::Token(token, targets)));
            let at_one_of = |targets: PlayerSet| at(targets).filter(|_| !targets.is_empty());
            let untargeted = at(PlayerSet::EMPTY);
            let legal = match token {
                ShiftToken::FreeDraw
                | ShiftToken::Embezzlement
                | ShiftToken::GeneralTariff
                | ShiftToken::GeneralAudit
                | ShiftToken::PrimeSabacc
                | ShiftToken::Markdown
                | ShiftToken::MajorFraud
                | ShiftToken::Immunity => untargeted,
                ShiftToken::Refund | ShiftToken::ExtraRefund => {
                    untargeted.filter(|_| seat.chips.hand_pot > 0)
                }
                ShiftToken::CookTheBooks => untargeted.filter(|_| !self.fix_tokens.cook_the_books),
                ShiftToken::Embargo => self.next_in_turn(core, player).and(untargeted),
                ShiftToken::TargetTariff
                | ShiftToken::Exhaustion
                | ShiftToken::DirectTransaction => at_one_of(others),
                ShiftToken::TargetAudit => at_one_of(others.intersection(self.standing)),
            };
            moves.extend(legal);
        }
    }

    /// The other players whom a stock, tax or disrupt token of `player` touches.
    fn touchable_players(&self, core: &Core, player: Player) -> PlayerSet {
        core.live.without(player).minus(self.immune)
    }

    /// Plays a legal token.
    pub(super) fn play_token(
        &mut self,
        core: &mut Core,
        player: Player,
        token: ShiftToken,
        target: Option<Player>,
    ) {
        let others = self.touchable_players(core, player);
        let aim = target.map_or(PlayerSet::EMPTY, |target| PlayerSet::EMPTY.with(target));
        let seat = self.player_mut(player);
        seat.tokens.retain(|held| *held != token);
        seat.played.push(token);
        match token {
            ShiftToken::FreeDraw => {
                if let Phase::Turn(turn) = &mut self.phase {
                    turn.free_draw = true;
                }
            }
            ShiftToken::Refund => seat.chips.refund(2),
            ShiftToken::ExtraRefund => seat.chips.refund(3),
            ShiftToken::Embezzlement => {
                for other in others.iter() {
                    let chips = self.player_mut(other).chips.give_one();
                    let purse = &mut self.player_mut(player).chips;
                    purse.hand_pot = purse.hand_pot.saturating_add(chips);
                }
            }
            ShiftToken::GeneralTariff => self.tax(others, 1),
            ShiftToken::TargetTariff => self.tax(aim, 2),
            ShiftToken::GeneralAudit => self.tax(others.intersection(self.standing), 2),
            ShiftToken::TargetAudit => self.tax(aim, 3),
            ShiftToken::PrimeSabacc => {
                let sides = SmallVec::from_slice(&[6, 6]);
                core.request(Chance::Roll { sides, purpose: RollPurpose::Prime(player) });
            }
            ShiftToken::Markdown => self.fix_tokens.markdown = true,
            ShiftToken::CookTheBooks => self.fix_tokens.cook_the_books = true,
            ShiftToken::MajorFraud => self.fix_tokens.major_fraud = true,
            ShiftToken::Embargo => {
                let next = self.next_in_turn(core, player);
                if let Some(next) = next.filter(|&next| others.contains(next)) {
                    self.embargoed = self.embargoed.with(next);
                }
            }
            ShiftToken::Immunity => self.immune = self.immune.with(player),
            ShiftToken::Exhaustion => aim.iter().for_each(|target| exhaust(core, target)),
            ShiftToken::DirectTransaction => {
                for target in aim.iter() {
                    let cards = std::mem::take(&mut core[player].cards);
                    core[player].cards = std::mem::replace(&mut core[target].cards, cards);
                }
            }
        }
    }

    fn tax(&mut self, players: PlayerSet, due: u8) {
        for player in players.iter() {
            self.player_mut(player).chips.tax(due);
        }
    }
}

/// Discards the target's hand, Sand then Blood, and deals one card of each.
fn exhaust(core: &mut Core, target: Player) {
    let hand = sand_then_blood(&core[target].cards);
    core[target].cards.clear();
    for card in hand {
        core.discard(pile_of(card), card);
    }
    core.deal_from_each(Destination::Player(target), DealReason::Exhaustion);
}
