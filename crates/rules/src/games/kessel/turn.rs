//! A turn: perhaps a token, then a stand, or a draw and a discard of the same family.
//!
//! Specification: rules/SPEC.md §12.3.

use crate::cards::{Card, Cards};
use crate::chance::{DealReason, Destination};
use crate::legal::{Choices, Legal, LegalMoves};
use crate::moves::{DrawSource, Move, MoveKind, actions};
use crate::player::Player;
use crate::state::Core;
use crate::token::ShiftToken;

use super::ranking::pile_of;
use super::{Kessel, Phase};

actions! {
    /// A move of a turn.
    Action {
        Token(token: ShiftToken, target: Option<Player>),
        Prime(value: u8),
        Stand,
        DrawFrom(source: DrawSource),
        Discard(card: Card)
    }
}

/// The player of a turn, and how far the turn has come.
#[derive(Clone, Copy)]
pub(super) struct TurnState {
    pub(super) player: Player,
    pub(super) step: Step,
    /// Whether a token pays for the draw.
    pub(super) free_draw: bool,
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

impl TurnState {
    pub(super) const fn new(player: Player) -> TurnState {
        TurnState { player, step: Step::Token, free_draw: false }
    }
}

/// Index of a source's pile, and whether the source is the draw pile.
const fn pile_of_source(source: DrawSource) -> (u8, bool) {
    match source {
        DrawSource::Sand => (0, true),
        DrawSource::Blood => (1, true),
        DrawSource::SandDiscard => (0, false),
        DrawSource::BloodDiscard => (1, false),
    }
}

impl Kessel {
    pub(super) fn legal_in_turn(&self, core: &Core, turn: &TurnState, moves: &mut LegalMoves) {
        match turn.step {
            Step::Token => {
                self.legal_action(core, turn, moves);
                self.legal_tokens(core, turn.player, moves);
            }
            Step::Action => self.legal_action(core, turn, moves),
            Step::Prime(dice) => {
                let values = Choices::Die(dice.into_iter().collect());
                moves.push(Legal::new(MoveKind::Prime, values));
            }
            Step::Discard { pile, .. } => {
                let cards = core[turn.player].cards.iter().copied();
                let family: Cards = cards.filter(|&card| pile_of(card) == pile).collect();
                moves.push(Legal::card(MoveKind::Discard, family));
            }
        }
    }

    fn legal_action(&self, core: &Core, turn: &TurnState, moves: &mut LegalMoves) {
        let pays = turn.free_draw || self.players[turn.player.index()].chips.stock > 0;
        if pays && !self.embargoed.contains(turn.player) {
            for source in DrawSource::ALL {
                let (pile, from_draw_pile) = pile_of_source(source);
                let pile = &core.piles[usize::from(pile)];
                let there = if from_draw_pile {
                    pile.available() > 0
                } else {
                    pile.top_discard().is_some()
                };
                if there {
                    moves.push(Legal::new(MoveKind::DrawFrom, Choices::Pile(source)));
                }
            }
        }
        moves.push(Legal::plain(MoveKind::Stand));
    }

    pub(super) fn moved_in_turn(&mut self, core: &mut Core, turn: TurnState, mv: &Move) {
        let player = turn.player;
        match Action::of(mv) {
            Action::Token(token, target) => {
                self.phase = Phase::Turn(TurnState { step: Step::Action, ..turn });
                self.play_token(core, player, token, target);
            }
            Action::Prime(value) => {
                self.fix_tokens.prime = Some(value);
                self.phase = Phase::Turn(TurnState { step: Step::Action, ..turn });
            }
            Action::Stand => {
                self.standing = self.standing.with(player);
                self.stood = self.stood.with(player);
                self.end_turn(core, player);
            }
            Action::DrawFrom(source) => {
                self.standing = self.standing.without(player);
                if !turn.free_draw {
                    self.player_mut(player).chips.invest();
                }
                self.draw(core, turn, source);
            }
            Action::Discard(card) => {
                core[player].cards.retain(|held| *held != card);
                core.discard(pile_of(card), card);
                self.end_turn(core, player);
            }
        }
    }

    fn draw(&mut self, core: &mut Core, turn: TurnState, source: DrawSource) {
        let (pile, from_draw_pile) = pile_of_source(source);
        if from_draw_pile {
            core.deal(Destination::Player(turn.player), pile, 1, DealReason::Draw);
            self.phase = Phase::Turn(TurnState { step: Step::Action, ..turn });
        } else if let Some(drawn) = core.piles[usize::from(pile)].take_top_discard() {
            core[turn.player].cards.push(drawn);
            self.phase = Phase::Turn(TurnState { step: Step::Discard { pile, drawn }, ..turn });
        }
    }
}
