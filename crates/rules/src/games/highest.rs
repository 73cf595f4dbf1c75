//! A ninth game, for tests only. It shows that a new variant takes one file and one line in the
//! registry.
//!
//! ```text
//! deal one ─▶ each may trade it once ─▶ betting round ─▶ the highest card wins
//! ```

use crate::chance::{Chance, Deal, Outcome, To, Why};
use crate::deck::S76;
use crate::explain::{PLAYS_ON, Section, Words};
use crate::game::{Game, Glance};
use crate::games::{action, settling, shifting};
use crate::legal::LegalMoves;
use crate::moves::Move;
use crate::player::Player;
use crate::rank::Rank;
use crate::ruleset::{Field, Key, RuleSet};
use crate::s76::total;
use crate::state::{Bets, Core, Ranks, Turn};
use crate::variant::Variant;

pub(crate) static VARIANT: Variant = Variant {
    id: "highest",
    title: "Highest card",
    source: "made up for tests",
    seats: 2..=4,
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
        core.deal(To::Player(player), 0, 1, Why::Opening);
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
            Highest::Action(None) if Bets::held(core) => *self = Highest::Betting(Bets::new(core)),
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

    fn chance(&mut self, core: &mut Core, due: &Chance, outcome: &Outcome) {
        if let (Chance::Deal(Deal { to: To::Player(player), .. }), Outcome::Cards(cards)) =
            (due, outcome)
        {
            core[*player].cards.extend_from_slice(cards);
        }
    }

    fn legal(&self, core: &Core, player: Player) -> LegalMoves {
        let mut moves = LegalMoves::new();
        match self {
            Highest::Action(_) => action::legal(core, player, &mut moves),
            Highest::Betting(bets) => bets.legal(core, player, &mut moves),
        }
        moves
    }

    fn default(&self, _: &Core, player: Player) -> Move {
        match self {
            Highest::Action(_) => Move::Stand,
            Highest::Betting(bets) => bets.default(player),
        }
    }

    fn moved(&mut self, core: &mut Core, player: Player, mv: &Move) {
        match self {
            Highest::Action(next) => {
                action::play(core, player, mv);
                *next = core.live.next(player);
            }
            Highest::Betting(bets) => {
                bets.act(core, player, mv);
                core.ends_by_folds();
            }
        }
    }

    fn glance(&self) -> Glance<'_> {
        let (phase, bets) = match self {
            Highest::Action(_) => ("action", None),
            Highest::Betting(bets) => ("betting", Some(bets)),
        };
        Glance { phase, round: 1, bets, called_by: None }
    }
}

fn reveal(core: &mut Core) {
    core.shown = core.live;
    let mut ranks = Ranks::default();
    for player in core.everybody().iter() {
        let total = Rank::Total(total(&core[player].cards));
        let live = core.live.contains(player);
        ranks[player.index()] = Some(if live { total } else { Rank::Folded });
    }
    let totals: [i16; 8] =
        std::array::from_fn(|at| core.places().get(at).map_or(0, |place| total(&place.cards)));
    let winners = settling::by_strength(core, |player| Some(totals[player.index()]));
    core.finish(winners, &ranks);
}

fn explain(_: &RuleSet) -> Words {
    Words {
        course: Section::new("A hand").say("One card each, one action each, one betting round."),
        moves: Section::new("Moves").item("draw, trade CARD, stand", "the action"),
        ranking: Section::new("What beats what").say("The highest total wins."),
        money: Vec::new(),
        defaults: "`stand`; in the betting round `check` where it is legal, else `fold`.",
        leaving: PLAYS_ON,
    }
}

#[cfg(test)]
mod tests;
