//! A turn: perhaps a token, then a stand, or a draw and a discard of the same family.

use crate::cards::{Card, Cards};
use crate::chance::{To, Why};
use crate::legal::{Legal, LegalMoves};
use crate::moves::{Move, Source};
use crate::player::Player;
use crate::state::Core;

use super::ranking::pile_of;
use super::{Kessel, Phase};

/// The player of a turn, and how far the turn has come.
#[derive(Clone, Copy)]
pub(super) struct TurnOf {
    pub(super) player: Player,
    pub(super) step: Step,
    /// Whether a token pays for the draw.
    pub(super) free: bool,
}

/// Next decision of a turn.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// A token, or the action.
    Token,
    Action,
    /// The choice of one of these dice as the Prime.
    Prime([u8; 2]),
    Discard {
        pile: u8,
        drawn: Card,
    },
}

impl TurnOf {
    pub(super) const fn new(player: Player) -> TurnOf {
        TurnOf { player, step: Step::Token, free: false }
    }
}

/// Index of a source's pile, and whether the source is the draw pile.
const fn pile(source: Source) -> (u8, bool) {
    match source {
        Source::Sand => (0, true),
        Source::Blood => (1, true),
        Source::SandDiscard => (0, false),
        Source::BloodDiscard => (1, false),
    }
}

impl Kessel {
    pub(super) fn legal_in_turn(&self, core: &Core, turn: &TurnOf, moves: &mut LegalMoves) {
        match turn.step {
            Step::Token => {
                self.legal_action(core, turn, moves);
                self.legal_tokens(core, turn.player, moves);
            }
            Step::Action => self.legal_action(core, turn, moves),
            Step::Prime(dice) => moves.push(Legal::Prime(dice.into_iter().collect())),
            Step::Discard { pile, .. } => {
                let cards = core[turn.player].cards.iter().copied();
                let family: Cards = cards.filter(|&card| pile_of(card) == pile).collect();
                moves.push(Legal::Discard(family));
            }
        }
    }

    fn legal_action(&self, core: &Core, turn: &TurnOf, moves: &mut LegalMoves) {
        let pays = turn.free || self.seats[turn.player.index()].purse.stock > 0;
        if pays && !self.embargoed.contains(turn.player) {
            for source in Source::ALL {
                let (pile, from_draw_pile) = pile(source);
                let pile = &core.piles[usize::from(pile)];
                let there = if from_draw_pile {
                    pile.available() > 0
                } else {
                    pile.top_discard().is_some()
                };
                if there {
                    moves.push(Legal::DrawFrom(source));
                }
            }
        }
        moves.push(Legal::Stand);
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "other games' moves were refused before")]
    pub(super) fn moved_in_turn(&mut self, core: &mut Core, turn: TurnOf, mv: &Move) {
        let player = turn.player;
        match mv {
            Move::Token(token, target) => {
                self.phase = Phase::Turn(TurnOf { step: Step::Action, ..turn });
                self.play_token(core, player, (*token, *target));
            }
            Move::Prime(value) => {
                self.fixes.prime = Some(*value);
                self.phase = Phase::Turn(TurnOf { step: Step::Action, ..turn });
            }
            Move::Stand => {
                self.standing = self.standing.with(player);
                self.stood = self.stood.with(player);
                self.end_turn(core, player);
            }
            Move::DrawFrom(source) => {
                self.standing = self.standing.without(player);
                if !turn.free {
                    self.seat(player).purse.invest();
                }
                self.draw(core, turn, *source);
            }
            Move::Discard(card) => {
                core[player].cards.retain(|held| held != card);
                core.discard(pile_of(*card), *card);
                self.end_turn(core, player);
            }
            other => unreachable!("{other:?} is no part of a turn"),
        }
    }

    fn draw(&mut self, core: &mut Core, turn: TurnOf, source: Source) {
        let (pile, from_draw_pile) = pile(source);
        if from_draw_pile {
            core.deal(To::Player(turn.player), pile, 1, Why::Draw);
            self.phase = Phase::Turn(TurnOf { step: Step::Action, ..turn });
        } else if let Some(drawn) = core.piles[usize::from(pile)].take_top_discard() {
            core[turn.player].cards.push(drawn);
            self.phase = Phase::Turn(TurnOf { step: Step::Discard { pile, drawn }, ..turn });
        }
    }
}
