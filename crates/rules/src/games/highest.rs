//! A ninth game, for tests only. It shows that a new variant takes one file and its lines in the
//! registry.
//!
//! ```text
//! deal one ─▶ each may trade it once ─▶ betting round ─▶ the highest card wins
//! ```

use crate::chance::{Deal, DealReason, Destination, Resolved};
use crate::deck::S76;
use crate::explain::{PLAYS_ON, Section, VariantText};
use crate::game::{Game, GameStatus};
use crate::games::{GameState, action, settling, shifting};
use crate::hand_phase::HandPhase;
use crate::legal::LegalMoves;
use crate::moves::Move;
use crate::player::{Player, Viewer};
use crate::rank::Rank;
use crate::ruleset::{Field, Key, RuleSet};
use crate::s76::total;
use crate::state::{Bets, Core, Ranks, Turn};
use crate::variant::{RakeBase, Variant};

pub(crate) static VARIANT: Variant = Variant {
    id: "highest",
    title: "Highest card",
    source: "made up for tests",
    player_counts: 2..=4,
    deck: &S76,
    piles: shifting::PILES,
    fields: &[
        Field::number(Key::HandAnte, 3),
        Field::number(Key::MinBet, 0),
        Field::number(Key::RakeBps, 0),
        Field::number(Key::RakeCap, 0),
    ],
    has_sabacc_pot: false,
    has_carried_pot: false,
    call_reopens_betting: false,
    rake_base: RakeBase::ContestedLayers,
    evaluator: |_, _| None,
    open,
    explain,
};

#[derive(Clone)]
enum Highest {
    /// The next player to act; none when all have acted.
    Action(Option<Player>),
    Betting(Bets),
}

fn open(core: &mut Core) -> Box<dyn Game> {
    core.take_antes();
    core.fresh_shuffle(0);
    for player in core.live.iter() {
        core.deal(Destination::Player(player), 0, 1, DealReason::OpeningHand);
    }
    Box::new(Highest::Action(core.live.lowest()))
}

impl Game for Highest {
    fn boxed_clone(&self) -> Box<dyn Game> {
        Box::new(self.clone())
    }

    fn step(&mut self, core: &mut Core) {
        match self {
            Highest::Action(Some(player)) => core.turn = Turn::Of(*player),
            Highest::Action(None) if Bets::can_start(core) => {
                *self = Highest::Betting(Bets::new(core))
            }
            Highest::Action(None) => reveal(core),
            Highest::Betting(bets) => match bets.turn() {
                Some(player) => core.turn = Turn::Of(player),
                None => {
                    core.return_uncalled();
                    reveal(core);
                }
            },
        }
    }

    fn apply_outcome(&mut self, core: &mut Core, resolved: Resolved<'_>) {
        match resolved {
            Resolved::Dealt { deal: Deal { to: Destination::Player(player), .. }, cards } => {
                core[*player].cards.extend_from_slice(cards);
            }
            Resolved::Dealt { deal: Deal { to: Destination::Table, .. }, cards: _ }
            | Resolved::Shuffled { .. }
            | Resolved::Rolled { .. }
            | Resolved::Pulsed(_)
            | Resolved::Picked { .. }
            | Resolved::Sampled { .. } => {}
        }
    }

    fn legal_moves(&self, core: &Core, player: Player) -> LegalMoves {
        let mut moves = LegalMoves::new();
        match self {
            Highest::Action(_) => action::push_legal(core, player, &mut moves),
            Highest::Betting(bets) => bets.push_legal(core, player, &mut moves),
        }
        moves
    }

    fn default_move(&self, _: &Core, player: Player) -> Move {
        match self {
            Highest::Action(_) => Move::Stand,
            Highest::Betting(bets) => bets.default_move(player),
        }
    }

    fn apply_move(&mut self, core: &mut Core, player: Player, mv: &Move) {
        match self {
            Highest::Action(next) => {
                action::apply(core, player, mv);
                *next = core.live.next(player);
            }
            Highest::Betting(bets) => {
                bets.act(core, player, mv);
                core.finish_if_folded();
            }
        }
    }

    fn status(&self) -> GameStatus<'_> {
        let (phase, bets) = match self {
            Highest::Action(_) => (HandPhase::Action, None),
            Highest::Betting(bets) => (HandPhase::Betting, Some(bets)),
        };
        GameStatus { phase, round: 1, bets, called_by: None }
    }

    fn state(&self, _: &Core, _: Viewer) -> GameState {
        GameState::Highest
    }
}

fn reveal(core: &mut Core) {
    core.shown = core.live;
    let mut ranks = Ranks::default();
    for player in core.all_players().iter() {
        let total = Rank::Total(total(&core[player].cards));
        let live = core.live.contains(player);
        ranks[player.index()] = Some(if live { total } else { Rank::Folded });
    }
    let totals: [i16; 8] =
        std::array::from_fn(|at| core.players().get(at).map_or(0, |place| total(&place.cards)));
    let winners = settling::award_layers(core, |player| Some(totals[player.index()]));
    core.finish(winners, &ranks);
}

fn explain(_: &RuleSet) -> VariantText {
    VariantText {
        course: Section::new("A hand")
            .paragraph("One card each, one action each, one betting round."),
        moves: Section::new("Moves").item("draw, trade CARD, stand", "the action"),
        ranking: Section::new("What beats what").paragraph("The highest total wins."),
        money: Vec::new(),
        defaults: "`stand`; in the betting round `check` where it is legal, else `fold`.",
        leaving: PLAYS_ON,
    }
}

#[cfg(test)]
mod tests;
